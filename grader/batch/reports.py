# SPDX-License-Identifier: MIT
"""A student's results for a lab in two editions: for instructors (whole, written here), and for the student
(without seed and values: ../report/edition.hpp), of which ../desk/feedback.py makes what is handed back.

reports/SLUG/LAB.html, LAB.json, LAB.cu         for instructors: the result, and the file that was graded
"""

import json
import pathlib
import shutil
import sqlite3
import subprocess

from book import Book, unpacked, write_atomically


def heading(task: dict) -> str:
    return f"{task['id']}: {task['verdict']}, {task['points']} of {task['max_points']} points"


def write_reports(book: Book) -> None:
    """Of everybody's last submissions; where there is no result, the JSON has the reason."""
    for row in book.rows("SELECT latest.*, slug FROM latest JOIN students USING (student)"):
        path = book.folder / "reports" / row["slug"] / f"{row['lab']}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        result, as_graded = edition_of(book, row, "")
        about = result or {name: row[name] for name in ("student", "lab", "status", "message")}
        write_atomically(path.with_suffix(".json"), json.dumps(about, indent=2).encode() + b"\n")
        if row["sha256"]:
            write_atomically(path.with_suffix(".cu"), book.source(row["sha256"]).read_bytes())
        if result is None or not write_page(book, row, "", result, as_graded, path):
            path.unlink(missing_ok=True)


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
    nothing: dict = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    command = [book.labcli, "report", "/dev/stdin", "--html", str(path)]
    return (
        subprocess.run(command, check=False, input=json.dumps(result), text=True, **nothing).returncode == 0
    )
