# SPDX-License-Identifier: MIT
"""A made-up term: 300 students, five labs, about 2,000 submissions with all kinds of trouble, with stored
evidence in place of grading; and the final grades that they must come to, computed here by hand, without the
code that is tested.

What is made up: late by minutes and days, resubmitted, handed in for a group under its name or a member's,
names as Moodle, Canvas and students give them, unknown names, refused files, nothing, faults of the machine,
extensions, slip days, excused students, overrides, attempts without an end (kills), a case that was added later,
and a tier and points that change in mid-term.
"""

import csv
import datetime
import hashlib
import json
import math
import random
from fractions import Fraction

import in_folder
from book import Book, packed
from names import slug

LABS = ["reduction", "scan", "compaction", "histogram", "sat"]
TASKS = {"plain": False, "fast": False, "extra": True}  # and whether it is a bonus task
DUE = {
    lab: datetime.datetime(2026, 10, 5, 22, 0, tzinfo=datetime.UTC) + datetime.timedelta(weeks=at)
    for at, lab in enumerate(LABS)
}
GRACE, PERCENT, MAX_DAYS = 15, 20, 3
OWN_PERCENT, OWN_MOST_DAYS = 50, 1  # of LATE_LAB
SLIP_DAYS, SLIP_IN_LATE_LAB = 3, 1
LATE_LAB = "compaction"  # with rules of its own
GROUP_LAB, RULE_LATEST, NEW_CASE_LAB = "histogram", "sat", "scan"
DIGESTS = {lab: hashlib.sha256(lab.encode()).hexdigest() for lab in LABS}
OLD_DIGEST = hashlib.sha256(b"before the new case").hexdigest()
SETTINGS = {"seed": "0x5eed", "device": "sim"}


def catalogue(tier=8, limit=1.5, plain=40):
    """What labcli list --json prints."""

    def task(name, bonus):
        right, few_bytes = (plain, 20) if name == "plain" else (10, 5)
        goals = [("bytes_ratio", limit, few_bytes), ("active_lanes", 0.9, 5)]
        tiers = [] if name == "plain" else [(tier, 10), (2 * tier, 5)]
        about = {"id": name, "title": name, "bonus": bonus, "correctness_points": right}
        return about | {
            "efficiency": [{"metric": metric, "limit": most, "points": p} for metric, most, p in goals],
            "speedup": [{"speedup": least, "points": points} for least, points in tiers],
        }

    tasks = [task(name, bonus) for name, bonus in TASKS.items()]
    metrics = ("bytes_ratio", "active_lanes", "barriers")
    return {
        "schema": 1,
        "metrics": {name: {"at_least": name == "active_lanes"} for name in metrics},
        "labs": [{"id": lab, "title": lab, "tasks": tasks} for lab in LABS],
    }


def evidence_of(random_, skill):
    """A task's: a verdict, counters and a speedup."""
    verdict = random_.choices(
        ["OK", "WRONG_ANSWER", "CRASH", "NOT_IMPLEMENTED", "SUSPECT", "TIME_LIMIT"],
        [skill * 10, 3, 1, 1.5, 0.3, 0.5],
    )[0]
    if verdict not in ("OK", "SUSPECT"):
        return {"verdict": verdict, "metrics": {}, "speedup": None}
    ranges = {"bytes_ratio": (1, 2.2), "active_lanes": (0.7, 1)}
    metrics = {name: round(random_.uniform(*ends), 3) for name, ends in ranges.items()}
    return {"verdict": verdict, "metrics": metrics, "speedup": round(random_.uniform(4, 24), 2)}


def result_of(lab, evidence, table):
    """What counts of what grade-one writes, with the points of its day."""
    tasks = []
    for task in next(one["tasks"] for one in table["labs"] if one["id"] == lab):
        about = evidence[task["id"]]
        points, most = points_by_hand(about, task)
        message = "" if about["verdict"] == "OK" else f"{about['verdict']}: element 17 is wrong"
        timing = {"speedup_one_thread": about["speedup"]} if about["speedup"] else None
        known = {name: task[name] for name in ("id", "title", "bonus")} | about
        tasks.append({**known, "points": points, "max_points": most, "message": message, "timing": timing})
    sums = {
        name.format(word): sum(task[name.format("")] for task in tasks if task["bonus"] == bonus)
        for name in ("{}points", "max_{}points")
        for word, bonus in (("", False), ("bonus_", True))
    }
    about = {"schema": 1, "device": "made up", "isolation": "full", "seed": SETTINGS["seed"]}
    return {**about, "labs": [{"id": lab, **sums, "tasks": tasks}]}


def meets(goal, measured):
    room = 1.01
    if goal["metric"] == "active_lanes":
        return measured * room >= goal["limit"]
    return measured <= goal["limit"] * room


def points_by_hand(evidence, task):
    most = task["correctness_points"] + sum(one["points"] for one in task["efficiency"] + task["speedup"])
    if evidence["verdict"] not in ("OK", "SUSPECT"):
        return 0, most
    points = task["correctness_points"]
    points += sum(
        one["points"] for one in task["efficiency"] if meets(one, evidence["metrics"][one["metric"]])
    )
    if evidence["verdict"] == "OK":
        points += sum(tier["points"] for tier in task["speedup"] if evidence["speedup"] >= tier["speedup"])
    return points, most


class Term:
    def __init__(self, folder, students=300, seed=3):
        self.folder, self.random = folder, random.Random(seed)
        self.students = []  # dicts: id, name, email, section, shown (the name on the platform)
        self.submissions = {}  # (id of the student, lab): list of dicts
        self.records = []
        self.extensions, self.overrides, self.aliases, self.groups = [], [], {}, {}
        self.excused = []
        self.unknown = []
        (folder / "sources").mkdir(parents=True)
        self.table = catalogue()
        self.make_students(students)
        for lab in LABS:
            for student in self.students:
                self.make_submissions(student, lab)
        self.add_unknown()
        self.add_rules()
        self.write()

    def make_students(self, n):
        firsts = "Ada Bob Chloé Dmitri 李 Eve Fay Gül Hana Ivo José Kim Lou Max Nia Ole Pia Quy".split()
        lasts = "Lovelace,O'Neil,Müller,de la Cruz,Tanaka,Smith-Jones,Öz,Ng,Iyer,Brown,Costa,Diaz,Evans,Fox"
        lasts = f"{lasts},Gray,Hill,Ito".split(",")
        for i in range(n):
            first, last = firsts[i % len(firsts)], lasts[i // len(firsts) % len(lasts)]
            if i in (10, 11):
                first, last = "Kim", "Lee"
            one = {"id": f"s{i:03}", "first": first, "last": last, "name": f"{first} {last}"}
            one |= {"email": f"user{i:03}@uni.example", "section": "AB"[i % 2]}
            one |= {"participant": 9000 + i, "canvas": 40000 + i}
            compact = "".join(char for char in f"{last}{first}".lower() if char.isalnum())
            one["shown"] = [
                f"{one['name']}_{one['participant']}",
                f"{compact}_{one['canvas']}",
                one["id"],
                one["email"].split("@")[0],
                one["email"],
                f"final version ({i})",
            ][i % 6]
            if i % 6 == 5:
                self.aliases[one["shown"]] = one["id"]
            self.students.append(one)
        for number in range(n // 20):
            members = [self.students[(7 * number + 100 * at) % n]["id"] for at in range(3)]
            if len(set(members)) == 3 and not any(
                set(members) & set(other) for other in self.groups.values()
            ):
                self.groups[f"team {number}"] = members

    def make_submissions(self, student, lab):
        random_ = self.random
        if random_.random() < 0.04:
            return
        skill = random_.uniform(0.3, 1.5)
        hours = random_.choice([-70, -30, -20, -5, -1]) + random_.random()
        if random_.random() < 0.12:
            hours = random_.choice(
                [0.1, 0.2, 3, 20, 25, 60, 75, 100]
            )  # the first two are within the grace, the last two hardly count
        for version in range(random_.choices([1, 2, 3], [7, 2.5, 1.5])[0]):
            kind = random_.choices(["graded", "refused", "infra", "missing"], [95, 2.5, 0.6, 1.5])[0]
            when = DUE[lab] + datetime.timedelta(hours=hours)
            self.submit(student["id"], student["shown"], lab, when, kind, skill + version / 4)
            hours += random_.uniform(0.5, 30)

    def submit(self, owner, shown, lab, when, kind, skill):
        text = f"// {shown} {lab} {len(self.records)}\n".encode()
        sha256 = hashlib.sha256(text).hexdigest() if kind in ("graded", "infra") else ""
        evidence = {name: evidence_of(self.random, skill) for name in TASKS}
        self.submissions.setdefault((owner, lab), []).append(
            {"when": when, "kind": kind, "evidence": evidence, "sha256": sha256, "number": 0}
        )
        submitted = "" if kind == "missing" else when.strftime("%Y-%m-%dT%H:%M:%SZ")
        refused = "x.rar is a RAR archive" if kind == "refused" else ""
        submission = {"student": shown, "lab": lab, "sha256": sha256, "refused": refused, "late": False}
        submission |= {"note": "", "origin": "", "submitted": submitted, "received": "2026-11-20T08:00:00Z"}
        self.records.append((when, submission, self.submissions[owner, lab][-1]))
        if sha256:
            (self.folder / "sources" / f"{sha256}.cu").write_bytes(text)

    def add_unknown(self):
        for name in ["Nobody Known_7", "zip of a friend", "Kim Lee"]:  # of the last name there are two
            self.unknown.append(name)
            self.submit(name, name, "reduction", DUE["reduction"], "graded", 1)

    def add_rules(self):
        late = [
            (owner, lab)
            for (owner, lab), made in self.submissions.items()
            if owner not in self.unknown and max(one["when"] for one in made) > DUE[lab]
        ]
        for number, (owner, lab) in enumerate(late[:24]):
            kinds = (
                {"days": 2, "reason": "ill"},  # for all labs
                {"lab": lab, "days": 4, "reason": "moved house"},
                {"lab": lab, "due": DUE[lab] + datetime.timedelta(days=1), "reason": ""},
            )
            self.extensions.append({"student": owner} | kinds[number % 3])
        ids = [one["id"] for one in self.students]
        for number in range(5):
            what = {"student": ids[(50 + number) % len(ids)], "lab": LABS[number]}
            self.overrides.append({**what, "points": 55.5 if number else 0, "reason": "talk"})
        for number in range(8):
            what = {"student": ids[(31 * number + 3) % len(ids)], "lab": LABS[number % len(LABS)]}
            self.excused.append({**what, "reason": "ill"})
        for team in list(self.groups)[1::2]:  # some teams submit under their own name
            when = DUE[GROUP_LAB] - datetime.timedelta(hours=2)
            self.submit(team, team, GROUP_LAB, when, "graded", 1.2)

    # --- Files ---

    def new_case_finds_a_fault(self, number, made):
        """In some of the submissions that are graded again when NEW_CASE_LAB gets its new case."""
        if number % 5 == 0 and made["evidence"]["plain"]["verdict"] == "OK":
            made["evidence"]["plain"] = {"verdict": "WRONG_ANSWER", "metrics": {}, "speedup": None}

    def write(self):
        self.records.sort(key=lambda record: record[0])  # stable
        self.book = Book(self.folder, begins=True)
        self.book.settle({**SETTINGS, "task": None})
        with self.book.db:
            self.book.insert(
                "about", name="points", value=json.dumps({"catalogue": self.table, "points": {}})
            )
            for lab in LABS:
                self.book.insert("labs", lab=lab, digest=DIGESTS[lab])
            for number, (_, submission, made) in enumerate(self.records, 1):
                made["number"] = number
                self.book.insert("students", student=submission["student"], slug=slug(submission["student"]))
                self.book.insert("received", **submission)
            self.write_attempts()
        self.book.db.close()
        self.book.lock.close()
        self.write_rosters()
        self.write_settings()

    def write_attempts(self):
        attempts = {}
        last = {}
        for _, submission, made in self.records:
            last[submission["student"], submission["lab"]] = made["sha256"]
        for number, (_, submission, made) in enumerate(self.records):
            lab, sha256 = submission["lab"], made["sha256"]
            if not sha256:
                continue
            # A case was added to this lab after all had been graded: what is not anybody's last submission
            # keeps its old result.
            rounds = [DIGESTS[lab]]
            if lab == NEW_CASE_LAB:
                rounds = [OLD_DIGEST] + ([DIGESTS[lab]] if last[submission["student"], lab] == sha256 else [])
            made["is_pending"] = made["kind"] == "infra" and DIGESTS[lab] not in rounds
            for digest in rounds:
                self.book.digests = {lab: digest}
                key = self.book.unit(lab, sha256).key
                attempt = attempts[key] = attempts.get(key, 0) + 1
                about = {"key": key, "lab": lab, "sha256": sha256, "digest": digest}
                if number % 97 == 0:  # this one was killed, and begun again
                    self.book.insert("attempts", attempt=attempt, **about)
                    attempt = attempts[key] = attempt + 1
                about |= {"attempt": attempt, "ended": "2026-11-20T08:00:01Z"}
                if made["kind"] == "infra":
                    self.book.insert("attempts", outcome="infra", message="No room on the device.", **about)
                    continue
                if lab == NEW_CASE_LAB and digest == DIGESTS[lab]:
                    self.new_case_finds_a_fault(number, made)
                result = result_of(lab, made["evidence"], self.table)
                row = {**about, "outcome": "graded", "seconds": 1.5, "result": packed(result)}
                self.book.insert("attempts", **row, student_result=packed({**result, "seed": None}))
                folder = self.folder / "results" / key
                folder.mkdir(exist_ok=True)
                (folder / f"{attempt}.student.html").write_text("<!doctype html><title>report</title>")

    def write_rosters(self):
        def table(name, rows):
            with open(self.folder / name, "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)

        canvas = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1 (7)"]]
        canvas.append(["    Points Possible", "", "", "", "", "100"])
        moodle = [["Identifier", "Full name", "ID number", "Email address", "Status", "Grade"]]
        gradescope = [["First Name", "Last Name", "SID", "Email", "Role"]]
        gradescope.append(["Ann", "Teacher", "t1", "ann@uni.example", "Instructor"])
        for one in self.students:
            first, last, own, email = (one[name] for name in ("first", "last", "id", "email"))
            canvas.append([f"{last}, {first}", one["canvas"], own, email, one["section"], ""])
            moodle.append([f"Participant {one['participant']}", one["name"], own, email, "", ""])
            gradescope.append([first, last, own, email, "Student"])
        table("canvas.csv", [*canvas, ["Student, Test", "99999", "", "abc", "A", ""]])
        table("moodle.csv", moodle)
        table("gradescope.csv", gradescope[:102])

    def write_settings(self, counts="best", more=""):
        lines = ['title = "GPU labs"', 'roster = ["canvas.csv", "moodle.csv", "gradescope.csv"]']
        lines += [f'counts = "{counts}"', f"slip_days = {SLIP_DAYS}"]
        lines += [
            "[late]",
            f"grace_minutes = {GRACE}",
            f"percent_per_day = {PERCENT}",
            f"most_days = {MAX_DAYS}",
        ]
        for lab in LABS:
            lines += [f"[labs.{lab}]", f"due = {DUE[lab].isoformat()}"] + ['counts = "latest"'] * (
                lab == RULE_LATEST
            )
            lines += [f"slip_days = {SLIP_IN_LATE_LAB}"] * (lab == LATE_LAB)
            if lab == LATE_LAB:
                lines += [f"late.percent_per_day = {OWN_PERCENT}", f"late.most_days = {OWN_MOST_DAYS}"]
        for team, members in self.groups.items():
            lines += [f'[groups."{team}"]', f"members = {json.dumps(members)}", f'labs = ["{GROUP_LAB}"]']
        lines += [
            "[aliases]",
            *(f"{json.dumps(name)} = {json.dumps(student)}" for name, student in self.aliases.items()),
        ]
        for kind in ("extensions", "excused", "overrides"):
            for one in getattr(self, kind):
                lines += [
                    f"[[{kind}]]",
                    *(
                        f"{key} = {value.isoformat() if isinstance(value, datetime.datetime) else json.dumps(value)}"
                        for key, value in one.items()
                    ),
                ]
        (self.folder / "class.toml").write_text("\n".join(lines) + "\n" + more, encoding="utf-8")

    # --- The grades that are right ---

    def expected(self, table=None, counts="best"):
        """By student and lab: points, bonus and status."""
        tasks = {lab["id"]: lab["tasks"] for lab in (table or self.table)["labs"]}
        out = {}
        for student in self.students:
            left = SLIP_DAYS  # they are spent in the order of the due dates, which is that of LABS
            for lab in LABS:
                key = student["id"], lab
                decided = [one for one in self.overrides if (one["student"], one["lab"]) == key]
                is_excused = any((one["student"], one["lab"]) == key for one in self.excused)
                usable = (
                    0 if decided or is_excused else min(left, SLIP_IN_LATE_LAB) if lab == LATE_LAB else left
                )
                rule = "latest" if lab == RULE_LATEST else counts
                points, bonus, status, slip = self.expect(*key, tasks[lab], rule, usable)
                left -= slip
                if decided:
                    points, bonus, status = Fraction(str(decided[-1]["points"])), 0, "override"
                elif is_excused:
                    points, bonus, status = None, None, "excused"
                out[key] = points, bonus, status
        return out

    def most(self, table=None):
        """The points that each lab may bring, without the bonus."""
        return {
            lab["id"]: sum(
                points_by_hand({"verdict": ""}, task)[1] for task in lab["tasks"] if not task["bonus"]
            )
            for lab in (table or self.table)["labs"]
        }

    def expected_total(self, student, expected):
        """Points and bonus of what counts, and of how many points; None while a lab is unknown."""
        most = self.most()
        counting = [lab for lab in LABS if expected[student, lab][2] != "excused"]
        out_of = sum(most[lab] for lab in counting)
        if any(expected[student, lab][0] is None for lab in counting):
            return None, None, out_of
        bonus = sum(expected[student, lab][1] or 0 for lab in LABS)
        return sum(expected[student, lab][0] for lab in counting), bonus, out_of

    def expect(self, student, lab, tasks, counts, slip_days):
        """Of the submissions: points, bonus, status and the slip days that are spent."""
        owners = [student]
        if lab == GROUP_LAB:
            for team, members in self.groups.items():
                if student in members:
                    owners = [team, *members]
        all_of = [one for owner in owners for one in self.submissions.get((owner, lab), [])]
        made = sorted((one for one in all_of if one["kind"] != "missing"), key=lambda one: one["number"])
        if not made:
            return 0, 0, "missing", 0
        due = DUE[lab]
        for one in self.extensions:
            if one["student"] == student and one.get("lab", lab) == lab:
                due = max(
                    due, one["due"] if "due" in one else DUE[lab] + datetime.timedelta(days=one["days"])
                )
        percent, most_days = (OWN_PERCENT, OWN_MOST_DAYS) if lab == LATE_LAB else (PERCENT, MAX_DAYS)

        def days_late(one):
            minutes = (one["when"].replace(microsecond=0) - due).total_seconds() / 60 - GRACE
            return math.ceil(minutes / 1440) if minutes > 0 else 0

        # What a newer one in time replaced is never graded again, and holds nothing up.
        in_time = [one["number"] for one in made if days_late(one) <= most_days + slip_days]
        made = [
            one
            for one in made
            if not (one.get("is_pending") and any(one["number"] < newer for newer in in_time))
        ]
        if any(one["kind"] == "infra" for one in made):
            return None, None, "no grade", 0
        rated = []
        for one in made:
            late = days_late(one)
            points = bonus = Fraction(0)
            if one["kind"] == "graded":
                for task in tasks:
                    earned = points_by_hand(one["evidence"][task["id"]], task)[0]
                    points, bonus = (points, bonus + earned) if task["bonus"] else (points + earned, bonus)
            ways = []
            for slip in range(min(late, slip_days) + 1):
                days = late - slip
                left = max(Fraction(0), Fraction(100 - percent * days, 100)) * (days <= most_days)
                status = "too late" if days > most_days else "late" if days else "graded"
                status = "refused" if one["kind"] == "refused" else status
                ways.append((points * left, bonus * left, status, slip, days <= most_days))
            best = max(way[:2] for way in ways)
            rated.append(next(way for way in ways if way[:2] == best))
        allowed = [one for one in rated if one[4]] or rated
        if counts == "latest":
            return allowed[-1][:4]
        best = max(one[:2] for one in allowed)
        cheapest = min(one[3] for one in allowed if one[:2] == best)
        return next(one for one in allowed if one[:2] == best and one[3] == cheapest)[:4]


def finals(folder):
    """The details of the final grades in a class's book, by student and lab."""
    found = {}
    for student, lab, details in in_folder.sql(folder, "SELECT student, lab, details FROM finals"):
        found.setdefault(student, {})[lab] = json.loads(details)
    return found
