#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab class: the instructor's desk. From what ./lab grade-all has found out about a class, and class.toml, to final grades, tables for
platforms, feedback and a page about the class. Nothing here compiles or runs a kernel.

Reading order: main here; settings.py in ../batch (class.toml), roster.py (who), grades.py (what it comes to),
exports.py, feedback.py, class_page.py (what comes out). README.md says who calls whom.
"""

import argparse
import os
import pathlib
import sqlite3
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "batch")]
sys.path.append(str(HERE.parents[1] / "common/tools"))

import class_page
import exports
import feedback
import gradebook
import grades
import settings
from book import Book, write_atomically
from grade_all import catalogue_of, labcli_of
from names import slug
from options import parser_of
from roster import read as read_roster
from settings import Problem
from waiting import Waiting

START = """# What you decide about this class: ./lab class grades applies it in seconds. The instructor's guide describes every line.
title = "{title}"
roster = [{roster}]
timezone = "UTC"
counts = "best"           # of a student's submissions: best or latest
bonus = "separate"        # from the points; or added to them, or capped: added up to the lab's most points

[late]
grace_minutes = 0
percent_per_day = 0       # of the points, for every day begun
most_days = 0             # later: 0 points; 0: no limit

{labs}
# [groups]
# red = ["id of one student", "id of another"]

# [aliases]
# "name of a submission" = "id of a student"

# [[extensions]]
# student = "id"
# lab = "scan"
# days = 3
# reason = "ill"

# [[excused]]             # this lab does not count for the student
# student = "id"
# lab = "scan"
# reason = "ill until the end of term"

# [[overrides]]
# student = "id"
# lab = "scan"
# points = 60
# reason = "talk on 12 October"

# [points.scan.blelloch]  # what stands here takes the place of labs/scan/points.hpp
# correctness = 20
"""


def open_book(folder: pathlib.Path, read_only: bool = False) -> Book:
    if not (folder / "ledger.jsonl").exists():
        raise Problem(
            f"{folder} is not a class's folder. Run ./lab grade-all first; its --out is the folder to name here."
        )
    book = Book(folder, read_only)
    book.use_last_harness()
    book.labcli = labcli_of()
    book.use_points(None if read_only else catalogue_of(book.labcli))
    return book


def new(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / settings.NAME
    if path.exists():
        raise Problem(f"{path} is there already; edit it.")
    n_students = len(read_roster(options.roster, {}).students)
    labs = [lab["id"] for lab in catalogue_of(labcli_of())["labs"]]
    listed = ", ".join(f'"{toml(os.path.relpath(one, options.folder))}"' for one in options.roster)
    write_atomically(
        path,
        START.format(
            title=toml(options.folder.resolve().name.removesuffix(".graded")),
            roster=listed,
            labs="".join(f"# [labs.{lab}]\n# due = 2026-10-05T23:59:00\n\n" for lab in labs),
        ).encode(),
    )
    settings.read(options.folder)
    print(f"{path}: {n_students} students in the roster. Fill in the due dates there.")


def toml(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def warn(term: grades.Term) -> None:
    for one in term.warnings:
        print(f"warning: {one}", file=sys.stderr)
    for owner, why in sorted(term.unknown.items()):
        print(
            f"unknown: {owner}: {why}. It counts for nobody; name the student under [aliases] in class.toml.",
            file=sys.stderr,
        )


def regrade(book: Book) -> grades.Term:
    """Tables and final grades anew."""
    term = grades.compute(book)
    gradebook.write_tables(book)
    lines = grades.write(book, term)
    warn(term)
    for line in lines:
        print(line)
    n_open = sum(final.status == "no grade" for final in term.finals.values())
    print(
        f"Students: {len(term.roster.students)}. Labs: {len(term.labs)}. Grades moved: {len(lines)}"
        + (f", not known yet: {n_open}" if n_open else "")
        + (f". Unknown names: {len(term.unknown)}" if term.unknown else "")
        + f".\nFinal grades  {book.folder / 'final.csv'}"
    )
    return term


def export(options: argparse.Namespace) -> None:
    term = regrade(open_book(options.folder))
    wanted = [
        (options.moodle, lambda: exports.moodle(term)),
        (options.gradescope, lambda: exports.gradescope(term)),
        (options.csv, lambda: exports.plain(term)),
    ]
    if options.canvas:
        if not options.canvas_from:
            raise Problem(
                "--canvas needs --canvas-from FILE: Canvas's gradebook, exported there, with the rows to fill in."
            )
        wanted.append((options.canvas, lambda: exports.canvas(term, options.canvas_from)))
    if not any(path for path, _ in wanted):
        raise Problem("Name a table to write: --canvas, --moodle, --gradescope or --csv FILE.")
    for path, make in wanted:
        if path:
            write_atomically(path, make().encode())
            print(f"Written  {path}")


def give_feedback(options: argparse.Namespace) -> None:
    book = open_book(options.folder)
    out = options.out or options.folder / "feedback"
    out.mkdir(parents=True, exist_ok=True)
    n_students = feedback.write(book, regrade(book), out)
    print(
        f"Feedback  {out}: {n_students} folders. {out / 'send.csv'} lists what to send to whom; nothing was sent."
    )


def show(options: argparse.Namespace) -> None:
    book = open_book(options.folder, read_only=True)
    term = grades.compute(book)
    parts = class_page.parts_of(book, term, options.similarity)
    summary = (
        f"{len(term.roster.students)} students, {len(term.labs)} lab{'s' if len(term.labs) != 1 else ''}"
    )
    if options.html:
        write_atomically(options.html, class_page.to_html(term.settings.title, summary, parts).encode())
        print(f"Written  {options.html}")
    else:
        print(class_page.to_text(f"{term.settings.title}: {summary}", parts), end="")


def sources(options: argparse.Namespace) -> None:
    book = open_book(options.folder, read_only=True)
    n_files = 0
    for (owner, lab), submissions in grades.candidates(book).items():
        last = next((one for one in reversed(submissions) if one.sha256), None)
        if last and book.source(last.sha256).exists():
            path = options.out / lab / slug(owner) / f"{lab}.cu"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, book.source(last.sha256).read_bytes())
            n_files += 1
    print(f"{n_files} files in {options.out}, one folder for each lab and student.")


COMMANDS = {
    "new": new,
    "grades": lambda options: regrade(open_book(options.folder)),
    "export": export,
    "feedback": give_feedback,
    "show": show,
    "sources": sources,
}


def main() -> int:
    os.umask(0o077)  # other people's work
    try:
        options = parser_of().parse_args()
        with Waiting(f"./lab class {options.command}"):
            COMMANDS[options.command](options)
        return 0
    except Problem as problem:
        print(f"lab: {problem}", file=sys.stderr)
    except (OSError, sqlite3.Error) as error:
        print(f"lab: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        pass
    return 1


if __name__ == "__main__":
    # argparse ends wrong usage with 2; the course's exit code for it is 1.
    try:
        sys.exit(main())
    except SystemExit as end:
        sys.exit(1 if end.code not in (0, None) else 0)
