# SPDX-License-Identifier: MIT
"""grades.csv, a table of the book for spreadsheets, and the form of all other CSV files."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from book import Book, write_atomically


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


def write_table(book: Book) -> None:
    write_atomically(book.folder / "grades.csv", grades_table(book).encode())


def grades_table(book: Book) -> str:
    rows = book.rows(
        "SELECT student, lab, status, points, bonus_points, late, message FROM latest ORDER BY lab"
    )
    latest: dict[tuple, Any] = {(student, lab): row for student, lab, *row in rows}
    labs = list(dict.fromkeys(lab for _, lab, *_ in rows))
    of_labs = [f"{lab}{what}{book.partial(lab)}" for lab in labs for what in ("", " bonus", " status")]
    out: list = [["student", "total", "bonus", *of_labs, "late", "notes"]]
    for student in sorted({student for student, _ in latest}):
        own = [latest.get((student, lab), ("missing", 0, 0, 0, "")) for lab in labs]
        # A total is no total while a part is unknown: it must never look like a zero.
        known = all(points is not None for _, points, *_ in own)
        totals = [sum(row[column] for row in own) if known else None for column in (1, 2)]  # points, bonus
        cells = [value for status, points, bonus, *_ in own for value in (points, bonus, status)]
        late = "late" if any(late for *_, late, _ in own) else ""
        notes = " ".join(f"{lab}: {message}" for lab, (*_, message) in zip(labs, own) if message)
        out.append([student, *totals, *cells, late, notes])
    return csv_text(out)
