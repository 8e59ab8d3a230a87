# SPDX-License-Identifier: MIT
"""The command lines of the steps for one submission: the same on this machine and on a node of a cluster."""

from book import Book, Unit


def compile_command(book: Book, unit: Unit, attempt: int) -> list[str]:
    return _command(book, unit, attempt) + ["--compile-only"]


def grade_command(book: Book, unit: Unit, attempt: int) -> list[str]:
    """Compiles first, unless that has been done."""
    out = book.result_path(unit, attempt)
    known = book.earlier_result(unit) if book.only_new_cases else None
    return _command(book, unit, attempt) + [
        "--out",
        str(out),
        "--html",
        str(out.with_suffix(".html")),
        "--student-html",
        str(out.with_suffix(".student.html")),
        "--student-json",
        str(out.with_suffix(".student.json")),
        "--baselines",
        str(book.baselines(unit.lab)),
        *(["--known", str(known)] if known else []),
    ]


def baselines_command(book: Book, lab: str) -> list[str]:
    return [book.labcli, "batch-baselines", lab, *_how(book), "--out", str(book.baselines(lab))]


def _how(book: Book) -> list[str]:
    how = ["--seed", book.settings["seed"], "--device", book.settings["device"]]
    return how + (["--task", book.settings["task"]] if book.settings.get("task") else [])


def _command(book: Book, unit: Unit, attempt: int) -> list[str]:
    command = [
        book.labcli,
        "grade-one",
        unit.lab,
        *_how(book),
        "--harness",
        str(book.folder / "harness.json"),
        "--source",
        str(book.source(unit.sha256)),
        "--work",
        str(book.work(unit, attempt)),
    ]
    return command + ["--graded", "--isolation", book.isolation]
