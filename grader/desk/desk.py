#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab class: the instructor's desk. From what ./lab grade-all has found out about a class, and class.toml,
to final grades, tables for platforms, feedback and an overview. Nothing here compiles or runs a
kernel.

Reading order: main here; settings.py in ../batch (class.toml), roster.py (who), grades.py (what it comes to),
exports.py, feedback.py, overview.py (what comes out).
README.md says who calls whom.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "batch")]
sys.path.append(str(HERE.parents[1] / "common/tools"))

import exports
import feedback
import grades
import overview
import settings
from book import NAME, Book, write_atomically
from ending import run_to_end
from options import parser_of
from roster import read as read_roster
from settings import Problem
from waiting import Waiting
from worker import catalogue_of, labcli_of


def open_book(folder: pathlib.Path, own_points: bool = True) -> Book:
    """Also while a batch is running. `own_points`: what evidence is worth by this checkout, else by that of the
    last run. The caller commits."""
    if not (folder / NAME).exists() and (folder / settings.NAME).exists():
        raise Problem(about_new(folder))
    book = Book(folder)
    book.labcli = labcli_of()
    if own_points:
        book.db.execute("BEGIN IMMEDIATE")
    book.use_points(catalogue_of(book.labcli) if own_points else None)
    return book


def about_new(folder: pathlib.Path) -> str:
    """Of a class in which nothing has been graded: its class.toml is checked, too."""
    decided = settings.read(folder)
    settings.check_labs(decided, {lab["id"] for lab in catalogue_of(labcli_of())["labs"]})
    n_students = len(read_roster(decided.roster, decided.aliases).students)
    n_due = sum(lab.due is not None for lab in decided.labs.values())
    return (
        f"{folder / settings.NAME} has no mistake: {n_students} students, {n_due} labs with a due date.\n"
        f"Nothing has been graded into {folder} yet. Run ./lab grade-all first: ./lab grade-all FOLDER --out {folder}"
    )


def new(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / settings.NAME
    if path.exists():
        raise Problem(f"{path} is there already; edit it.")
    n_students = len(read_roster(options.roster, {}).students)
    rosters = [os.path.relpath(one, options.folder) for one in options.roster]
    labs = [lab["id"] for lab in catalogue_of(labcli_of())["labs"]]
    text = (HERE / settings.NAME).read_text(encoding="utf-8")
    for name, value in (  # a text in JSON is one in TOML, too
        ("@TITLE@", json.dumps(options.folder.resolve().name.removesuffix(".graded"), ensure_ascii=False)),
        ("@ROSTER@", json.dumps(rosters, ensure_ascii=False)),
        ("@LABS@\n", "".join(f"# [labs.{lab}]\n# due = 2026-10-05T23:59:00\n\n" for lab in labs)),
    ):
        text = text.replace(name, value)
    write_atomically(path, text.encode())
    settings.read(options.folder)
    print(f"{path}: {n_students} students in the roster. Fill in the due dates there.")


def warn(term: grades.Term) -> None:
    for one in term.warnings:
        print(f"warning: {one}", file=sys.stderr)
    for owner, why in sorted(term.unknown.items()):
        counts = "It counts for nobody; name the student under [aliases] in class.toml."
        print(f"unknown: {owner}: {why}. {counts}", file=sys.stderr)


def regrade(options: argparse.Namespace, dry_run: bool = False) -> tuple[Book, grades.Term]:
    """Final grades anew."""
    book = open_book(options.folder)
    term = grades.compute(book)
    if not options.partial and any(term.partial.values()):
        labs = ", ".join(lab + text for lab, text in term.partial.items())
        raise Problem(
            f"No final grades: the class was graded with --task. {labs}. --partial computes them all the same."
        )
    lines = grades.moved(grades.before(book), term)
    if dry_run:
        book.db.rollback()
    else:
        grades.write(book, term, lines)
        if overview.is_running(book.folder):
            print("A batch is running: these are the grades of what is done.", file=sys.stderr)
    warn(term)
    for line in lines:
        print(line)
    n_open = sum(final.status == "no grade" for final in term.finals.values())
    print(
        f"Students: {len(term.roster.students)}. Labs: {len(term.labs)}. "
        f"Grades {'that would move' if dry_run else 'moved'}: {len(lines)}"
        + (f", not known yet: {n_open}" if n_open else "")
        + (f". Unknown names: {len(term.unknown)}" if term.unknown else "")
        + ("." if dry_run else f".\nFinal grades  {book.folder / 'final.csv'}")
    )
    if dry_run:
        print("This was a dry run: nothing was written.")
    return book, term


def export(options: argparse.Namespace) -> None:
    _, term = regrade(options)
    wanted = [
        (options.moodle, lambda: exports.moodle(term)),
        (options.gradescope, lambda: exports.gradescope(term)),
        (options.csv, lambda: exports.plain(term)),
    ]
    if options.canvas:
        if not options.canvas_from:
            needs = "--canvas-from FILE: Canvas's gradebook, exported there, with the rows to fill in"
            raise Problem(f"--canvas needs {needs}.")
        wanted.append((options.canvas, lambda: exports.canvas(term, options.canvas_from)))
    if not any(path for path, _ in wanted):
        raise Problem("Name a table to write: --canvas, --moodle, --gradescope or --csv FILE.")
    for path, make in wanted:
        if path:
            write_atomically(path, make().encode())
            print(f"Written  {path}")


def give_feedback(options: argparse.Namespace) -> None:
    out = options.out or options.folder / "feedback"
    book, term = regrade(options)
    send = feedback.write(book, term, out)
    print(
        f"Feedback  {out}: {len(send)} folders. {out / 'send.csv'} lists what to send to whom; nothing was sent."
    )


def show(options: argparse.Namespace) -> None:
    book = open_book(options.folder, own_points=False)
    book.db.commit()
    print(overview.text_of(book, grades.compute(book)), end="")


COMMANDS = {
    "new": new,
    "grades": lambda options: regrade(options, options.dry_run),
    "export": export,
    "feedback": give_feedback,
    "show": show,
}


def run() -> int:
    options = parser_of().parse_args()
    with Waiting(f"./lab class {options.command}"):
        COMMANDS[options.command](options)
    return 0


def main() -> None:
    os.umask(0o077)  # other people's work
    run_to_end(run)


if __name__ == "__main__":
    main()
