# SPDX-License-Identifier: MIT
"""The gradebook: SQLite and CSV, made from the ledger and the results, whole or not at all. One process
writes it, anybody may read.

    python3 grader/batch/gradebook.py FOLDER/gradebook.sqlite     prints every grade, without times: two runs can be compared

handouts/instructor-guide.md describes the tables to those who query them.
"""

import contextlib
import csv
import io
import os
import pathlib
import sqlite3
import sys
from collections.abc import Iterable

from book import Book, read_result
from names import slug

SCHEMA = """
PRAGMA user_version = 2;
CREATE TABLE students (student TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE);
-- One row each time that something new was handed in; `id` counts up.
CREATE TABLE submissions (
  id INTEGER PRIMARY KEY, student TEXT NOT NULL REFERENCES students, lab TEXT NOT NULL, sha256 TEXT NOT NULL,
  origin TEXT NOT NULL, late INTEGER NOT NULL, submitted TEXT NOT NULL, received TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('graded', 'refused', 'missing', 'infra', 'pending')),
  points INTEGER, max_points INTEGER, bonus_points INTEGER, message TEXT NOT NULL, key TEXT, attempt INTEGER);
CREATE TABLE tasks (
  submission INTEGER NOT NULL REFERENCES submissions, task TEXT NOT NULL, verdict TEXT NOT NULL, points INTEGER NOT NULL,
  max_points INTEGER NOT NULL, bonus INTEGER NOT NULL, speedup REAL, message TEXT NOT NULL, PRIMARY KEY (submission, task));
-- Every attempt that ended, also those that were the machine's fault.
CREATE TABLE attempts (
  key TEXT NOT NULL, attempt INTEGER NOT NULL, lab TEXT NOT NULL, sha256 TEXT NOT NULL, outcome TEXT NOT NULL, ended TEXT NOT NULL,
  seconds REAL, device TEXT, isolation TEXT, message TEXT NOT NULL, PRIMARY KEY (key, attempt));
CREATE VIEW latest AS SELECT * FROM submissions WHERE id IN (SELECT max(id) FROM submissions GROUP BY student, lab);
-- A submission without points loses against any other; of equal ones the earliest counts.
CREATE VIEW best AS SELECT * FROM submissions AS h WHERE id = (
  SELECT id FROM submissions WHERE student = h.student AND lab = h.lab
  ORDER BY coalesce(points, -1) DESC, coalesce(bonus_points, -1) DESC, id LIMIT 1);
"""


def row_of(book: Book, submission: dict, current: bool = False) -> tuple[dict, list[dict]]:
    """The columns of a submission and its tasks. One that is not the current one has what it got at its time."""
    row = {"status": "missing", "points": 0, "bonus_points": 0, "message": submission["note"]}
    row |= dict.fromkeys(("max_points", "key", "attempt"))
    if submission["refused"]:
        row.update(status="refused", message=submission["refused"])
    if not submission["sha256"]:
        row["message"] = row["message"] or submission["origin"]
        return row, []
    lab, sha256 = submission["lab"], submission["sha256"]
    units = [book.unit(lab, sha256)] if lab in book.digests else []
    keys = [unit.key for unit in units]
    if not current or book.keeps_earlier(lab):
        keys += book.state.keys_of(lab, sha256)
    graded = next((found for key in keys if (found := book.grade(key, lab))), None)
    if graded is None:
        faults = [record for unit in units for record in book.state.ended.get(unit.key, {}).values()]
        message = faults[-1].get("message", "") if faults else ""
        if any(book.needs_a_person(unit) for unit in units):
            why = "It failed twice in the same way: a person has to look, then --again grades it."
            message = f"{why} {message}"
        row.update(status="infra" if faults else "pending", points=None, bonus_points=None, message=message)
        return row, []
    ended, result = graded[0], book.scorer.rescored(graded[1]["labs"][0])
    row.update(status="graded", key=ended["key"], attempt=ended["attempt"])
    row.update((name, result[name]) for name in ("points", "max_points", "bonus_points"))
    return row, result["tasks"]


def write_tables(book: Book) -> None:
    """Writes all of them, from the ledger. If it is killed between the renames, they may disagree until the
    next run writes them again."""
    names = ("gradebook.sqlite", "grades.csv", "tasks.csv")
    gradebook, *tables = files = [book.folder / f".{name}.{os.getpid()}.tmp" for name in names]
    try:
        gradebook.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(gradebook)) as db:
            fill(db, book)
            for file, table in zip(tables, (grades_table(db), tasks_table(db))):
                file.write_text(table, encoding="utf-8", newline="")
        for name, file in zip(names, files):
            os.replace(file, book.folder / name)
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def insert(db: sqlite3.Connection, table: str, row: dict) -> None:
    """`row`: the table's columns by name; what else it has is left out."""
    columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    marks = ", ".join("?" * len(columns))
    db.execute(f"INSERT INTO {table} VALUES ({marks})", [row.get(name) for name in columns])


def fill(db: sqlite3.Connection, book: Book) -> None:
    db.execute("PRAGMA synchronous = OFF")  # it is put in place when it is whole, and can be made again
    db.executescript(SCHEMA)
    with db:
        for student in sorted({one["student"] for one in book.state.submissions}):
            insert(db, "students", {"student": student, "slug": slug(student)})
        last = {(one["student"], one["lab"]): number for number, one in enumerate(book.state.submissions, 1)}
        for number, one in enumerate(book.state.submissions, 1):
            row, tasks = row_of(book, one, current=last[one["student"], one["lab"]] == number)
            insert(db, "submissions", {**one, **row, "id": number, "received": one["time"]})
            for task in tasks:
                insert(db, "tasks", {"bonus": False, **task, "submission": number, "task": task["id"]})
        for key, attempts in book.state.ended.items():
            for number, record in attempts.items():
                known = {"lab": "", "sha256": "", "outcome": "", "message": "", **record}
                graded = book.grade(key, known["lab"])
                path = book.folder / "results" / key / f"{number}.json"
                counts = graded and graded[0] is record
                result = (graded[1] if counts else read_result(path, known["lab"])) or {}
                about = {name: result.get(name) for name in ("device", "isolation")}
                ended = {"key": key, "attempt": number, "ended": record.get("time", "")}
                insert(db, "attempts", {**known, **about, **ended})


def cell(value: object) -> object:
    """A spreadsheet must not take a student's text for a formula: an apostrophe stands before a text that
    begins with = + - or @, also after blanks, and before one that begins with a tab or a carriage return.
    `./lab report --csv` has the same rule."""
    if isinstance(value, str) and (value.lstrip()[:1] in {*"=+-@"} or value[:1] in {*"\t\r"}):
        return "'" + value
    return "" if value is None else value


def csv_text(rows: Iterable, delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def grades_table(db: sqlite3.Connection) -> str:
    labs = [lab for (lab,) in db.execute("SELECT DISTINCT lab FROM submissions ORDER BY lab")]
    columns = "student, lab, status, points, bonus_points, late, message"
    latest = {(student, lab): row for student, lab, *row in db.execute(f"SELECT {columns} FROM latest")}
    of_labs = [f"{lab}{what}" for lab in labs for what in ("", " bonus", " status")]
    out: list = [["student", "total", "bonus", *of_labs, "late", "notes"]]
    for (student,) in db.execute("SELECT student FROM students ORDER BY student"):
        rows = [latest.get((student, lab), ("missing", 0, 0, 0, "")) for lab in labs]
        # A total is no total while a part is unknown: it must never look like a zero.
        known = all(points is not None for _, points, *_ in rows)
        totals = [sum(row[column] for row in rows) if known else None for column in (1, 2)]  # points, bonus
        cells = [value for status, points, bonus, *_ in rows for value in (points, bonus, status)]
        late = "late" if any(late for *_, late, _ in rows) else ""
        notes = " ".join(f"{lab}: {message}" for lab, (*_, message) in zip(labs, rows) if message)
        out.append([student, *totals, *cells, late, notes])
    return csv_text(out)


def tasks_table(db: sqlite3.Connection) -> str:
    rows = db.execute(
        "SELECT student, lab, task, verdict, t.points, t.max_points, bonus, speedup, t.message FROM latest "
        "JOIN tasks t ON submission = id ORDER BY student, lab, t.rowid"
    )
    return csv_text([[name for name, *_ in rows.description], *rows])


def grades(path: pathlib.Path) -> list[tuple]:
    """Everything that a grade consists of, without times and attempts."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = list(
        db.execute(
            "SELECT student, lab, sha256, status, points, max_points, bonus_points, message, '', '', 0 FROM latest "
            "ORDER BY student, lab"
        )
    )
    rows += list(
        db.execute(
            "SELECT student, lab, sha256, task, t.points, t.max_points, bonus, t.message, verdict, '', speedup FROM latest "
            "JOIN tasks t ON submission = id ORDER BY student, lab, task"
        )
    )
    db.close()
    return rows


if __name__ == "__main__":
    for one in grades(pathlib.Path(sys.argv[1])):
        print(*[repr(value) for value in one], sep="\t")
