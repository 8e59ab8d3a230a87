#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Removes a lab: what new_lab.py has written of it, and what was added to it since.

usage: remove_lab.py ROOT ID [--yes]

Without --yes it says what would be deleted. Then it lists the other files that mention the lab.
"""

import argparse
import pathlib
import shutil
import subprocess

from check_course import labs_of_root
from new_lab import PLACES, nearest, refuse


def mentions(root: pathlib.Path, lab: str, page: str) -> list[str]:
    """Other files of the course that have the lab's name or page."""
    words = [f"labs/{lab}", f"solutions/{lab}", f"{lab}/lab.hpp", page, f"'{lab}'", f'"{lab}"']
    patterns = [part for word in words for part in ("-e", word)]
    for where in ("--untracked", "--no-index"):  # the second in a copy without history
        command = ["git", "-C", root, "grep", "-lIF", where, *patterns]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        if listed.returncode in (0, 1):
            return listed.stdout.splitlines()
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description="Removes a lab.", prog="./lab remove")
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("id")
    parser.add_argument("--yes", action="store_true", help="delete its files")
    arguments = parser.parse_args()
    root, lab = arguments.root, arguments.id
    if lab not in (labs := labs_of_root(root)):
        refuse(f'There is no lab "{lab}". {nearest(lab, labs)}')
    pages = list((root / "handouts").glob(f"[0-9][0-9]-{lab.replace('_', '-')}.md"))
    places = [root / place.format(id=lab) for place in [*PLACES.values(), "grader/hostile/{id}"]]
    there = [path for path in [*places, *pages] if path.exists()]
    names = [path.relative_to(root).as_posix() for path in there]
    if not arguments.yes:
        gone = f"{', '.join(names)}, and the lines that list {lab}"
        refuse(f"--yes deletes {gone}. Commit first what you want to keep.")
    for path in there:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    lines = {"meson.build": f"  '{lab}',"}
    for page in pages:
        lines["handouts/meson.build"] = f"  '{page.name}',"
        for table in ("README.md", "handouts/README.md"):
            lines[table] = page.name
    for name, gone in lines.items():

        def lists(line: str, name: str = name, gone: str = gone) -> bool:
            in_table = name.endswith(".md") and line.startswith("|") and f"{gone})" in line
            return in_table or line.rstrip() == gone

        lines_of = (root / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (root / name).write_text("".join(line for line in lines_of if not lists(line)), encoding="utf-8")
    print(f"{lab} is removed: {', '.join(names)}.")
    if found := mentions(root, lab, pages[0].name if pages else f"labs/{lab}"):
        print("These files mention it, too:\n" + "\n".join(f"  {name}" for name in found))


if __name__ == "__main__":
    main()
