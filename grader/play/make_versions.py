#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes copies of a lab's file for blocks that fit on a screen: the file itself and wrong versions of it.

    make_versions.py OUTPUT.cu OUTPUT.cpp SIZE FILE.cu x.mutant ...

Like make_mutant.py, whose mutants these are: copies in namespaces of their own, and a `run` that calls the
one after which the program is named. The first copy is called `solution`; its rungs of the state of the art
are left out. In each copy, constants get the values that SIZES has for the lab and the number of threads
SIZE.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "common/tools/authoring"))
import make_mutant

# A warp of 8 or 4 threads: the other lanes of the hardware's warp do not exist. Then tiles are small enough
# for several of them in 64 items.
EIGHT = {"kBlock": "8", "kWarp": "8", "kFullMask": "0xffu"}
FOUR = {"kBlock": "4", "kWarp": "4", "kFullMask": "0xfu"}
RADIX = {
    "kScanRows": "1",
    "kRows": "8 / sizeof(Bits)",
    "kWideRows": "8 / sizeof(Bits)",
    "kMaxPasses": "(63 + kDigitBits) / kDigitBits",
}
# By lab and threads in a block: the constants that change. One that the file does not have stands in the
# lab's header, and the copy gets its own.
SIZES = {
    "reduction": {"8": EIGHT, "32": {"kBlock": "32"}, "64": {"kBlock": "64"}},
    "scan": {size: {"kBlock": size} for size in ("8", "32", "64")},
    "compaction": {
        "8": EIGHT | {"kRows": "2"},
        "32": {"kBlock": "32", "kRows": "1"},
        "64": {"kBlock": "64", "kRows": "1"},
    },
    "radix_sort": {
        "8": RADIX | EIGHT | {"kWideBlock": "8", "kDigitBits": "3", "kTile": "16"},
        "32": RADIX | {"kBlock": "32", "kWideBlock": "32", "kDigitBits": "5", "kTile": "32"},
        "64": RADIX | {"kBlock": "64", "kWideBlock": "64", "kDigitBits": "6", "kTile": "64"},
    },
    "histogram": {
        "8": EIGHT | {"kKeysPerThread": "2"},
        "32": {"kBlock": "32", "kKeysPerThread": "1"},
        "64": {"kBlock": "64", "kKeysPerThread": "1"},
    },
    "sat": {
        "4": FOUR | {"kColumnBlock": "4", "kAhead": "2", "kTile": "4", "kSide": "4", "kTopRows": "1"},
        "8": EIGHT | {"kColumnBlock": "8", "kAhead": "4", "kTile": "8", "kSide": "8", "kTopRows": "1"},
        "64": {"kBlock": "64", "kColumnBlock": "8", "kAhead": "4", "kSide": "32"},
    },
    "hierarchical_scan": {
        "4": FOUR | {"kTile": "16"},
        "8": EIGHT | {"kTile": "32"},
        "32": {"kBlock": "32", "kTile": "128"},
    },
}
TOP = re.compile(r"^\s*case Rung::state_of_the_art\w*:.*\n", re.M)


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
    """The solution with its folder's headers written out, so that each copy has its own kernels and sizes."""

    def contents(include: re.Match) -> str:
        return (solution.parent / include[1]).read_text(encoding="utf-8")

    return re.sub(rf'^#include "{solution.parent.name}/(\w+\.cuh)".*\n', contents, text, flags=re.M)


def write(path: pathlib.Path, text: str) -> None:
    """Leaves a file alone that has this text already, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    cuda, choice = map(pathlib.Path, sys.argv[1:3])
    size, solution, *mutants = sys.argv[3:]
    text = with_own_headers(pathlib.Path(solution).read_text(encoding="utf-8"), pathlib.Path(solution))
    plain = TOP.sub("", re.sub(r"^\s*//@.*\n", "", text, flags=re.M))
    lab, source = make_mutant.in_namespace(plain, "m_solution", solution)
    copies = {"solution": source}
    for mutant in map(pathlib.Path, mutants):
        copies[mutant.stem] = make_mutant.copy_of(text, mutant)[1]
    includes = []
    for name, source in copies.items():
        path = cuda.parent / f"{cuda.stem}_{name}.cu"
        write(path, with_size(source, SIZES[lab][size]))
        includes.append(f'#include "{path.name}"\n')
    write(cuda, "".join(includes))
    write(choice, make_mutant.chooser(lab, list(copies)))


if __name__ == "__main__":
    main()
