#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the students' file of a lab from its solution: labs/<lab>/<lab>.cu from solutions/<lab>/<lab>.cu.

    common/tools/authoring/make_skeleton.py solutions/reduction/reduction.cu labs/reduction/reduction.cu
    common/tools/authoring/make_skeleton.py reduction       # the same
    common/tools/authoring/make_skeleton.py --check ...     # changes nothing; exit code 1 when the file has drifted
    common/tools/authoring/make_skeleton.py --guided ...    # a file whose TODOs also say how, step by step

Lines of the solution that start with //@ steer it:

    //@solution WHAT      what follows, down to //@end, is the students' to write: it becomes a TODO that says what the
    //@hint MORE          code must do, and the number of lines that the solution takes; //@hint goes on with it,
    //@how STEPS          //@how says how it is done, which only a guided file has in its place, and //@instead gives
    //@instead CODE       a line that stands there so that the file compiles
    //@reference          what follows, down to //@end, is left out
    //@student TEXT       a line that only the students' file has
"""

import argparse
import pathlib
import re
import sys
import textwrap

WIDTH = 110
MARK = re.compile(r"^(\s*)//@(\w+)(?: (.*))?$")


class SkeletonError(Exception):
    pass


def todo(indent: str, what: list[str], n_lines: int, instead: list[str]) -> list[str]:
    roughly = n_lines if n_lines < 10 else round(n_lines / 5) * 5
    text = f"TODO(student): {' '.join(what)} (roughly {roughly} line{'s' if roughly != 1 else ''})"
    lines = textwrap.wrap(text, WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}// {line}" for line in lines] + [indent + line for line in instead]


def code_lines(lines: list[str]) -> int:
    """Lines that hold code: neither blank nor comment alone."""
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("//"))


def skeleton(source: str, name: str = "solution", guided: bool = False) -> str:
    out = []
    block = None  # "solution" or "reference" while inside one
    indent, hint, how, instead, removed, start = "", [], [], [], [], 0
    for number, line in enumerate(source.splitlines(), 1):
        mark = MARK.match(line)
        if mark is None:
            if block is None:
                out.append(line)
            else:
                removed.append(line)
            continue
        kind, text = mark.group(2), mark.group(3) or ""
        where = f"{name}:{number}"
        if kind == "student" and block is None:
            out.append(mark.group(1) + text)
        elif kind in ("solution", "reference") and block is None:
            block, indent, hint, how, instead, removed = kind, mark.group(1), [text], [], [], []
            start = number
        elif kind in ("hint", "how", "instead") and block == "solution" and not removed:
            {"hint": hint, "how": how, "instead": instead}[kind].append(text)
        elif kind == "end" and block is not None:
            if block == "solution":
                if not hint[0]:
                    raise SkeletonError(f"{name}:{start}: //@solution needs a text")
                out.extend(todo(indent, how if guided and how else hint, code_lines(removed), instead))
            block = None
        else:
            raise SkeletonError(f"{where}: //@{kind} is out of place here")
    if block is not None:
        raise SkeletonError(f"{name}:{start}: //@{block} has no //@end")
    # What was left out may leave several blank lines behind.
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out) + "\n")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the students' file of a lab from its solution.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--guided", action="store_true", help="TODOs that also say how")
    parser.add_argument("solution", type=pathlib.Path, help="a lab, or the file of its solution")
    parser.add_argument("skeleton", type=pathlib.Path, nargs="?", help="the file to write")
    arguments = parser.parse_args()
    if arguments.skeleton is None:
        lab, root = arguments.solution.name, pathlib.Path(__file__).resolve().parents[3]
        arguments.solution = root / "solutions" / lab / f"{lab}.cu"
        arguments.skeleton = root / "labs" / lab / f"{lab}.cu"
        if not arguments.solution.is_file():
            parser.error(f'there is no lab "{lab}" with a solution')
    try:
        source = arguments.solution.read_text(encoding="utf-8")
        wanted = skeleton(source, arguments.solution.name, arguments.guided)
    except SkeletonError as error:
        sys.exit(str(error))
    if not arguments.check:
        arguments.skeleton.write_text(wanted, encoding="utf-8")
        return
    found = arguments.skeleton.read_text(encoding="utf-8") if arguments.skeleton.exists() else ""
    if found == wanted:
        return
    sys.exit(
        f"{arguments.skeleton} is not what its solution gives. If you changed the solution, run\n"
        f"  {sys.argv[0]} {arguments.solution} {arguments.skeleton}\n"
        "and if you worked on the students' file, change the solution instead."
    )


if __name__ == "__main__":
    main()
