#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the lines of product code by room, and those of tests, and compares them with the budget in lines.tsv.

    common/tools/checks/lines.py            # prints the table; exit code 1 if a room has more lines than its budget

Product code is what runs in the course: no blank lines, no comments, no docstrings, no tests, and none of the
programs that tests run; those are the row "tests".
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOAL, TESTS_GOAL = 80_000, 50_000  # for all rooms together, and for all tests
BUDGET = pathlib.Path(__file__).with_suffix(".tsv")
LANGUAGES = {
    "C++": (".cpp", ".hpp", ".h", ".inc"),
    "CUDA": (".cu", ".cuh"),
    "Python": (".py",),
    "shell": (".sh",),
    "web": (".js", ".css"),
}
TESTS = re.compile(
    r"_test\.|(^|/)fuzz_|(^|/)(testing|mutants|hostile|programs|kernels|conformance|fuzz|testdata|cub|browser|foreign"
    r"|corpus)/|kernel_cases|hostile_kernel"
)
C_COMMENTS = re.compile(r"^\s*/\*(?:.|\n)*?\*/|^\s*//.*", re.MULTILINE)
HASH_COMMENTS = re.compile(r"^\s*#.*", re.MULTILINE)


def room_of(path: pathlib.PurePosixPath) -> str:
    top = path.parts[0]
    if top == "common":
        depth = 3 if path.parts[1] in ("simulator", "harness") else 2
    else:
        depth = 2 if top == "grader" else 1
    return "/".join(path.parts[: min(depth, len(path.parts) - 1)]) or "."


def language_of(path: pathlib.PurePosixPath) -> str | None:
    if path.name == "lab":
        return "shell"
    return next((name for name, endings in LANGUAGES.items() if path.suffix in endings), None)


def code_of(text: str, language: str) -> list[str]:
    """The lines that are neither blank nor comments."""
    comments = HASH_COMMENTS if language in ("Python", "shell") else C_COMMENTS
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)) if language == "Python" else ():
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docstrings.update(range(node.lineno - 1, node.end_lineno or 0))
    lines = [line for i, line in enumerate(text.split("\n")) if i not in docstrings]
    return [line for line in comments.sub("", "\n".join(lines)).splitlines() if line.strip()]


def count(root: pathlib.Path = ROOT) -> dict[str, collections.Counter]:
    """Lines by room and language, of the files that git knows; all tests are the room "tests"."""
    files = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True)
    lines: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for name in filter(None, files.stdout.split("\0")):
        path = pathlib.PurePosixPath(name)
        language = language_of(path)
        if language is not None and (root / path).is_file():
            text = (root / path).read_text(encoding="utf-8", errors="replace")
            room = "tests" if TESTS.search(name) else room_of(path)
            lines[room][language] += len(code_of(text, language))
    return lines


def budget() -> dict[str, int]:
    rows = (line.split("\t") for line in BUDGET.read_text(encoding="utf-8").splitlines())
    return {room: int(most) for room, most in rows}


def over_budget(lines: dict[str, collections.Counter], most: dict[str, int]) -> list[str]:
    """The rooms that have more lines than they may, or no budget."""
    return [room for room, counter in sorted(lines.items()) if counter.total() > most.get(room, 0)]


def main() -> int:
    lines, most = count(), budget()
    for room in sorted(lines.keys() | most.keys()):
        by_language = ", ".join(f"{name} {n:,}" for name, n in lines[room].most_common())
        print(f"{room:28} {lines[room].total():6,} of {most.get(room, 0):6,}  {by_language}")
    tests, all_lines = lines["tests"].total(), sum(counter.total() for counter in lines.values())
    print(f"{'all but tests':28} {all_lines - tests:6,}; the goal is {GOAL:,}")
    print(f"{'tests':28} {tests:6,}; the goal is {TESTS_GOAL:,}")
    for room in (over := over_budget(lines, most)):
        print(f"{room} has more than {BUDGET.name} allows: make it smaller, or argue for more in the commit")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
