# SPDX-License-Identifier: MIT
"""A folder of feedback for each student, and a list of what to send to whom. Nothing is sent.

FOLDER/ID/index.html, feedback.md      all labs: points, bonus, notes, and every task's message
FOLDER/ID/LAB.html                     the grader's report on the submission that counts, without seeds and values
FOLDER/send.csv                        email, name, subject, folder and files, a row for each student
"""

import pathlib
import shutil
import sqlite3

import reports
from book import Book, write_atomically
from class_page import document, escape, html_table
from grades import Final, Term, csv_text, joined, shown, total
from names import slug

HAS_PAGE = "index.html"


def submission_rows(book: Book) -> dict[int, sqlite3.Row]:
    db = sqlite3.connect(book.folder / "gradebook.sqlite")
    db.row_factory = sqlite3.Row
    rows = {row["id"]: row for row in db.execute("SELECT * FROM hand_ins")}
    db.close()
    return rows


def worth(final: Final) -> str:
    if final.points is None:
        return {"not due": "not due yet", "excused": "excused, does not count"}.get(
            final.status, "no grade yet"
        )
    most = f" of {final.max_points}" if final.max_points else ""
    return f"{shown(final.points)}{most} points" + (f", bonus {shown(final.bonus)}" if final.bonus else "")


def tasks_of(book: Book, row: sqlite3.Row | None) -> list[dict]:
    """As the student may see them."""
    result, _ = reports.edition_of(book, row, ".student") if row else (None, True)
    return result["labs"][0]["tasks"] if result else []


def markdown(term: Term, name: str, finals: list[Final], tasks: dict[str, list[dict]]) -> str:
    points, bonus = total(finals)
    lines = [
        f"# {term.settings.title}: {in_markdown(name)}",
        "",
        f"Total: {shown(points)} points, bonus {shown(bonus)}"
        if points is not None
        else "There is no total yet.",
        "",
    ]
    for final in finals:
        lines += [f"## {final.lab}: {worth(final)}", ""]
        lines += [f"- {in_markdown(note)}" for note in final.notes] + [""] * bool(final.notes)
        for task in tasks[final.lab]:
            lines += [
                f"### {task['id']}: {task['verdict']}, {task['points']} of {task['max_points']} points",
                "",
            ]
            if message := task["message"].rstrip():
                lines += [*("    " + line for line in message.splitlines()), ""]
    return "\n".join(lines)


def in_markdown(text: str) -> str:
    return "".join("\\" + char if char in "\\`*_{}[]<>#|!~" else char for char in text.replace("\n", " "))


def page(
    term: Term, name: str, finals: list[Final], tasks: dict[str, list[dict]], has_report: set[str]
) -> str:
    points, bonus = total(finals)
    rows = [[final.lab, worth(final), final.status, joined(final.notes)] for final in finals]
    body = html_table(["lab", "points", "status", "notes"], rows)
    for final in finals:
        report = (
            f'<p><a href="{final.lab}.html">The grader\'s full report</a></p>'
            if final.lab in has_report
            else ""
        )
        told = "".join(
            f"<h3>{escape(task['id'])}: {escape(task['verdict'])}, {task['points']} of {task['max_points']} points</h3>"
            + (
                f'<pre tabindex="0" role="region" aria-label="Message of {escape(task["id"])}">{escape(task["message"].rstrip())}</pre>'
                if task["message"].strip()
                else ""
            )
            for task in tasks[final.lab]
        )
        body += f"<section><h2>{escape(final.lab)}: {escape(worth(final))}</h2>{report}{told}</section>\n"
    summary = (
        "There is no total yet." if points is None else f"Total: {shown(points)} points, bonus {shown(bonus)}"
    )
    return document(f"{term.settings.title}: {name}", summary, body)


def write(book: Book, term: Term, out: pathlib.Path) -> int:
    rows = submission_rows(book)
    send = [["email", "name", "subject", "folder", "files"]]
    for student in term.roster.students.values():
        finals = term.of(student)
        folder = out / slug(student.id)
        folder.mkdir(parents=True, exist_ok=True)
        chosen = {final.lab: rows.get(final.submission) for final in finals}
        tasks = {lab: tasks_of(book, row) for lab, row in chosen.items()}
        reported = {
            lab
            for lab, row in chosen.items()
            if tasks[lab] and copy_report(book, row, folder / f"{lab}.html")
        }
        write_atomically(folder / HAS_PAGE, page(term, student.name, finals, tasks, reported).encode())
        write_atomically(folder / "feedback.md", markdown(term, student.name, finals, tasks).encode())
        files = " ".join([HAS_PAGE, "feedback.md", *(f"{lab}.html" for lab in term.labs if lab in reported)])
        send.append(
            [student.email, student.name, f"{term.settings.title}: your feedback", folder.name, files]
        )
    write_atomically(out / "send.csv", csv_text(send).encode())
    return len(send) - 1


def copy_report(book: Book, row: sqlite3.Row, target: pathlib.Path) -> bool:
    """The report on a submission, anew where its points have changed since."""
    result, as_graded = reports.edition_of(book, row, ".student")
    graded = book.folder / "results" / row["key"] / f"{row['attempt']}.student.html"
    if as_graded and graded.exists():
        shutil.copyfile(graded, target)
        return True
    target.unlink(missing_ok=True)
    return reports.render(book, result, target)
