#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes copies of a lab's file for blocks that fit on a screen: the file itself and wrong versions of it.

    make_versions.py OUTPUT.cu OUTPUT.cpp BLOCK FILE.cu x.mutant ...

Like make_mutant.py, whose mutants these are: copies in namespaces of their own, and a `run` that calls the
one after which the program is named. The first copy is called `solution`; its rungs of the state of the art
are left out. In each copy, the constant kBlock becomes BLOCK.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "common/tools"))
import make_mutant

SMALL = ["8", "32", "64"]  # threads in a block
BLOCK = re.compile(r"^((?:inline )?constexpr unsigned kBlock = )\d+;", re.M)
TOP = re.compile(r"^\s*case Rung::state_of_the_art\w*:.*\n", re.M)


def with_block(source, block):
    return BLOCK.sub(rf"\g<1>{block};", source)


def main():
    cuda, choice, block, solution, *mutants = sys.argv[1:]
    cuda, choice = pathlib.Path(cuda), pathlib.Path(choice)
    text = pathlib.Path(solution).read_text(encoding="utf-8")
    plain = TOP.sub("", re.sub(r"^\s*//@.*\n", "", text, flags=re.M))
    lab, source = make_mutant.in_namespace(plain, "m_solution", solution)
    copies = {"solution": source}
    for mutant in map(pathlib.Path, mutants):
        copies[mutant.stem] = make_mutant.copy_of(text, mutant)[1]
    includes = []
    for name, source in copies.items():
        path = cuda.parent / f"{cuda.stem}_{name}.cu"
        path.write_text(with_block(source, block), encoding="utf-8")
        includes.append(f'#include "{path.name}"\n')
    cuda.write_text("".join(includes), encoding="utf-8")
    choice.write_text(make_mutant.chooser(lab, list(copies)), encoding="utf-8")


if __name__ == "__main__":
    main()
