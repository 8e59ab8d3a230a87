# SPDX-License-Identifier: MIT
"""class.toml: what an instructor decides about a class, in the class's folder. Everything in it has a
default, and nothing in it makes kernels run again.

    settings = read(folder)       checked; a Problem names the line's key and what may stand there
"""

import datetime
import difflib
import pathlib
import tomllib
import zoneinfo
from dataclasses import dataclass, field

NAME = "class.toml"
COUNTS = ("best", "latest")
BONUS = ("separate", "added", "capped")
NO_PART = ("student", "name", "lab", "comment")  # what else the columns of a table of manual points are


class Problem(Exception):
    """For the person at the keyboard: what is wrong and what to do."""


def meant(word: str, known) -> str:
    """A sentence for a name that is not `known`: the nearest that is, else all."""
    near = difflib.get_close_matches(word, sorted(known), 1)
    return f"Did you mean {near[0]}?" if near else f"There is: {', '.join(sorted(known))}."


@dataclass(frozen=True)
class Late:
    grace_minutes: float = 0
    percent_per_day: float = 0
    most_days: int = 0  # later than that: 0 points


@dataclass(frozen=True)
class Lab:
    due: datetime.datetime | None = None
    counts: str = "best"
    late: Late = Late()
    slip_days: int | None = None  # of a student's, that this lab may use; None: all
    drop: bool = True  # whether it may be one of the lowest, which are dropped
    manual: dict[str, float] = field(default_factory=dict)  # most points of the parts that a person grades
    column: str = ""  # its name in the tables of a platform
    bonus_column: str = ""  # that of its bonus in Canvas, which makes an assignment of a column that it does not know; "": none


@dataclass(frozen=True)
class Extension:
    student: str
    lab: str  # "": all
    due: datetime.datetime | None
    days: float
    reason: str


@dataclass(frozen=True)
class Excused:
    """Who need not do a lab: it is left out of their totals."""

    student: str
    lab: str
    reason: str


@dataclass(frozen=True)
class Override:
    student: str
    lab: str
    points: float
    bonus: float | None  # None: as graded
    reason: str


@dataclass
class Settings:
    title: str = "Class"
    roster: list[pathlib.Path] = field(default_factory=list)
    counts: str = "best"
    bonus: str = "separate"  # from the points; or "added" to them, without or with ("capped") the lab's most points as the limit
    times: pathlib.Path | None = None  # a table of times of submission
    manual: list[pathlib.Path] = field(default_factory=list)  # tables of the points that people give
    zone: datetime.tzinfo = datetime.UTC
    slip_days: int = 0  # late days of every student that cost nothing
    drop_lowest: int = 0  # labs of every student that do not count
    late: Late = Late()
    labs: dict[str, Lab] = field(default_factory=dict)
    groups: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)  # members, labs ([]: all)
    aliases: dict[str, str] = field(default_factory=dict)  # the name of a submission: a student's id
    extensions: list[Extension] = field(default_factory=list)
    excused: list[Excused] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)
    points: dict = field(default_factory=dict)  # by lab and task, see scoring.Scorer

    def lab(self, name: str) -> Lab:
        """Also of one that class.toml does not name."""
        return self.labs.get(name) or Lab(counts=self.counts, late=self.late, column=name)

    def decisions(self) -> list:
        """About single students, each with the name of its table."""
        names = ("extensions", "excused", "overrides")
        return [(name, one) for name in names for one in getattr(self, name)]


class Reader:
    """Takes keys out of a table; what is left is a mistake."""

    def __init__(self, path: pathlib.Path, table: dict, where: str = "") -> None:
        if not isinstance(table, dict):
            raise Problem(f"{path}: {where} must be a table.")
        self.path, self.table, self.where = path, dict(table), where
        self.known: list[str] = []

    def wrong(self, key: str, what: str) -> Problem:
        return Problem(f"{self.path}: {self.where + '.' if self.where else ''}{key} {what}.")

    def take(self, key: str, kinds, default, what: str):
        self.known.append(key)
        value = self.table.pop(key, default)
        if value is not default and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise self.wrong(key, f"must be {what}")
        return value

    def text(self, key: str, default: str = "") -> str:
        return self.take(key, str, default, "a text in quotes")

    def needed(self, key: str) -> str:
        if not (value := self.text(key).strip()):
            raise self.wrong(key, "is missing")
        return value

    def number(self, key: str, default, whole: bool = False, most: float = 1e6):
        kinds, what = (int, "a whole number") if whole else ((int, float), "a number")
        value = self.take(key, kinds, default, what)
        if value is not None and not 0 <= value <= most:
            raise self.wrong(key, f"must be from 0 to {most:g}")
        return value

    def yes(self, key: str, default: bool) -> bool:
        self.known.append(key)
        if not isinstance(value := self.table.pop(key, default), bool):
            raise self.wrong(key, "must be true or false")
        return value

    def one_of(self, key: str, values: tuple[str, ...], default: str) -> str:
        if (value := self.text(key, default)) not in (*values, default):
            raise self.wrong(key, f'must be {" or ".join(values)}, and not "{value}"')
        return value

    def texts(self, key: str) -> list[str]:
        value = self.take(key, (str, list), [], 'a text, or a list of texts: ["a", "b"]')
        value = [value] if isinstance(value, str) else value
        if not all(isinstance(one, str) for one in value):
            raise self.wrong(key, 'must be a list of texts: ["a", "b"]')
        return value

    def time(self, key: str, zone: datetime.tzinfo) -> datetime.datetime | None:
        value = self.take(key, datetime.datetime, None, "a date and a time: 2026-10-05T23:59:00")
        return value if value is None or value.tzinfo else value.replace(tzinfo=zone)

    def tables(self, key: str) -> dict:
        return self.take(key, dict, {}, "a table")

    def rows(self, key: str) -> list["Reader"]:
        rows = self.take(key, list, [], f"written as [[{key}]]")
        return [Reader(self.path, row, f"{key}[{number}]") for number, row in enumerate(rows, 1)]

    def done(self) -> None:
        for key in self.table:
            raise Problem(f"{self.wrong(key, 'is unknown here')} {meant(key, self.known)}")


def is_tier(one: object) -> bool:
    if not isinstance(one, list) or len(one) != 2:
        return False
    return isinstance(one[0], (int, float)) and type(one[1]) is int and one[1] >= 0


def read_points(path: pathlib.Path, tables: dict) -> dict:
    found: dict = {}
    for lab, tasks in tables.items():
        for task, wish in Reader(path, tasks, f"points.{lab}").table.items():
            reader = Reader(path, wish, f"points.{lab}.{task}")
            out: dict = {}
            if (correctness := reader.number("correctness", None, whole=True, most=1000)) is not None:
                out["correctness"] = correctness
            for metric, goal in reader.tables("efficiency").items():
                one = Reader(path, goal, f"{reader.where}.efficiency.{metric}")
                limit = one.number("limit", None, most=1e12)
                points = one.number("points", None, whole=True, most=1000)
                if limit is None or points is None:
                    raise one.wrong("limit, points", "are both needed")
                one.done()
                out.setdefault("efficiency", {})[metric] = {"limit": limit, "points": points}
            tiers = reader.take("speedup", list, None, "a list of [speedup, points]")
            if tiers is not None:
                if not all(map(is_tier, tiers)):
                    raise reader.wrong("speedup", "must be a list of [speedup, points]: [[8, 2], [16, 2]]")
                out["speedup"] = tiers
            reader.done()
            found.setdefault(lab, {})[task] = out
    return found


def check_labs(settings: Settings, known: set[str]) -> None:
    """Raises a Problem for a lab that does not exist: its rules would apply to nothing, and those of the real
    one would be lost."""
    named = [(f"labs.{lab}", lab) for lab in settings.labs]
    named += [(f"points.{lab}", lab) for lab in settings.points]
    named += [(f"groups.{group}", lab) for group, (_, labs) in settings.groups.items() for lab in labs]
    named += [(where, one.lab) for where, one in settings.decisions() if one.lab]
    for where, lab in named:
        if lab not in known:
            raise Problem(f'{NAME}, {where}: there is no lab "{lab}". {meant(lab, known)}')


def read_late(reader: Reader, default: Late) -> Late:
    late = Late(
        reader.number("grace_minutes", default.grace_minutes),
        reader.number("percent_per_day", default.percent_per_day, most=100),
        reader.number("most_days", default.most_days, whole=True, most=1000),
    )
    reader.done()
    return late


def read_manual(path: pathlib.Path, where: str, parts: dict) -> dict[str, float]:
    reader = Reader(path, parts, where)
    for part in parts:
        if part.casefold() in NO_PART:
            raise reader.wrong(part, "is the name of another column of the table; take another one")
    return {part: reader.number(part, 0) for part in parts}


def parse(path: pathlib.Path, table: dict) -> Settings:
    top = Reader(path, table)
    name = top.text("timezone", "UTC")
    try:
        zone = datetime.UTC if name == "UTC" else zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        unknown = f'"{name}" is not known on this machine: Europe/Berlin, for example'
        raise top.wrong("timezone", f"{unknown} (Debian's package tzdata has the list)") from None
    settings = Settings(
        title=top.text("title", "Class"),
        roster=[path.parent / one for one in top.texts("roster")],
        counts=top.one_of("counts", COUNTS, "best"),
        bonus=top.one_of("bonus", BONUS, "separate"),
        manual=[path.parent / one for one in top.texts("manual")],
        zone=zone,
        slip_days=top.number("slip_days", 0, whole=True, most=1000),
        drop_lowest=top.number("drop_lowest", 0, whole=True, most=1000),
    )
    if times := top.text("times"):
        settings.times = path.parent / times
    settings.late = read_late(Reader(path, top.tables("late"), "late"), Late())
    for lab, about in top.tables("labs").items():
        one = Reader(path, about, f"labs.{lab}")
        settings.labs[lab] = Lab(
            one.time("due", zone),
            one.one_of("counts", COUNTS, settings.counts),
            read_late(Reader(path, one.tables("late"), f"labs.{lab}.late"), settings.late),
            one.number("slip_days", None, whole=True, most=1000),
            one.yes("drop", True),
            read_manual(path, f"labs.{lab}.manual", one.tables("manual")),
            one.text("column", lab),
            one.text("bonus_column"),
        )
        one.done()
    for group, about in top.tables("groups").items():
        one = Reader(path, about if isinstance(about, dict) else {"members": about}, f"groups.{group}")
        settings.groups[group] = (one.texts("members"), one.texts("labs"))
        one.done()
    aliases = top.tables("aliases")
    settings.aliases = {key: Reader(path, aliases, "aliases").needed(key) for key in aliases}
    for one in top.rows("extensions"):
        due, days = one.time("due", zone), one.number("days", 0)
        made = Extension(one.needed("student"), one.text("lab"), due, days, one.text("reason"))
        if (made.due is None) == (made.days == 0):
            raise one.wrong("due, days", "exactly one of them is needed")
        settings.extensions.append(made)
        one.done()
    for one in top.rows("excused"):
        settings.excused.append(Excused(one.needed("student"), one.needed("lab"), one.needed("reason")))
        one.done()
    for one in top.rows("overrides"):
        points = one.number("points", None)
        if points is None:
            raise one.wrong("points", "is missing")
        student, lab, bonus = one.needed("student"), one.needed("lab"), one.number("bonus", None)
        settings.overrides.append(Override(student, lab, points, bonus, one.needed("reason")))
        one.done()
    settings.points = read_points(path, top.tables("points"))
    top.done()
    return settings


def read(folder: pathlib.Path) -> Settings:
    """Of a class without a class.toml: the defaults."""
    path = folder / NAME
    try:
        return parse(path, tomllib.loads(path.read_text(encoding="utf-8"))) if path.exists() else Settings()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} is no TOML: {error}.") from None
