# SPDX-License-Identifier: MIT
"""A report a student and lab, in two editions: for the student (no seed of the class, nothing of this
machine), and for instructors.

reports/students/SLUG/LAB.html, LAB.txt         to be handed back
reports/instructors/SLUG/LAB.html, LAB.json     the whole result
"""

import contextlib
import html
import json
import pathlib
import sqlite3
import subprocess

from book import Book, read_result, write_atomically

NOT_GRADED = {
    "refused": "This submission was refused (POLICY): {}",
    "missing": "Nothing was handed in for this lab. {}",
    "infra": "This submission has not been graded yet: its grading did not come to an end. That costs no points; it will be tried again, or a person will look at it.",
    "pending": "This submission has not been graded yet.",
}


def text_for_student(lab: str, row: sqlite3.Row, tasks: list[dict]) -> str:
    lines = [f"{lab}"]
    if row["status"] == "graded":
        lines[0] += f": {row['points']} of {row['max_points']} points, bonus {row['bonus_points']}"
    else:
        lines += ["", NOT_GRADED[row["status"]].format(row["message"])]
    if row["status"] == "graded" and row["message"]:
        lines += ["", row["message"]]
    for task in tasks:
        lines += ["", f"{task['id']}: {task['verdict']}, {task['points']} of {task['max_points']} points"]
        message = task["message"].rstrip()
        lines += ["  " + line for line in message.splitlines()] if message else []
    return "\n".join(lines) + "\n"


def page(title: str, text: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f"<title>{html.escape(title)}</title></head><body><main><h1>{html.escape(title)}</h1><pre>{html.escape(text)}</pre></main></body></html>\n"
    )


def write_reports(book: Book) -> None:
    with contextlib.closing(sqlite3.connect(book.folder / "gradebook.sqlite")) as db:
        db.row_factory = sqlite3.Row
        rows = db.execute("SELECT latest.*, slug FROM latest JOIN students USING (student)").fetchall()
    for row in rows:
        student, instructor = (
            book.folder / "reports" / name / row["slug"] for name in ("students", "instructors")
        )
        student.mkdir(parents=True, exist_ok=True)
        instructor.mkdir(parents=True, exist_ok=True)
        write_report(book, row, ".student", student / f"{row['lab']}.html", row["lab"])
        write_report(book, row, "", instructor / f"{row['lab']}.html", f"{row['student']}: {row['lab']}")


def edition_of(book: Book, row: sqlite3.Row | dict, edition: str) -> tuple[dict | None, bool]:
    """The result of a row of submissions as it is worth now, and whether that is what it was worth when it was
    graded."""
    path = book.folder / "results" / (row["key"] or "-") / f"{row['attempt']}{edition}.json"
    result = read_result(path, row["lab"])
    if result is None:
        return None, True
    lab = book.scorer.rescored(result["labs"][0])
    return {**result, "labs": [lab]}, all(
        lab.get(name) == result["labs"][0].get(name) for name in ("tasks", "points", "bonus_points")
    )


def write_report(book: Book, row: sqlite3.Row, edition: str, html_file: pathlib.Path, title: str) -> None:
    """Writes the HTML page, and beside it the text for the student or the JSON for instructors."""
    result, as_graded = edition_of(book, row, edition)
    lab = row["lab"]
    text = text_for_student(lab, row, result["labs"][0]["tasks"] if result and edition else [])
    if edition:
        write_atomically(html_file.with_suffix(".txt"), text.encode())
    else:
        about = result or {name: row[name] for name in ("student", "lab", "status", "message")}
        write_atomically(html_file.with_suffix(".json"), json.dumps(about, indent=2).encode() + b"\n")
    graded = book.folder / "results" / (row["key"] or "-") / f"{row['attempt']}{edition}.html"
    if result is not None and as_graded and graded.exists():
        write_atomically(html_file, graded.read_bytes())
    elif result is None or as_graded or not render(book, result, html_file):
        write_atomically(html_file, page(title, text).encode())


def render(book: Book, result: dict, html_file: pathlib.Path) -> bool:
    """Makes a page of a result whose points have changed; False where that can't be done."""
    if not book.labcli:
        return False
    beside = html_file.with_name(f".{html_file.name}.json.tmp")
    try:
        beside.write_text(json.dumps(result), encoding="utf-8")
        nothing: dict = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [book.labcli, "report", str(beside), "--html", str(html_file)]
        return subprocess.run(command, check=False, **nothing).returncode == 0
    finally:
        beside.unlink(missing_ok=True)
