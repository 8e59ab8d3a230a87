# SPDX-License-Identifier: MIT
"""Requests for a regrade, and what was said about each of them: a row of the book's table for each entry.

requests = read(book)         by number, in order
add(book, request, …)         another entry of a request, which may be the first
"""

import sqlite3
from dataclasses import dataclass, field

from book import Book, utc_now
from settings import Problem


@dataclass
class Request:
    number: int
    student: str  # id
    lab: str
    entries: list[sqlite3.Row] = field(default_factory=list)  # time, by, text, closed, points

    @property
    def closed(self) -> bool:
        return bool(self.entries[-1]["closed"])

    @property
    def decision(self) -> tuple[float | None, str]:
        """Points and reason of the last entry with points; None: the grade stays as it is."""
        return next(
            ((one["points"], one["text"]) for one in reversed(self.entries) if one["points"] is not None),
            (None, ""),
        )

    def lines(self) -> list[str]:
        points, _ = self.decision
        worth = "" if points is None else f", {points:g} points"
        head = (
            f"Request {self.number}: {self.student}, {self.lab}: {'closed' if self.closed else 'open'}{worth}"
        )
        return [head, *(f"  {one['time']}  {one['by']}: {one['text']}" for one in self.entries)]


def read(book: Book) -> dict[int, Request]:
    found: dict[int, Request] = {}
    for one in book.rows("SELECT * FROM requests ORDER BY rowid"):
        request = found.setdefault(one["number"], Request(one["number"], one["student"], one["lab"]))
        request.entries.append(one)
    return found


def add(book: Book, request: Request, by: str, text: str, points: float | None, closed: bool) -> Request:
    if not text.strip():
        raise Problem("Give the reason: --say TEXT.")
    about = {name: getattr(request, name) for name in ("number", "student", "lab")}
    with book.db:
        book.insert(
            "requests",
            **about,
            time=utc_now(),
            by=by,
            text=" ".join(text.split()),
            points=points,
            closed=closed,
        )
    return read(book)[request.number]
