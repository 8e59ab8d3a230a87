#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab class: the instructor's desk. From what ./lab grade-all has found out about a class, and class.toml,
to final grades, tables for platforms, feedback and a page about the class. Nothing here compiles or runs a
kernel.

Reading order: main here; settings.py in ../batch (class.toml), roster.py (who), manual.py and regrades.py
(what people decide), grades.py (what it comes to), exports.py, feedback.py, class_page.py (what comes out).
README.md says who calls whom.
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
import manual
import regrades
import settings
import start
from book import NAME, Book, write_atomically
from options import parser_of
from roster import Student
from roster import read as read_roster
from settings import Problem, meant
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


def term_of(folder: pathlib.Path) -> tuple[Book, grades.Term]:
    """As the class is by the points of the last run."""
    book = open_book(folder, own_points=False)
    book.db.commit()
    return book, grades.compute(book)


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
    title = options.folder.resolve().name.removesuffix(".graded")
    write_atomically(path, start.class_toml(title, rosters, labs).encode())
    settings.read(options.folder)
    checklist = options.folder / "checklist.md"
    write_atomically(checklist, start.checklist(title, options.folder, labs).encode())
    print(
        f"{path}: {n_students} students in the roster. Fill in the due dates there.\n"
        f"{checklist}: what to do in the first hour, and in every week."
    )


def warn(term: grades.Term) -> None:
    for one in term.warnings:
        print(f"warning: {one}", file=sys.stderr)
    for owner, why in sorted(term.unknown.items()):
        counts = "It counts for nobody; name the student under [aliases] in class.toml."
        print(f"unknown: {owner}: {why}. {counts}", file=sys.stderr)


def regrade(folder: pathlib.Path, dry_run: bool = False) -> tuple[Book, grades.Term]:
    """Tables and final grades anew."""
    book = open_book(folder)
    term = grades.compute(book)
    lines = grades.moved(grades.before(book), term)
    if dry_run:
        book.db.rollback()
    else:
        grades.write(book, term, lines)
        gradebook.write_tables(book)
        if class_page.is_running(book.folder):
            print("A batch is running: these are the grades of what is done.", file=sys.stderr)
    warn(term)
    for line in lines:
        print(line)
    n_open = sum(final.status == "no grade" for final in term.finals.values())
    n_requests = sum(not one.closed for one in term.requests.values())
    print(
        f"Students: {len(term.roster.students)}. Labs: {len(term.labs)}. Grades {'that would move' if dry_run else 'moved'}: {len(lines)}"
        + (f", not known yet: {n_open}" if n_open else "")
        + (f". Unknown names: {len(term.unknown)}" if term.unknown else "")
        + (f". Open requests: {n_requests}" if n_requests else "")
        + ("." if dry_run else f".\nFinal grades  {book.folder / 'final.csv'}")
    )
    if dry_run:
        print("This was a dry run: nothing was written.")
    return book, term


def export(options: argparse.Namespace) -> None:
    _, term = regrade(options.folder)
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
    book, term = regrade(options.folder)
    send = feedback.write(book, term, out)
    print(
        f"Feedback  {out}: {len(send)} folders. {out / 'send.csv'} lists what to send to whom; nothing was sent."
    )


def request(options: argparse.Namespace) -> None:
    """Lists the requests; with --say it adds one, or another entry of one."""
    book = Book(options.folder)
    known = regrades.read(book)
    if options.say is None:
        chosen = [known[options.number]] if options.number in known else list(known.values())
        for one in chosen:
            if options.all or options.number or not one.closed:
                print("\n".join(one.lines()))
        n_open = sum(not one.closed for one in known.values())
        print(f"Requests: {len(known)}, open: {n_open}.")
        return
    if options.number is None:
        _, term = term_of(options.folder)
        check_lab(options.lab or "", term)
        one = regrades.Request(len(known) + 1, student_of(term, options.student or "").id, options.lab)
    elif (one := known.get(options.number)) is None:
        lists = f"./lab class request {options.folder} --all lists them"
        raise Problem(f"There is no request {options.number}; {lists}.")
    closes = options.close or options.points is not None
    one = regrades.add(book, one, options.by, options.say, options.points, closes)
    print("\n".join(one.lines()))
    if options.points is not None:
        print(f"./lab class grades {options.folder} puts these points in place.")


def student_of(term: grades.Term, text: str) -> Student:
    if (one := term.roster.by_id(text) or term.roster.find(text)) is None:
        raise Problem(f"{text} is not in the roster. {meant(text, term.roster.students)}")
    return one


def check_lab(lab: str, term: grades.Term) -> None:
    if lab not in term.labs:
        raise Problem(f'There is no lab "{lab}". {meant(lab, term.labs)}')


def sheet(options: argparse.Namespace) -> None:
    _, term = term_of(options.folder)
    check_lab(options.lab, term)
    rows = manual.sheet(term.settings, list(term.roster.students.values()), options.lab)
    if options.out.exists():
        raise Problem(f"{options.out} is there already: somebody may have filled it in.")
    write_atomically(options.out, gradebook.csv_text(rows).encode())
    criteria = options.out.with_suffix(".md")
    write_atomically(criteria, manual.criteria(term.settings.lab(options.lab).manual).encode())
    print(
        f"{options.out}: {len(rows) - 1} rows to fill in; {criteria}: the criteria.\n"
        f'Then name it in class.toml: manual = ["{os.path.relpath(options.out, options.folder)}"]'
    )


def student(options: argparse.Namespace) -> None:
    _, term = term_of(options.folder)
    one = student_of(term, options.student)
    title = f"{term.settings.title}: {one.name or one.id}"
    show_parts(options, title, feedback.summary(term.of(one)), feedback.parts_of(term, one))


def show(options: argparse.Namespace) -> None:
    book, term = term_of(options.folder)
    parts = class_page.parts_of(book, term)
    summary = f"{len(term.roster.students)} students, {grades.plural(len(term.labs), 'lab')}"
    show_parts(options, term.settings.title, summary, parts)


def show_parts(options: argparse.Namespace, title: str, summary: str, parts: list[class_page.Part]) -> None:
    if options.html:
        write_atomically(options.html, class_page.to_html(title, summary, parts).encode())
        print(f"Written  {options.html}")
    else:
        print(class_page.to_text(f"{title}: {summary}", parts), end="")


def sources(options: argparse.Namespace) -> None:
    book = Book(options.folder)
    with_file = "SELECT max(id) FROM received WHERE sha256 <> '' GROUP BY student, lab"
    last = book.rows(
        f"SELECT lab, slug, sha256 FROM received JOIN students USING (student) WHERE id IN ({with_file})"
    )
    for lab, folder, sha256 in last:
        path = options.out / lab / folder / f"{lab}.cu"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, book.source(sha256).read_bytes())
    print(f"{len(last)} files in {options.out}, one folder for each lab and student.")


COMMANDS = {
    "new": new,
    "grades": lambda options: regrade(options.folder, options.dry_run),
    "export": export,
    "feedback": give_feedback,
    "show": show,
    "student": student,
    "request": request,
    "sheet": sheet,
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
