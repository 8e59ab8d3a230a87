# SPDX-License-Identifier: MIT
"""The command lines of the steps for one submission: the same on this machine and on a node of a cluster."""

from book import Book, Unit


def options(**given: object) -> list[str]:
    """Of a command line: --known FILE for known=FILE; what is None or empty is left out."""
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
        known=book.earlier_result(unit) if book.only_new_cases else None,
    )


def baselines_command(book: Book, lab: str) -> list[str]:
    return [book.labcli, "batch-baselines", lab, *how(book), *options(out=book.baselines(lab))]


def how(book: Book, seed: str = "") -> list[str]:
    """`seed`: another one than the class's."""
    return options(
        **{name: book.settings.get(name) for name in ("seed", "device", "task")}
        | ({"seed": seed} if seed else {})
    )


def _command(book: Book, unit: Unit, attempt: int) -> list[str]:
    files = options(
        harness=book.folder / "harness.json", source=book.source(unit.sha256), work=book.work(unit, attempt)
    )
    command = [book.labcli, "grade-one", unit.lab, *how(book, book.seed_of(unit)), *files]
    return [*command, "--graded", "--isolation", book.isolation]
