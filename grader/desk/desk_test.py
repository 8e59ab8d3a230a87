#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of the instructor's desk, and every ./lab class command of --help and of the instructor's guide.
term_test.py tries a whole term."""

import copy
import csv
import dataclasses
import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [
    str(HERE),
    str(HERE / "testing"),
    str(HERE.parent / "batch"),
    str(HERE.parent / "batch/testing"),
]

import command_line
import desk
import in_folder
import make_term
import options
import roster
import settings
from in_folder import InFolder, rows_of

PAGES = [HERE.parents[1] / f"handouts/instructor/{name}.md" for name in ("guide", "checklist")]
GUIDE = "".join(page.read_text(encoding="utf-8") for page in PAGES)
HOSTILE = "=cmd()<script>console.error(1)</script>\x1b[2J\u202e"


def commands_of(name, text):
    """The words behind ./lab NAME, up to two spaces; a command may go on behind a backslash."""
    return re.findall(rf"^ *\./lab {name} (.+?)(?: {{2,}}.*)?$", re.sub(r"\\\n *", "", text), re.M)


class ClassToml(InFolder):
    def read(self, text):
        self.put("class.toml", text)
        return settings.read(self.folder)

    def test_defaults_without_a_file(self):
        self.assertEqual(settings.read(self.folder), settings.Settings())

    def test_reads_dates_in_the_timezone(self):
        got = self.read(
            'timezone = "Europe/Berlin"\n[labs.scan]\ndue = 2026-10-05T23:59:00\n[labs.sat]\ndue = 2026-10-05T23:59:00Z\n'
        )
        self.assertEqual(got.labs["scan"].due.utcoffset(), datetime.timedelta(hours=2))
        self.assertEqual(got.labs["sat"].due.utcoffset(), datetime.timedelta(0))

    def test_a_lab_has_the_classes_late_rule_but_for_what_it_says_itself(self):
        late = self.read("[late]\nmost_days = 3\n[labs.scan.late]\npercent_per_day = 0\n").lab("scan").late
        self.assertEqual((late.percent_per_day, late.most_days), (0, 3))

    def test_mistakes_are_named(self):
        for text, part in [
            ("counts = 'first'", "counts must be best or latest"),
            ("conuts = 'best'", "conuts is unknown here. Did you mean counts?"),
            ("[labs.scan]\ndeu = 2026-10-05T23:59:00", "labs.scan.deu is unknown here. Did you mean due?"),
            (
                "[labs.scan.late]\nmost_dais = 1",
                "labs.scan.late.most_dais is unknown here. Did you mean most_d",
            ),
            ("slip_days = 1.5", "slip_days must be a whole number"),
            ("title = 3", "title must be a text"),
            ("[late]\npercent_per_day = 120", "late.percent_per_day must be from 0 to 100"),
            ("[late]\ndays = 1", "late.days is unknown"),
            ("[labs.scan]\ndue = 2026-10-05", "labs.scan.due must be a date and a time"),
            ("timezone = 'Mars'", "timezone"),
            ("[[extensions]]\nstudent = 'a'", "extensions[1].due, days exactly one"),
            ("[[overrides]]\nstudent = 'a'\nlab = 'scan'\npoints = 3", "reason is missing"),
            ("roster = [1]", "roster must be a list"),
            ("labs = 1", "labs must be a table"),
            ("x = = 1", "no TOML"),
            ("extensions = [1]", "must be a table"),
            ("late = 5", "late must be a table"),
        ]:
            with self.subTest(text), self.assertRaises(settings.Problem) as caught:
                self.read(text)
            self.assertIn(part, str(caught.exception))

    def test_the_guides_example_uses_every_setting(self):
        (example,) = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.M | re.S)
        self.read(example)
        data = tomllib.loads(example)
        for of, tables in (
            (settings.Settings, [data]),
            (settings.Late, [data["late"]]),
            (settings.Lab, data["labs"].values()),
            (settings.Extension, data["extensions"]),
            (settings.Excused, data["excused"]),
            (settings.Override, data["overrides"]),
        ):
            with self.subTest(of.__name__):
                known = {one.name for one in dataclasses.fields(of)}
                self.assertEqual({name for table in tables for name in table}, known)


class GradeAll(unittest.TestCase):
    def test_every_command_of_the_guide_can_be_read(self):
        for command in (found := commands_of("grade-all", GUIDE)):
            with self.subTest(command):
                command_line.arguments(shlex.split(command))
        self.assertTrue(any("--slurm-time" in command for command in found))


class Rosters(InFolder):
    def test_platforms_tables_complete_each_other(self):
        canvas = self.put(
            "c.csv",
            'Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (5)\n    Points Possible,,,,,100\n"Lovelace, Ada",77,m1,al@x.org,S1,\n'
            '"Student, Test",99,,zzz,S1,\n',
        )
        moodle = self.put(
            "m.csv",
            "\ufeffIdentifier;Full name;ID number;Email address;Status\nParticipant 812;Ada Lovelace;m1;AL@x.org;\n"
            "Participant 813;Bob Ng;m2;bn@x.org;\n",
        )
        gradescope = self.put(
            "g.csv",
            "First Name,Last Name,SID,Email,Role\nBob,Ng,m2,bn@x.org,Student\nAnn,Teacher,t1,t@x.org,Instructor\nCy,Öz,m3,co@x.org,Student\n",
        )
        got = roster.read([canvas, moodle, gradescope], {"Group of Cy": "m3"})
        self.assertEqual(
            {one.id: (one.name, one.email, one.section) for one in got.students.values()},
            {
                "m1": ("Ada Lovelace", "al@x.org", "S1"),
                "m2": ("Bob Ng", "bn@x.org", ""),
                "m3": ("Cy Öz", "co@x.org", ""),
            },
        )
        for name, student in [
            row.split(": ")
            for row in (
                "Ada Lovelace_812: m1; lovelaceada_77: m1; al@x.org: m1; al: m1; M1: m1; Ng, Bob: m2; "
                "Bob Ng_813: m2; ozcy_5: m3; Group of Cy: m3; somebody_77: m1"
            ).split("; ")
        ]:
            with self.subTest(name):
                self.assertEqual(getattr(got.find(name), "id", None), student)
        for name in ("somebody", "Bob Ng_812x", "x_9", "", "_"):
            self.assertIsNone(got.find(name), name)

    def test_canvas_with_names_in_two_columns(self):
        canvas = self.put(
            "c.csv",
            "LastName;FirstName;ID;SIS User ID;SIS Login ID;Section\n    Points Possible;;;;;\nde la Cruz;Łukasz;1001;m7;lc@x.org;S1\n"
            "Student;Test;1099;;t@x.org;S1\n",
        )
        (student,) = roster.read([canvas], {}).students.values()
        self.assertEqual(
            (student.id, student.name, student.first, student.last),
            ("m7", "Łukasz de la Cruz", "Łukasz", "de la Cruz"),
        )

    def test_moodles_heads_in_other_languages(self):
        for heads in (
            "Vorname,Nachname,ID-Nummer,E-Mail-Adresse|"
            "Prénom,Nom de famille,Numéro d'identification,Adresse de courriel|名,姓,学号,电子邮件地址|"
            "Nombre,Apellido(s),Número de ID,Dirección de correo|名,姓,IDナンバー,メールアドレス|"
            "Nome,Cognome,Codice identificativo,Indirizzo email|"
            "Nome,Sobrenome,Número de identificação,Endereço de email|"
            "Voornaam,Achternaam,ID-nummer,E-mailadres|Imię,Nazwisko,Numer ID,Adres e-mail|"
            "Имя,Фамилия,Индивидуальный номер,Адрес электронной почты"
        ).split("|"):
            (student,) = roster.read(
                [self.put("m.csv", f"{heads}\nAda,King Noel,m1,al@x.org\n")], {}
            ).students.values()
            self.assertEqual(
                (student.id, student.first, student.last, student.email),
                ("m1", "Ada", "King Noel", "al@x.org"),
                heads,
            )

    def test_a_name_of_two_is_nobodys(self):
        got = roster.read(
            [self.put("r.csv", "id,name,email,section\na,Kim Lee,k1@x,\nb,Lee Kim,k2@x,\nc,José,c@x,\n")], {}
        )
        self.assertIsNone(got.find("Kim Lee"))
        self.assertEqual(got.find("jose").id, "c")

    def test_contradictions_and_other_files_are_refused(self):
        for text, part in [("a,b\n1,2\n", "no column"), ("", "is empty")]:
            with self.subTest(text), self.assertRaisesRegex(settings.Problem, part):
                roster.read([self.put("r.csv", text)], {})
        same = roster.read([self.put("r.csv", "id,name\nx,A\nx,B\n")], {})
        self.assertEqual(len(same.students), 1, "the same id is the same person")
        with self.assertRaisesRegex(settings.Problem, "contradict"):
            roster.read(
                [self.put("1.csv", "id,email\na,a@x\nb,b@x\n"), self.put("2.csv", "id,email\na,b@x\n")], {}
            )
        with self.assertRaisesRegex(settings.Problem, "can't be read"):
            roster.read([self.folder / "none.csv"], {})


class Desk(InFolder):
    """A small class: the same kinds of trouble as in a term. Made once; each test has a copy."""

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(prefix="desk-")
        cls.addClassCleanup(made.cleanup)
        cls.made = make_term.Term(pathlib.Path(made.name) / "term.graded", 18)

    def setUp(self):
        super().setUp()
        self.term = copy.copy(self.made)
        self.term.folder = self.folder / "term.graded"
        self.term.folder.mkdir()
        for path in self.made.folder.iterdir():
            if path.is_dir():  # results and sources: nobody writes there
                os.symlink(path, self.term.folder / path.name)
            else:
                shutil.copy(path, self.term.folder)
        catalogue = self.put("catalogue.json", json.dumps(self.term.table))
        self.environment = in_folder.stand_in(self.folder, FAKE_CATALOGUE=str(catalogue))

    def desk(self, *words, code=0):
        ended, said = in_folder.run(desk.main, words, self.environment, self.folder)
        self.assertEqual(ended, code, said)
        self.assertNotIn("Traceback", said)
        return said

    def sql(self, text, *values):
        return in_folder.sql(self.term.folder, text, *values)

    def settings(self, more):
        with open(self.term.folder / "class.toml", "a", encoding="utf-8") as file:
            file.write(more)

    def test_every_command_of_help_and_guide_works(self):
        commands = []
        for text in (options.EPILOG, GUIDE):
            found = commands_of("class", text)
            self.assertEqual({words.split()[0] for words in found}, set(desk.COMMANDS))
            commands += found
        for name in ("canvas.csv", "moodle.csv"):
            shutil.copy(self.term.folder / name, self.folder)
        for command in dict.fromkeys(commands):
            with self.subTest(command):
                if command.startswith("new "):
                    (self.term.folder / "class.toml").unlink()
                self.desk(*shlex.split(command))
        self.assertNotRegex(
            (self.term.folder / "final.csv").read_text(encoding="utf-8"),
            r"\.\.|\.;",
            "notes have one full stop",
        )

    def test_a_new_class_toml_is_valid_and_is_not_overwritten(self):
        self.assertIn("is there already", self.desk("new", "term.graded", code=1))
        (self.term.folder / "class.toml").unlink()
        self.assertIn("18 students", self.desk("new", "term.graded", "--roster", "term.graded/moodle.csv"))
        (self.term.folder / "class.toml").unlink()
        said = self.desk("new", "term.graded", "--roster", "term.graded/canvas.csv", "term.graded/moodle.csv")
        self.assertIn("18 students", said, "each is in both tables")
        text = (self.term.folder / "class.toml").read_text()
        every_example = re.sub(r"^# (?=[\[a-z\"])", "", text, flags=re.M).replace("[labs.LAB", "[labs.scan")
        got = settings.parse(self.folder, tomllib.loads(every_example))
        for name in ("labs", "groups", "aliases", "extensions", "excused", "overrides"):
            self.assertTrue(getattr(got, name), name)
        self.desk("grades", "term.graded")

    def test_a_class_is_checked_before_anything_is_graded(self):
        self.put("new/people.csv", "id,name\na,A\nb,B\n")
        self.desk("new", "new", "--roster", "new/people.csv")
        text = (self.folder / "new/class.toml").read_text()
        self.put("new/class.toml", text.replace("# [labs.scan]\n# due", "[labs.scan]\ndue"))
        said = self.desk("grades", "new", code=1)
        self.assertIn("no mistake: 2 students, 1 labs with a due date", said)
        self.assertIn("./lab grade-all FOLDER --out new", said)
        self.put("new/class.toml", text.replace("# [labs.scan]\n# due", "[labs.scna]\ndue"))
        self.assertIn("Did you mean scan?", self.desk("grades", "new", code=1))

    def test_unknown_people_and_labs_are_listed(self):
        self.settings('[[overrides]]\nstudent = "nobody"\nlab = "scan"\npoints = 1\nreason = "x"\n')
        said = self.desk("grades", "term.graded")
        self.assertIn("overrides: nobody is not in the roster", said)

    def test_a_lab_that_does_not_exist_is_refused(self):
        self.desk("grades", "term.graded")
        before = make_term.finals(self.term.folder)
        text = (self.term.folder / "class.toml").read_text()
        for more in (
            "[labs.reductoin]\ndue = 2026-10-05T23:59:00\n",
            '[[overrides]]\nstudent = "s001"\nlab = "reductoin"\npoints = 1\nreason = "x"\n',
            '[groups]\nred = { members = ["s001"], labs = ["reductoin"] }\n',
            '[[extensions]]\nstudent = "s001"\nlab = "reductoin"\ndays = 1\n',
            '[[excused]]\nstudent = "s001"\nlab = "reductoin"\nreason = "x"\n',
        ):
            with self.subTest(more):
                self.put(
                    "term.graded/class.toml",
                    (text if "[groups]" not in more else text.partition("[groups]")[0]) + more,
                )
                said = self.desk("grades", "term.graded", code=1)
                self.assertRegex(said, r'there is no lab "reductoin". Did you mean reduction\?')
        self.assertEqual(make_term.finals(self.term.folder), before, "nobody's grade has changed")

    def someone_without_submissions(self):
        """One student more in the roster, and in Canvas's gradebook."""
        self.put("term.graded/extra.csv", "id,name,email,section\nquiet,Quiet One,quiet@x.org,\n")
        self.edit(('"canvas.csv"', '"extra.csv", "canvas.csv"'))
        with open(self.term.folder / "canvas.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        rows.append([{"Student": "One, Quiet", "SIS User ID": "quiet"}.get(head, "") for head in rows[0]])
        with open(self.folder / "canvas.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        return "quiet"

    def test_a_lab_that_is_not_due_yet_is_empty_and_not_zero(self):
        student = self.someone_without_submissions()
        self.desk("grades", "term.graded")
        later = (datetime.datetime.now() + datetime.timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S")
        self.edit((r"(\[labs.scan\]\ndue = )\S+", rf"\g<1>{later}"))
        self.desk("export", "term.graded", "--csv", "out.csv", "--moodle", "m.csv")
        row = rows_of(self.folder / "out.csv", "id")[student]
        self.assertEqual((row["scan"], row["scan bonus"], row["scan status"]), ("", "", "not due"))
        others = [row[lab] for lab in make_term.LABS if lab != "scan"]
        if "" not in others:
            self.assertEqual(float(row["total"]), sum(map(float, others)))

    def test_a_lab_that_nobody_has_graded_is_empty(self):
        self.sql("DELETE FROM received WHERE lab = 'compaction'")
        self.assertIn(
            "nobody's submissions of compaction have been graded", self.desk("grades", "term.graded")
        )
        for one in self.term.students:
            final = self.final(one["id"], "compaction")
            if final["status"] not in ("override", "excused"):
                self.assertEqual((final["status"], final["points"]), ("not graded", None))

    def test_until_late_days_are_over_nothing_is_missing(self):
        student = self.someone_without_submissions()
        self.desk("grades", "term.graded")
        earlier = (datetime.datetime.now() - datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S")
        self.edit(
            (r"(\[labs.scan\]\ndue = )\S+", rf"\g<1>{earlier}"), (r"(?<=\n)slip_days = \d", "slip_days = 0")
        )
        for days, status in ((3, "not due"), (0, "missing")):
            self.edit((r"most_days = \d+", f"most_days = {days}"))
            self.desk("grades", "term.graded")
            self.assertEqual(self.final(student, "scan")["status"], status)

    def test_the_bonus_is_separate_added_or_capped(self):
        text = (self.term.folder / "class.toml").read_text()
        finals = {}
        for rule in ("separate", "added", "capped"):
            self.put("term.graded/class.toml", f'bonus = "{rule}"\n' + text)
            self.desk("export", "term.graded", "--csv", "out.csv", "--moodle", "m.csv")
            finals[rule] = make_term.finals(self.term.folder)
            heads = (self.folder / "m.csv").read_text(encoding="utf-8").splitlines()[0]
            self.assertEqual("bonus" in heads, rule == "separate")
        n_bonus = 0
        for student, labs in finals["separate"].items():
            for lab, one in labs.items():
                if one["status"] != "graded" or one["points"] is None:
                    continue
                added, capped = finals["added"][student][lab], finals["capped"][student][lab]
                if {added["submission"], capped["submission"]} != {one["submission"]}:
                    continue  # another one is the best then
                n_bonus += one["bonus"] > 0
                self.assertEqual((added["points"], added["bonus"]), (one["points"] + one["bonus"], 0))
                self.assertEqual(capped["points"], min(one["points"] + one["bonus"], one["max_points"]))
        self.assertGreater(n_bonus, 0)

    def final(self, student, lab):
        return make_term.finals(self.term.folder)[student][lab]

    def edit(self, *changes):
        """Of class.toml."""
        text = (self.term.folder / "class.toml").read_text()
        for pattern, replacement in changes:
            text, n = re.subn(pattern, replacement, text, count=1)
            self.assertEqual(n, 1, pattern)
        self.put("term.graded/class.toml", text)

    def test_a_lab_without_due_date_is_never_missing(self):
        student = self.someone_without_submissions()
        self.edit((r"(\[labs.scan\]\n)due = \S+\n", r"\1"))
        self.assertIn("scan has no due date", self.desk("grades", "term.graded"))
        self.assertEqual(
            (self.final(student, "scan")["status"], self.final(student, "scan")["points"]), ("not due", None)
        )

    def test_a_bonus_set_by_hand_follows_the_rule(self):
        self.settings(
            '[[overrides]]\nstudent = "s003"\nlab = "scan"\npoints = 60\nbonus = 50\nreason = "x"\n'
        )
        text = (self.term.folder / "class.toml").read_text()
        for rule, right in (("separate", (60, 50)), ("added", (110, 0)), ("capped", (100, 0))):
            self.put("term.graded/class.toml", f'bonus = "{rule}"\n' + text)
            self.desk("grades", "term.graded")
            got = self.final("s003", "scan")
            most = got["max_points"]
            self.assertEqual(
                (got["points"], got["bonus"]), right if rule != "capped" else (min(110, most), 0)
            )

    def test_who_came_late_is_excused_from_past_labs_by_one_entry(self):
        student = self.someone_without_submissions()
        before = make_term.DUE["compaction"].strftime("%Y-%m-%dT%H:%M:%SZ")
        self.settings(f'[[excused]]\nstudent = "{student}"\nbefore = {before}\n')
        self.desk("export", "term.graded", "--csv", "out.csv", "--gradescope", "g.csv")
        found = {lab: self.final(student, lab)["status"] for lab in make_term.LABS}
        self.assertEqual(
            found, dict(zip(make_term.LABS, ("excused", "excused", "missing", "missing", "missing")))
        )
        after = (max(make_term.DUE.values()) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.edit((before, after))
        self.desk("export", "term.graded", "--csv", "out.csv", "--gradescope", "g.csv")
        for name, key, columns in (
            ("out.csv", "id", ("total", "bonus")),
            ("g.csv", "SID", ("Total", "Total bonus")),
        ):
            row = rows_of(self.folder / name, key)[student]
            self.assertEqual(
                [row[column] for column in columns], ["", ""], "nothing counts, and that is no 0"
            )

    def test_a_partial_class_says_so(self):
        self.sql("INSERT INTO about VALUES ('task', 'plain')")
        for command in (("grades",), ("export", "--csv", "out.csv"), ("feedback", "--out", "feedback")):
            said = self.desk(command[0], "term.graded", *command[1:], code=1)
            self.assertIn("scan (partial: 1 of 3 tasks)", said)
        self.assertFalse((self.folder / "out.csv").exists())
        self.assertEqual(self.sql("SELECT * FROM finals"), [])
        shutil.copy(self.term.folder / "canvas.csv", self.folder / "canvas.csv")
        tables = ("--csv", "out.csv", "--moodle", "m.csv", "--gradescope", "g.csv", "--canvas", "c.csv")
        self.desk("export", "term.graded", *tables, "--canvas-from", "canvas.csv", "--partial")
        self.desk("feedback", "term.graded", "--out", "feedback", "--partial")
        paths = [*map(self.folder.joinpath, tables[1::2]), self.folder / "feedback/s003/feedback.md"]
        for path in (*paths, self.term.folder / "final.csv"):
            self.assertIn("scan (partial: 1 of 3 tasks)", path.read_text(encoding="utf-8"), path)
        self.assertIn("scan (partial: 1 of 3 tasks)", self.desk("show", "term.graded"))

    def test_a_groups_folder_of_moodle_counts_for_its_members(self):
        self.settings('[groups]\n"Team Red" = ["s001", "s002"]\n')
        self.sql("INSERT INTO students VALUES ('Team Red_4711', 'x')")
        names = "lab, sha256, refused, origin, note, late, submitted, received"
        best = "SELECT id FROM submissions WHERE lab = 'histogram' ORDER BY points DESC LIMIT 1"
        copied = f"SELECT 'Team Red_4711', {names} FROM received WHERE id = ({best})"
        self.sql(f"INSERT INTO received (student, {names}) {copied}")
        ((number,),) = self.sql("SELECT max(id) FROM received")
        self.edit((r"counts = .*", 'counts = "latest"'))
        self.sql("UPDATE received SET submitted = '2026-10-01T00:00:00Z' WHERE student <> 'Team Red_4711'")
        self.assertNotIn("Team Red_4711", self.desk("grades", "term.graded"))
        for student in ("s001", "s002"):
            self.assertEqual(self.final(student, "histogram")["submission"], number)

    def test_a_dry_run_writes_nothing(self):
        self.desk("grades", "term.graded")
        self.settings('[[overrides]]\nstudent = "s003"\nlab = "scan"\npoints = 1.5\nreason = "talk"\n')
        files = {path: path.read_bytes() for path in self.term.folder.iterdir() if path.is_file()}
        said = self.desk("grades", "term.graded", "--dry-run")
        self.assertRegex(said, r"s003 .*scan: .* → 1.5")
        n_moved = re.search(r"Grades that would move: ([1-9])", said)[1]
        self.assertEqual(
            files, {path: path.read_bytes() for path in self.term.folder.iterdir() if path.is_file()}
        )
        self.assertIn(f"Grades moved: {n_moved}", self.desk("grades", "term.graded"))

    def test_who_submitted_no_usable_file_did_submit(self):
        student = self.someone_without_submissions()
        self.desk("grades", "term.graded")
        nothing = re.compile(r"^reduction +\d+ +\d+ +\d+ +\d+ +(\d+) +(\d+)", re.M)
        before = nothing.search(self.desk("show", "term.graded"))
        values = (student, "reduction", "", "", "Nothing for this lab was found in quiet.docx", "", 0)
        self.sql("INSERT INTO students VALUES (?, ?)", student, student)
        self.sql(f"INSERT INTO received VALUES (NULL, {'?, ' * 7} '2026-10-01', '2026-10-01')", *values)
        after = nothing.search(self.desk("show", "term.graded"))
        self.assertEqual(int(after[1]), int(before[1]) - 1)
        self.assertEqual(int(after[2]), int(before[2]) + 1)

    def test_texts_of_students_are_harmless(self):
        self.put("term.graded/evil.csv", f'id,name,email,section\nevil,"{HOSTILE}",=1+1@x,\n')
        self.edit(('"canvas.csv"', '"evil.csv", "canvas.csv"'))
        self.desk("export", "term.graded", "--csv", "out.csv")
        self.assertNotRegex((self.folder / "out.csv").read_text(), r"(?m)(^|,)\"?=")
        self.desk("feedback", "term.graded", "--out", "feedback")
        self.assertNotRegex((self.folder / "feedback/evil/feedback.md").read_text(), r"(?<!\\)<script")
        self.assertNotIn("\x1b", self.desk("show", "term.graded"))

    def canvas_import(self, path, assignments):
        """As Canvas's importer reads a file (its help page on importing grades, and the code of its gradebook
        importer): grades by Canvas's id and column, and the assignments that it would create."""
        data = path.read_bytes()
        lines = data.decode("utf-8-sig").splitlines()
        delimiter = max(",;", key="".join(lines[:2]).count)
        heads, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
        names = ["LastName", "FirstName"] if heads[0] == "LastName" else ["Student"]
        fixed = {*names, "ID", "SIS User ID", "SIS Login ID", "Section"}
        self.assertEqual(heads[: len(names) + 1], [*names, "ID"])
        columns = [head for head in heads if head not in fixed]
        self.assertEqual(len(set(heads)), len(heads))
        grades = {}
        for row in rows:
            self.assertEqual(len(row), len(heads))
            about = dict(zip(heads, row))
            if "Points Possible" in row[0]:
                self.assertTrue(all(re.fullmatch(r"[\d.]+", about[column]) for column in columns))
                continue
            for column in columns:
                value = re.sub(r"[,.](?=.*[,.])", "", about[column]).replace(",", ".")
                grades[about["ID"], column] = value if value in ("", "EX") else float(value)
        return grades, [column for column in columns if column not in assignments]

    def test_canvas_imports_what_was_exported(self):
        heads = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1 (4711)", "Current Score"]
        people = [
            ["Lovelace, Ada", "1001", "s003", "user003@uni.example", "A", "", "90"],
            ['O"Neil; Müller, Zoë', "1002", "s004", "", "A", "", ""],
            ["Student, Test", "1099", "", "x", "", "", ""],
        ]
        in_two = [[*row[0].split(", "), *row[1:]] for row in people]
        tables = {
            "comma": (",", heads, people),
            "semicolon": (";", heads, people),
            "two names": (";", ["LastName", "FirstName", *heads[1:]], in_two),
            "no SIS": (",", [heads[0], heads[1], *heads[4:]], [[row[0], row[1], *row[4:]] for row in people]),
        }
        self.edit((r"(\[labs.reduction\]\n)", r'\1column = "Lab 1 (4711)"\n'))
        self.settings('[[excused]]\nstudent = "s003"\nlab = "scan"\nreason = "ill"\n')
        for name, (delimiter, head, rows) in tables.items():
            with self.subTest(name):
                with open(self.folder / "from.csv", "w", encoding="utf-8-sig", newline="") as file:
                    blank = [""] * (len(head) - 1)
                    csv.writer(file, delimiter=delimiter).writerows(
                        [head, ["    Points Possible", *blank], *rows]
                    )
                if name == "no SIS":  # then Canvas's number has to be in a roster
                    self.put("term.graded/ids.csv", "id,name,login\ns003,,1001\ns004,,1002\n")
                    self.edit((r"roster = \[", 'roster = ["ids.csv", '))
                self.desk("export", "term.graded", "--canvas", "to.csv", "--canvas-from", "from.csv")
                row = rows_of(self.term.folder / "final.csv", "id")["s003"]
                self.assertEqual((row["scan"], row["scan status"]), ("", "excused"))
                self.assertIn("excused: ill", row["notes"])
                grades, created = self.canvas_import(self.folder / "to.csv", ["Lab 1 (4711)"])
                self.assertEqual(created, [lab for lab in make_term.LABS if lab != "reduction"])
                self.assertEqual({student for student, _ in grades}, {"1001", "1002"})
                for number, student in (("1001", "s003"), ("1002", "s004")):
                    for lab in make_term.LABS:
                        final = self.final(student, lab)
                        known = "" if final["points"] is None else final["points"]
                        right = "EX" if final["status"] == "excused" else known
                        self.assertEqual(grades[number, "Lab 1 (4711)" if lab == "reduction" else lab], right)

    def test_moodle_and_gradescope_import_what_was_exported(self):
        self.desk("export", "term.graded", "--moodle", "m.csv", "--gradescope", "g.csv")
        for name, key, needed in (
            ("m.csv", "ID number", {"ID number", "Email address"}),
            ("g.csv", "SID", {"First Name", "Last Name", "SID", "Email"}),
        ):
            rows = rows_of(self.folder / name, key)
            self.assertEqual(len(rows), len(self.term.students))
            for one in self.term.students:
                row = rows[one["id"]]
                self.assertLessEqual(needed, set(row))
                if name == "g.csv":
                    self.assertEqual((row["First Name"], row["Last Name"]), (one["first"], one["last"]))
                for lab in make_term.LABS:
                    self.assertRegex(
                        row[lab], r"^(\d+(\.\d{1,2})?)?$", "a number that every locale reads, or nothing"
                    )

    def test_the_page_works_while_a_batch_runs(self):
        import fcntl

        with open(self.term.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("A batch is running", self.desk("show", "term.graded"))
            self.assertIn("A batch is running", self.desk("grades", "term.graded"))
        self.assertIn("No batch is running", self.desk("show", "term.graded"))

    def test_wrong_usage_says_what_is_right(self):
        self.assertIn("Run ./lab grade-all first", self.desk("grades", "nothing", code=1))
        self.assertIn("--canvas-from", self.desk("export", "term.graded", "--canvas", "x.csv", code=1))
        self.assertIn("Name a table", self.desk("export", "term.graded", code=1))
        other = "export term.graded --canvas x.csv --canvas-from term.graded/moodle.csv"
        self.assertIn("not Canvas's gradebook", self.desk(*other.split(), code=1))


if __name__ == "__main__":
    unittest.main()
