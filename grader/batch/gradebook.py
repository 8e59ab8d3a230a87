# SPDX-License-Identifier: MIT
"""The form of the CSV files of ./lab grade-all and ./lab class."""

import csv
import io
from collections.abc import Iterable


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
