# SPDX-License-Identifier: MIT
"""A folder of feedback for each student, over the whole term, and a list of what to send to whom. Nothing is
sent.

FOLDER/ID/index.html, feedback.md      all labs: points, notes, requests, every submission and task's message
FOLDER/ID/LAB.html                     the grader's report on the submission that counts, without seeds and values
FOLDER/send.csv                        email, name, subject, folder and files, a row for each student
"""

import pathlib

import reports
from book import Book, write_atomically
from class_page import SOLVED, Part, document, escape, html_table
from gradebook import csv_text
from grades import Final, Term, out_of, shown, total
from names import slug
from roster import Student

HAS_PAGE = "index.html"


def worth(final: Final) -> str:
    if final.points is None:
        words = {
            "not due": "not due yet",
            "not graded": "not graded yet",
            "excused": "excused, does not count",
        }
        return words.get(final.status, "no grade yet")
    most = f" of {shown(final.max_points)}" if final.max_points else ""
    return f"{shown(final.points)}{most} points" + (f", bonus {shown(final.bonus)}" if final.bonus else "")


def summary(finals: list[Final]) -> str:
    points, bonus = total(finals)
    if points is None:
        return "There is no total yet."
    most = out_of(finals)
    return f"Total: {shown(points)}{f' of {shown(most)}' if most else ''} points, bonus {shown(bonus)}"


def parts_of(term: Term, student: Student) -> list[Part]:
    """Everything about one student: for ./lab class student."""
    finals = term.of(student)
    counts = {final.submission for final in finals}
    requests = [line for one in term.requests.values() if one.student == student.id for line in one.lines()]
    labs = [
        [
            one.lab,
            one.points,
            one.max_points,
            one.bonus,
            f"{one.status}, dropped" if one.dropped else one.status,
            one.days_late or "",
            one.slip_days or "",
        ]
        for one in finals
    ]
    submissions = [
        [
            one.row["lab"],
            one.submitted[:16].replace("T", " ") or "time unknown",
            one.status,
            one.points,
            one.bonus,
            sum(verdict == SOLVED for verdict, _ in one.verdicts.values()),
            "yes" if one.number in counts else "",
        ]
        for one in term.submissions_of(student)
        if one.status != "missing"
    ]
    heads = ["lab", "submitted (UTC)", "status", "points", "bonus", "tasks right", "counts"]
    return [
        Part("Labs", ["lab", "points", "of", "bonus", "status", "days late", "slip days"], labs),
        Part("Notes", [""], [[f"{one.lab}: {note}"] for one in finals for note in one.notes]),
        Part("Submissions", heads, submissions),
        Part("Requests", [""], [[line] for line in requests], "" if requests else "None."),
    ]


def blocks_of(term: Term, final: Final, tasks: list[dict]) -> list[tuple[str, str]]:
    """What there is to say about a lab: headings and texts."""
    about = (final.student, final.lab)
    asked = [one for one in term.requests.values() if (one.student, one.lab) == about]
    blocks = [("Requests", "\n".join(line for one in asked for line in one.lines()))] if asked else []
    return blocks + [(reports.heading(task), task["message"].rstrip()) for task in tasks]


def markdown(term: Term, name: str, finals: list[Final], tasks: dict[str, list[dict]]) -> str:
    lines = [f"# {term.settings.title}: {in_markdown(name)}", "", summary(finals), ""]
    for final in finals:
        lines += [f"## {final.lab}: {worth(final)}", ""]
        lines += [f"- {in_markdown(note)}" for note in final.notes] + [""] * bool(final.notes)
        for heading, text in blocks_of(term, final, tasks[final.lab]):
            lines += [f"### {heading}", "", *("    " + line for line in text.splitlines()), ""]
    return "\n".join(lines)


def in_markdown(text: str) -> str:
    return "".join("\\" + char if char in "\\`*_{}[]<>#|!~" else char for char in text.replace("\n", " "))


def page(
    term: Term, student: Student, finals: list[Final], tasks: dict[str, list[dict]], has_report: set[str]
) -> str:
    labs, *more, _ = parts_of(term, student)
    body = html_table(labs.heads, labs.rows)
    for part in more:
        if part.rows:
            body += f"<section><h2>{part.title}</h2>{html_table(part.heads, part.rows)}</section>\n"
    for final in finals:
        body += f"<section><h2>{escape(final.lab)}: {escape(worth(final))}</h2>"
        if final.lab in has_report:
            body += f'<p><a href="{final.lab}.html">The grader\'s full report</a></p>'
        for heading, text in blocks_of(term, final, tasks[final.lab]):
            label = f"{escape(final.lab)}: {escape(heading)}"
            body += f"<h3>{escape(heading)}</h3>"
            body += (
                f'<pre tabindex="0" role="region" aria-label="{label}">{escape(text)}</pre>' if text else ""
            )
        body += "</section>\n"
    return document(f"{term.settings.title}: {student.name}", summary(finals), body)


def write(book: Book, term: Term, out: pathlib.Path) -> list[list[str]]:
    """The rows of send.csv."""
    by_number = {one.number: one.row for made in term.rows.values() for one in made}
    send = []
    for student in term.roster.students.values():
        finals = term.of(student)
        folder = out / slug(student.id)
        folder.mkdir(parents=True, exist_ok=True)
        tasks: dict[str, list[dict]] = {lab: [] for lab in term.labs}
        reported = set()
        for final in finals:
            path = folder / f"{final.lab}.html"
            path.unlink(missing_ok=True)
            row = by_number.get(final.submission) if final.submission else None
            result, as_graded = reports.edition_of(book, row, ".student") if row else (None, True)
            if row and result:
                tasks[final.lab] = result["labs"][0]["tasks"]
                if reports.write_page(book, row, ".student", result, as_graded, path):
                    reported.add(final.lab)
        text = page(term, student, finals, tasks, reported)
        write_atomically(folder / HAS_PAGE, text.encode())
        write_atomically(folder / "feedback.md", markdown(term, student.name, finals, tasks).encode())
        files = " ".join([HAS_PAGE, "feedback.md", *(f"{lab}.html" for lab in term.labs if lab in reported)])
        subject = f"{term.settings.title}: your feedback"
        send.append([student.email, student.name, subject, folder.name, files])
    heads = ["email", "name", "subject", "folder", "files"]
    write_atomically(out / "send.csv", csv_text([heads, *send]).encode())
    return send
