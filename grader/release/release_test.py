#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab release and ./lab gradescope, on this checkout and on changed copies of it.

usage: release_test.py ROOT [PART]       PART: one of PARTS; without it, everything else
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "grader/release"))
import edition_files
import given
import leaks
import release
import update

LABS = release.labs_of(ROOT)
SECRETS = leaks.secrets(ROOT)
PLAIN = [] if shutil.which("git") else ["--no-git"]  # an edition without a history


def run(tool, *arguments, root=ROOT, **environment):
    return subprocess.run(
        [sys.executable, "-B", root / tool, root, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


def configured(folder, build):
    """What Meson says of it. Skips where its programs are not on PATH, as they are in the suite."""
    if not shutil.which("meson") or not shutil.which("nvcc"):
        raise unittest.SkipTest("no meson or no nvcc on PATH")
    return subprocess.run(["meson", "setup", build, folder], capture_output=True, text=True)


def empty_panels(name, text):
    """Panels without content, quotations that were not taken over, and words that stand for what was left
    out."""
    for panel in re.findall(r"^ *```.*?^ *```$", text, re.S | re.M):
        if (
            not [
                line
                for line in panel.splitlines()[1:-1]
                if line.strip() and not re.match(r"\$ |recorded from ", line)
            ]
            and "$ " not in panel
        ):
            yield f"{name}: a panel shows nothing: {panel!r}"
    patterns = {
        r"<details><summary>[^\n]*</summary>\s*</details>": "nothing to unfold",
        r"<!-- (?:end )?quote\b": "a quotation's mark",
        r"<!-- (?:end )?instructors": "a mark of the instructors' parts",
        r"[Yy]our own kernel shows|instructor.s edition": "a promise in place of a panel",
        r"^(#+) [^\n]*\n(?=\1 |\Z)": "a heading without text",
        r"^[^\n|<#`]*:\n(?=#|\Z)": "an announcement of nothing",
    }
    prose = re.sub(r"^ *```.*?^ *```$", "a panel", text, flags=re.S | re.M).replace("\n\n", "\n")
    for pattern, what in patterns.items():
        for found in re.finditer(pattern, prose, re.M):
            yield f"{name}: {what}: {found[0]!r}"


def commands_of(text):
    """Every ./lab command of a text with its line, in code, in comments or in prose."""
    for line in text.splitlines():
        for found in re.finditer(r"\./lab ([a-z][a-z-]*)((?: +[^\s`|#,;)]+)*)", line):
            words = re.split(r"\s{2,}| && ", found[2].strip())[0] if not found[2].startswith("  ") else ""
            yield [found[1], *words.split()], line.strip()


def commands_in(edition):
    """What an edition's ./lab knows: its own commands but those of files that are not there, and labcli's."""
    script = (edition / "lab").read_text()
    own = set(re.findall(r"^  ([a-z][a-z-]*)(?: \| [^)]*)?\)(?= |$)", script, re.M))
    missing = {
        m[1]
        for m in re.finditer(r"^  ([a-z-]+)\) .*course_tool \w+ (\S+)", script, re.M)
        if not (edition / m[2]).is_file()
    }
    built = {
        name.replace("_", "-")
        for name in re.findall(r"\badd_(\w+)", (edition / "grader/cli/commands.hpp").read_text())
    }
    return (own | built) - missing


def impossible(edition, known, tasks, page, words, line):
    """Why a student with the edition alone can't give a command."""
    command, *rest = words
    if command not in known:
        yield f"{page}: there is no command {command}: {line}"
    if "--solutions" in rest:
        yield f"{page}: there are no solutions: {line}"
    if (
        command == "sanitize"
        and rest
        and "/" in rest[0]
        and rest[0].endswith(".cu")
        and not (edition / rest[0]).is_file()
    ):
        yield f"{page}: there is no {rest[0]}: {line}"
    if command in ("trace", "profile", "check", "grade") and rest and rest[0] in tasks:
        named = (
            rest[rest.index("--task") + 1 :][:1]
            if "--task" in rest
            else rest[1:2]
            if command in ("trace", "profile")
            else []
        )
        for task in named:
            if not re.search(r"[A-Z<\[…-]", task) and task not in tasks[rest[0]]:
                yield f"{page}: {rest[0]} has no task {task}: {line}"
    if command == "test" and rest and re.match(r"[a-z']", rest[0]) and rest[0] not in tasks:
        yield f"{page}: the project's tests are not there: {line}"


def dead_references(left_out, page, text):
    """Files of the course, by path or name, that a text speaks of and the edition lacks."""
    folders = {os.path.dirname(name) for name in left_out}
    pages = {
        os.path.basename(name) for name in left_out if name.startswith("handouts/") and name.endswith(".md")
    } - NAMES
    for path in re.findall(r"(?<![\w/.])[\w.-]+(?:/[\w.-]+)+/?", text):
        path = path.rstrip("/.")
        if (
            path in left_out
            or re.match(r"(build/)?(solutions|grader/(mutants|hostile|gradescope|release))\b", path)
            or (path in folders - {""} and not (FOLDERS & {path}))
        ):
            yield f"{page}: {path}"
    for name in pages:
        if re.search(rf"(?<![\w/-]){re.escape(name)}|\b{name.removesuffix('.md').replace('-', ' ')}\b", text):
            yield f"{page}: {name}"


FOLDERS = {os.path.dirname(name) for name in edition_files.released_files(ROOT)}
NAMES = {
    os.path.basename(name) for name in edition_files.released_files(ROOT)
}  # of which there may be others that stay behind


class Readers(unittest.TestCase):
    """What the searches of Edition must find, and must not."""

    def test_empty_panels(self):
        for text in [
            "```\n```",
            "```\nrecorded from a run\n```",
            "*(Your own kernel shows this: `x`.)*",
            "<details><summary>a</summary>\n\n</details>",
            "# A\n# B\nb",
            "See:\n\n# B\nb",
        ]:
            self.assertTrue(list(empty_panels("page", text)), text)
        for text in [
            "```\nx\n```",
            "```cuda\n# x\n# y\n```",
            "# A\n## B\nb",
            "See:\n\n```\nx\n```",
            "<details><summary>a</summary>\n\nb\n</details>",
        ]:
            self.assertEqual(list(empty_panels("page", text)), [], text)

    def test_impossible_commands(self):
        def found(text):
            return [
                c
                for words, line in commands_of(text)
                for c in impossible(
                    ROOT, {"grade", "trace", "test", "sanitize"}, {"scan": {"blelloch"}}, "page", words, line
                )
            ]

        for text in [
            "`./lab release DIR`",
            "`./lab trace scan blelloch --solutions`",
            "$ ./lab trace scan compact",
            "`./lab grade scan --task compact`",
            "`./lab test 'links'`",
            "`./lab sanitize no/such.cu`",
        ]:
            self.assertEqual(len(found(text)), 1, text)
        for text in [
            "`./lab trace scan blelloch --n 8`",
            "./lab grade scan    grades all",
            "./lab test     # what is there",
            "./lab test scan --gtest_filter='blelloch.*'",
            "`./lab trace LAB TASK`",
            "`./lab sanitize program.cu`",
        ]:
            self.assertEqual(found(text), [], text)

    def test_dead_references(self):
        left_out = {"solutions/scan/scan.cu", "handouts/top-rungs.md", "common/tools/checks/lint.sh"}
        for text in [
            "`solutions/scan/scan.cu`",
            "see solutions/device",
            "the top rungs",
            "[x](top-rungs.md)",
            "`common/tools/checks/lint.sh`",
            "grader/mutants/",
        ]:
            self.assertTrue(list(dead_references(left_out, "page", text)), text)
        for text in ["labs/scan/scan.cu", "and/or", "common/tools"]:
            self.assertEqual(list(dead_references(left_out, "page", text)), [], text)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()


class EditionTests:
    """What holds in every edition of this very checkout."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name) / "edition"
        done = run("grader/release/release.py", cls.out, *cls.OPTIONS)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self):
        return [p for p in self.out.rglob("*") if p.is_file() and ".git" not in p.relative_to(self.out).parts]

    # Once more, and not with release.py's own search: no secret line is a line of any file, a lonely
    # quotation or cell included.
    def test_no_line_of_a_solution_stands_anywhere(self):
        self.assertGreater(len(SECRETS), 1000)
        for path in self.files():
            meant = leaks.MEANT.get(path.relative_to(self.out).as_posix(), ())
            for line in path.read_text(encoding="latin-1").splitlines():
                bare = re.sub(r"\s+", "", re.sub(r"^[\s>|`*-]*|[\s|`]*$", "", line))
                self.assertFalse(bare in SECRETS and bare not in meant, f"{path}: {line}")

    def test_instructors_files_stay_behind(self):
        names = {p.relative_to(self.out).as_posix() for p in self.files()}
        for name in names:
            self.assertFalse(
                name.startswith(
                    (
                        "solutions/",
                        "grader/mutants/",
                        "grader/hostile/",
                        "grader/release/",
                        "grader/gradescope/",
                        "handouts/instructor",
                    )
                ),
                name,
            )
            self.assertFalse("_test." in name and not name.startswith("labs/"), name)
        self.assertNotIn("grader/batch/grade_all.py", names)
        for lab in self.LABS:
            for name in [f"labs/{lab}/lab.hpp", f"labs/{lab}/{lab}.cu", f"labs/{lab}/{lab}_test.cpp"]:
                self.assertIn(name, names)

    def test_labs_start_from_the_skeleton(self):
        for lab in self.LABS:
            skeleton = leaks.skeleton((ROOT / f"solutions/{lab}/{lab}.cu").read_text())
            self.assertEqual((self.out / f"labs/{lab}/{lab}.cu").read_text(), skeleton)

    def test_readme_is_its_own_and_names_every_lab(self):
        text = (self.out / "README.md").read_text()
        self.assertNotIn("@LABS@", text)
        self.assertNotIn("--solutions    #", text)
        for lab in self.LABS:
            self.assertIn(f"`labs/{lab}/{lab}.cu`", text)

    def test_links_lead_somewhere(self):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "handouts/scripts/links_test.py", self.out],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def pages(self):
        """{path: text} of what students read: handouts, the README, headers and skeletons."""
        names = ["*.md", "handouts/*.md", "labs/*/*.hpp", "labs/*/*.cu", "labs/*/*.cpp"]
        return {
            p.relative_to(self.out).as_posix(): p.read_text()
            for name in names
            for p in sorted(self.out.glob(name))
        }

    def test_no_panel_is_empty(self):
        pages = {name: text for name, text in self.pages().items() if name.endswith(".md")}
        self.assertGreater(sum(text.count("```") for text in pages.values()), 100)
        self.assertEqual(
            [complaint for name, text in pages.items() for complaint in empty_panels(name, text)], []
        )

    def test_every_command_is_possible(self):
        commands = [(name, *command) for name, text in self.pages().items() for command in commands_of(text)]
        self.assertGreater(len(commands), 50)
        known = commands_in(self.out)
        tasks = {
            lab: set(re.findall(r"case Rung::(\w+):", (self.out / f"labs/{lab}/{lab}.cu").read_text()))
            for lab in ["demo", *self.LABS]
        }
        self.assertEqual(
            [
                c
                for name, words, line in commands
                for c in impossible(self.out, known, tasks, name, words, line)
            ],
            [],
        )

    def test_pages_keep_what_speaks_of_no_file(self):
        rules = (self.out / "handouts/rules.md").read_text()
        self.assertIn("`/tmp` of its own", rules)
        self.assertEqual([name for name, text in self.pages().items() if not text.endswith("\n")], [])

    def test_no_reference_is_dead(self):
        left_out = {*edition_files.files_of(ROOT)} - {
            p.relative_to(self.out).as_posix() for p in self.files()
        }
        self.assertEqual(
            [c for name, text in self.pages().items() for c in dead_references(left_out, name, text)], []
        )

    def test_every_rung_is_explained(self):
        page = (self.out / "handouts/rungs.md").read_text()
        for lab in self.LABS:
            for task in re.findall(r"case Rung::(\w+):", (self.out / f"labs/{lab}/{lab}.cu").read_text()):
                part = page.partition(f'<a id="{lab}"></a>')[2].partition("<a id=")[0]
                said = re.search(rf"<code>{task}</code></summary>\n\n```text\n(.*?)\n```", part, re.S)
                self.assertTrue(said and re.search(r"^(Why|Changed)", said[1], re.M), f"{lab}, {task}")

    def test_the_build_misses_nothing(self):
        done = configured(self.out, pathlib.Path(self.folder.name) / "build")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_no_answer_of_the_instructors_stands_anywhere(self):
        pages = sorted((ROOT / "handouts/instructor").glob("[0-9]*.md"))
        # Functions of the solutions contain given lines; leaks.py searches for the others.
        functions = re.compile(r"^```(?:cuda|diff)\n.*?^```$", re.S | re.M)
        answers = {
            line
            for page in pages
            for line in functions.sub("", page.read_text()).splitlines()
            if len(line) > 60 and not line.startswith("#")
        }
        self.assertGreater(len(answers), 300)
        for path in self.files():
            self.assertFalse(answers & set(path.read_text(encoding="latin-1").splitlines()), path)


class Edition(EditionTests, unittest.TestCase):
    """Of all labs."""

    LABS, OPTIONS = LABS, PLAIN

    @unittest.skipIf(PLAIN, "no git here")
    def test_nor_in_its_history(self):
        log = subprocess.run(
            ["git", "-C", self.out, "log", "--all", "-p"], capture_output=True, text=True, errors="replace"
        ).stdout
        self.assertEqual(
            [
                line
                for line in leaks.shown(SECRETS, log)
                if not any(line in meant for meant in leaks.MEANT.values())
            ],
            [],
        )
        self.assertEqual(log.count("\ncommit ") + log.startswith("commit "), 1)

    def test_scripts_and_data_are_released_by_name_alone(self):
        for name in [
            "common/tools/anything.py",
            "common/tools/anything.tsv",
            "common/simulator/sim/conformance/anything.py",
            "grader/batch/anything.py",
            "grader/anything.json",
            "handouts/anything.py",
            "labs/reduction/anything.txt",
            "instructor/anything.md",
            "anything",
        ]:
            self.assertFalse(edition_files.is_released(name), name)
        self.assertTrue(edition_files.is_released("common/simulator/sim/anything.cpp"))

    def test_given_problems_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "mylab"
            made.mkdir()
            for file in (ROOT / "common/harness/template/lab").glob("*.[ch]pp"):
                (made / file.name).write_text(file.read_text().replace("LAB_ID", "mylab"))
            parts = [self.out / part for part in ("labs", "common", "common/harness", "common/simulator")]
            flags = ["-std=c++20", "-fsyntax-only", f"-I{folder}", *(f"-I{part}" for part in parts)]
            for file in (self.out / "labs/demo/problem.cpp", made / "problem.cpp"):
                done = subprocess.run(["g++", *flags, file], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_rungs_that_are_no_tasks_have_their_names(self):
        page = (self.out / "handouts/rungs.md").read_text()
        for lab, name in {"reduction": "reindexed", "scan": "global_rounds"}.items():
            if lab in self.LABS:
                self.assertIn(f"<summary>Rung 2: <code>{name}</code></summary>", page)

    def test_kernels_of_pages_are_programs(self):
        for file, prefix in {"errata": "erratum", "memory_model": "example"}.items():
            source = (self.out / f"common/simulator/sim/checkers/kernels/{file}.cu").read_text()
            launches = re.findall(
                rf"^// LAUNCH (\d+) (\d+)(?: n (\d+))?\nKERNEL\(({prefix}_(\d+)_\w+)\)", source, re.M
            )
            table = re.findall(r"\{(\d+), (\w+), (\d+), (\d+), (\d+)\}", source)
            self.assertGreater(len(table), 4)
            self.assertEqual(
                [(number, name, grid, block, n or "4096") for grid, block, n, name, number in launches], table
            )

    @unittest.skipIf(PLAIN, "no git here")
    def test_it_is_a_clean_repository(self):
        status = subprocess.run(
            ["git", "-C", self.out, "status", "--porcelain"], capture_output=True, text=True
        )
        self.assertEqual((status.returncode, status.stdout), (0, ""))

    def test_submissions_can_be_packed(self):
        done = subprocess.run(
            [sys.executable, "-B", self.out / "grader/batch/submit.py", "--help"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_demonstration_is_solved_and_not_submitted(self):
        self.assertNotIn("TODO", (self.out / "labs/demo/demo.cu").read_text())
        fake = pathlib.Path(self.folder.name) / "labcli"
        fake.write_text(
            "#!/bin/sh\necho '{}'\n".format(
                json.dumps({"labs": [{"id": lab} for lab in ["demo", *self.LABS]]})
            )
        )
        fake.chmod(0o755)
        code = "import sys; sys.path.insert(0, sys.argv[1]); import submit; print(*submit.labs_here(sys.argv[2], []))"
        done = subprocess.run(
            [sys.executable, "-B", "-c", code, self.out / "grader/batch", fake],
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.stdout.split(), done.stderr), (self.LABS, ""))

    def test_programs_stay_programs(self):
        for name in ["lab", ".github/grade.sh"]:
            self.assertTrue((self.out / name).stat().st_mode & 0o100, name)

    def test_workflows_name_files_that_are_there(self):
        for name in [".github/workflows/grade.yml", ".gitlab-ci.yml"]:
            text = (self.out / name).read_text()
            self.assertIn(".github/grade.sh", text)
            for path in re.findall(r"(?<=[\[ '])(?:common|labs|grader)/[\w./*-]+", text):
                self.assertTrue(list(self.out.glob(path)), f"{name}: {path}")


class EditionOfSomeLabs(EditionTests, unittest.TestCase):
    """In a plain folder, of a course in its seventh week, and what is not there yet."""

    LABS = ["reduction", "scan", "compaction", "radix_sort"]
    OPTIONS = ["--labs", "radix_sort,compaction,scan,reduction", "--closed", "scan,compaction", "--no-git"]

    def test_a_plain_folder_on_request(self):
        self.assertFalse((self.out / ".git").exists())
        # which is no course to make editions of
        done = subprocess.run(
            [self.out / "lab", "release", self.out / "again"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("student edition", done.stderr)

    def test_other_labs_are_held_back(self):
        names = {p.relative_to(self.out).as_posix() for p in self.files()}
        held_back = set(LABS) - set(self.LABS)
        self.assertEqual(
            [
                name
                for name in names
                for lab in held_back
                if name.startswith(f"labs/{lab}") or name.endswith(f"-{lab.replace('_', '-')}.md")
            ],
            [],
        )
        self.assertEqual(release.labs_of(self.out), ["demo", *self.LABS])
        self.assertNotIn("05-histogram.md", (self.out / "handouts/meson.build").read_text())
        self.assertNotIn("handouts/figures/sat-corners.svg", names)
        self.assertIn("handouts/figures/radix-split.svg", names)


@unittest.skipIf(PLAIN, "no git here")
class Workflow(InFolder):
    """.github/grade.sh in a repository with a ./lab that notes what it was asked."""

    def setUp(self):
        super().setUp()
        self.repository = self.dir / "repository"
        for lab in ["scan", "sat"]:
            (self.repository / f"labs/{lab}").mkdir(parents=True)
            (self.repository / f"labs/{lab}/{lab}.cu").write_text("empty")
        (self.repository / ".github").mkdir()
        shutil.copy(ROOT / "grader/release/edition/.github/grade.sh", self.repository / ".github")
        (self.repository / "lab").write_text(
            '#!/bin/sh\n[ "$1" != report ] || echo points >summary.md\necho "$@" >>../asked\n'
        )
        (self.repository / "lab").chmod(0o755)
        self.git("init", "--quiet")
        self.first = self.commit("release")

    def git(self, *arguments):
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        return subprocess.run(
            ["git", "-C", self.repository, *who, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def asked(self, base="", *labs, **more):
        """What ./lab was asked to grade; None if it was not."""
        (self.dir / "asked").unlink(missing_ok=True)
        unset = ("GITHUB_STEP_SUMMARY", "ISOLATION")
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        environment = kept | {"BASE": base} | more
        done = subprocess.run(
            ["bash", self.repository / ".github/grade.sh", *labs],
            env=environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        log = (self.dir / "asked").read_text() if (self.dir / "asked").exists() else ""
        command = r"^grade (.*?) --device sim --graded --isolation (\S+) --json result\.json"
        graded = re.findall(command, log, re.M)
        self.assertEqual(not graded, "nothing to grade" in done.stdout)
        self.assertLessEqual({isolation for _, isolation in graded}, {more.get("ISOLATION", "limits")})
        return graded[0][0].split() if graded else None

    def test_without_an_answer_of_git_it_fails(self):
        """As in a container without git, or whose checkout belongs to another user."""
        shutil.rmtree(self.repository / ".git")
        done = subprocess.run(
            ["bash", self.repository / ".github/grade.sh"],
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.dir)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("nothing was graded", done.stderr)
        self.assertFalse((self.dir / "asked").exists())

    def test_grades_what_a_push_has_changed(self):
        self.assertIsNone(self.asked(self.first))
        (self.repository / "labs/scan/scan.cu").write_text("mine")
        (self.repository / "labs/sat/notes.md").write_text("of no lab's file")
        second = self.commit("scan")
        self.assertEqual(self.asked(self.first), ["scan"])
        self.assertIsNone(self.asked(second))
        (self.repository / "labs/sat/sat.cu").write_text("mine")
        self.commit("sat")
        self.assertEqual(self.asked(second), ["sat"])

    def test_without_a_push_before_all_that_was_started_counts(self):
        for lab in ["sat", "scan"]:
            (self.repository / f"labs/{lab}/{lab}.cu").write_text("mine")
            self.commit(lab)
        for base in ["", "0" * 40, "1234567"]:
            self.assertEqual(self.asked(base), ["sat", "scan"])

    def test_takes_labs_by_name(self):
        self.assertEqual(self.asked(self.first, "sat"), ["sat"])

    def test_asks_for_the_isolation_that_is_needed(self):
        self.assertEqual(self.asked(self.first, "sat", ISOLATION="namespaces"), ["sat"])

    def test_writes_a_summary_for_github_alone(self):
        (self.repository / "labs/scan/scan.cu").write_text("mine")
        self.commit("scan")
        self.asked(self.first, GITHUB_STEP_SUMMARY=str(self.dir / "summary"))
        self.assertEqual((self.dir / "summary").read_text(), "points\n")
        self.asked(self.first)
        self.assertNotRegex((self.dir / "asked").read_text(), "(?m)^report")


class Refusals(InFolder):
    def test_a_folder_with_something_in_it(self):
        (self.dir / "kept").write_text("mine")
        done = run("grader/release/release.py", self.dir)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not empty", done.stderr)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["kept"])

    def test_a_folder_where_git_is_missing(self):
        done = run("grader/release/release.py", ROOT / "handouts/edition", PATH="/nonexistent")
        self.assertIn("lies inside of the course", done.stderr)
        done = run("grader/release/release.py", self.dir, PATH="/nonexistent")
        self.assertIn("git is missing: install it, or take --no-git", done.stderr)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_folder_inside_of_the_course(self):
        done = run("grader/release/release.py", ROOT / "handouts/edition")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lies inside of the course", done.stderr)


class GivenCode(InFolder):
    """A lab whose given code answers a task of another one."""

    def test_every_answer_is_listed(self):
        self.assertEqual(given.undeclared(ROOT, LABS), [])

    def test_an_unlisted_answer_is_found(self):
        listed = given.ANSWERS.pop("histogram/block_sum")
        try:
            self.assertIn("block_sum is an answer of reduction", "\n".join(given.undeclared(ROOT, LABS)))
        finally:
            given.ANSWERS["histogram/block_sum"] = listed

    def test_a_new_labs_example_answers_nothing(self):
        read = given.texts
        example = (ROOT / "common/harness/template/solution/LAB_ID.cu").read_text(encoding="utf-8")
        given.texts = lambda root, labs: {**read(root, labs), "mylab": ("", given.asked(example))}
        try:
            self.assertEqual(given.undeclared(ROOT, [*LABS, "mylab"]), [])
        finally:
            given.texts = read

    def test_a_listed_function_that_is_gone_is_found(self):
        given.ANSWERS["histogram/no_such"] = ["scan"]
        try:
            self.assertIn("gives no function no_such", "\n".join(given.undeclared(ROOT, LABS)))
        finally:
            del given.ANSWERS["histogram/no_such"]

    def test_waits_until_the_other_lab_is_closed(self):
        done = run("grader/release/release.py", self.dir / "out", "--labs", "reduction,histogram", *PLAIN)
        self.assertEqual(done.returncode, 1)
        self.assertIn("histogram gives block_sum: an answer of reduction", done.stderr)
        self.assertIn("--closed reduction,scan,compaction,radix_sort", done.stderr)
        self.assertFalse((self.dir / "out").exists())

    def test_no_lab_by_that_name(self):
        for option in ["--labs", "--closed"]:
            done = run("grader/release/release.py", self.dir / "out", option, "reduktion", *PLAIN)
            self.assertIn('there is no lab "reduktion"', done.stderr)


@unittest.skipIf(PLAIN, "no git here")
class Update(InFolder):
    """--update of an edition, and of clones and copies of it that students have worked in; of a small course
    that changes."""

    def setUp(self):
        super().setUp()
        self.course = self.dir / "course"
        for lab in LABS:
            (self.course / f"labs/{lab}").mkdir(parents=True)
            for name in [f"{lab}.cu", "lab.hpp", "points.hpp"]:
                (self.course / f"labs/{lab}/{name}").write_text(
                    f"// of {lab}\n" + "a line\n" * 9 + "return not_implemented(job);\n" + "more\n" * 9
                )
        (self.course / "README.md").write_text("# Labs\n")
        patched = unittest.mock.patch.object(release, "made_in", self.made_in)
        patched.start()
        self.addCleanup(patched.stop)
        self.edition = self.dir / "edition"
        self.made_in(None, self.edition, ["reduction"], [])
        release.make_repository(self.edition, ["reduction"])

    def made_in(self, root, out, labs, closed, with_tools=False):
        """In place of release.py's, which reads the whole course."""
        for path in self.course.rglob("*"):
            name = path.relative_to(self.course)
            if path.is_file() and (name.parts[0] != "labs" or name.parts[1] in labs):
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, out / name)
        (out / release.RECORD).write_text(json.dumps({"labs": labs, "closed": closed}))
        return []

    def update(self, out, labs="", closed="", code=0):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                update.update(ROOT, out.resolve(), labs.split(), closed.split())
        except SystemExit as stopped:
            self.assertEqual(code, 1, stopped)
            return str(stopped)
        self.assertEqual(code, 0, said.getvalue())
        return said.getvalue()

    def git(self, *arguments, at=None):
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        return subprocess.run(
            ["git", "-C", at or self.edition, *who, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def change(self, name, old, new, at=None, commit=False):
        path = (at or self.course) / name
        self.assertIn(old, path.read_text())
        path.write_text(path.read_text().replace(old, new, 1))
        if commit:
            self.git("commit", "--quiet", "--all", "--message", "my work", at=at)

    def students(self, copy=False):
        """A student's clone, or copy without history, with work in it."""
        repository = self.dir / "student"
        self.git("clone", "--quiet", self.edition, repository)
        if copy:
            shutil.rmtree(repository / ".git")
            self.git("init", "--quiet", "--initial-branch=main", at=repository)
            self.git("add", "--all", at=repository)
            self.git("commit", "--quiet", "--message", "Initial commit", at=repository)
        self.change(
            "labs/reduction/reduction.cu",
            "return not_implemented(job);",
            "return my_own(job);",
            at=repository,
            commit=True,
        )
        return repository

    def test_adds_a_lab(self):
        self.assertIn("new: scan", self.update(self.edition, "scan"))
        self.assertEqual(
            json.loads((self.edition / release.RECORD).read_text())["labs"], ["reduction", "scan"]
        )
        self.assertTrue((self.edition / "labs/scan/scan.cu").is_file())
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.git("rev-list", "--count", "HEAD"), "2")
        self.assertIn("up to date.", self.update(self.edition))
        self.assertEqual(self.git("rev-list", "--count", "HEAD"), "2")

    def test_a_lab_that_shows_an_open_answer_waits(self):
        self.assertIn("an answer of scan", self.update(self.edition, "radix_sort", code=1))
        self.update(self.edition, "radix_sort", "scan compaction")
        self.update(self.edition, "sat")  # what is closed stays closed

    def test_work_stays_and_corrections_come(self):
        for copy in [False, True]:
            with self.subTest(copy=copy):
                student = self.students(copy)
                self.change("labs/reduction/lab.hpp", "// of", f"// Corrected {copy}.\n// of")
                self.change(
                    "labs/reduction/reduction.cu", "// of reduction", f"// of reduction. Corrected {copy}."
                )
                self.assertNotIn("both sides", self.update(student, "scan compaction"))
                text = (student / "labs/reduction/reduction.cu").read_text()
                self.assertIn("return my_own(job);", text)
                self.assertIn(f"Corrected {copy}.", text)
                self.assertIn(f"Corrected {copy}.", (student / "labs/reduction/lab.hpp").read_text())
                self.assertTrue((student / "labs/compaction/compaction.cu").is_file())
                self.change("labs/reduction/lab.hpp", "// of", "// Again.\n// of")
                self.update(student)
                self.assertIn("// Again.", (student / "labs/reduction/lab.hpp").read_text())
                self.assertIn("return my_own(job);", (student / "labs/reduction/reduction.cu").read_text())
                self.assertEqual(self.git("status", "--porcelain", at=student), "")
                shutil.rmtree(student)

    def test_a_clone_pulls_the_updated_edition(self):
        student = self.students()
        self.change("labs/reduction/lab.hpp", "// of", "// Corrected.\n// of")
        self.update(self.edition, "scan")
        # The command of the edition's README, as students type it: git has no settings, and both sides have
        # commits.
        words = re.search(r"`git (pull[^`]*)`", (ROOT / "grader/release/edition/README.md.in").read_text())[1]
        with unittest.mock.patch.dict(
            os.environ,
            {
                "HOME": str(self.dir),
                "XDG_CONFIG_HOME": str(self.dir),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_EDITOR": "false",
            },
        ):
            self.git(*words.split(), at=student)
        self.assertIn("// Corrected.", (student / "labs/reduction/lab.hpp").read_text())
        self.assertIn("return my_own(job);", (student / "labs/reduction/reduction.cu").read_text())
        self.assertTrue((student / "labs/scan/scan.cu").is_file())

    def test_a_conflict_is_named_and_nothing_is_lost(self):
        student = self.students()
        self.change("README.md", "# ", "# My ", at=student, commit=True)
        self.git("rm", "--quiet", "labs/reduction/points.hpp", at=student)
        self.git("commit", "--quiet", "--message", "not mine", at=student)
        mine = (student / "README.md").read_text()
        self.change("README.md", "# ", "# Corrected ")
        self.change("labs/reduction/points.hpp", "// of", "// Corrected.\n// of")
        self.change("labs/reduction/lab.hpp", "// of", "// Corrected.\n// of")
        said = self.update(student, "scan")
        self.assertEqual((student / "README.md").read_text(), mine)
        self.assertFalse((student / "labs/reduction/points.hpp").exists())
        self.assertIn("// Corrected.", (student / "labs/reduction/lab.hpp").read_text())
        self.assertTrue((student / "labs/scan/scan.cu").is_file())
        self.assertEqual(self.git("status", "--porcelain", at=student), "")
        for name in ["README.md", "labs/reduction/points.hpp"]:
            command = re.search(rf"{name}: both sides .*: git (diff \w+ \w+ -- {name})", said)
            self.assertIn("Corrected", self.git(*command[1].split(), at=student), name)

    def test_a_changed_list_of_labs_gets_the_new_ones(self):
        def course(*labs):
            (self.course / "meson.build").write_text(
                "labs = [\n" + "".join(f"  '{lab}',\n" for lab in labs) + "]\n"
            )

        course("reduction")
        self.update(self.edition)
        student = self.students()
        self.change("meson.build", "  'reduction',\n", "  'reduction',\n  'mine',\n", at=student, commit=True)
        course("reduction", "scan")
        self.update(student, "scan")
        self.assertEqual(release.labs_of(student), ["reduction", "mine", "scan"])
        self.assertEqual(self.git("status", "--porcelain", at=student), "")

    def test_an_edited_list_of_labs_is_completed_or_named(self):
        listed = "labs = [\n  'reduction',\n]\n"
        (self.course / "meson.build").write_text(listed)
        self.update(self.edition)
        (self.course / "meson.build").write_text("labs = [\n  'reduction',\n  'scan',\n]\n")
        for edited, completed in (
            ("labs = ['reduction']\n", True),
            ("labs=[ # mine\n  'reduction', ]\n", True),
            ("labs = [\n  'reduction' # mine\n]\n", True),
            ("labs = [\n  'reduction', # mine\n]\n", True),
            (listed + "# scan\n", True),
            ("all_labs = files()\n", False),
            ("", False),
        ):
            with self.subTest(edited):
                student = self.students()
                self.change("meson.build", listed, edited, at=student, commit=True)
                said = self.update(student, "scan")
                if completed:
                    built = re.sub(r"#.*", "", (student / "meson.build").read_text())
                    self.assertEqual(re.sub(r"\s|,(?=\s*\])", "", built), "labs=['reduction','scan']")
                    self.assertNotIn("no list of labs", said)
                else:
                    self.assertIn("it must name reduction, scan", said)
                self.assertEqual(self.git("status", "--porcelain", at=student), "")
                shutil.rmtree(student)

    def test_work_that_is_not_committed_is_not_touched(self):
        student = self.students()
        self.change("labs/reduction/reduction.cu", "return my_own(job);", "return better(job);", at=student)
        self.assertIn("not committed", self.update(student, "scan", code=1))
        self.git("checkout", "--quiet", ".", at=student)
        (student / "labs/scan").mkdir()
        (student / "labs/scan/scan.cu").write_text("mine")
        self.assertIn("nothing was changed", self.update(student, "scan", code=1))
        self.assertEqual((student / "labs/scan/scan.cu").read_text(), "mine")
        self.assertEqual(self.git("log", "-1", "--format=%s", at=student), "my work")

    def test_what_is_no_edition_is_refused(self):
        self.assertIn("not a git repository", self.update(self.dir / "nothing", code=1))
        other = self.dir / "other"
        self.git("init", "--quiet", other)
        self.git("commit", "--quiet", "--allow-empty", "--message", "x", at=other)
        self.assertIn("did not begin as an edition", self.update(other, code=1))


class Leaks(InFolder):
    def test_each_leak_of_a_copied_course_is_named_and_nothing_is_written(self):
        root = self.dir / "course"
        for name in edition_files.files_of(ROOT):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        solution = (root / "solutions/scan/scan.cu").read_text()
        line = next(
            line.strip()
            for line in solution.splitlines()
            if leaks.squeezed(line) in SECRETS and "//" not in line
        )
        middle = line.index(" ")
        mutant = next((root / "grader/mutants/scan").glob("*.mutant")).read_text()
        # The files with many lines have the last names: not all lines are named.
        planted = {
            "common/base/notes.md": f"broken: x {line[:middle]}\n      {line[middle:]} y\n",
            "handouts/02-scan.md": f"\n| line | `{line}` |\n",
            "handouts/example.md": mutant,
            "labs/sat/notes.md": f"hint:   {line}\n",
            "labs/sat/zzz.in": solution,
        }
        for name, text in planted.items():
            with open(root / name, "a", encoding="utf-8") as file:
                file.write(text)
        done = run("grader/release/release.py", self.dir / "out", *PLAIN, root=root)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(set(re.findall(r"^  (\S+): a line of ", done.stderr, re.M)), planted.keys())
        self.assertFalse((self.dir / "out").exists())


class Prebuilt(InFolder):
    """What is built, and for which files; the build itself is tried with common/tools/testing/try_fresh.sh."""

    def setUp(self):
        super().setUp()
        self.environment = unittest.mock.patch.dict(os.environ, LAB_BUILD=str(self.dir / "build"))
        self.environment.start()
        self.addCleanup(self.environment.stop)

    def tools(self, script):
        """The release's script is this one."""
        patched = unittest.mock.patch.object(release, "HERE", self.dir)
        patched.start()
        self.addCleanup(patched.stop)
        (self.dir / "prebuilt").mkdir(exist_ok=True)
        (self.dir / "prebuilt/make_tools.sh").write_text(script)

    def test_they_are_built_from_the_editions_files(self):
        self.tools('mkdir "$1/prebuilt" && (cd "$2/source" && find . -type f | sort) >"$1/prebuilt/list"')
        for names in [["a/x.hpp", "b.cpp"], ["a/y.hpp", "b.cpp"]]:
            edition = self.dir / names[0].replace("/", "")
            for name in names:
                (edition / name).parent.mkdir(parents=True, exist_ok=True)
                (edition / name).write_text(name)
            with contextlib.redirect_stdout(io.StringIO()):
                release.add_tools(edition)
            self.assertEqual((edition / "prebuilt/list").read_text().split(), [f"./{name}" for name in names])

    def test_the_processors_that_have_tools_are_named(self):
        tools = self.dir / "prebuilt"
        tools.mkdir()
        (tools / "x86_64.tar.gz").write_bytes(bytes(6_500_000))
        text = release.tools_in(self.dir)
        self.assertIn("for x86-64 (6.5 MB), on Linux with glibc 2.31", text)
        self.assertIn("None for arm64", text)
        self.assertIn("g++-aarch64-linux-gnu", text)
        (tools / "aarch64.tar.gz").write_bytes(bytes(6_000_000))
        self.assertIn("for x86-64 (6.5 MB) and arm64 (6.0 MB)", release.tools_in(self.dir))
        self.assertNotIn("None", release.tools_in(self.dir))

    def test_an_edition_without_its_tools_is_not_left(self):
        self.tools("echo the compiler is missing; exit 1")
        out = self.dir / "edition"
        with (
            unittest.mock.patch.object(release, "write_edition", lambda _, out, *rest: (out / "a").touch()),
            unittest.mock.patch.object(release.leaks, "find", lambda *_: []),
            self.assertRaisesRegex(SystemExit, "the compiler is missing"),
        ):
            release.made_in(ROOT, out, ["scan"], [], True)
        self.assertEqual(list(out.iterdir()), [])


class Gradescope(InFolder):
    def test_the_smallest_memory_limit_counts(self):
        sys.path.insert(0, str(ROOT / "grader/gradescope/files"))
        import grade_submission

        for groups, file in [
            ("4:memory:/box\n1:name=systemd:/\n", "memory/box/memory.limit_in_bytes"),
            ("4:memory:/docker/1f\n", "memory/memory.limit_in_bytes"),
            ("0::/box\n", "box/memory.max"),
            ("0::/\n", "memory.max"),
        ]:
            system = self.dir / file.replace("/", "_")
            for name, text in [
                ("proc/self/cgroup", groups),
                ("proc/meminfo", "MemTotal:    16000000 kB\n"),
                (f"sys/fs/cgroup/{file}", "805306368\n"),
            ]:
                (system / name).parent.mkdir(parents=True, exist_ok=True)
                (system / name).write_text(text)
            self.assertEqual(grade_submission.allowed_memory(system), 768 << 20, file)
            (system / f"sys/fs/cgroup/{file}").write_text("max\n")
            self.assertEqual(grade_submission.allowed_memory(system), 16_384_000_000, file)

    def test_the_package_holds_what_grading_needs_and_no_solution(self):
        out = self.dir / "autograder.zip"
        done = run("grader/gradescope/package.py", out, "scan", "sat")
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(out) as archive:
            archive.extractall(self.dir / "source")
            names = archive.namelist()
            self.assertEqual(archive.read("labs.txt"), b"scan\nsat\n")
            self.assertEqual(archive.read("minutes.txt"), b"9\n")
            self.assertEqual(archive.read("isolation.txt"), b"limits\n")
            for program in ["setup.sh", "run_autograder", "grade_submission.py", "course/lab"]:
                self.assertTrue(archive.getinfo(program).external_attr >> 16 & 0o100, program)
        # What the build asks for, whether it is built or not.
        for name in [
            "grader/batch/ingest.py",
            "grader/batch/source_text.py",
            "labs/scan/problem.cpp",
            "labs/scan/scan_test.cpp",
            "handouts/02-scan.md",
        ]:
            self.assertIn("course/" + name, names)
        self.assertFalse([name for name in names if "solutions/" in name or "mutants/" in name])
        self.assertEqual(leaks.find(SECRETS, self.dir / "source/course"), [])
        done = configured(self.dir / "source/course", self.dir / "build")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_the_same_course_gives_the_same_package(self):
        for name in ["a.zip", "b.zip"]:
            self.assertEqual(run("grader/gradescope/package.py", self.dir / name).returncode, 0)
        self.assertEqual((self.dir / "a.zip").read_bytes(), (self.dir / "b.zip").read_bytes())

    def test_refuses_what_is_no_lab_and_no_archive(self):
        self.assertIn(
            'no lab "bogus"', run("grader/gradescope/package.py", self.dir / "a.zip", "bogus").stderr
        )
        self.assertIn(".zip", run("grader/gradescope/package.py", self.dir / "a.tar").stderr)
        self.assertIn("can't be written", run("grader/gradescope/package.py", self.dir / "none/a.zip").stderr)
        self.assertEqual(list(self.dir.iterdir()), [])

    FAKE_LAB = """#!/usr/bin/env python3
import json, pathlib, sys, time
option = dict(zip(sys.argv, sys.argv[1:]))
log = pathlib.Path("../../asked")
n_before = len(log.read_text().splitlines()) if log.exists() else 0
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + chr(10))
text = pathlib.Path("labs/scan/scan.cu").read_text(errors="replace")
time.sleep(60 if text == "hang" else 0)
fault = text.startswith("infra") and n_before < int(text.split()[1])
result = {"labs": [{"id": "scan", "title": "Scan", "tasks": [{"id": "one", "verdict": "INFRA" if fault else "OK"}]}]}
pathlib.Path(option["--json"]).write_text(json.dumps(result))
pathlib.Path(option["--gradescope"]).write_text(json.dumps({"score": 90, "output": "Graded.", "tests": []}))
sys.exit(fault)
"""

    def grade_on_gradescope(self, labs, files, minutes="9"):
        """run_autograder, with a ./lab that notes what it was asked; its exit code, results.json and what
        lies in the labs then."""
        source, submission = self.dir / "source", self.dir / "submission"
        shutil.rmtree(self.dir, ignore_errors=True)
        for name in ["scan", "sat", "histogram"]:
            (source / "course/labs" / name).mkdir(parents=True)
            (source / f"course/labs/{name}/{name}.cu").write_text("empty")
        shutil.copytree(ROOT / "grader/gradescope/files", source, dirs_exist_ok=True)
        for name in ["ingest", "names", "source_text", "unpack"]:
            (source / "course/grader/batch").mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / f"grader/batch/{name}.py", source / "course/grader/batch")
        (source / "labs.txt").write_text("\n".join(labs) + "\n")
        (source / "minutes.txt").write_text(minutes)
        (source / "isolation.txt").write_text("namespaces\n")
        (source / "course/lab").write_text(self.FAKE_LAB)
        (source / "course/lab").chmod(0o755)
        for name, data in files.items():
            path = submission / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(data, pathlib.Path):
                path.symlink_to(data)
            else:
                path.write_bytes(data.encode() if isinstance(data, str) else data)
        submission.mkdir(exist_ok=True)
        done = subprocess.run(
            ["bash", source / "run_autograder"],
            env={**os.environ, "AUTOGRADER": str(self.dir)},
            capture_output=True,
            text=True,
        )
        results = self.dir / "results/results.json"
        placed = {path.stem: path.read_text() for path in source.glob("course/labs/*/*.cu")}
        return done, json.loads(results.read_text()) if results.exists() else None, placed

    def test_a_submission_is_put_in_place_and_nothing_else_is_taken(self):
        done, results, placed = self.grade_on_gradescope(
            ["scan", "sat", "histogram"],
            {
                "labs/scan/scan.cu": "mine",
                "labs/scan/lab.hpp": "mine",
                "sat.cu": "flat",
                "histogram.cu": pathlib.Path("/etc/passwd"),
            },
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(placed, {"scan": "mine", "sat": "flat", "histogram": "empty"})
        self.assertFalse((self.dir / "source/course/labs/scan/lab.hpp").exists())
        # As ./lab grade-all does: otherwise a case would be judged with fewer checks.
        self.assertIn(
            "grade scan sat histogram --device sim --graded --isolation namespaces",
            (self.dir / "asked").read_text(),
        )
        self.assertIn("histogram: submission/histogram.cu is a link", results["output"])

    def test_takes_what_grade_all_takes_and_says_why_not(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("labs/scan/scan.cu", "zipped")
        for files, taken, said in [
            ({"scan-2.cu": "numbered"}, "numbered", ""),
            ({"a/b/Scan.cu": "deep"}, "deep", ""),
            ({"kernel.cu": '#include "scan/lab.hpp"\n'}, '#include "scan/lab.hpp"\n', ""),
            ({"all.zip": packed.getvalue()}, "zipped", ""),
            ({"kernel.cu": "int x;"}, "empty", "kernel.cu: not named scan.cu"),
            ({"scan.cpp": "int x;"}, "empty", "not a .cu file: submission/scan.cpp"),
            ({}, "empty", "it is empty"),
            ({"scan.cu": "\n"}, "empty", "scan.cu is empty"),
            ({"scan.rar": b"Rar!\x1a\x07\x00"}, "empty", "RAR archive"),
            ({"scan.cu": "int x;".encode("utf-16")}, "empty", "UTF-16"),
            ({"scan.cu": "empty // mine"}, "empty // mine", "not changed"),
            ({"a/scan.cu": "one", "b/scan.cu": "two"}, "empty", "more than one file"),
        ]:
            with self.subTest(files=files):
                done, results, placed = self.grade_on_gradescope(["scan"], files)
                self.assertEqual((done.returncode, placed["scan"]), (0, taken), done.stderr)
                self.assertEqual(results["score"], 90)
                self.assertIn(said, results["output"])
                self.assertEqual("scan: " in results["output"], said != "")

    def test_a_fault_of_the_machine_gives_no_score_and_an_exit_code(self):
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "infra 1"})
        self.assertEqual((done.returncode, results["score"]), (0, 90), "tried once more")
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "infra 2"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(results)
        self.assertIn("there is no score", done.stderr)

    def test_what_takes_too_long_gets_no_score_either(self):
        """Gradescope gives 0 points at its own limit, so this one must come first."""
        begun = time.monotonic()
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "hang"}, minutes="0.05")
        self.assertLess(time.monotonic() - begun, 30)
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(results)
        self.assertIn("stopped after 0.05 minutes", done.stderr)
        self.assertIn(
            "--minutes takes",
            run("grader/gradescope/package.py", self.dir / "a.zip", "--minutes", "0").stderr,
        )


# Both take about equally long, so that they run beside each other.
PARTS = {"updates and gradescope": [Update, Gradescope]}


def load_tests(loader, every, _pattern):
    chosen = PARTS.get(" ".join(sys.argv[2:]))
    cases = [
        case for case in globals().values() if isinstance(case, type) and issubclass(case, unittest.TestCase)
    ]
    kept = chosen or [case for case in cases if not any(case in part for part in PARTS.values())]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in kept)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
