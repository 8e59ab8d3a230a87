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
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ending import Problem

NAME = "class.toml"


def meant(word: str, known: Iterable[str]) -> str:
    """A sentence for a name that is not `known`: the nearest that is, else all."""
    near = difflib.get_close_matches(word, sorted(known), 1)
    return f"Did you mean {near[0]}?" if near else f"There is: {', '.join(sorted(known))}."


# --- What may stand where ---

WORDS: dict[Any, str] = {
    str: "a text in quotes",
    float: "a number",
    int: "a whole number",
    datetime.datetime: "a date and a time: 2026-10-05T23:59:00",
    list: 'a list of texts: ["a", "b"]',
    dict: "a table",
}


def zone(where: str, value: str) -> datetime.tzinfo:
    try:
        return datetime.UTC if value == "UTC" else zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        unknown = f'"{value}" is not known on this machine: Europe/Berlin, for example'
        raise Problem(f"{where} {unknown} (Debian's package tzdata has the list).") from None


def table(of: type, where: str, value: dict) -> dict:
    """A table whose keys are the fields of a dataclass; it needs those without a default."""
    found, spec = {}, get_type_hints(of, include_extras=True)
    for key, one in value.items():
        name = f"{where} {key}" if where.endswith(":") else f"{where}.{key}"
        if key not in spec:
            raise Problem(f"{name} is unknown here. {meant(key, spec)}")
        found[key] = checked(spec[key], name, one)
    for one in fields(of):
        needed = one.default is MISSING and one.default_factory is MISSING
        if needed and not str(found.get(one.name, "")).strip():
            raise Problem(f"{where}.{one.name} is missing.")
    return found


def checked(hint: Any, where: str, value: Any) -> Any:
    """The value, if it is of the type; a table as a dictionary. Annotated has the words or the largest number that
    are possible."""
    hint, limit = get_args(hint) if get_origin(hint) is Annotated else (hint, None)
    hint = get_args(hint)[0] if type(None) in get_args(hint) else hint
    inner, of = get_args(hint), dict if is_dataclass(hint) else get_origin(hint) or hint
    if of is list and is_dataclass(inner[0]):
        if not isinstance(value, list):
            raise Problem(f"{where} must be written as [[{where.split()[-1]}]].")
        return [checked(inner[0], f"{where}[{at}]", one) for at, one in enumerate(value, 1)]
    if hint is Group and not isinstance(value, dict):
        value = {"members": value}
    if of is list and isinstance(value, str):
        value = [value]
    of = str if of is datetime.tzinfo else of
    is_one = isinstance(value, (int, float) if of is float else of) and not isinstance(value, bool)
    if not is_one or (of is list and not all(isinstance(one, str) for one in value)):
        raise Problem(f"{where} must be {WORDS[of]}.")
    if of is dict and inner:
        return {key: checked(inner[1], f"{where}.{key}", one) for key, one in value.items()}
    if of is dict:
        return table(hint, where, value)
    if of is str and limit and value not in limit:
        raise Problem(f'{where} must be {" or ".join(limit)}, and not "{value}".')
    if of in (int, float) and not 0 <= value <= (most := limit or (1000 if of is int else 1e6)):
        raise Problem(f"{where} must be from 0 to {most:g}.")
    return zone(where, value) if hint is datetime.tzinfo else value


# --- What class.toml holds ---

Counts = Annotated[str, ("best", "latest")]
Percent = Annotated[float, 100]


@dataclass(frozen=True)
class Late:
    grace_minutes: float = 0
    percent_per_day: Percent = 0
    most_days: int = 0  # later than that: 0 points; 0: no limit


@dataclass(frozen=True)
class Lab:
    due: datetime.datetime | None = None
    counts: Counts = "best"
    late: Late = Late()
    slip_days: int | None = None  # of a student's, that this lab may use; None: all
    column: str = ""  # its name in the tables of a platform
    # That of its bonus in Canvas, which makes an assignment of a column that it does not know; "": none.
    bonus_column: str = ""


@dataclass(frozen=True)
class Extension:
    student: str
    lab: str = ""  # all
    due: datetime.datetime | None = None
    days: float = 0
    reason: str = ""


@dataclass(frozen=True)
class Excused:
    """Who need not do a lab, or all that were due before: left out of their totals."""

    student: str
    lab: str = ""
    before: datetime.datetime | None = None
    reason: str = ""


@dataclass(frozen=True)
class Override:
    student: str
    lab: str
    points: float
    reason: str
    bonus: float = 0


@dataclass
class Group:
    members: list[str] = field(default_factory=list)
    labs: list[str] = field(default_factory=list)  # []: all


@dataclass
class Settings:
    title: str = "Class"
    roster: list[pathlib.Path] = field(default_factory=list)
    counts: Counts = "best"
    # From the points; or "added" to them, without or with ("capped") the lab's most points as the limit.
    bonus: Annotated[str, ("separate", "added", "capped")] = "separate"
    timezone: datetime.tzinfo = datetime.UTC
    slip_days: int = 0  # late days of every student that cost nothing
    late: Late = Late()
    labs: dict[str, Lab] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)  # the name of a submission: a student's id
    extensions: list[Extension] = field(default_factory=list)
    excused: list[Excused] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)

    def lab(self, name: str) -> Lab:
        """Also of one that class.toml does not name."""
        return self.labs.get(name) or Lab(counts=self.counts, late=self.late, column=name)

    def decisions(self) -> list:
        """About single students, each with the name of its table."""
        names = ("extensions", "excused", "overrides")
        return [(name, one) for name in names for one in getattr(self, name)]


def parse(path: pathlib.Path, data: dict) -> Settings:
    found = table(Settings, f"{path}:", data)
    settings = Settings(timezone=found.pop("timezone", datetime.UTC))
    late = settings.late = Late(**found.pop("late", {}))

    def local(row: dict) -> dict:
        times = {name: row[name] for name in ("due", "before") if row.get(name) and not row[name].tzinfo}
        return row | {name: time.replace(tzinfo=settings.timezone) for name, time in times.items()}

    for at, row in enumerate(found.get("extensions", []), 1):
        if ("due" in row) == (row.get("days", 0) > 0):
            raise Problem(f"{path}: extensions[{at}].due, days exactly one of them is needed.")
    for at, row in enumerate(found.get("excused", []), 1):
        if ("lab" in row) == ("before" in row):
            raise Problem(f"{path}: excused[{at}].lab, before exactly one of them is needed.")
    for name, of in (("extensions", Extension), ("excused", Excused), ("overrides", Override)):
        setattr(settings, name, [of(**local(row)) for row in found.pop(name, [])])
    for name, row in found.pop("labs", {}).items():
        inherited = {"counts": found.get("counts", settings.counts), "column": name}
        own_late = replace(late, **row.pop("late", {}))
        settings.labs[name] = Lab(**(inherited | local(row)), late=own_late)
    settings.groups = {name: Group(**row) for name, row in found.pop("groups", {}).items()}
    settings.roster = [path.parent / one for one in found.pop("roster", [])]
    return replace(settings, **found)


def check_labs(settings: Settings, known: set[str]) -> None:
    """Raises a Problem for a lab that does not exist: its rules would apply to nothing, and those of the real
    one would be lost."""
    named = [(f"labs.{lab}", lab) for lab in settings.labs]
    named += [(f"groups.{name}", lab) for name, of in settings.groups.items() for lab in of.labs]
    named += [(where, one.lab) for where, one in settings.decisions() if one.lab]
    for where, lab in named:
        if lab not in known:
            raise Problem(f'{NAME}, {where}: there is no lab "{lab}". {meant(lab, known)}')


def read(folder: pathlib.Path) -> Settings:
    """Of a class without a class.toml: the defaults."""
    path = folder / NAME
    try:
        return parse(path, tomllib.loads(path.read_text(encoding="utf-8"))) if path.exists() else Settings()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} is no TOML: {error}.") from None
