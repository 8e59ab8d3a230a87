# SPDX-License-Identifier: MIT
"""A report a student and lab, in two editions: for the student (no seed of the class, nothing of this
machine), and for instructors.

reports/students/SLUG/LAB.html, LAB.txt         to be handed back
reports/instructors/SLUG/LAB.html, LAB.json     the whole result
"""

import html
import json
import pathlib
import shutil
import sqlite3
import subprocess

from book import Book, unpacked, write_atomically

NOT_GRADED = {
    "refused": "This submission was refused (POLICY): {}",
    "missing": "Nothing was handed in for this lab. {}",
    "infra": "This submission has not been graded yet: its grading did not come to an end. That costs no points; it will be tried again, or a person will look at it.",
    "pending": "This submission has not been graded yet.",
}
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    "<title>{0}</title></head><body><main><h1>{0}</h1><pre>{1}</pre></main></body></html>\n"
)


def heading(task: dict) -> str:
    return f"{task['id']}: {task['verdict']}, {task['points']} of {task['max_points']} points"


def text_for_student(row: sqlite3.Row | dict, tasks: list[dict]) -> str:
    lines = [row["lab"]]
    if row["status"] == "graded":
        lines[0] += f": {row['points']} of {row['max_points']} points, bonus {row['bonus_points']}"
        lines += ["", row["message"]] if row["message"] else []
    else:
        lines += ["", NOT_GRADED[row["status"]].format(row["message"])]
    for task in tasks:
        lines += ["", heading(task), *("  " + line for line in task["message"].rstrip().splitlines())]
    return "\n".join(lines) + "\n"


def write_reports(book: Book) -> None:
    for row in book.rows("SELECT latest.*, slug FROM latest JOIN students USING (student)"):
        student, instructor = (
            book.folder / "reports" / name / row["slug"] / f"{row['lab']}.html"
            for name in ("students", "instructors")
        )
        for path, edition, title in (
            (student, ".student", row["lab"]),
            (instructor, "", f"{row['student']}: {row['lab']}"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            result, as_graded = edition_of(book, row, edition)
            text = text_for_student(row, result["labs"][0]["tasks"] if result and edition else [])
            if edition:
                write_atomically(path.with_suffix(".txt"), text.encode())
            else:
                about = result or {name: row[name] for name in ("student", "lab", "status", "message")}
                write_atomically(path.with_suffix(".json"), json.dumps(about, indent=2).encode() + b"\n")
            if not (result and write_page(book, row, edition, result, as_graded, path)):
                page = PAGE.format(html.escape(title), html.escape(text))
                write_atomically(path, page.encode())


def edition_of(book: Book, row: sqlite3.Row | dict, edition: str) -> tuple[dict | None, bool]:
    """The result of a row of submissions as it is worth now, and whether that is what it was worth when it was
    graded. `edition`: ".student", or "" for instructors."""
    column = "student_result" if edition else "result"
    data = book.value(
        f"SELECT {column} FROM attempts WHERE key = ? AND attempt = ?", row["key"], row["attempt"]
    )
    if data is None:
        return None, True
    result = unpacked(data)
    before = result["labs"][0]
    lab = book.scorer.rescored(before)
    same = all(lab.get(name) == before.get(name) for name in ("tasks", "points", "bonus_points"))
    return {**result, "labs": [lab]}, same


def write_page(
    book: Book, row: sqlite3.Row | dict, edition: str, result: dict, as_graded: bool, path: pathlib.Path
) -> bool:
    """The worker's page; another one where points have changed since. False where that can't be made."""
    graded = book.folder / "results" / row["key"] / f"{row['attempt']}{edition}.html"
    if as_graded and graded.exists():
        shutil.copyfile(graded, path)
        return True
    path.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.json.tmp")
    try:
        beside.write_text(json.dumps(result), encoding="utf-8")
        nothing: dict = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [book.labcli, "report", str(beside), "--html", str(path)]
        return subprocess.run(command, check=False, **nothing).returncode == 0
    finally:
        beside.unlink(missing_ok=True)
