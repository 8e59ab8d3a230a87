# SPDX-License-Identifier: MIT
"""Who is in the class: read from the tables of Canvas, Moodle, Gradescope, or a plain one; and whose a
submission is.

roster = read([path, …], aliases)      tables of the same people complete each other
roster.find("Ada Lovelace_123")        the student, or None: unknown or ambiguous names are for people to look at
"""

import csv
import io
import pathlib
import re
import unicodedata
from dataclasses import dataclass, field

from settings import Problem

# Columns that say who somebody is, by what they are called. The first that has a value is the id.
HEADS = pathlib.Path(__file__).with_name("roster_heads.tsv").read_text(encoding="utf-8")
IDS, EMAILS, NAMES, FIRST, LAST, SECTIONS = (
    tuple(line.split("\t")[1].split("|")) for line in HEADS.splitlines() if line[0] != "#"
)
KEYS = (*IDS, "identifier", "login", *EMAILS)
NOBODY = ("points possible", "student, test", "test student")  # rows of Canvas


@dataclass(eq=False)
class Student:
    id: str
    name: str
    email: str = ""
    section: str = ""
    keys: set[str] = field(default_factory=set)  # what else identifies them, in lower case
    parts: tuple[str, str] | None = None  # first and last name, where a table has them apart

    @property
    def first(self) -> str:
        return self.parts[0] if self.parts else self.name.rpartition(" ")[0]

    @property
    def last(self) -> str:
        return self.parts[1] if self.parts else self.name.rpartition(" ")[2]


def plain(text: str) -> str:
    """Letters and digits alone, so that names can be compared."""
    text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in text if char.isalnum())


def name_keys(name: str) -> set[str]:
    """A name in both orders: Ada Lovelace, Lovelace Ada, lovelaceada."""
    if "," in name:
        last, first = name.split(",", 1)
        return {plain(last + first), plain(first + last)}
    words = name.split()
    return {plain(name), plain(" ".join(words[-1:] + words[:-1]))}


class Roster:
    def __init__(self, students: list[Student], aliases: dict[str, str]) -> None:
        self.students = {one.id: one for one in students}
        self.aliases = aliases
        self.by_key: dict[str, list[Student]] = {}
        for one in students:
            for key in {one.id.casefold()} | one.keys:
                self.by_key.setdefault(key, []).append(one)
            for key in name_keys(one.name) | {plain(one.email.split("@")[0])} - {""}:
                self.by_key.setdefault("~" + key, []).append(one)

    def one(self, key: str) -> Student | None:
        found = self.by_key.get(key, [])
        return found[0] if len({one.id for one in found}) == 1 else None

    def by_id(self, text: str) -> Student | None:
        """By what identifies a person for certain."""
        return self.students.get(text) or self.one(text.strip().casefold())

    def find(self, submission: str) -> Student | None:
        """`submission`: the name that grade-all gives to a submission's owner."""
        if (alias := self.aliases.get(submission)) is not None:
            return self.by_id(alias)
        if found := self.by_id(submission):
            return found
        parts = re.fullmatch(r"(.+)_(\d+)", submission, re.S)
        name, number = parts.groups() if parts else (submission, "")
        named = list(self.by_key.get("~" + plain(name), []))
        if number:  # Moodle's Participant 123, Canvas's ID 123
            numbered = self.one(f"participant {number}") or self.one(number)
            if numbered and (not named or numbered in named):
                return numbered
        return named[0] if len({one.id for one in named}) == 1 else None


def table_of(path: pathlib.Path) -> tuple[str, list[list[str]]]:
    """The delimiter of a table in CSV (comma, semicolon or tab) and its rows, the head first."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Problem(f"{path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Problem(f"{path} is not UTF-8: save it as CSV in UTF-8.") from None
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    if not (rows := list(csv.reader(io.StringIO(text), delimiter=delimiter))):
        raise Problem(f"{path} is empty.")
    return delimiter, rows


def rows_of(path: pathlib.Path) -> list[dict[str, str]]:
    _, rows = table_of(path)
    heads = [head.strip().casefold() for head in rows[0]]
    stripped = ([cell.strip() for cell in row] for row in rows[1:])
    return [dict(zip(heads, row)) for row in stripped if any(row)]


def first_of(row: dict[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def students_of(path: pathlib.Path) -> list[Student]:
    rows = rows_of(path)
    heads = set(rows[0]) if rows else set()
    if rows and not heads & set(KEYS):
        have_one = (
            "Canvas's, Moodle's and Gradescope's tables have one; "
            "a plain table needs id, name, email and section"
        )
        raise Problem(f"{path} has no column that says who a student is. {have_one}.")
    canvas = "sis login id" in heads  # there "ID" is Canvas's own number, which nobody knows
    ids = ("sis user id", "sis login id", "id") if canvas else IDS
    found = []
    for row in rows:
        parts = (first_of(row, FIRST), first_of(row, LAST))
        name = first_of(row, NAMES) or " ".join(parts).strip()
        is_nobody = name.casefold() in NOBODY or NOBODY[0] in map(str.casefold, row.values())
        if is_nobody or row.get("role", "student").casefold() not in ("student", ""):
            continue
        login = row.get("sis login id", "")
        email = first_of(row, EMAILS) or (login if "@" in login else "")
        keys = {row[key].casefold() for key in KEYS if row.get(key)}
        if not keys and not name:
            continue
        if "," in name:
            last, first = (part.strip() for part in name.split(",", 1))
            parts, name = (first, last), f"{first} {last}"
        key, section = first_of(row, ids) or email or first_of(row, KEYS) or name, first_of(row, SECTIONS)
        found.append(Student(key, name, email, section, keys, parts if any(parts) else None))
    return found


def merge(students: list[Student]) -> list[Student]:
    """Rows with a common key are one person; the first table decides the id."""
    merged: list[Student] = []
    by_key: dict[str, Student] = {}
    for one in students:
        known = {id(by_key[key]): by_key[key] for key in one.keys if key in by_key}
        if len(known) > 1:
            names = " and ".join(sorted(person.name or person.id for person in known.values()))
            raise Problem(f"The rosters contradict each other: {one.name or one.id} is both {names}.")
        person = next(iter(known.values()), None)
        if person is None:
            merged.append(person := one)
        for name in ("name", "email", "section", "parts"):
            setattr(person, name, getattr(person, name) or getattr(one, name))
        person.keys |= one.keys
        by_key |= dict.fromkeys(person.keys, person)
    ids = [one.id for one in merged]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise Problem(f"The roster has {', '.join(twice[:5])} more than once: ids must differ.")
    return merged


def read(paths: list[pathlib.Path], aliases: dict[str, str]) -> Roster:
    return Roster(merge([one for path in paths for one in students_of(path)]), aliases)
