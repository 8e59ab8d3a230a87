# SPDX-License-Identifier: MIT
"""A report a student and lab, in two editions: for the student (no seed of the class, nothing of this machine), and for instructors.

    reports/students/SLUG/LAB.html, LAB.txt         to be handed back
    reports/instructors/SLUG/LAB.html, LAB.json     the whole result
"""
import html
import json
import pathlib
import shutil
import sqlite3

from book import Book, read_result, write_atomically

NOT_GRADED = {
    "refused": "This hand-in was refused (POLICY): {}",
    "missing": "Nothing was handed in for this lab. {}",
    "infra": "This hand-in has not been graded yet: its grading did not come to an end. That costs no points; it will be tried again, or a person will look at it.",
    "pending": "This hand-in has not been graded yet.",
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
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f"<title>{html.escape(title)}</title></head><body><main><h1>{html.escape(title)}</h1><pre>{html.escape(text)}</pre></main></body></html>\n")


def write_reports(book: Book) -> None:
    db = sqlite3.connect(book.folder / "gradebook.sqlite")
    db.row_factory = sqlite3.Row
    for row in db.execute("SELECT latest.*, slug FROM latest JOIN students USING (student)").fetchall():
        result = book.folder / "results" / (row["key"] or "-") / f"{row['attempt']}.json"
        edition = read_result(result.with_suffix(".student.json"), row["lab"])
        student, instructor = (book.folder / "reports" / name / row["slug"] for name in ("students", "instructors"))
        student.mkdir(parents=True, exist_ok=True)
        instructor.mkdir(parents=True, exist_ok=True)
        lab = row["lab"]
        text = text_for_student(lab, row, edition["labs"][0]["tasks"] if edition else [])
        write_atomically(student / f"{lab}.txt", text.encode())
        for source, target in ((result.with_suffix(".student.html"), student / f"{lab}.html"),
                               (result.with_suffix(".html"), instructor / f"{lab}.html"), (result, instructor / f"{lab}.json")):
            if source.exists():
                copy(source, target)
            elif target.suffix == ".html":
                write_atomically(target, page(f"{row['student']}: {lab}" if target.parent == instructor else lab, text).encode())
            else:
                about = {name: row[name] for name in ("student", "lab", "status", "message")}
                write_atomically(target, json.dumps(about, indent=2).encode())
    db.close()


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    beside = target.with_name(f".{target.name}.tmp")
    shutil.copyfile(source, beside)
    beside.replace(target)
