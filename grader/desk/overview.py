# SPDX-License-Identifier: MIT
"""How a class is doing, as text for a terminal: what ./lab class show prints, also while a batch is running.
The numbers themselves are in the book, for other statistics.

    text_of(book, term)
"""

import fcntl
import pathlib
import statistics
import unicodedata
from collections import Counter

from book import Book
from grades import Candidate, Term

SOLVED = "OK"


def is_running(folder: pathlib.Path) -> bool:
    """Whether a batch has the class's lock."""
    try:
        with open(folder / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def tame(value: object) -> str:
    """On one line, and without what a terminal obeys: escape sequences, marks that turn a line around."""
    text = " ".join(str(value).split())
    return "".join("\ufffd" if unicodedata.category(char)[0] == "C" else char for char in text)


def table(title: str, heads: list[str], rows: list[list]) -> list[str]:
    """Columns are as wide as their cells, but for the last one, which may hold long texts."""
    texts = [heads, *(["" if cell is None else tame(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(heads) - 1)] + [0]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip() for row in texts]
    return ["", title.upper(), *lines] if rows else []


def last_of(term: Term, lab: str) -> list[Candidate]:
    """Everybody's last submission."""
    return [made[-1] for (_, of), made in sorted(term.rows.items()) if of == lab]


def progress(book: Book, term: Term) -> list[list]:
    rows = []
    for lab in term.labs:
        there = Counter(one.status for one in last_of(term, lab))
        took = [s for (s,) in book.rows("SELECT seconds FROM attempts WHERE seconds AND lab = ?", lab)]
        seconds = f"{statistics.median(took):.0f} s" if took else ""
        finals = [final for (_, of), final in term.finals.items() if of == lab]
        points = [one.points for one in finals if one.points is not None and one.status != "missing"]
        middle = [f"{of(points):.1f}" if points else "" for of in (statistics.mean, statistics.median)]
        without = [one.unusable for one in finals if one.status in ("missing", "not due", "not graded")]
        counts = [there[status] for status in ("graded", "refused", "pending", "infra")]
        rows.append(
            [lab + term.partial[lab], *counts, without.count(False), without.count(True), seconds, *middle]
        )
    return rows


def tasks(book: Book, term: Term) -> list[list]:
    """The hardest first: who has solved it, with everybody's last submission."""
    rows = []
    for lab in term.labs:
        last = [one for one in last_of(term, lab) if one.status == "graded"]
        for task in dict.fromkeys(task for one in last for task in one.verdicts):
            verdicts = Counter(one.verdicts[task][0] for one in last if task in one.verdicts)
            wrong = ", ".join(f"{n} {name}" for name, n in verdicts.most_common() if name != SOLVED)
            rows.append([f"{lab}: {task}", f"{100 * verdicts[SOLVED] // verdicts.total()} %", wrong])
    return sorted(rows, key=lambda row: int(row[1].split()[0]))


def text_of(book: Book, term: Term) -> str:
    running = "A batch is running." if is_running(book.folder) else "No batch is running."
    lines = [f"{tame(term.settings.title)}: {len(term.roster.students)} students. {running}"]
    heads = "lab|graded|refused|waiting|faults|nothing|unusable|takes|mean|median".split("|")
    lines += table("Labs", heads, progress(book, term))
    lines += table("Hardest tasks", ["task", "solved by", "others"], tasks(book, term))
    unknown = [list(one) for one in sorted(term.unknown.items())]
    lines += table("Unknown names, which count for nobody", ["submission", "why"], unknown)
    return "\n".join(lines) + "\n"
