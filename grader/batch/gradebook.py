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

from book import Book, read_result
from names import slug

SCHEMA = """
PRAGMA user_version = 2;
CREATE TABLE students (student TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE);
-- One row each time that something new was handed in; `id` counts up.
CREATE TABLE hand_ins (
  id INTEGER PRIMARY KEY, student TEXT NOT NULL REFERENCES students, lab TEXT NOT NULL, sha256 TEXT NOT NULL,
  origin TEXT NOT NULL, late INTEGER NOT NULL, submitted TEXT NOT NULL, received TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('graded', 'refused', 'missing', 'infra', 'pending')),
  points INTEGER, max_points INTEGER, bonus_points INTEGER, message TEXT NOT NULL, key TEXT, attempt INTEGER);
CREATE TABLE tasks (
  hand_in INTEGER NOT NULL REFERENCES hand_ins, task TEXT NOT NULL, verdict TEXT NOT NULL, points INTEGER NOT NULL,
  max_points INTEGER NOT NULL, bonus INTEGER NOT NULL, speedup REAL, message TEXT NOT NULL, PRIMARY KEY (hand_in, task));
-- Every attempt that ended, also those that were the machine's fault.
CREATE TABLE attempts (
  key TEXT NOT NULL, attempt INTEGER NOT NULL, lab TEXT NOT NULL, sha256 TEXT NOT NULL, outcome TEXT NOT NULL, ended TEXT NOT NULL,
  seconds REAL, device TEXT, isolation TEXT, message TEXT NOT NULL, PRIMARY KEY (key, attempt));
CREATE VIEW latest AS SELECT * FROM hand_ins WHERE id IN (SELECT max(id) FROM hand_ins GROUP BY student, lab);
-- A hand-in without points loses against any other; of equal ones the earliest counts.
CREATE VIEW best AS SELECT * FROM hand_ins AS h WHERE id = (
  SELECT id FROM hand_ins WHERE student = h.student AND lab = h.lab
  ORDER BY coalesce(points, -1) DESC, coalesce(bonus_points, -1) DESC, id LIMIT 1);
"""


def row_of(book: Book, hand_in: dict, current: bool = False) -> tuple[dict, list[dict]]:
    """The columns of a hand-in and its tasks. One that is not the current one has what it got at its time."""
    row = {
        "status": "missing",
        "points": 0,
        "max_points": None,
        "bonus_points": 0,
        "message": hand_in["note"],
        "key": None,
        "attempt": None,
    }
    if hand_in["refused"]:
        row.update(status="refused", message=hand_in["refused"])
    if not hand_in["sha256"]:
        row["message"] = row["message"] or hand_in["origin"]
        return row, []
    units = [book.unit(hand_in["lab"], hand_in["sha256"])] if hand_in["lab"] in book.digests else []
    keys = [unit.key for unit in units] + (
        []
        if current and not book.keeps_earlier(hand_in["lab"])
        else book.state.keys_of(hand_in["lab"], hand_in["sha256"])
    )
    graded = next((found for key in keys if (found := book.grade(key, hand_in["lab"]))), None)
    if graded is None:
        faults = [record for unit in units for record in book.state.ended.get(unit.key, {}).values()]
        message = faults[-1].get("message", "") if faults else ""
        if any(book.needs_a_person(unit) for unit in units):
            message = (
                f"It failed twice in the same way: a person has to look, then --again grades it. {message}"
            )
        row.update(status="infra" if faults else "pending", points=None, bonus_points=None, message=message)
        return row, []
    ended, result = graded[0], book.scorer.rescored(graded[1]["labs"][0])
    row.update(
        status="graded",
        points=result["points"],
        max_points=result["max_points"],
        bonus_points=result["bonus_points"],
        key=ended["key"],
        attempt=ended["attempt"],
    )
    return row, result["tasks"]


def write_tables(book: Book) -> None:
    """Writes all of them, from the ledger. If it is killed between the renames, they may disagree until the
    next run writes them again."""
    files = {
        name: book.folder / f".{name}.{os.getpid()}.tmp"
        for name in ("gradebook.sqlite", "grades.csv", "tasks.csv")
    }
    try:
        write_gradebook(book, files["gradebook.sqlite"])
        write_csv(files["gradebook.sqlite"], files["grades.csv"], files["tasks.csv"])
        for name, beside in files.items():
            os.replace(beside, book.folder / name)
    finally:
        for beside in files.values():
            beside.unlink(missing_ok=True)


def write_gradebook(book: Book, path: pathlib.Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as db:
        fill(db, book)


def fill(db: sqlite3.Connection, book: Book) -> None:
    db.execute("PRAGMA synchronous = OFF")  # it is put in place when it is whole, and can be made again
    db.executescript(SCHEMA)
    with db:
        for student in sorted({one["student"] for one in book.state.hand_ins}):
            db.execute("INSERT INTO students VALUES (?, ?)", (student, slug(student)))
        last = {(one["student"], one["lab"]): number for number, one in enumerate(book.state.hand_ins, 1)}
        for number, one in enumerate(book.state.hand_ins, 1):
            row, tasks = row_of(book, one, current=last[one["student"], one["lab"]] == number)
            db.execute(
                "INSERT INTO hand_ins VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    number,
                    one["student"],
                    one["lab"],
                    one["sha256"],
                    one["origin"],
                    int(one["late"]),
                    one["submitted"],
                    one["time"],
                    row["status"],
                    row["points"],
                    row["max_points"],
                    row["bonus_points"],
                    row["message"],
                    row["key"],
                    row["attempt"],
                ),
            )
            for task in tasks:
                db.execute(
                    "INSERT INTO tasks VALUES (?,?,?,?,?,?,?,?)",
                    (
                        number,
                        task["id"],
                        task["verdict"],
                        task["points"],
                        task["max_points"],
                        int(task.get("bonus", False)),
                        task.get("speedup"),
                        task["message"],
                    ),
                )
        for key, attempts in book.state.ended.items():
            for number, record in attempts.items():
                graded = book.grade(key, record.get("lab", ""))
                about = (
                    graded[1]
                    if graded and graded[0] is record
                    else read_result(book.folder / "results" / key / f"{number}.json", record.get("lab", ""))
                    or {}
                )
                db.execute(
                    "INSERT INTO attempts VALUES (?,?,?,?,?,?,?,?,?,?)",
                    (
                        key,
                        number,
                        record.get("lab", ""),
                        record.get("sha256", ""),
                        record.get("outcome", ""),
                        record.get("time", ""),
                        record.get("seconds"),
                        about.get("device"),
                        about.get("isolation"),
                        record.get("message", ""),
                    ),
                )


def cell(value) -> object:
    """A spreadsheet must not take a student's text for a formula."""
    # Some skip leading blanks.
    if isinstance(value, str):
        formula = value.lstrip().startswith(("=", "+", "-", "@")) or value.startswith(("\t", "\r"))
        return "'" + value if formula else value
    return "" if value is None else value


def write_csv(gradebook: pathlib.Path, grades_file: pathlib.Path, tasks_file: pathlib.Path) -> None:
    with contextlib.closing(sqlite3.connect(gradebook)) as db:
        grades_file.write_text(grades_table(db), encoding="utf-8", newline="")
        tasks_file.write_text(tasks_table(db), encoding="utf-8", newline="")


def grades_table(db: sqlite3.Connection) -> str:
    labs = [lab for (lab,) in db.execute("SELECT DISTINCT lab FROM hand_ins ORDER BY lab")]
    latest = {
        (student, lab): row
        for student, lab, *row in db.execute(
            "SELECT student, lab, status, points, bonus_points, late, message FROM latest"
        )
    }
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        [
            "student",
            "total",
            "bonus",
            *(f"{lab}{what}" for lab in labs for what in ("", " bonus", " status")),
            "late",
            "notes",
        ]
    )
    for (student,) in db.execute("SELECT student FROM students ORDER BY student"):
        rows = [latest.get((student, lab), ("missing", 0, 0, 0, "")) for lab in labs]
        # A total is no total while a part is unknown: it must never look like a zero.
        known = all(points is not None for _, points, *_ in rows)
        totals = [sum(row[column] for row in rows) if known else None for column in (1, 2)]  # points, bonus
        cells = [value for status, points, bonus, *_ in rows for value in (points, bonus, status)]
        late = "late" if any(late for *_, late, _ in rows) else ""
        notes = " ".join(f"{lab}: {message}" for lab, (*_, message) in zip(labs, rows) if message)
        writer.writerow([cell(value) for value in (student, *totals, *cells, late, notes)])
    return out.getvalue()


def tasks_table(db: sqlite3.Connection) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["student", "lab", "task", "verdict", "points", "max_points", "bonus", "speedup", "message"]
    )
    for row in db.execute(
        "SELECT student, lab, task, verdict, t.points, t.max_points, bonus, speedup, t.message FROM latest "
        "JOIN tasks t ON hand_in = id ORDER BY student, lab, t.rowid"
    ):
        writer.writerow([cell(value) for value in row])
    return out.getvalue()


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
            "JOIN tasks t ON hand_in = id ORDER BY student, lab, task"
        )
    )
    db.close()
    return rows


if __name__ == "__main__":
    for one in grades(pathlib.Path(sys.argv[1])):
        print(*[repr(value) for value in one], sep="\t")
