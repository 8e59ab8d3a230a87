#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks who includes whom: every #include of a project's file must go along an arrow of ALLOWED, and every
import of a project's Python module along one of MODULES.

usage: check_includes.py ROOT

Prints each wrong include as file:line with the rule it breaks; exit status 1 when there is one, or
when no file was found. Parts are folders: "base" is common/base, "sim" common/simulator/sim, "lab"
common/harness/lab, "labs/reduction" one lab, "solutions/reduction" its solution.
"""

import ast
import pathlib
import re
import sys

# part: the parts it may include besides itself. {lab} is the lab of the including file.
ALLOWED = {
    "base": [],
    "tools": [],  # one header, for editors
    "fuzz": [],  # the driver; targets stand beside what they try
    "lab": ["base"],
    "protocol": ["lab", "base"],
    "verifier": ["protocol", "lab", "base"],  # trusted
    "runner": ["protocol", "lab", "base"],  # beside a student's code
    "bench": ["runner", "lab", "base"],  # the communicators of a lab for several devices
    "testing": ["verifier", "protocol", "lab", "base"],  # what tests of labs share
    "ptx": ["base"],
    "sim": ["ptx", "base"],
    "cudart": ["sim", "ptx", "base"],
    "nccl": ["cudart", "base"],
    "debug": ["sim", "ptx", "base"],
    "debugging": ["runner", "labs", "lab", "base"],  # ./lab debug: a lab's case in the simulator's debugger
    "remote": ["runner", "protocol", "lab", "nccl", "cudart", "sim", "base"],
    "labs": ["lab", "base"],  # the registry
    "labs/{lab}": ["lab", "base"],  # and its tests, TESTS
    "solutions/device": ["lab", "base"],  # pieces of kernels that the top rungs share
    "solutions/{lab}": ["solutions/device", "labs/{lab}", "lab", "base"],
    "solutions/peers/{lab}": ["bench", "labs/{lab}", "lab", "base"],
    # Submissions that the grader is tested with. They are compiled in place of a student's file, but mutants are
    # changed solutions, and hostile ones speak the protocol.
    "grader/mutants/{lab}": ["solutions/{lab}", "solutions/device", "labs/{lab}", "lab", "base"],
    "grader/hostile/{lab}": ["grader/hostile/common", "protocol", "labs/{lab}", "lab", "base"],
    # "remote": its submission for several devices, to be tested with.
    "grader": ["labs", "base", "verifier", "protocol", "lab", "ptx", "sim", "cudart", "remote"],
}
# The rooms of a part, which may be a room of another: folders, or files of the part's own folder by their stem.
# A room may include those that stand before it, and those of the same string. Tests, and what only tests use, may
# include all.
ROOMS = {
    "common/simulator/sim": [
        "authors_files checker counters finding footprint launch_limits timing.hpp types",
        *"memory machine grid ops decode timing checkers observation".split(),
        "device engine",
        "chips",
    ],
    "common/simulator/cudart": [
        "error_table cuda_abi sim_control sim_parts environment device_properties",
        "runtime code graph api",
        "abi driver",
    ],
    "common/simulator/cudart/runtime": [
        "status handles call_stack runtime",
        "memory",
        "host",
        "operation stream device_part",
    ],
    "common/simulator/nccl": ["nccl", "simulator", "operation", "clique", "communicators", "api"],
    "grader": [
        "text bar fields process layout device progress source_lines",
        *"page report sandbox screen compile grading profile trace play smallest bench batch photo cli main".split(),
    ],
    "grader/grading": [
        "planning",
        "scoring",
        "case_runner run_context printed baseline catalogue",
        "explain",
        "session_runner",
        "check collect",
        "grade",
    ],
}
# Parts in which only headers obey ROOMS: their sources call one another in both directions.
ONLY_HEADERS = {"common/simulator/cudart/runtime"}
# Folders with Python modules, and those whose modules theirs may import. ./lab's commands call the others.
MODULES = {
    "common/simulator": ["common/tools/testing"],
    "common/harness": ["common/simulator", "common/tools"],
    "common/tools/site": ["common/tools", "grader", "handouts"],
    "common/tools": ["grader"],
    "grader": ["common/tools"],
    "handouts": ["common/tools"],
    "labs": [],
    "solutions": [],
}
FOR_TESTS = set("testing conformance kernels calibration programs cub mutants hostile kernel_cases".split())
# Tables of names; every reader of the simulator's reports may include them.
WORDS = {"verifier": {"common/simulator/sim/checker.hpp", "common/simulator/sim/counters.hpp"}}
# What a lab's and a solution's tests may include besides, and those of a submission.
TESTS = {"testing", "verifier"}
SUBMISSION = "common/harness/remote/testing"
# The simulator's C interface and NCCL's, for programs that may run on it: no part of the simulator comes with
# them.
FOR_ALL = {"common/simulator/cudart/sim_control.h", "common/simulator/nccl/nccl.h"}

SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".in", ".inc"}
TOP_FOLDERS = ["common", "labs", "solutions", "grader"]
INCLUDE_ROOTS = ["common", "common/simulator", "common/harness", "labs", "solutions", "grader", "."]
INCLUDE = re.compile(r"^\s*#\s*include\s*(.*)")


def part_of(path: pathlib.PurePosixPath) -> tuple[str, str]:
    """The part a file belongs to as a key of ALLOWED, and its lab ("" for none)."""
    folders = path.parts[:-1]
    if folders[:3] == ("common", "harness", "template"):
        return {"lab": "labs/{lab}", "solution": "solutions/{lab}"}[folders[3]], "LAB_ID"
    if folders[0] == "common":
        inside = folders[2:] if folders[1:2] in (("simulator",), ("harness",)) else folders[1:]
        return (inside[0] if inside else "common"), ""
    if folders == ("solutions", "device"):
        return "solutions/device", ""
    if folders == ("solutions", "peers"):
        return "solutions/peers/{lab}", path.stem
    if folders[0] in ("labs", "solutions") and len(folders) > 1:
        return folders[0] + "/{lab}", folders[1]
    if folders[0] == "grader" and len(folders) > 2 and folders[1] in ("mutants", "hostile"):
        return f"grader/{folders[1]}/{{lab}}", folders[2]
    return folders[0], ""


def resolve(root: pathlib.Path, file: pathlib.Path, name: str) -> pathlib.PurePosixPath | None:
    """The project's file that `#include "name"` in `file` reaches, relative to root; None when it is none of
    ours."""
    for folder in [file.parent, *(root / include_root for include_root in INCLUDE_ROOTS)]:
        target = (folder / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return pathlib.PurePosixPath(target.relative_to(root))
    return None


def room_in(part: str, path: pathlib.PurePosixPath) -> tuple[str, int]:
    """A file's room in the part that it belongs to, and the room's place among the part's; -1 for one without."""
    inside = path.relative_to(part).parts
    own = {inside[0], pathlib.PurePosixPath(inside[0]).stem} if len(inside) == 1 else {inside[0]}
    for place, names in enumerate(ROOMS[part]):
        if own & set(names.split()):
            return inside[0], place
    return inside[0], -1


def for_tests(path: pathlib.PurePosixPath) -> bool:
    return (
        path.stem.endswith("_test")
        or path.stem.startswith("fuzz_")
        or bool(FOR_TESTS & {*path.parts, path.stem})
    )


def upward_include(own_path: pathlib.PurePosixPath, target: pathlib.PurePosixPath) -> str:
    """Why a file may not include another one of its part; "" when it may."""
    if for_tests(own_path) or for_tests(target):
        return ""
    for part in ROOMS:
        if not own_path.is_relative_to(part) or not target.is_relative_to(part):
            continue
        if part in ONLY_HEADERS and own_path.suffix != ".hpp":
            continue
        (room, place), (other_room, other_place) = room_in(part, own_path), room_in(part, target)
        if min(place, other_place) < 0:
            return f"{room if place < 0 else other_room} has no place in ROOMS of check_includes.py"
        if other_place > place:
            return f"{room} may include only what stands before it in ROOMS of check_includes.py"
    return ""


def wrong_includes(root: pathlib.Path, file: pathlib.Path) -> list[str]:
    root = root.resolve()
    own_path = pathlib.PurePosixPath(file.resolve().relative_to(root))
    own_part, own_lab = part_of(own_path)
    if own_part not in ALLOWED:
        return [f"{own_path}: the folder {own_path.parent} has no rule in check_includes.py"]
    allowed = {part.format(lab=own_lab) for part in [own_part, *ALLOWED[own_part]]}
    if (own_lab or own_path.is_relative_to(SUBMISSION)) and own_path.stem.endswith("_test"):
        allowed |= TESTS
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
        if target is None or str(target) in FOR_ALL or str(target) in WORDS.get(own_part, ()):
            continue
        if upward := upward_include(own_path, target):
            complaints.append(f"{where}: includes {target}; {upward}")
        part, lab = part_of(target)
        if part.format(lab=lab) not in allowed:
            may = ", ".join(sorted(allowed - {own_part.format(lab=own_lab)})) or "nothing of ours"
            complaints.append(f"{where}: includes {target}; {own_part.format(lab=own_lab)} may include {may}")
    return complaints


def wrong_imports(root: pathlib.Path) -> list[str]:
    """Imports of modules that no folder has from which the file may import."""
    files = [f for top in TOP_FOLDERS + ["handouts"] for f in sorted((root / top).rglob("*.py"))]
    folders: dict[str, set[pathlib.PurePosixPath]] = {}  # by module
    for file in files:
        place = pathlib.PurePosixPath(file.relative_to(root))
        name = place.parent.name if place.stem == "__init__" else place.stem
        folders.setdefault(name, set()).add(place.parent)
    complaints = []
    for file in files:
        place = pathlib.PurePosixPath(file.relative_to(root))
        own = next((folder for folder in MODULES if place.is_relative_to(folder)), "")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            for name in (name.split(".")[0] for name in names):
                found, may = folders.get(name, set()), [own, *MODULES.get(own, ())]
                if found and not any(f.is_relative_to(m) for f in found for m in may):
                    where = ", ".join(map(str, found))
                    complaints.append(f"{place}:{node.lineno}: imports {name} of {where}")
    return complaints


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0])
    files = [f for top in TOP_FOLDERS for f in sorted((root / top).rglob("*")) if f.suffix in SOURCES]
    files = [f for f in files if f.is_file()]
    complaints = []
    for file in files:
        complaints += wrong_includes(root, file)
    complaints += wrong_imports(root)
    for complaint in complaints:
        print(complaint)
    print(f"{len(files)} files, {len(complaints)} wrong includes")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
