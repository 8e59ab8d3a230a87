# SPDX-License-Identifier: MIT
"""Today's grader against stored results, before it is put to use: grades files of a class again, in a folder
of its own, and says what differs. The class itself is not changed.

    differences, n_files = compare(book, out, n_most, jobs)
"""

import itertools
import pathlib
import subprocess
import sys

import worker
from book import Book
from settings import Problem

GRADE_ALL = pathlib.Path(__file__).resolve().parents[1] / "batch/grade_all.py"


def sample(book: Book, n_most: int) -> dict[tuple[str, str], dict]:
    """Stored results by lab and file: of every lab and combination of verdicts one, then another of each …"""
    kinds: dict[tuple, list] = {}
    for one in {(one["lab"], one["sha256"]): one for one in book.state.submissions if one["sha256"]}.values():
        lab, sha256 = one["lab"], one["sha256"]
        for key in book.state.keys_of(lab, sha256)[:1]:
            if book.source(sha256).exists() and (found := book.grade(key, lab)):
                tasks = found[1]["labs"][0]["tasks"]
                kind = (lab, *(task["verdict"] for task in tasks))
                kinds.setdefault(kind, []).append(((lab, sha256), found[1]))
    rounds = itertools.zip_longest(*kinds.values())
    return dict([one for of_round in rounds for one in of_round if one][:n_most])


def compare(book: Book, out: pathlib.Path, n_most: int, jobs: int) -> tuple[list[str], int]:
    if out.exists() and any(out.iterdir()):
        raise Problem(f"{out} is not empty: name a new folder with --out.")
    if not (stored := sample(book, n_most)):
        raise Problem(f"{book.folder} has no results to compare with.")
    entries = {}
    for lab, sha256 in stored:
        folder = out / "files" / lab / sha256[:16]
        folder.mkdir(parents=True)
        (folder / f"{lab}.cu").write_bytes(book.source(sha256).read_bytes())
        entries[lab, sha256[:16]] = lab, sha256
    for lab in sorted({lab for lab, _ in stored}):
        grade(book, out, lab, jobs)
    fresh = Book(out / "graded", read_only=True)
    fresh.use_last_harness()
    differences = []
    for (lab, name), file in entries.items():
        same = [one for one in book.state.submissions if (one["lab"], one["sha256"]) == file]
        owners = sorted({one["student"] for one in same})
        found = fresh.grade(fresh.unit(*file).key, lab)
        who = f"{lab}, {', '.join(owners[:3])}{' …' if len(owners) > 3 else ''}"
        changes = ["no result any more"] if found is None else of_tasks(book, stored[file], found[1])
        differences += [f"{who} ({name}): {one}" for one in changes]
    return differences, len(entries)


def grade(book: Book, out: pathlib.Path, lab: str, jobs: int) -> None:
    baselines = book.folder if book.settings["device"] == "gpu" else None
    options = worker.options(labs=lab, out=out / "graded", jobs=jobs, baselines=baselines)
    command = [sys.executable, str(GRADE_ALL), str(out / "files" / lab), *worker.how(book), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0 and not (out / "graded/digests.json").exists():
        raise Problem(f"grade-all could not grade {lab}; its message is above.")


def of_tasks(book: Book, stored: dict, fresh: dict) -> list[str]:
    """What differs, worth what evidence is worth now."""
    results = (book.scorer.rescored(one["labs"][0]) for one in (stored, fresh))
    before, now = ({task["id"]: task for task in result["tasks"]} for result in results)
    found = []
    for name in dict.fromkeys([*before, *now]):
        if name not in before or name not in now:
            found.append(f"{name}: {'new' if name in now else 'gone'}")
            continue
        was, is_ = (
            {"verdict": one["verdict"], "points": one["points"], **(one.get("metrics") or {})}
            for one in (before[name], now[name])
        )
        whats = ["verdict", "points", *sorted({*was, *is_} - {"verdict", "points"})]
        changes = [(what, was.get(what), is_.get(what)) for what in whats]
        found += [f"{name}: {what} {old} → {new}" for what, old, new in changes if old != new]
    return found
