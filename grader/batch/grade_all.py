#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab grade-all: grades everything in a folder of submissions, unattended, and goes on where it was when it
was stopped.

Reading order: main here, with command_line.py; ingest.py (what was handed in), book.py (the class's folder),
pool.py and slurm.py (who does the work), gradebook.py, reports.py (what comes out). A
submission's grade depends on its file, the harness, the toolchain and the class's seed: neither on the order
nor on who else handed in.
"""

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path += [str(HERE.parents[1] / at) for at in ("common/tools", "common/tools/authoring", "grader/desk")]

import grades
import gradescope_export
import ingest
import names
import reports
import roster
import settings
import slurm
import worker
from book import Book, Problem, Unit
from command_line import LEVELS, arguments
from deadlines import Deadlines
from ending import run_to_end
from make_skeleton import skeleton
from pool import Pool
from progress import Progress


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM take effect afterwards: what is done within is done whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def open_book(options: argparse.Namespace, folder: pathlib.Path) -> Book:
    out = pathlib.Path(options.out) if options.out else folder.with_name(folder.name + ".graded")
    root = pathlib.Path(os.environ.get("LAB_ROOT", ".")).resolve()
    inside = out.resolve()
    for kept in (folder.resolve(), root / "labs", root / "common", root / "solutions", root / "grader"):
        if inside == kept or kept in inside.parents:
            raise Problem(f"Grades can't go into {kept}: take another folder with --out.")
    try:
        book = Book(out, begins=True)
    except OSError as error:
        raise Problem(f"{out} can't be used: {error.strerror}.") from None
    book.labcli = worker.labcli_of()
    book.isolation = options.isolation
    book.settle({"seed": options.seed, "device": options.device, "task": options.task})
    return book


def prepare(book: Book, options: argparse.Namespace) -> dict:
    """Asks the grader how submissions are compiled, and whether this machine is good enough."""
    device = None if options.slurm else book.settings["device"]
    how = worker.options(task=book.settings["task"], device=device, out=worker.harness(book))
    worker.ask([book.labcli, "batch-harness", *options.labs, *how])
    harness = json.loads(worker.harness(book).read_text(encoding="utf-8"))
    if harness["device_problem"] and not options.slurm:
        raise Problem(harness["device_problem"])
    if not options.slurm and LEVELS.index(harness["isolation"]) < LEVELS.index(options.isolation):
        raise Problem(
            f'Grades that count need isolation "{options.isolation}"; this machine has "{harness["isolation"]}".\n'
            f"  What is missing: {'; '.join(harness['isolation_missing'])}.\n"
            f"  --isolation {harness['isolation']} accepts this machine."
        )
    return harness


def time_baselines(book: Book, labs: list[str], backend) -> None:
    """Measures them once, before anything else runs, so that all are compared with the same times."""
    for lab in labs:
        if not book.baselines(lab).exists():
            print(f"Timing the CPU baselines of {lab} …", file=sys.stderr, flush=True)
            backend.baselines(lab)


def units_of(book: Book, submissions: list[ingest.Submission]) -> list[Unit]:
    """What has to be graded, each file once, in an order that says nothing about students."""
    files = {
        (one.lab, hashlib.sha256(one.source).hexdigest()) for one in submissions if one.source is not None
    }
    units = {book.unit(lab, sha256) for lab, sha256 in files}
    return sorted(units, key=lambda unit: (unit.lab, unit.key))


def summary(
    book: Book,
    term: grades.Term,
    submissions: list[ingest.Submission],
    lists: list[str],
    n_now: int,
    n_cached: int,
    seconds: float,
) -> int:
    chosen = {(one.student, one.lab) for one in submissions}
    latest = book.rows("SELECT * FROM latest ORDER BY student, lab")
    rows = [row for row in latest if (row["student"], row["lab"]) in chosen]
    with_file = [row for row in rows if row["sha256"]]
    without = [row for row in with_file if not book.is_graded(book.unit(row["lab"], row["sha256"]))]
    there = Counter(row["status"] for row in rows)
    print(
        f"{len({student for student, _ in chosen})} students: {len(with_file) - len(without)} submissions "
        f"graded ({n_now} files now, {n_cached} known from before), "
        f"{there['refused']} refused, {there['missing']} missing, {len(without)} without a grade.  {seconds:.0f} s"
    )
    for row in rows:
        if row["status"] == "refused":
            print(f"  refused   {row['student']}, {row['lab']}: {row['message']}")
    for row in without:
        before = (
            "the grade by an earlier version of the lab stands"
            if row["status"] == "graded"
            else "not reached"
        )
        print(f"  no grade  {row['student']}, {row['lab']}: {row['message'] or before}")
    for student, group in itertools.groupby(rows, lambda row: row["student"]):
        own = list(group)
        if all(row["status"] == "missing" for row in own):
            print(f"  missing   {student}: {own[0]['message']}")
    if lists:
        print(f"Not a submission, ignored: {', '.join(names.shown(name) for name in lists)}")
    print(f"Gradebook  {book.folder / 'gradebook.sqlite'}\nReports    {book.folder / 'reports'}")
    if term.unknown:
        print(f"Not in the roster, and in no table: {', '.join(sorted(term.unknown))}")
    if not book.settings["task"]:
        print(f"Table      {book.folder / 'final.csv'}")
    else:
        print("Graded with --task:", ", ".join(sorted({lab + book.partial(lab) for _, lab in chosen})))
    if without:
        print(f"{len(without)} have no grade: run the same command again.")
    return 1 if without else 0


def deadlines_of(folder: pathlib.Path) -> Deadlines:
    decided = settings.read(folder)
    return Deadlines(decided, roster.read(decided.roster, decided.aliases))


def take_in(
    options: argparse.Namespace, folder: pathlib.Path, harness: dict, deadlines: Deadlines
) -> tuple[list[ingest.Submission], list[str]]:
    """What was handed in, and of which labs."""
    all_labs = list(harness["labs"])
    skeletons = skeletons_of(pathlib.Path(harness["root"]), all_labs)
    submissions, labs = ingest.ingest(
        str(folder), all_labs, options.labs, skeletons, options.ref, deadlines.limits
    )
    if not submissions:
        raise Problem(
            f"{folder} holds no submissions for {', '.join(all_labs)}: one folder, .zip, .tar.gz or .cu file for "
            "each student is expected."
        )
    if not options.labs and all(one.source is None for one in submissions):
        of_first = [one for one in submissions if one.lab == labs[0]]
        reasons = "\n".join(f"  {one.student}: {one.refused or one.origin}" for one in of_first)
        raise Problem(f"Nothing in {folder} can be graded; --labs LAB records that for a lab.\n{reasons}")
    if options.times == "none":
        submissions = [replace(one, submitted=0.0) for one in submissions]
    elif options.times is None and (doubt := deadlines.doubt(submissions)):
        raise Problem(doubt)
    return submissions, labs


def run(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    folder = gradescope_export.root_of(pathlib.Path(options.folder))
    if not folder.is_dir():
        raise Problem(
            f"{folder} is not a folder. Give the folder with the submissions, one folder, archive or .cu file for "
            "each student."
        )
    book = open_book(options, pathlib.Path(options.folder))
    book.clean()
    harness = prepare(book, options)
    book.use_harness(harness)
    with book.db:
        book.use_points(worker.catalogue_of(book.labcli))
    submissions, labs = take_in(options, folder, harness, deadlines_of(book.folder))
    try:
        n_new = book.take_in(submissions)
        units = units_of(book, submissions)
        waiting = [unit for unit in units if not (book.is_graded(unit) or book.adopt(unit))]
        print(
            f"{len({one.student for one in submissions})} students, {', '.join(labs)}: {len(units)} different files, "
            f"{n_new} submissions new or changed, {len(waiting)} files to grade.",
            file=sys.stderr,
            flush=True,
        )
        grade(book, options, waiting)
    except BaseException:
        # The reason of the stop is what counts: a full disk may hold no tables either.
        with contextlib.suppress(OSError, sqlite3.Error, Problem):
            conclude(book, submissions)
        raise
    book.clean()  # again: what a killed run had started lives a little longer than it, and writes
    term = conclude(book, submissions)
    n_now, seconds = len(waiting), time.monotonic() - begun
    return summary(book, term, submissions, ingest.ignored(str(folder)), n_now, len(units) - n_now, seconds)


def grade(book: Book, options: argparse.Namespace, waiting: list[Unit]) -> None:
    backend = (slurm.Slurm if options.slurm else Pool)(book, options)
    if waiting:
        time_baselines(book, sorted({unit.lab for unit in waiting}), backend)
    with Progress(len(waiting)) as progress:
        backend.run(waiting, progress)


def conclude(book: Book, submissions: list[ingest.Submission]) -> grades.Term:
    """Final grades (of a class of all tasks) and reports of what the book says, however the work ended: also of
    attempts that ended as the run was interrupted, before it noted them."""
    with uninterrupted():
        for unit in units_of(book, submissions):
            book.is_graded(unit) or book.adopt(unit)
        with book.db:
            book.use_points()
        term = grades.compute(book)
        if not book.settings["task"]:
            grades.write(book, term, grades.moved(grades.before(book), term))
        reports.write_reports(book)
    return term


def skeletons_of(root: pathlib.Path, labs: list[str]) -> dict[str, str]:
    """What students start from, of the labs that are in this checkout."""
    found = {}
    for lab in labs:
        solution, own = (root / folder / lab / f"{lab}.cu" for folder in ("solutions", "labs"))
        if own.exists():
            text = (solution if solution.exists() else own).read_text(encoding="utf-8")
            found[lab] = skeleton(text)
    return found


def main() -> None:
    os.umask(0o077)  # other people's work
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stop that is asked for, as Ctrl-C
    run_to_end(lambda: run(arguments(sys.argv[1:])), "Stopped. The same command goes on from here.\n")


if __name__ == "__main__":
    main()
