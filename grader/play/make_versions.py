#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes copies of a lab's file for blocks that fit on a screen: the file itself and wrong versions of it.

    make_versions.py OUTPUT.cu OUTPUT.cpp SIZE FILE.cu x.mutant ...
    make_versions.py --list LAB     prints a line for each part of the solution's play.json

Like make_mutant.py, whose mutants these are: copies in namespaces of their own, and a `run` that calls the
one after which the program is named. The first copy is called `solution`; its rungs of the state of the art
are left out. In each copy, constants get the values that solutions/<lab>/play.json has for SIZE, the number
of threads in a block.
"""

import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common/tools/authoring"))
import make_mutant

TOP = re.compile(r"^\s*case Rung::state_of_the_art\w*:.*\n", re.M)


def offer_of(lab: str) -> dict:
    """What a page offers of a lab. "blocks": by the threads in a block, the constants that change; one that
    the file does not have stands in the lab's header, and the copy gets its own. Of a warp of 8 or 4 threads,
    the other lanes of the hardware's warp do not exist. "mutants": the wrong versions. "short_suite": the
    blocks whose copies the short suite compiles."""
    path = ROOT / f"solutions/{lab}/play.json"
    empty: dict = {"blocks": {}, "mutants": [], "short_suite": []}
    return empty | (json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {})


def constant(name: str) -> re.Pattern:
    return re.compile(rf"^((?:inline )?constexpr unsigned {name}\s*=\s*)[^;]+;", re.M)


def with_size(source: str, constants: dict) -> str:
    """The source with other values of its constants; those that it lacks follow the opened namespace."""
    missing = ""
    for name, value in constants.items():
        source, found = constant(name).subn(rf"\g<1>{value};", source, count=1)
        if not found:
            missing += f" inline constexpr unsigned {name} = {value};"
    return re.sub(r"^(namespace course::\w+::\w+ \{)", rf"\g<1>{missing}", source, count=1, flags=re.M)


def with_own_headers(text: str, solution: pathlib.Path) -> str:
    """The solution with its folder's headers written out, each once, so that each copy has its own kernels and
    sizes."""
    include = re.compile(rf'^#include "{solution.parent.name}/(\w+\.cuh)".*\n', re.M)
    written: set[str] = set()

    def contents(found: re.Match) -> str:
        if found[1] in written:
            return ""
        written.add(found[1])
        return include.sub(contents, (solution.parent / found[1]).read_text(encoding="utf-8"))

    return include.sub(contents, text)


def write(path: pathlib.Path, text: str) -> None:
    """Leaves a file alone that has this text already, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    if sys.argv[1] == "--list":
        print(*(" ".join(offer) for offer in offer_of(sys.argv[2]).values()), sep="\n")
        return
    cuda, choice = map(pathlib.Path, sys.argv[1:3])
    size, solution, *mutants = sys.argv[3:]
    text = with_own_headers(make_mutant.source_of(pathlib.Path(solution), ROOT), pathlib.Path(solution))
    plain = TOP.sub("", re.sub(r"^\s*//@.*\n", "", text, flags=re.M))
    lab, source = make_mutant.in_namespace(plain, "m_solution", solution)
    copies = {"solution": source}
    for mutant in map(pathlib.Path, mutants):
        copies[mutant.stem] = make_mutant.copy_of(text, mutant)[1]
    includes = []
    for name, source in copies.items():
        path = cuda.parent / f"{cuda.stem}_{name}.cu"
        write(path, with_size(source, offer_of(lab)["blocks"][size]))
        includes.append(f'#include "{path.name}"\n')
    write(cuda, "".join(includes))
    write(choice, make_mutant.chooser(lab, list(copies)))


if __name__ == "__main__":
    main()
