#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Removes a lab: what new_lab.py has written of it, and what was added to it since.

usage: remove_lab.py ROOT ID [--yes]

Without --yes it says what would be deleted. What is left configures, builds and grades. Then it lists
the files that mention the lab, which somebody has to edit.
"""

import argparse
import pathlib
import re
import shutil
import subprocess

from check_course import labs_of_root
from new_lab import PLACES, nearest, refuse


def files_with(root: pathlib.Path, pattern: str) -> str:
    """The course's files with a line that matches an extended regular expression, each on a line. Results are of
    the past, and the simulator knows no lab."""
    command: list = ["git", "-C", root, "grep", "-lIE", "--no-index", "--exclude-standard", "-e", pattern]
    command += ["--", ".", ":!handouts/results", ":!common/simulator"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Removes a lab.", prog="./lab remove")
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("id")
    parser.add_argument("--yes", action="store_true", help="delete its files")
    arguments = parser.parse_args()
    root, lab = arguments.root, arguments.id
    if lab not in (labs := labs_of_root(root)):
        refuse(f'There is no lab "{lab}". {nearest(lab, labs)}')
    kinds = [f"[0-9][0-9]-{lab.replace('_', '-')}{kind}.md" for kind in ("", "-deeper")]
    folders = [root / "handouts", root / "handouts/instructor"]
    pages = [path for folder in folders for kind in kinds for path in folder.glob(kind)]
    places = [root / place.format(id=lab) for place in [*PLACES.values(), "grader/hostile/{id}"]]
    places.append(root / f"solutions/peers/{lab}.cu")
    there = [path for path in [*places, *pages] if path.exists()]
    names = [path.relative_to(root).as_posix() for path in there]
    if not arguments.yes:
        gone = f"{', '.join(names)}, and the lines that list {lab}"
        refuse(f"--yes deletes {gone}. Commit first what you want to keep.")
    for path in there:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    entries = [f"'{lab}',", *(f"'{path.relative_to(root / 'handouts').as_posix()}'," for path in pages)]
    for name in ("meson.build", "handouts/meson.build", "README.md", "handouts/README.md"):

        def lists(line: str) -> bool:
            in_table = line.startswith("|") and any(f"{path.name})" in line for path in pages)
            return in_table or line.strip() in entries

        lines_of = (root / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (root / name).write_text("".join(line for line in lines_of if not lists(line)), encoding="utf-8")
    print(f"{lab} is removed: {', '.join(names)}.")
    gone = "|".join(re.escape(name) for name in [f"labs/{lab}", f"solutions/{lab}", *(p.name for p in pages)])
    # As a value, in a path, a namespace, a command or the mark of a quotation; not as a word of a sentence.
    mention = (
        rf"""{gone}|["'/]{lab}["'/ :.-]|import {lab}\b|\b{lab}::|lab [a-z-]+ {lab}\b|quote: .*\b{lab}\b"""
    )
    if found := files_with(root, mention):
        print(f'These files mention it ("./lab test links" finds links to its pages):\n{found}', end="")


if __name__ == "__main__":
    main()
