# SPDX-License-Identifier: MIT
"""Final grades: for every student of the roster and every lab the submission that counts, the late rule,
slip days, overrides. From the book and class.toml alone; nothing is compiled or run, and
nothing is written but by write().

    term = compute(book)            book.use_points() decides what evidence is worth
    moved(before(book), term)       who has another grade than the last time
    write(book, term, lines)        the book's finals; final.csv, changes.log
"""

import datetime
import difflib
import itertools
import json
import math
import re
from dataclasses import asdict, dataclass, field

import scoring
import settings as settings_of
from book import Book, utc_now, write_atomically
from deadlines import DAY, Deadlines
from gradebook import csv_text
from roster import Roster, Student
from roster import read as read_roster
from settings import Late, Settings

UNKNOWN = ("infra", "pending")  # a status without points, which is no 0
LEFT_OUT = ("not due", "not graded", "excused")  # of a Final: no points, and left out of totals
FAR = datetime.datetime(9000, 1, 1, tzinfo=datetime.UTC)


@dataclass
class Candidate:
    """A submission for a lab. "Latest" is by the time of submission."""

    number: int  # in the gradebook's submissions
    owner: str  # as the platform calls them
    status: str
    points: float | None = None
    bonus: float | None = None
    max_points: float | None = None
    message: str = ""
    submitted: str = ""
    late: bool = False  # by the platform's word
    tasks: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, tuple[str, str]] = field(default_factory=dict)  # by task: verdict and message
    lacks: list[str] = field(default_factory=list)  # what new points ask for and was never measured
    row: dict = field(default_factory=dict)  # of the book's submissions

    def when(self) -> tuple[str, int]:
        return self.submitted or self.row["received"], self.number


@dataclass
class Final:
    student: str  # id
    lab: str
    status: str  # graded, late, too late, refused, missing, not due, not graded, excused, no grade, override
    points: float | None = 0  # None: not known yet, or left out of totals
    bonus: float | None = 0
    max_points: float | None = None
    submission: int | None = None
    submitted: str = ""
    days_late: int = 0  # that count, without slip days
    slip_days: int = 0
    unusable: bool = False  # something was submitted, and no file of it is for this lab
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
    # By student's id and lab, in the order in which they came; those of the student's group, too.
    submissions: dict[tuple[str, str], list[Candidate]]
    partial: dict[str, str]  # by lab: book.partial

    def of(self, student: Student) -> list[Final]:
        return [self.finals[student.id, lab] for lab in self.labs]

    def name_of(self, student: str) -> str:
        """Of a student's id; "" where nothing but the id is known."""
        name = self.roster.students[student].name
        return "" if name == student else name


def counting(finals: list[Final]) -> list[Final]:
    return [one for one in finals if one.status not in LEFT_OUT]


def total(finals: list[Final]) -> tuple[float | None, float | None]:
    """Points and bonus of all labs that count; None while a part is unknown or nothing counts, which must never
    look like a 0."""
    finals = counting(finals)
    if not finals or any(one.points is None for one in finals):
        return None, None
    return tidy(sum(one.points for one in finals)), tidy(sum(one.bonus for one in finals))


def out_of(finals: list[Final]) -> float | None:
    """The points of which total() is a part."""
    known = [one.max_points for one in counting(finals)]
    return None if None in known else tidy(sum(known))


def tidy(points: float) -> float:
    return int(points) if points == int(points) else round(points, 2)


def candidates(book: Book) -> dict[tuple[str, str], list[Candidate]]:
    """Of every owner and lab, in the order of their times."""
    found: dict[tuple[str, str], list[Candidate]] = {}
    attempts = "LEFT JOIN attempts a ON a.key = s.key AND a.attempt = s.attempt"
    worth = "LEFT JOIN worth w ON w.attempt = a.id ORDER BY s.id"
    for row in map(dict, book.rows(f"SELECT s.*, w.tasks FROM submissions s {attempts} {worth}")):
        tasks = json.loads(row.pop("tasks") or "[]")
        made = Candidate(
            row["id"],
            row["student"],
            bonus=row["bonus_points"],
            late=bool(row["late"]),
            **{name: row[name] for name in ("status", "points", "max_points", "message", "submitted")},
            tasks={task["id"]: task["points"] for task in tasks},
            verdicts={task["id"]: (task["verdict"], task["message"]) for task in tasks},
            lacks=scoring.not_measured({"tasks": tasks}),
            row=row,
        )
        found.setdefault((row["student"], row["lab"]), []).append(made)
    return {key: sorted(made, key=Candidate.when) for key, made in found.items()}


def max_points_of(book: Book, lab: str) -> int | None:
    tasks = book.scorer.tasks.get(lab)
    return None if tasks is None else sum(task["max_points"] for task in tasks.values() if not task["bonus"])


class Judge:
    """Applies the rules of one class."""

    def __init__(self, settings: Settings, roster: Roster, collected: set[str]) -> None:
        """`collected`: the labs of which submissions have been graded."""
        self.settings, self.roster, self.collected = settings, roster, collected
        self.now = datetime.datetime.now(datetime.UTC)
        self.deadlines = Deadlines(settings, roster)
        self.excused = [(roster.by_id(one.student), one) for one in settings.excused]
        self.decided = {
            (who.id, one.lab): one for one in settings.overrides if (who := roster.by_id(one.student))
        }

    def why_excused(self, student: Student, lab: str) -> str | None:
        """None who is not."""
        due = self.settings.lab(lab).due
        for who, one in self.excused:
            if who is student and (one.lab == lab or (one.before and due and due < one.before)):
                return f"excused: {one.reason}" if one.reason else "excused"
        return None

    def finals(
        self, student: Student, submissions: dict[str, list[Candidate]], maxima: dict[str, int | None]
    ) -> list[Final]:
        """Of every lab, in the order of their due dates, in which slip days are spent."""
        left, out = self.settings.slip_days, []
        for lab in sorted(submissions, key=lambda lab: (self.settings.lab(lab).due or FAR).timestamp()):
            out.append(self.final(student, lab, submissions[lab], maxima[lab], left))
            left -= out[-1].slip_days
        return out

    def is_open(self, lab: str, due: datetime.datetime | None, slip_days: int) -> bool:
        """Until the last day of the late rule (without a limit: the due date), with slip days, nothing is
        missing. A lab without a due date is always open."""
        late = self.settings.lab(lab).late
        after = datetime.timedelta(days=late.most_days + slip_days, minutes=late.grace_minutes)
        return due is None or self.now <= due + after

    def days_late(self, one: Candidate, due: datetime.datetime | None, late: Late) -> int:
        if due is None or not one.submitted:
            return int(one.late and due is not None)  # the platform does not say how late
        seconds = (datetime.datetime.fromisoformat(one.submitted) - due).total_seconds()
        seconds -= 60 * late.grace_minutes
        return max(0, math.ceil(seconds / DAY))

    def with_bonus(self, points: float, bonus: float, most: float | None) -> tuple[float, float]:
        """Points and bonus, as class.toml's `bonus` says what becomes of a bonus."""
        if self.settings.bonus == "separate":
            return points, bonus
        limit = most if self.settings.bonus == "capped" and most is not None else math.inf
        return tidy(min(points + bonus, max(points, limit))), 0

    def worth(self, one: Candidate, days: int, late: Late) -> tuple[float, float]:
        """Points and bonus after the late rule."""
        if days > late.most_days > 0:
            return 0, 0
        left = max(0, 100 - late.percent_per_day * days)
        return self.with_bonus(tidy(one.points * left / 100), tidy(one.bonus * left / 100), one.max_points)

    def final(
        self, student: Student, lab: str, submissions: list[Candidate], max_points: int | None, left: int
    ) -> Final:
        """`left`: the student's slip days."""
        key = student.id, lab
        rules = self.settings.lab(lab)
        out = Final(*key, "missing", max_points=max_points)
        due, why = self.deadlines.due(student, lab)
        decided, excused = self.decided.get(key), self.why_excused(student, lab)
        if excused is not None or decided is not None:
            left = 0  # nothing is to be won by them
        if rules.slip_days is not None:
            left = min(left, rules.slip_days)
        handed_in = [one for one in submissions if one.status != "missing"]
        # What a newer one in time replaced before it was graded is never graded, and holds nothing up.
        longest = (rules.late.most_days or math.inf) + left
        in_time = [self.days_late(one, due, rules.late) <= longest for one in handed_in]
        handed_in = [
            one for i, one in enumerate(handed_in) if one.status != "pending" or not any(in_time[i + 1 :])
        ]
        if not handed_in:
            if (is_open := self.is_open(lab, due, left)) or lab not in self.collected:
                out.status, out.points, out.bonus = "not due" if is_open else "not graded", None, None
            out.unusable = bool(submissions)
            out.notes = [one.message for one in submissions[-1:] if one.message]
        elif any(one.status in UNKNOWN for one in handed_in):
            out.status, out.points, out.bonus = "no grade", None, None
            first = next(one for one in handed_in if one.status in UNKNOWN)
            out.notes = [first.message or "It has not been graded yet."]
        else:
            self.choose(out, handed_in, due, left)
        out.notes += [why] if why else []
        if decided is not None:
            out.status = "override"
            out.points, out.bonus = self.with_bonus(tidy(decided.points), tidy(decided.bonus), out.max_points)
            out.notes.append(f"set by the instructor: {decided.reason}")
        elif excused is not None:
            out.status, out.points, out.bonus, out.slip_days = "excused", None, None, 0
            out.notes.append(excused)
        return out

    def choose(
        self, out: Final, handed_in: list[Candidate], due: datetime.datetime | None, left: int
    ) -> None:
        """Chooses the submission that counts, and the fewest slip days that give it the most points."""
        rules = self.settings.lab(out.lab)
        most = rules.late.most_days or math.inf
        rated = []
        for one in handed_in:
            days = self.days_late(one, due, rules.late)
            worth, slip = max(
                (self.worth(one, days - slip, rules.late), -slip) for slip in range(min(days, left) + 1)
            )
            rated.append((one, worth, -slip, days + slip))
        in_time = [one for one in rated if one[3] <= most] or rated
        if rules.counts == "best":
            chosen, worth, slip, days = max(in_time, key=lambda one: (*one[1], -one[2], -one[0].number))
        else:
            chosen, worth, slip, days = in_time[-1]
        out.points, out.bonus = worth
        out.status = "too late" if days > most else "late" if days else "graded"
        if chosen.status == "refused":
            out.status = chosen.status
        out.submission, out.submitted, out.tasks = chosen.number, chosen.submitted, chosen.tasks
        out.days_late, out.slip_days = days, slip
        out.max_points = out.max_points if out.max_points is not None else chosen.max_points
        out.notes = [chosen.message] if chosen.message else []
        if slip:
            out.notes.append(f"{plural(slip, 'slip day')} used, {left - slip} left")
        if days:
            out.notes.append(f"{plural(days, 'day')} late")
        elif chosen.late and due and not slip:
            out.notes.append("the platform marked it as late")
        own = chosen.owner == out.student
        if not own and self.roster.find(chosen.owner) is not self.roster.students[out.student]:
            out.notes.append(f"submitted by {chosen.owner}")


def plural(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def compute(book: Book) -> Term:
    settings = settings_of.read(book.folder)
    rows = candidates(book)
    settings_of.check_labs(settings, book.scorer.tasks.keys() | {lab for _, lab in rows})
    owners = sorted({owner for owner, _ in rows})
    roster = read_roster(settings.roster, settings.aliases)
    if not settings.roster:  # those who have handed something in
        roster = Roster([Student(owner, owner) for owner in owners], settings.aliases)
    labs = [*settings.labs, *sorted({lab for _, lab in rows} - settings.labs.keys())]
    warnings = [
        f"{lab} has no due date in {settings_of.NAME}: who has not submitted it has an empty cell, not 0."
        for lab in labs
        if settings.lab(lab).due is None
    ]
    warnings += check_names(settings, roster)

    # Student's id: owners of submissions that count for them, and for which labs.
    owned: dict[str, list[tuple[str, list[str]]]] = {}
    groups = {
        name: ([who for member in one.members if (who := roster.by_id(member))], one.labs)
        for name, one in settings.groups.items()
    }
    unknown = {}
    for owner in owners:
        counts = []
        name = owner if owner in groups else re.sub(r"_\d+$", "", owner)  # Moodle adds its own number
        if name in groups:
            counts = [groups[name]]
        elif person := roster.find(owner):
            teams = [(people, only_labs) for people, only_labs in groups.values() if person in people]
            counts = [([one for one in people if one is not person], only) for people, only in teams]
            counts.append(([person], []))
        for people, only_labs in counts:
            for person in people:
                owned.setdefault(person.id, []).append((owner, only_labs))
        if not any(people for people, _ in counts):
            unknown[owner] = why_unknown(owner, settings)

    warnings += [
        f"nobody's submissions of {lab} have been graded: its cells are empty."
        for lab in settings.labs
        if lab not in {of for _, of in rows}
    ]
    judge = Judge(settings, roster, {lab for _, lab in rows})
    maxima = {lab: max_points_of(book, lab) for lab in labs}
    finals: dict[tuple[str, str], Final] = {}
    submissions: dict[tuple[str, str], list[Candidate]] = {}
    for student in roster.students.values():
        for lab in labs:
            owners = [
                who for who, only_labs in owned.get(student.id, []) if not only_labs or lab in only_labs
            ]
            own = itertools.chain.from_iterable(rows.get((owner, lab), []) for owner in owners)
            submissions[student.id, lab] = sorted(own, key=Candidate.when)
        of_labs = {lab: submissions[student.id, lab] for lab in labs}
        finals |= {(student.id, one.lab): one for one in judge.finals(student, of_labs, maxima)}
    graded = [(lab, one) for (_, lab), made in rows.items() for one in made]
    warnings += [
        f"{what} was never measured, so nobody has points for it; ./lab grade-all has to run once more."
        for what in sorted({f"{lab}, {what}" for lab, one in graded for what in one.lacks})
    ]
    partial = {lab: book.partial(lab) for lab in labs}
    return Term(settings, roster, labs, finals, unknown, warnings, rows, submissions, partial)


def why_unknown(owner: str, settings: Settings) -> str:
    if owner in settings.aliases:
        return f'its alias "{settings.aliases[owner]}" is not in the roster'
    if owner in settings.groups:
        return "no member of this group is in the roster"
    return "not in the roster, or more than one student may be meant"


def check_names(settings: Settings, roster: Roster) -> list[str]:
    """The students that class.toml names and who are not in the roster."""
    found = []
    people = [(where, one.student) for where, one in settings.decisions()]
    people += [(f"groups.{name}", member) for name, one in settings.groups.items() for member in one.members]
    people += [("aliases", student) for student in settings.aliases.values()]
    for where, student in people:
        if roster.by_id(student) is None:
            near = difflib.get_close_matches(student, roster.students, 1)
            found.append(f"{settings_of.NAME}, {where}: {student} is not in the roster.")
            found[-1] += f" Did you mean {near[0]}?" if near else ""
    return found


# --- Writing, and what has changed ---


def joined(notes: list[str]) -> str:
    """Some are sentences with a full stop, some are not."""
    return "; ".join(note.rstrip(".") for note in notes)


def table(term: Term) -> list[list]:
    """The grades with a row for a student: the head first."""
    columns = ("", " bonus", " status", " days late")
    of_labs = [f"{lab}{what}{term.partial[lab]}" for lab in term.labs for what in columns]
    rows: list[list] = [["id", "name", "email", "section", "total", "bonus", "out of", *of_labs, "notes"]]
    for student in sorted(term.roster.students.values(), key=lambda one: (one.section, one.name, one.id)):
        finals = term.of(student)
        about = [student.id, student.name, student.email, student.section]
        cells = [
            value for one in finals for value in (one.points, one.bonus, one.status, one.days_late or "")
        ]
        notes = " ".join(f"{one.lab}: {joined(one.notes)}." for one in finals if one.notes)
        rows.append([*about, *total(finals), out_of(finals), *cells, notes])
    return rows


def shown(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"


def moved(before: dict[tuple[str, str], dict], term: Term) -> list[str]:
    """A line for each student and lab whose points have changed."""
    lines = []
    for (student, lab), final in sorted(term.finals.items()):
        was, now = before.get((student, lab)), asdict(final)
        if was is None or all(was[what] == now[what] for what in ("points", "bonus")):
            continue
        points, bonus = (f"{shown(was[what])} → {shown(now[what])}" for what in ("points", "bonus"))
        bonus = "" if was["bonus"] == now["bonus"] else f", bonus {bonus}"
        who = f"{student} ({name})" if (name := term.name_of(student)) else student
        lines.append(f"{who}, {lab}: {points}{bonus}: {joined(final.notes or [final.status])}")
    return lines


def before(book: Book) -> dict[tuple[str, str], dict]:
    """The grades of the last time, by student and lab."""
    rows = book.rows("SELECT student, lab, details FROM finals")
    return {(student, lab): json.loads(details) for student, lab, details in rows}


def write(book: Book, term: Term, lines: list[str]) -> None:
    """`lines`: who has moved."""
    book.db.execute("DELETE FROM finals")
    for (student, lab), final in term.finals.items():
        columns = {name: getattr(final, name) for name in ("status", "points", "bonus", "submission")}
        book.insert("finals", student=student, lab=lab, **columns, details=json.dumps(asdict(final)))
    book.db.commit()
    write_atomically(book.folder / "final.csv", csv_text(table(term)).encode())
    if lines:
        with open(book.folder / "changes.log", "a", encoding="utf-8") as file:
            file.writelines(f"{utc_now()}  {line}\n" for line in lines)
