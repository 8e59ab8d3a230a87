# SPDX-License-Identifier: MIT
"""The command lines of the steps for one submission: the same on this machine and on a node of a cluster."""

import json
import os
import pathlib
import subprocess

from book import Book, Problem, Unit


def labcli_of() -> str:
    build = os.environ.get("LAB_BUILD")
    if not build or not os.access(f"{build}/grader/labcli", os.X_OK):
        raise Problem("Run this through ./lab: it needs the built tools.")
    return f"{build}/grader/labcli"


def ask(command: list[str]) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise Problem((done.stderr or done.stdout).strip().removeprefix("lab: ") or f"{command[1]} failed.")
    return done.stdout


def catalogue_of(labcli: str) -> dict:
    """The labs with their points."""
    return json.loads(ask([labcli, "list", "--json"]))


def options(**given: object) -> list[str]:
    """Of a command line: --work FILE for work=FILE; what is None or empty is left out."""
    named = {name.replace("_", "-"): value for name, value in given.items() if value}
    return [word for name, value in named.items() for word in (f"--{name}", str(value))]


def compile_command(book: Book, unit: Unit, attempt: int) -> list[str]:
    return _command(book, unit, attempt) + ["--compile-only"]


def grade_command(book: Book, unit: Unit, attempt: int) -> list[str]:
    """Compiles first, unless that has been done."""
    out = book.result_path(unit, attempt)
    return _command(book, unit, attempt) + options(
        out=out,
        html=out.with_suffix(".html"),
        student_html=out.with_suffix(".student.html"),
        student_json=out.with_suffix(".student.json"),
        baselines=book.baselines(unit.lab),
    )


def baselines_command(book: Book, lab: str) -> list[str]:
    return [book.labcli, "batch-baselines", lab, *options(**book.settings, out=book.baselines(lab))]


def harness(book: Book) -> pathlib.Path:
    """What batch-harness writes and grade-one reads."""
    return book.folder / "work" / "harness.json"


def _command(book: Book, unit: Unit, attempt: int) -> list[str]:
    how = book.settings | {"seed": book.seed_of(unit)}
    files = {"harness": harness(book), "source": book.source(unit.sha256), "work": book.work(unit, attempt)}
    command = [book.labcli, "grade-one", unit.lab, *options(**how, **files)]
    return [*command, "--graded", "--isolation", book.isolation]
