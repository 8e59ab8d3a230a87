# SPDX-License-Identifier: MIT
"""Today's grader against stored results, before it is put to use: grades files of a class again, in a folder
of its own, and says what differs. The class itself is not changed.

    differences, n_files = compare(book, out, n_most, jobs)
"""

import os
import pathlib
import subprocess
import sys

from book import Book
from settings import Problem

GRADE_ALL = pathlib.Path(__file__).resolve().parents[1] / "batch/grade_all.py"


def sample(book: Book, n_most: int) -> dict[tuple[str, str], dict]:
    """Stored results by lab and file: of every lab and combination of verdicts one, then another of each …"""
    kinds: dict[tuple, list] = {}
    for one in {(one["lab"], one["sha256"]): one for one in book.state.hand_ins if one["sha256"]}.values():
        lab, sha256 = one["lab"], one["sha256"]
        for key in book.state.keys_of(lab, sha256)[:1]:
            if book.source(sha256).exists() and (found := book.grade(key, lab)):
                tasks = found[1]["labs"][0]["tasks"]
                kind = (lab, *(task["verdict"] for task in tasks))
                kinds.setdefault(kind, []).append(((lab, sha256), found[1]))
    rounds = [
        group[at]
        for at in range(max(map(len, kinds.values()), default=0))
        for group in kinds.values()
        if at < len(group)
    ]
    return dict(rounds[:n_most])


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
        owners = sorted(
            {one["student"] for one in book.state.hand_ins if (one["lab"], one["sha256"]) == file}
        )
        found = fresh.grade(fresh.unit(*file).key, lab)
        who = f"{lab}, {', '.join(owners[:3])}{' …' if len(owners) > 3 else ''}"
        changes = ["no result any more"] if found is None else of_tasks(book, stored[file], found[1])
        differences += [f"{who} ({name}): {one}" for one in changes]
    return differences, len(entries)


def grade(book: Book, out: pathlib.Path, lab: str, jobs: int) -> None:
    device = book.settings["device"]
    command = [
        sys.executable,
        str(GRADE_ALL),
        str(out / "files" / lab),
        "--labs",
        lab,
        "--out",
        str(out / "graded"),
    ]
    command += ["--seed", book.settings["seed"], "--device", device, "--jobs", str(jobs)]
    command += ["--task", book.settings["task"]] if book.settings.get("task") else []
    command += ["--baselines", str(book.folder)] if device == "gpu" else []
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False, env=os.environ
    )
    if done.returncode != 0 and not (out / "graded/digests.json").exists():
        raise Problem(f"grade-all could not grade {lab}; its message is above.")


def of_tasks(book: Book, stored: dict, fresh: dict) -> list[str]:
    """What differs, worth what evidence is worth now."""
    before, now = (
        {task["id"]: task for task in book.scorer.rescored(one["labs"][0])["tasks"]}
        for one in (stored, fresh)
    )
    found = []
    for name in dict.fromkeys([*before, *now]):
        if name not in before or name not in now:
            found.append(f"{name}: {'new' if name in now else 'gone'}")
            continue
        was, is_ = before[name], now[name]
        for what in ("verdict", "points"):
            if was[what] != is_[what]:
                found.append(f"{name}: {what} {was[what]} → {is_[what]}")
        metrics, measured = was.get("metrics") or {}, is_.get("metrics") or {}
        found += [
            f"{name}: {metric} {metrics.get(metric)} → {measured.get(metric)}"
            for metric in sorted({*metrics, *measured})
            if metrics.get(metric) != measured.get(metric)
        ]
    return found
