#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks who includes whom: every #include of a project's file must go along an arrow of ALLOWED.

usage: check_includes.py ROOT

Prints each wrong include as file:line with the rule it breaks; exit status 1 when there is one, or when no file was found.
Parts are folders: "base" is common/base, "labs/reduction" one lab, "solutions/reduction" its solution.
"""

import pathlib
import re
import sys

# part: the parts it may include besides itself. {lab} is the lab of the including file.
ALLOWED = {
    "base": [],
    "tools": [],  # one header, for editors
    "fuzz": [],  # the driver; targets stand beside what they try
    "lab": ["base"],
    "ptx": ["base"],
    "sim": ["ptx", "base"],
    "cudart": ["sim", "ptx", "base"],
    "remote": ["lab", "cudart", "sim", "base"],
    "labs": ["lab", "base"],  # the registry
    "labs/{lab}": ["lab", "base"],
    "solutions/device": ["lab", "base"],  # pieces of kernels that the top rungs share
    "solutions/{lab}": ["solutions/device", "labs/{lab}", "lab", "base"],
    # Runs the solutions' kernels with other constants.
    "solutions/tune": ["solutions/device", "solutions/compaction", "solutions/hierarchical_scan", "labs/compaction",
                       "labs/hierarchical_scan", "lab", "base"],
    "solutions/peers/{lab}": ["labs/{lab}", "lab", "base"],
    # Submissions that the grader is tested with stand where a student's file would.
    "grader/mutants/{lab}": ["solutions/{lab}", "solutions/device", "labs/{lab}", "lab", "base"],
    "grader/hostile/{lab}": ["grader/hostile/common", "labs/{lab}", "lab", "base"],
    "grader": ["labs", "base", "lab", "ptx", "sim", "cudart"],
}
# The simulator's C interface, for programs that may run on it: no part of the simulator comes with it.
FOR_ALL = {"common/cudart/sim_control.h"}

SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".in", ".inc"}
TOP_FOLDERS = ["common", "labs", "solutions", "grader"]
INCLUDE_ROOTS = ["common", "labs", "solutions", "."]
INCLUDE = re.compile(r"^\s*#\s*include\s*(.*)")


def part_of(path: pathlib.PurePosixPath) -> tuple[str, str]:
    """The part a file belongs to as a key of ALLOWED, and its lab ("" for none)."""
    folders = path.parts[:-1]
    if folders[0] == "common":
        return (folders[1] if len(folders) > 1 else "common"), ""
    if folders in [("solutions", "device"), ("solutions", "tune")]:
        return "/".join(folders), ""
    if folders == ("solutions", "peers"):
        return "solutions/peers/{lab}", path.stem
    if folders[0] in ("labs", "solutions") and len(folders) > 1:
        return folders[0] + "/{lab}", folders[1]
    if folders[0] == "grader" and len(folders) > 2 and folders[1] in ("mutants", "hostile"):
        return f"grader/{folders[1]}/{{lab}}", folders[2]
    return folders[0], ""


def resolve(root: pathlib.Path, file: pathlib.Path, name: str) -> pathlib.PurePosixPath | None:
    """The project's file that `#include "name"` in `file` reaches, relative to root; None when it is none of ours."""
    for folder in [file.parent, *(root / include_root for include_root in INCLUDE_ROOTS)]:
        target = (folder / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return pathlib.PurePosixPath(target.relative_to(root))
    return None


def wrong_includes(root: pathlib.Path, file: pathlib.Path) -> list[str]:
    root = root.resolve()
    own_path = pathlib.PurePosixPath(file.resolve().relative_to(root))
    own_part, own_lab = part_of(own_path)
    if own_part not in ALLOWED:
        return [f"{own_path}: the folder {own_path.parent} has no rule in check_includes.py"]
    allowed = {part.format(lab=own_lab) for part in [own_part, *ALLOWED[own_part]]}
    complaints = []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{own_path}:{number}"
        name = re.match(r'["<]([^">]+)[">]', match.group(1))
        if not name:
            complaints.append(f"{where}: can't read this #include: write the file's name")
            continue
        target = resolve(root, file, name.group(1))
        if target is None or str(target) in FOR_ALL:
            continue
        part, lab = part_of(target)
        if part.format(lab=lab) not in allowed:
            may = ", ".join(sorted(allowed - {own_part.format(lab=own_lab)})) or "nothing of ours"
            complaints.append(f"{where}: includes {target}; {own_part.format(lab=own_lab)} may include {may}")
    return complaints


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0])
    files = [f for top in TOP_FOLDERS for f in sorted((root / top).rglob("*")) if f.suffix in SOURCES and f.is_file()]
    complaints = [complaint for file in files for complaint in wrong_includes(root, file)]
    for complaint in complaints:
        print(complaint)
    print(f"{len(files)} files, {len(complaints)} wrong includes")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
