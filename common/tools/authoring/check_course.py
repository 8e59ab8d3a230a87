#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every lab is complete: its API, skeleton, baseline, tests, solution, mutants and handout, and
each rung of its ladder.

usage: check_course.py ROOT LABCLI      (LABCLI: the built tool, whose `list --json` says what labs there are)

Prints what is missing, a line each, and exits with 1 when something is.
"""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

POINTS_A_MUTANT = {"wrong": 10, "right-but-different": 20}  # a lab has one for so many points


def text_of(path: pathlib.Path) -> "str | None":
    return path.read_text(encoding="utf-8") if path.is_file() else None


def labs_of_root(root: pathlib.Path) -> list[str]:
    """The list of labs in the root meson.build."""
    found = re.search(r"^labs = \[(.*?)\]", (root / "meson.build").read_text(encoding="utf-8"), re.S | re.M)
    return re.findall(r"'(\w+)'", found.group(1)) if found else []


def missing_files(root: pathlib.Path, lab: str) -> Iterator[str]:
    for path in [
        f"labs/{lab}/lab.hpp",
        f"labs/{lab}/points.hpp",
        f"labs/{lab}/{lab}.cu",
        f"labs/{lab}/baseline.hpp",
        f"labs/{lab}/problem.cpp",
        f"labs/{lab}/{lab}_test.cpp",
        f"solutions/{lab}/{lab}.cu",
        f"solutions/{lab}/ladder_test.cpp",
    ]:
        if not (root / path).is_file():
            yield f"{lab}: {path} is missing"


def missing_rungs(root: pathlib.Path, lab: str, tasks: list[str], further: list[str]) -> Iterator[str]:
    """Every task must be answered in the solution and in the students' file, every further rung in the
    solution."""
    for path, rungs in [(f"solutions/{lab}/{lab}.cu", tasks + further), (f"labs/{lab}/{lab}.cu", tasks)]:
        text = text_of(root / path)
        for rung in rungs if text is not None else []:
            if not re.search(rf"\bRung::{rung}\b", text):
                yield f"{lab}: {path} has no rung {rung}, which the manifest in points.hpp lists"


def rungs_out_of_order(root: pathlib.Path, lab: str, rungs: list[str]) -> Iterator[str]:
    """A request names a rung by its number: the enumeration and the manifest must list them in the same
    order."""
    header = text_of(root / f"labs/{lab}/lab.hpp") or ""
    found = re.search(r"enum class Rung : [\w:]+ \{(.*?)\}", header, re.S)
    listed = re.findall(r"\w+", re.sub(r"//.*", "", found.group(1))) if found else []
    if found and listed != rungs:
        yield f"{lab}: Rung in lab.hpp lists {', '.join(listed)}; points.hpp lists {', '.join(rungs)}"


def missing_mutants(root: pathlib.Path, lab: str, points: int) -> Iterator[str]:
    folder = root / "grader/mutants" / lab
    verdicts = {}
    for path in sorted(folder.glob("*.mutant")):
        verdict = re.search(r"^// verdict: (\w+)", path.read_text(encoding="utf-8"), re.M)
        verdicts[path.stem] = verdict.group(1) if verdict else None
    right = sum(verdict == "OK" for verdict in verdicts.values())
    for (kind, points_each), n in zip(POINTS_A_MUTANT.items(), (len(verdicts) - right, right)):
        if n < points // points_each:
            yield f"{lab}: grader/mutants/{lab} has {n} {kind} submissions, {points // points_each} are the least"
    build = text_of(folder / "meson.build") or ""
    listed = set(re.findall(r"'(\w+)'", build))
    for name in sorted(verdicts.keys() - listed):
        yield f"{lab}: grader/mutants/{lab}/meson.build does not list {name}: nobody runs it"


def missing_in_handout(root: pathlib.Path, lab: str, tasks: list[dict]) -> Iterator[str]:
    for path in sorted({task["section"].split("#")[0] for task in tasks}):
        text = text_of(root / path)
        if text is None:
            yield f"{lab}: {path} is missing"
            continue
        for task in tasks:
            anchor = task["section"].partition("#")[2]
            if task["section"].startswith(path) and f'<a id="{anchor}"></a>' not in text:
                yield f"{lab}: {path} has no section {anchor}, to which task {task['id']} points"
        if f"<!-- quote: output points {lab} --markdown -->" not in text:
            yield f"{lab}: {path} has no generated block with the points"
        listed = text_of(root / "handouts/meson.build") or ""
        if f"'{pathlib.PurePosixPath(path).name}'" not in listed:
            yield f"{lab}: handouts/meson.build does not list {pathlib.PurePosixPath(path).name}: nobody checks its numbers"


def missing_in_readmes(root: pathlib.Path, lab: str, tasks: list[dict]) -> Iterator[str]:
    for path in sorted({task["section"].split("#")[0] for task in tasks}):
        page = pathlib.PurePosixPath(path).name
        for name, row in [
            ("README.md", rf"^\| .*`labs/{lab}/{lab}\.cu`.*\(handouts/{re.escape(page)}\)"),
            ("handouts/README.md", rf"^\| .*\({re.escape(page)}\)"),
        ]:
            if not re.search(row, text_of(root / name) or "", re.M):
                yield f"{lab}: {name} has no row with {page}"


def complaints(root: pathlib.Path, catalogue: dict) -> Iterator[str]:
    known = {lab["id"]: lab for lab in catalogue["labs"]}
    for lab in labs_of_root(root):
        yield from missing_files(root, lab)
        if lab not in known:
            yield f"{lab}: the registry does not have it"
            continue
        tasks = known[lab]["tasks"]
        further = [rung["id"] for rung in known[lab].get("further_rungs", [])]
        yield from missing_rungs(root, lab, [task["id"] for task in tasks], further)
        yield from rungs_out_of_order(root, lab, [task["id"] for task in tasks] + further)
        yield from missing_mutants(root, lab, known[lab]["max_points"] or known[lab]["max_bonus_points"])
        yield from missing_in_handout(root, lab, tasks)
        yield from missing_in_readmes(root, lab, tasks)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, labcli = pathlib.Path(sys.argv[1]), sys.argv[2]
    command = [labcli, "list", "--json"]
    catalogue = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = list(complaints(root, catalogue))
    for line in found:
        print(line)
    if found:
        sys.exit(1)
    print(f"{len(catalogue['labs'])} labs are complete")


if __name__ == "__main__":
    main()
