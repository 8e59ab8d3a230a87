#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every lab has what the build does not ask for: its mutants, its handout, its rows in both READMEs, and
the rungs in the same order everywhere.

usage: check_course.py ROOT LABCLI      (LABCLI: the built tool, whose `list --json` says what labs there are)

Prints what is missing, a line each, and exits with 1 when something is.
"""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator


def text_of(path: pathlib.Path) -> "str | None":
    return path.read_text(encoding="utf-8") if path.is_file() else None


def labs_of_root(root: pathlib.Path) -> list[str]:
    """The list of labs in the root meson.build."""
    found = re.search(r"^labs = \[(.*?)\]", (root / "meson.build").read_text(encoding="utf-8"), re.S | re.M)
    return re.findall(r"'(\w+)'", found.group(1)) if found else []


def rungs_out_of_order(root: pathlib.Path, lab: str, rungs: list[str]) -> Iterator[str]:
    """A request names a rung by its number: the enumeration and the manifest must list them in the same
    order."""
    header = text_of(root / f"labs/{lab}/lab.hpp") or ""
    found = re.search(r"enum class Rung : [\w:]+ \{(.*?)\}", header, re.S)
    listed = re.findall(r"\w+", re.sub(r"//.*", "", found.group(1))) if found else []
    if found and listed != rungs:
        yield f"{lab}: Rung in lab.hpp lists {', '.join(listed)}; points.hpp lists {', '.join(rungs)}"


def missing_mutants(root: pathlib.Path, lab: str, about: dict) -> Iterator[str]:
    """A lab of the course, whose answers are in the instructor's pack, has them in proportion to its points."""
    folder = root / "grader/mutants" / lab
    answers = root / "handouts/instructor" / about["tasks"][0]["section"].split("#")[0].split("/")[-1]
    points = about["max_points"] or about["max_bonus_points"]
    least = (points // 10, points // 20) if answers.is_file() else (3, 1)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.mutant")}
    right = sum(re.search(r"^// verdict: OK\b", text, re.M) is not None for text in texts.values())
    for kind, n, needed in zip(("wrong", "right-but-different"), (len(texts) - right, right), least):
        if n < needed:
            yield f"{lab}: grader/mutants/{lab} has {n} {kind} submissions, {needed} are the least"
    build = text_of(folder / "meson.build") or ""
    listed = set(re.findall(r"'(\w+)'", build))
    for name in sorted(texts.keys() - listed):
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
            page = pathlib.PurePosixPath(path).name
            yield f"{lab}: handouts/meson.build does not list {page}: nobody checks its numbers"


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
        if lab not in known:
            yield f"{lab}: the registry does not have it"
            continue
        tasks = known[lab]["tasks"]
        further = [rung["id"] for rung in known[lab].get("further_rungs", [])]
        yield from rungs_out_of_order(root, lab, [task["id"] for task in tasks] + further)
        yield from missing_mutants(root, lab, known[lab])
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
