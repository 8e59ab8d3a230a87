# SPDX-License-Identifier: MIT
"""Final grades: for every student of the roster and every lab the submission that counts, the late rule,
overrides. From the ledger, stored results and class.toml alone; nothing is compiled or run.

    term = compute(book)            book.use_points() decides what evidence is worth
    write(book, term)               final.csv, final.json; returns who moved since the last time, and why
"""

import csv
import datetime
import io
import json
import math
from dataclasses import asdict, dataclass, field

import gradebook
import scoring
import settings as settings_of
from book import Book, utc_now, write_atomically
from roster import Roster, Student, first_of, rows_of
from roster import read as read_roster
from settings import Lab, Problem, Settings

UNKNOWN = ("infra", "pending")  # a status without points, which is no 0
LEFT_OUT = ("not due", "excused")  # of a Final: no points, and left out of totals
DAY = 24 * 3600


@dataclass
class Candidate:
    """A submission for a lab."""

    number: int  # in the gradebook's hand_ins
    owner: str  # as the platform calls them
    status: str
    points: float | None = None
    bonus: float | None = None
    max_points: int | None = None
    message: str = ""
    submitted: str = ""
    late: bool = False  # by the platform's word
    tasks: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, tuple[str, str]] = field(default_factory=dict)  # by task: verdict and message
    lacks: list[str] = field(default_factory=list)  # what new points ask for and was never measured
    sha256: str = ""


@dataclass
class Final:
    student: str  # id
    lab: str
    status: str  # graded, late, too late, refused, missing, not due, excused, no grade, override
    points: float | None = 0  # None: not known yet, or left out of totals
    bonus: float | None = 0
    max_points: int | None = None
    submission: int | None = None
    submitted: str = ""
    days_late: int = 0
    tasks: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass
class Term:
    settings: Settings
    roster: Roster
    labs: list[str]
    finals: dict[tuple[str, str], Final]
    unknown: dict[str, str]  # names of submissions that are nobody's, and why
    warnings: list[str]
    rows: dict[tuple[str, str], list[Candidate]]  # by owner and lab

    def of(self, student: Student) -> list[Final]:
        return [self.finals[student.id, lab] for lab in self.labs]


def total(finals: list[Final]) -> tuple[float | None, float | None]:
    """Points and bonus of all labs that count; None while a part is unknown, which must never look like a
    0."""
    finals = [one for one in finals if one.status not in LEFT_OUT]
    known = all(one.points is not None and one.bonus is not None for one in finals)
    return (
        (tidy(sum(one.points for one in finals)), tidy(sum(one.bonus for one in finals)))
        if known
        else (None, None)
    )


def tidy(points: float) -> float:
    return int(points) if points == int(points) else round(points, 2)


def parse_time(text: str, zone: datetime.tzinfo) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(text.replace(" UTC", "Z"))
    return time if time.tzinfo else time.replace(tzinfo=zone)


def read_times(settings: Settings, roster: Roster) -> dict[tuple[str, str], datetime.datetime]:
    """Of submissions by student and lab, where a table has them: student, lab, submitted."""
    found = {}
    for row in rows_of(settings.times) if settings.times else []:
        student = roster.by_id(first_of(row, ("student", "id", "sid", "email")))
        try:
            time = parse_time(first_of(row, ("submitted", "submission time")), settings.zone)
        except ValueError:
            raise Problem(
                f'{settings.times}: "{first_of(row, ("submitted", "submission time"))}" is no time; write 2026-10-05 23:59:00.'
            ) from None
        if student:
            found[student.id, row.get("lab", "")] = time
    return found


def candidates(book: Book) -> dict[tuple[str, str], list[Candidate]]:
    """Of every owner and lab, in the order in which they came."""
    last = {(one["student"], one["lab"]): number for number, one in enumerate(book.state.hand_ins, 1)}
    found: dict[tuple[str, str], list[Candidate]] = {}
    for number, one in enumerate(book.state.hand_ins, 1):
        row, tasks = gradebook.row_of(book, one, current=last[one["student"], one["lab"]] == number)
        found.setdefault((one["student"], one["lab"]), []).append(
            Candidate(
                number,
                one["student"],
                row["status"],
                row["points"],
                row["bonus_points"],
                row["max_points"],
                row["message"],
                one["submitted"],
                one["late"],
                {task["id"]: task["points"] for task in tasks},
                {task["id"]: (task["verdict"], task["message"]) for task in tasks},
                scoring.not_measured({"tasks": tasks}),
                one["sha256"],
            )
        )
    return found


def max_points_of(book: Book, lab: str) -> int | None:
    return (
        sum(task["max_points"] for task in book.scorer.tasks[lab].values() if not task["bonus"])
        if lab in book.scorer.tasks
        else None
    )


class Judge:
    """Applies the rules of one class."""

    def __init__(self, settings: Settings, roster: Roster, now: datetime.datetime) -> None:
        self.settings, self.roster, self.now = settings, roster, now
        self.times = read_times(settings, roster)
        self.extensions = [(roster.by_id(one.student), one) for one in settings.extensions]
        self.excused = [(roster.by_id(one.student), one) for one in settings.excused]
        self.overrides = [(roster.by_id(one.student), one) for one in settings.overrides]

    def due(self, student: Student, lab: str) -> tuple[datetime.datetime | None, str]:
        """With the latest extension that somebody has, and its reason."""
        due, why = self.settings.labs.get(lab, Lab()).due, ""
        start = due
        for who, one in self.extensions:
            if who is student and one.lab in ("", lab):
                extended = one.due or (start and start + datetime.timedelta(days=one.days))
                if extended and (due is None or extended > due):
                    due, why = (
                        extended,
                        f"extension to {extended:%Y-%m-%d %H:%M}"
                        + (f" ({one.reason})" if one.reason else ""),
                    )
        return due, why

    def is_open(self, due: datetime.datetime | None) -> bool:
        """Whether what is submitted now can still earn points: until then nothing is missing."""
        late = self.settings.late
        return due is not None and self.now <= due + datetime.timedelta(
            days=late.most_days, minutes=late.grace_minutes
        )

    def days_late(self, one: Candidate, time: datetime.datetime | None, due: datetime.datetime | None) -> int:
        """`time`: of submission by a table of the instructor's; else the file's time counts."""
        if due is None:
            return 0
        if time is None and one.submitted:
            time = parse_time(one.submitted, datetime.UTC)
        if time is None:
            return int(one.late)  # the platform does not say how late
        late = (time - due).total_seconds() - 60 * self.settings.late.grace_minutes
        return max(0, math.ceil(late / DAY))

    def worth(self, one: Candidate, days: int) -> tuple[float, float]:
        """Points and bonus after the late rule."""
        if days > self.settings.late.most_days > 0:
            return 0, 0
        left = max(0, 100 - self.settings.late.percent_per_day * days)
        points, bonus = tidy(one.points * left / 100), tidy(one.bonus * left / 100)
        if self.settings.bonus == "separate":
            return points, bonus
        most = one.max_points if self.settings.bonus == "capped" and one.max_points is not None else math.inf
        return tidy(min(points + bonus, max(points, most))), 0

    def final(
        self, student: Student, lab: str, submissions: list[Candidate], max_points: int | None
    ) -> Final:
        out = Final(student.id, lab, "missing", max_points=max_points)
        due, why = self.due(student, lab)
        handed_in = [one for one in submissions if one.status != "missing"]
        if not handed_in:
            if self.is_open(due):
                out.status, out.points, out.bonus = "not due", None, None
            out.notes = [one.message for one in submissions[-1:] if one.message]
        elif any(one.status in UNKNOWN for one in handed_in):
            out.status, out.points, out.bonus = "no grade", None, None
            out.notes = [
                one.message or "It has not been graded yet." for one in handed_in if one.status in UNKNOWN
            ][:1]
        else:
            days = {
                one.number: self.days_late(
                    one, self.times.get((student.id, lab)) if one is handed_in[-1] else None, due
                )
                for one in handed_in
            }
            worth = {one.number: self.worth(one, days[one.number]) for one in handed_in}
            most = self.settings.late.most_days or math.inf
            in_time = [one for one in handed_in if days[one.number] <= most] or handed_in
            if (self.settings.labs.get(lab, Lab()).counts or self.settings.counts) == "best":
                chosen = max(in_time, key=lambda one: (*worth[one.number], -one.number))
            else:
                chosen = in_time[-1]
            n_late = days[chosen.number]
            out.points, out.bonus = worth[chosen.number]
            out.status = (
                chosen.status
                if chosen.status == "refused"
                else "too late"
                if n_late > most
                else "late"
                if n_late
                else "graded"
            )
            out.submission, out.submitted, out.days_late, out.tasks = (
                chosen.number,
                chosen.submitted,
                n_late,
                chosen.tasks,
            )
            out.max_points = max_points if max_points is not None else chosen.max_points
            out.notes = [chosen.message] if chosen.message else []
            if n_late:
                out.notes.append(f"{n_late} day{'s' if n_late > 1 else ''} late")
            elif chosen.late and due:
                out.notes.append("the platform marked it as late")
            if chosen.owner != student.id and self.roster.find(chosen.owner) is not student:
                out.notes.append(f"submitted by {chosen.owner}")
        out.notes += [why] if why else []
        for who, one in self.excused:
            if who is student and one.lab == lab:
                out.status, out.points, out.bonus = "excused", None, None
                out.notes.append(f"excused: {one.reason}")
        for who, one in self.overrides:
            if who is student and one.lab == lab:
                out.status, out.points = "override", one.points
                out.bonus = one.bonus if one.bonus is not None else out.bonus or 0
                out.notes.append(f"set by the instructor: {one.reason}")
        return out


def compute(book: Book, now: datetime.datetime | None = None) -> Term:
    settings = settings_of.read(book.folder)
    rows = candidates(book)
    settings_of.check_labs(settings, book.scorer.tasks.keys() | {lab for _, lab in rows})
    owners = sorted({owner for owner, _ in rows})
    roster = read_roster(settings.roster, settings.aliases)
    if not settings.roster:  # those who have handed something in
        roster = Roster([Student(owner, owner) for owner in owners], settings.aliases)
    labs = [*settings.labs, *sorted({lab for _, lab in rows} - settings.labs.keys())]
    warnings = [
        f"{lab} has been graded and is not in {settings_of.NAME}: it has no due date."
        for lab in labs
        if settings.labs and lab not in settings.labs
    ]
    warnings += check_names(settings, roster)

    owned: dict[
        str, list[tuple[str, list[str]]]
    ] = {}  # student's id: owners of submissions that count for them, and for which labs
    unknown = {}
    for owner in owners:
        if owner in settings.groups:
            members, only_labs = settings.groups[owner]
            people = [roster.by_id(member) for member in members]
        else:
            people, only_labs = [roster.find(owner)], []
            for members, group_labs in settings.groups.values():
                group = [roster.by_id(member) for member in members]
                if people[0] and people[0] in group:
                    for member in group:
                        if member and member is not people[0]:
                            owned.setdefault(member.id, []).append((owner, group_labs))
        for person in people:
            if person:
                owned.setdefault(person.id, []).append((owner, only_labs))
        if not any(people):
            unknown[owner] = why_unknown(roster, owner, settings)

    judge = Judge(settings, roster, now or datetime.datetime.now(datetime.UTC))
    maxima = {lab: max_points_of(book, lab) for lab in labs}
    finals = {}
    for student in roster.students.values():
        for lab in labs:
            own = [
                one
                for owner, only_labs in owned.get(student.id, [])
                if not only_labs or lab in only_labs
                for one in rows.get((owner, lab), [])
            ]
            finals[student.id, lab] = judge.final(
                student, lab, sorted(own, key=lambda one: one.number), maxima[lab]
            )
    warnings += [
        f"{lab}: the tasks without a bonus are worth {most} points together."
        for lab, most in maxima.items()
        if most not in (None, 0, 100)
    ]
    lacking = sorted(
        {
            f"{lab}, {what}"
            for (_, lab), submissions in rows.items()
            for one in submissions
            for what in one.lacks
        }
    )
    warnings += [
        f"{what} was never measured, so nobody has points for it; ./lab grade-all has to run once more."
        for what in lacking
    ]
    return Term(settings, roster, labs, finals, unknown, warnings, rows)


def why_unknown(roster: Roster, owner: str, settings: Settings) -> str:
    if owner in settings.aliases:
        return f'its alias "{settings.aliases[owner]}" is not in the roster'
    if owner in settings.groups:
        return "no member of this group is in the roster"
    return "not in the roster, or more than one student may be meant"


def check_names(settings: Settings, roster: Roster) -> list[str]:
    """The students that class.toml names and who are not in the roster."""
    found = []
    people = [
        (where, one.student)
        for where, rows in (
            ("extensions", settings.extensions),
            ("excused", settings.excused),
            ("overrides", settings.overrides),
        )
        for one in rows
    ]
    people += [
        (f"groups.{group}", member) for group, (members, _) in settings.groups.items() for member in members
    ]
    people += [("aliases", student) for student in settings.aliases.values()]
    for where, student in people:
        if roster.by_id(student) is None:
            found.append(f"{settings_of.NAME}, {where}: {student} is not in the roster.")
    return found


# --- Writing, and what has changed ---


def joined(notes: list[str]) -> str:
    """Some are sentences with a full stop, some are not."""
    return "; ".join(note.rstrip(".") for note in notes)


def table(term: Term) -> list[list]:
    """The grades with a row for a student: the head first."""
    heads = [
        "id",
        "name",
        "email",
        "section",
        "total",
        "bonus",
        *(f"{lab}{what}" for lab in term.labs for what in ("", " bonus", " status", " days late")),
        "notes",
    ]
    rows = [heads]
    for student in sorted(term.roster.students.values(), key=lambda one: (one.section, one.name, one.id)):
        finals = term.of(student)
        cells = [
            value for one in finals for value in (one.points, one.bonus, one.status, one.days_late or "")
        ]
        notes = " ".join(f"{one.lab}: {joined(one.notes)}." for one in finals if one.notes)
        rows.append([student.id, student.name, student.email, student.section, *total(finals), *cells, notes])
    return rows


def csv_text(rows: list[list]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([[gradebook.cell(value) for value in row] for row in rows])
    return out.getvalue()


def difference(before: dict, now: dict) -> list[str]:
    """Why a grade is another one, in words."""
    why = []
    if before["submission"] != now["submission"]:
        why.append(
            "another submission counts"
            if before["submission"] and now["submission"]
            else "a submission came"
            if now["submission"]
            else "no submission counts"
        )
    for task in [*now["tasks"], *(set(before["tasks"]) - set(now["tasks"]))]:
        was, is_ = before["tasks"].get(task), now["tasks"].get(task)
        if was != is_ and before["tasks"] and now["tasks"]:
            why.append(f"{task} {shown(was)} → {shown(is_)}")
    if before["days_late"] != now["days_late"]:
        why.append(f"{before['days_late']} → {now['days_late']} days late")
    if before["status"] != now["status"]:
        why.append(f"{before['status']} → {now['status']}")
    why += [
        note
        for note in now["notes"]
        if note not in before["notes"] and note.startswith(("set by", "extension", "excused"))
    ]
    return why or ["the late rule"]


def shown(points) -> str:
    return "none" if points is None else f"{points:g}"


def moved(before: dict, term: Term) -> list[str]:
    """A line for each student and lab whose points have changed."""
    lines = []
    for (student, lab), final in sorted(term.finals.items()):
        was, now = before.get(student, {}).get(lab), asdict(final)
        if was is None or (was["points"], was["bonus"]) == (now["points"], now["bonus"]):
            continue
        bonus = (
            "" if was["bonus"] == now["bonus"] else f", bonus {shown(was['bonus'])} → {shown(now['bonus'])}"
        )
        name = term.roster.students[student].name
        lines.append(
            f"{student}{f' ({name})' if name not in ('', student) else ''}, {lab}: {shown(was['points'])} → {shown(now['points'])}{bonus}: "
            f"{'; '.join(difference(was, now))}"
        )
    return lines


def write(book: Book, term: Term) -> list[str]:
    path = book.folder / "final.json"
    try:
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        before = {}
    lines = moved(before, term)
    finals: dict = {}
    for (student, lab), final in term.finals.items():
        finals.setdefault(student, {})[lab] = asdict(final)
    write_atomically(book.folder / "final.csv", csv_text(table(term)).encode())
    if lines:
        with open(book.folder / "changes.log", "a", encoding="utf-8") as file:
            file.writelines(f"{utc_now()}  {line}\n" for line in lines)
    write_atomically(path, json.dumps(finals, indent=1).encode())
    return lines
