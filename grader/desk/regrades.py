# SPDX-License-Identifier: MIT
"""Requests for a regrade, and what was said about each of them: CLASS/regrades.jsonl, to which lines are
only added (../batch/ledger.py has their form).

    requests = read(folder)         by number, in order
    add(folder, request, …)         another entry of a request, which may be the first
"""

import os
import pathlib
from dataclasses import dataclass, field

import ledger
from book import utc_now
from settings import Problem

NAME = "regrades.jsonl"


@dataclass
class Request:
    number: int
    student: str  # id
    lab: str
    entries: list[dict] = field(default_factory=list)  # time, by, text, closed, points

    @property
    def closed(self) -> bool:
        return self.entries[-1]["closed"]

    @property
    def decision(self) -> dict | None:
        """The last entry with points, if somebody has decided on any; None: the grade stays as it is."""
        return next((one for one in reversed(self.entries) if one["points"] is not None), None)

    @property
    def points(self) -> float | None:
        return self.decision["points"] if self.decision else None

    @property
    def reason(self) -> str:
        return self.decision["text"] if self.decision else ""

    def lines(self) -> list[str]:
        state = "closed" if self.closed else "open"
        worth = "" if self.points is None else f", {self.points:g} points"
        head = f"Request {self.number}: {self.student}, {self.lab}: {state}{worth}"
        return [head, *(f"  {one['time']}  {one['by']}: {one['text']}" for one in self.entries)]


def read(folder: pathlib.Path) -> dict[int, Request]:
    path = folder / NAME
    found: dict[int, Request] = {}
    for one in ledger.parse(path.read_bytes())[0] if path.exists() else []:
        request = found.setdefault(one["number"], Request(one["number"], one["student"], one["lab"]))
        request.entries.append(one)
    return found


def add(
    folder: pathlib.Path, request: Request, by: str, text: str, points: float | None, closed: bool
) -> None:
    if not text.strip():
        raise Problem("Give the reason: --say TEXT.")
    entry = {name: getattr(request, name) for name in ("number", "student", "lab")}
    entry |= {"event": "request", "time": utc_now(), "by": by, "text": " ".join(text.split())}
    entry |= {"points": points, "closed": closed}
    fd = os.open(folder / NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, b"\n" + ledger.encode(entry))  # a torn line before it stays alone
        os.fdatasync(fd)
    finally:
        os.close(fd)
    request.entries.append(entry)
