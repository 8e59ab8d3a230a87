#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts a new lab from a template that builds, grades and passes its tests: change it piece by piece.

usage: new_lab.py ROOT ID [--title TITLE]

Writes labs/ID, solutions/ID, grader/mutants/ID and a handout, and adds ID to the list of labs in the root
meson.build, the handout to handouts/meson.build and both to the tables in README.md and handouts/README.md.
Nothing is overwritten. Then it prints what the lab lacks to be complete.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

import check_course

TAKEN = {"demo": "the student edition's demonstration", "labs": "a target of the build: parts_of_labs"}
PLACES = {"lab": "labs/{id}", "solution": "solutions/{id}", "mutants": "grader/mutants/{id}"}


def refuse(text: str) -> None:
    sys.exit(f"lab: {text}")


def nearest(word: str, known: list[str]) -> str:
    found = difflib.get_close_matches(word, known, 1)
    return f"Did you mean {found[0]}?" if found else f"The labs are {', '.join(known)}."


def add_to_list(path: pathlib.Path, opening: str, entry: str) -> None:
    """Puts `entry` on a line of its own before the bracket that closes the list beginning with `opening`."""
    text = path.read_text(encoding="utf-8")
    start = text.index(opening) + len(opening)
    close = re.compile(r"^[)\]]", re.M).search(text, start).start()
    path.write_text(text[:close] + f"  '{entry}',\n" + text[close:], encoding="utf-8")


def add_row(path: pathlib.Path, like: str, row: str) -> None:
    """Puts `row` below the last row of a table that matches `like`."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max((i for i, line in enumerate(lines) if re.match(like, line)), default=None)
    if last is None:
        print(f"{path.name} has no table of labs any more: mention the lab there yourself.")
        return
    lines.insert(last + 1, row + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def namespaces(root: pathlib.Path) -> set[str]:
    """The names behind course:: in the course's own code; a lab's namespace must be another one."""
    sources = [path for top in ("common", "grader") for path in (root / top).rglob("*.[hc]pp")]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in sources)
    return {name for text in texts for name in re.findall(r"\bnamespace course::(\w+)", text)}


def compiles(name: str) -> bool:
    """Whether a namespace may have this name."""
    program = f"#include <cassert>\n#include <cerrno>\n#include <cstdio>\nnamespace course::{name} {{}}\n"
    command = [os.environ.get("CXX", "g++"), "-std=gnu++20", "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    return done.returncode == 0 and name not in ("main", "std")


def main() -> None:
    parser = argparse.ArgumentParser(description="Starts a new lab from a template.", prog="./lab new")
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("id", help="its folder and namespace, as in: prefix_search")
    parser.add_argument("--title", help="as in: Prefix search")
    arguments = parser.parse_args()
    root, lab = arguments.root, arguments.id
    if not re.fullmatch(r"[a-z][a-z0-9_]*", lab):
        refuse(
            f'"{lab}" cannot name a folder and a namespace: use lower-case letters, digits and underscores, '
            "a letter first"
        )
    for taken, why in (
        (() if compiles(lab) else (lab,), f'"{lab}" is a word of C++ or a macro and can be no namespace'),
        (TAKEN, f'"{lab}" is the name of {TAKEN.get(lab)}'),
        (namespaces(root), f"course::{lab} is a namespace of the course already"),
    ):
        if lab in taken:
            refuse(f"{why}: take another name, such as {lab}_lab")
    title = arguments.title or lab.replace("_", " ").capitalize()
    if '"' in title or "\\" in title or "\n" in title:
        refuse("a title has no quotes, backslashes or line breaks")
    for place in PLACES.values():
        if (root / place.format(id=lab)).exists():
            refuse(f"{place.format(id=lab)} is there already")
    numbers = [int(p.name[:2]) for p in (root / "handouts").glob("[0-9][0-9]-*.md")]
    number = max(numbers, default=0) + 1
    handout = f"{number:02}-{lab.replace('_', '-')}.md"
    words = {"LAB_ID": lab, "LAB_TITLE": title, "LAB_HANDOUT": handout, "LAB_NUMBER": str(number)}

    def filled(text: str) -> str:
        text = re.sub("|".join(words), lambda m: words[m.group()], text)
        # As clang-format sorts them: the lab's name has its place among the others.
        includes = re.compile(r'(?:^#include ".*\n)+', re.M)
        return includes.sub(lambda m: "".join(sorted(m.group().splitlines(True))), text)

    template = root / "common/harness/template"
    for part, place in PLACES.items():
        for source in sorted((template / part).iterdir()):
            target = root / place.format(id=lab) / filled(source.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(source.read_text(encoding="utf-8")), encoding="utf-8")
    text = filled((template / "handout.md").read_text(encoding="utf-8"))
    (root / "handouts" / handout).write_text(text, encoding="utf-8")
    files = [root / f"{folder}/{lab}/{lab}.cu" for folder in ("solutions", "labs")]
    subprocess.run([sys.executable, root / "common/tools/authoring/make_skeleton.py", *files], check=True)
    add_to_list(root / "meson.build", "labs = [\n", lab)
    add_to_list(root / "handouts/meson.build", "handouts = files(\n", handout)
    page = pathlib.PurePosixPath(handout).stem
    in_table = title.replace("|", "\\|")
    row = f"| {number} {in_table} | `labs/{lab}/{lab}.cu` | [{page}](handouts/{handout}) |"
    add_row(root / "README.md", r"\| \d+ .*`labs/\w+/\w+\.cu`", row)
    row = f"| [Lab {number}: {in_table}]({handout}) | in a few words: what it is about |"
    add_row(root / "handouts/README.md", r"\| \[Lab \d+: ", row)
    print(f"{lab} is there, with two tasks that only stand for yours. Next:")
    steps = {
        f"./lab grade {lab} --solutions --device sim": "it grades",
        f"labs/{lab}/lab.hpp": "its API; points.hpp beside it says what it is worth",
        f"solutions/{lab}/{lab}.cu": f"its ladder; ./lab skeleton {lab} writes labs/{lab}/{lab}.cu from it",
        f"handouts/{handout}": "its text; handouts/scripts/quotes.py fills in its tables, and the syllabus",
        "README.md, handouts/README.md": "their tables of labs have it; the second one with words to replace",
        "./lab test 'course is complete'": "names what is still missing",
    }
    width = max(map(len, steps))
    print("\n".join(f"  {left:{width}}  {right}" for left, right in steps.items()))
    # As the registry will have it when it is built.
    tasks = [{"id": task, "section": f"handouts/{handout}#{task}"} for task in ("serial", "shared")]
    built = {"labs": [{"id": lab, "max_points": 100, "tasks": tasks}]}
    lacks = [one for one in check_course.complaints(root, built) if one.startswith(f"{lab}: ")]
    if lacks:
        print("\n  ".join(["It is complete when these are done, too:", *lacks]))
    else:
        print("It is complete.")


if __name__ == "__main__":
    main()
