# SPDX-License-Identifier: MIT
"""A folder of feedback for each student, over the whole term, and a list of what to send to whom. Nothing is
sent.

FOLDER/ID/feedback.md       all labs: points, notes, every submission, and the messages of all tasks
FOLDER/ID/LAB.html          the grader's report on the submission that counts, without seeds and values
FOLDER/send.csv             email, name, subject, folder and files, a row for each student
"""

import pathlib

import reports
from book import Book, write_atomically
from gradebook import csv_text
from grades import Final, Term, out_of, shown, total
from names import slug
from roster import Student

NO_POINTS = {"not due": "not due yet", "not graded": "not graded yet", "excused": "excused, does not count"}


def worth(final: Final) -> str:
    if final.points is None:
        return NO_POINTS.get(final.status, "no grade yet")
    most = f" of {shown(final.max_points)}" if final.max_points else ""
    return f"{shown(final.points)}{most} points" + (f", bonus {shown(final.bonus)}" if final.bonus else "")


def summary(finals: list[Final]) -> str:
    points, bonus = total(finals)
    if points is None:
        return "There is no total yet."
    most = out_of(finals)
    return f"Total: {shown(points)}{f' of {shown(most)}' if most else ''} points, bonus {shown(bonus)}"


def in_markdown(text: str) -> str:
    return "".join("\\" + char if char in "\\`*_{}[]<>#|!~" else char for char in text.replace("\n", " "))


def markdown(term: Term, student: Student, tasks: dict[str, list[dict]]) -> str:
    finals = term.of(student)
    lines = [f"# {in_markdown(f'{term.settings.title}: {student.name}')}", "", summary(finals), ""]
    for final in finals:
        lines += [f"## {final.lab}{term.partial[final.lab]}: {worth(final)}", ""]
        for one in term.submissions[student.id, final.lab]:
            counts = ", counts" if one.number == final.submission else ""
            when = one.submitted[:16].replace("T", " ") or "time unknown"
            lines += [f"- submitted {when} (UTC): {one.status}{counts}"] * (one.status != "missing")
        lines += [f"- {in_markdown(note)}" for note in final.notes] + [""]
        for task in tasks[final.lab]:
            text = task["message"].rstrip().splitlines()
            lines += [f"### {reports.heading(task)}", "", *("    " + line for line in text), ""]
    return "\n".join(lines)


def write(book: Book, term: Term, out: pathlib.Path) -> list[list[str]]:
    """The rows of send.csv."""
    by_number = {one.number: one.row for made in term.rows.values() for one in made}
    send = []
    for student in term.roster.students.values():
        folder = out / slug(student.id)
        folder.mkdir(parents=True, exist_ok=True)
        tasks: dict[str, list[dict]] = {lab: [] for lab in term.labs}
        files = ["feedback.md"]
        for final in term.of(student):
            path = folder / f"{final.lab}.html"
            path.unlink(missing_ok=True)
            row = by_number.get(final.submission) if final.submission else None
            result, as_graded = reports.edition_of(book, row, ".student") if row else (None, True)
            if row and result:
                tasks[final.lab] = result["labs"][0]["tasks"]
                if reports.write_page(book, row, ".student", result, as_graded, path):
                    files.append(path.name)
        write_atomically(folder / "feedback.md", markdown(term, student, tasks).encode())
        subject = f"{term.settings.title}: your feedback"
        send.append([student.email, student.name, subject, folder.name, " ".join(files)])
    heads = ["email", "name", "subject", "folder", "files"]
    write_atomically(out / "send.csv", csv_text([heads, *send]).encode())
    return send
