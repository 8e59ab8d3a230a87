# SPDX-License-Identifier: MIT
"""How the class is doing, as one HTML file and as a table for an 80-column terminal: both are made of the
same parts.

parts = parts_of(book, term)        what is shown; `book` may be read-only, while a class is being graded
to_text(parts), to_html(parts, …)
"""

import datetime
import fcntl
import html
import pathlib
import sqlite3
import statistics
import textwrap
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from types import NoneType

from book import Book, kind_of_fault, utc_now
from grades import Candidate, Final, Term, joined, parse_time, shown

STYLE = pathlib.Path(__file__).resolve().parents[1] / "page/style.css"
BINS = ("0", "1–9", *(f"{low}–{low + 9}" for low in range(10, 100, 10)), "100")
WIDTH, BAR = 80, 20
MAX_ROWS = 15  # of a list on a terminal
MAX_KINDS = 20
SOLVED = "OK"


@dataclass
class Share:
    """A number that is shown with a bar."""

    value: float
    most: float
    text: str
    bar: int = BAR  # characters, on a terminal


@dataclass
class Part:
    title: str
    heads: list[str] = field(default_factory=list)
    rows: list[list] = field(default_factory=list)  # of texts, numbers and Shares
    note: str = ""


# --- What there is to say ---


def is_running(folder: pathlib.Path) -> bool:
    try:
        with open(folder / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def last_of(term: Term) -> list[tuple[str, str, Candidate]]:
    """Everybody's last submission for each lab."""
    return [
        (owner, lab, [one for one in submissions if one.status != "missing"][-1])
        for (owner, lab), submissions in sorted(term.rows.items())
        if any(one.status != "missing" for one in submissions)
    ]


def progress(book: Book, term: Term) -> list[Part]:
    """How far a batch is, and whether the grader is in good health."""
    last = last_of(term)
    rows = []
    for lab in term.labs:
        there = Counter(one.status for _, of, one in last if of == lab)
        n_done = there["graded"] + there["refused"]
        took = [
            s for (s,) in book.rows("SELECT seconds FROM attempts WHERE seconds AND lab = ? ORDER BY 1", lab)
        ]
        times = [f"{s:.0f} s" for s in (statistics.median(took), took[-1])] if took else ["", ""]
        done = Share(n_done, sum(there.values()), f"{n_done} of {sum(there.values())}", 10)
        rows.append([lab, done, there["pending"], there["infra"], *times])
    newest = book.value("SELECT max(ended) FROM attempts")
    n_running = book.value("SELECT count(DISTINCT key) FROM attempts WHERE outcome = ''")
    running = is_running(book.folder)
    note = f"A batch is running: {n_running} files are being graded." if running else "No batch is running."
    note += f" The last attempt ended at {newest}." if newest else ""
    if running and newest:  # how long the queue takes, at the pace of the last ten minutes
        n_waiting = len({(lab, one.row["sha256"]) for _, lab, one in last if one.status == "pending"})
        since = utc_now((parse_time(newest, None) - datetime.timedelta(minutes=10)).timestamp())
        minutes = 10 * n_waiting / book.value("SELECT count(*) FROM attempts WHERE ended >= ?", since)
        note += f" {n_waiting} files are left; at the pace of the last ten minutes they take {minutes:.0f} minutes."
    faults: dict[tuple[str, str], list[sqlite3.Row]] = {}
    for one in book.rows("SELECT lab, ended, message FROM attempts WHERE outcome = 'infra' ORDER BY id"):
        faults.setdefault((one["lab"], kind_of_fault(one["message"])), []).append(one)
    of_machine = [
        [lab, len(found), max(one["ended"] for one in found), found[-1]["message"]]
        for (lab, _), found in sorted(faults.items(), key=lambda item: -len(item[1]))
    ]
    about = "Messages that differ in numbers only are one kind." if faults else "None."
    return [
        Part("Progress", ["lab", "graded", "waiting", "machine's fault", "median", "longest"], rows, note),
        Part("Faults of the machine", ["lab", "attempts", "last", "message"], of_machine, about),
    ]


def bin_of(final: Final) -> int:
    share = 100 * final.points / final.max_points if final.max_points else 0
    return 0 if share <= 0 else 11 if share >= 100 else 1 + int(share // 10)


def distribution(term: Term) -> list[Part]:
    sums, columns = [], []
    for lab in term.labs:
        finals = [final for (_, of), final in term.finals.items() if of == lab]
        known = [final for final in finals if final.points is not None and final.status != "missing"]
        points = [final.points for final in known]
        middle = [round(of(points), 1) if points else "" for of in (statistics.mean, statistics.median)]
        without = [final.unusable for final in finals if final.status in ("missing", "not due", "not graded")]
        n_without_grade = sum(final.status == "no grade" for final in finals)
        sums.append([lab, len(known), *middle, without.count(False), without.count(True), n_without_grade])
        columns.append(Counter(map(bin_of, known)))
    bar = max(0, min(BAR, (WIDTH - 8) // max(1, len(columns)) - 7))

    def share(counts: Counter, at: int) -> Share:
        return Share(counts[at], max(counts.values(), default=1), str(counts[at]), bar)

    rows = [[name, *(share(counts, at) for counts in columns)] for at, name in enumerate(BINS)]
    heads = ["lab", "graded", "mean", "median", "submitted nothing", "no usable file", "no grade"]
    note = "Students by the share of a lab's points that they have."
    return [Part("Points", heads, sums), Part("Distribution", ["percent", *term.labs], rows, note)]


def hardest(book: Book, term: Term) -> Part:
    counting = {one.number: one for submissions in term.rows.values() for one in submissions}
    rows: list[list] = []
    for lab in term.labs:
        numbers = [final.submission for (_, of), final in term.finals.items() if of == lab]
        chosen = [counting[number] for number in numbers if number in counting]
        for task in dict.fromkeys(task for one in chosen for task in one.verdicts):
            with_task = [one for one in chosen if task in one.verdicts]
            solved = sum(one.verdicts[task][0] == SOLVED for one in with_task)
            known = book.scorer.tasks.get(lab, {}).get(task)
            mean = statistics.mean(one.tasks[task] for one in with_task)
            name = f"{lab}: {task}" + (" (bonus)" if known and known["bonus"] else "")
            share = Share(solved, len(with_task), f"{100 * solved // len(with_task)} %")
            rows.append([name, share, f"{mean:.1f}" + (f" of {known['max_points']}" if known else "")])
    rows.sort(key=lambda row: row[1].value / row[1].most)
    return Part("Hardest tasks", ["task", "solved by", "mean points"], rows, "Of the submissions that count.")


def first_line(message: str) -> str:
    return next((line.strip() for line in message.splitlines() if line.strip()), "")


def commonest(term: Term) -> Part:
    groups: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for owner, lab, one in last_of(term):
        for task, (verdict, message) in one.verdicts.items():
            if verdict not in (SOLVED, "INFRA"):
                first = first_line(message)
                kind = f"{lab}: {task}", verdict, kind_of_fault(first)
                groups.setdefault(kind, []).append((owner, first))
    common = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [
        [task, verdict, len(examples), f"{examples[0][1] or 'no message'} ({examples[0][0]})"]
        for (task, verdict, _), examples in common[:MAX_KINDS]
    ]
    note = "Of everybody's last submission. Messages that differ in numbers only are one kind."
    heads = ["task", "verdict", "students", "an example, and whose"]
    return Part("Commonest wrong verdicts", heads, rows, note if rows else "All tasks are right.")


def to_solution(term: Term) -> Part:
    tries: dict[str, list[int]] = {}
    days: dict[str, list[float]] = {}
    never: Counter = Counter()
    for (_, lab), submissions in sorted(term.rows.items()):
        graded = [one for one in submissions if one.status == "graded"]
        for task in dict.fromkeys(task for one in graded for task in one.verdicts):
            name = f"{lab}: {task}"
            right = [one.verdicts.get(task, ("",))[0] == SOLVED for one in graded]
            tries.setdefault(name, [])
            if not any(right):
                never[name] += 1
                continue
            at = right.index(True)
            tries[name].append(at + 1)
            if graded[0].submitted and graded[at].submitted:
                span = parse_time(graded[at].submitted, None) - parse_time(graded[0].submitted, None)
                days.setdefault(name, []).append(max(0.0, span.total_seconds() / 86400))
    rows = [
        [
            name,
            f"{statistics.mean(counts):.1f}" if counts else "",
            max(counts, default=""),
            f"{statistics.median(days[name]):.1f}" if days.get(name) else "",
            never[name],
        ]
        for name, counts in tries.items()
    ]
    heads = ["task", "submissions, mean", "most", "days, median", "not yet solved"]
    note = "Submissions up to the first right one, and days from the first submission to it."
    return Part("Time to solution", heads, rows, note)


def lists(term: Term) -> list[Part]:
    def named(final: Final) -> str:
        student = term.roster.students[final.student]
        return student.name if student.name in ("", student.id) else f"{student.name} ({student.id})"

    def part(title: str, statuses: tuple[str, ...], nobody: str) -> Part:
        found = [final for final in term.finals.values() if final.status in statuses]
        rows = [
            [named(final), final.lab, shown(final.points), joined(final.notes)]
            for final in sorted(found, key=lambda one: (one.lab, named(one)))
        ]
        return Part(title, ["student", "lab", "points", "notes"], rows, f"{len(rows)}." if rows else nobody)

    unknown = [list(one) for one in sorted(term.unknown.items())]
    note = "These submissions count for nobody: name them under [aliases] in class.toml."
    note = note if unknown else "All submissions belong to somebody."
    return [
        part("Without a grade", ("no grade",), "Everybody has a grade."),
        part("Refused", ("refused",), "Nothing was refused."),
        part("Late", ("late", "too late"), "Nobody was late."),
        part("Set by hand", ("override",), "No grade was set by hand."),
        Part("Unknown names", ["submission", "why"], unknown, note),
    ]


def parts_of(book: Book, term: Term) -> list[Part]:
    out = [*progress(book, term), *distribution(term), hardest(book, term), commonest(term)]
    out += [to_solution(term), *lists(term)]
    if term.warnings:
        out.insert(0, Part("Warnings", [""], [[one] for one in term.warnings]))
    return out


def tame(text: str) -> str:
    """What neither a terminal nor a page obeys: no escape sequences, nothing that turns a line around."""
    plain = (char in "\n\t" or unicodedata.category(char)[0] != "C" for char in text)
    return "".join(char if kept else "\ufffd" for char, kept in zip(text, plain))


# --- As text ---


def width_of(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text + " " * (width - width_of(text))
    while width_of(text) > width - 1:
        text = text[:-1]
    return text + "…" + " " * (width - 1 - width_of(text))


def as_text(value: object) -> str:
    if isinstance(value, Share):
        n_filled = round(value.bar * value.value / value.most) if value.most else 0
        return f"{'#' * n_filled:{value.bar}} {value.text}"
    return "" if value is None else " ".join(tame(str(value)).split())


def text_table(part: Part, width: int = WIDTH) -> list[str]:
    rows = [part.heads, *[[as_text(value) for value in row] for row in part.rows[:MAX_ROWS]]]
    widths = [max(width_of(row[at]) for row in rows) for at in range(len(part.heads))]
    while sum(widths) + 2 * (len(widths) - 1) > width:  # the widest gives way
        widths[widths.index(max(widths))] -= 1
    lines = ["  ".join(cut(text, size) for text, size in zip(row, widths)).rstrip() for row in rows]
    n_more = len(part.rows) - MAX_ROWS
    return lines + ([f"… and {n_more} more; --html FILE shows all"] if n_more > 0 else [])


def to_text(title: str, parts: list[Part]) -> str:
    lines = textwrap.wrap(title, WIDTH)
    for part in parts:
        lines += ["", part.title.upper(), *textwrap.wrap(tame(part.note), WIDTH)]
        if len(part.heads) == 1:
            for row in part.rows:
                lines += textwrap.wrap(as_text(row[0]), WIDTH, subsequent_indent="  ")
        elif part.rows:
            lines += text_table(part)
    return "\n".join(lines) + "\n"


# --- As HTML ---


def escape(text: object) -> str:
    return html.escape(tame(str(text)))


def html_cell(value: object) -> str:
    if isinstance(value, Share):
        filled = 60 * value.value / value.most if value.most else 0
        return (
            f'<svg class="meter" viewBox="0 0 60 10" aria-hidden="true"><rect class="whole" width="60" height="10"/>'
            f'<rect width="{filled:.1f}" height="10"/></svg> {escape(value.text)}'
        )
    return "" if value is None else escape(value)


def html_table(heads: list[str], rows: list[list]) -> str:
    if not rows:
        return ""
    numbers = [all(isinstance(row[at], (int, float, NoneType)) for row in rows) for at in range(len(heads))]
    kind = [' class="number"' if one else "" for one in numbers]
    head = "".join(f'<th scope="col"{one}>{escape(name)}</th>' for name, one in zip(heads, kind))
    body = ""
    for first, *more in rows:
        cells = "".join(f"<td{one}>{html_cell(value)}</td>" for one, value in zip(kind[1:], more))
        body += f'<tr><th scope="row">{html_cell(first)}</th>{cells}</tr>\n'
    return f'<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'


def document(title: str, summary: str, body: str, sections: list[tuple[str, str]] | None = None) -> str:
    """A page that loads nothing, in the look of the other reports (grader/page/)."""
    links = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>\n' for anchor, name in sections or [])
    nav = f'<nav aria-label="On this page"><ul>\n{links}</ul></nav>\n' if links else ""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>{escape(title)}</title>\n'
        f'<style>\n{STYLE.read_text(encoding="utf-8")}</style>\n</head>\n<body>\n<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header>\n<h1>{escape(title)}</h1>\n<p>{escape(summary)}</p>\n</header>\n{nav}<main id="main" tabindex="-1">\n{body}</main>\n</body>\n</html>\n'
    )


def to_html(title: str, summary: str, parts: list[Part]) -> str:
    sections = [(f"part-{number}", part.title) for number, part in enumerate(parts)]
    body = "".join(
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(part.title)}</h2>\n'
        + (f"<p>{escape(part.note)}</p>\n" if part.note else "")
        + html_table(part.heads, part.rows)
        + "</section>\n"
        for (anchor, _), part in zip(sections, parts)
    )
    return document(title, summary, body, sections)
