#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a built libcudart.so from outside, as a program's loader sees it.

usage: exports_test.py OUR_LIBRARY SYMBOLS_FILE VERSION_NODE [TOOLKIT_LIBRARY] [--plain]

Every name of the list (and of the toolkit's library, where its version is the same) must be there under the
version node, nothing else but the functions of sim_control.h and sim_parts.h (with --plain only those of the
program's own process), and the library must need nothing that a bare machine lacks.
"""

import os
import re
import subprocess
import sys

OWN_OF_BOTH = set(
    (
        "simUnorderedWork simPrepareStream simEnterPart simPartReady simRunParts simFailPart simCheckMemory "
        "simReadMemory simReportFault simPlaceOfCode simChipName simSwapLastError"
    ).split()
)
OWN_OF_HOST = OWN_OF_BOTH | {"simOperate"}
OWN = OWN_OF_BOTH | set(
    (
        "simSetMode simReportMissing simSetSchedule simResetReport simReport simNameBuffer simForgetWrites "
        "simConfine simEmptyHeap"
    ).split()
)
BARE_MACHINE = re.compile(r"^(libc|libm|libpthread|libdl|librt|ld-linux.*)\.so")


def exported(path):
    """Name -> version node of the defined dynamic symbols."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    found = {}
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind == "A":
            continue
        name, _, node = name.partition("@@")
        if name.startswith("free@GLIBC_"):  # of runtime/host/freed_memory.cpp
            continue
        found[name] = node
    return found


def dynamic(path):
    text = subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", text)
    return needed, soname


def main():
    own = OWN_OF_HOST if "--plain" in sys.argv else OWN
    ours, symbols_file, node = sys.argv[1:4]
    with open(symbols_file, encoding="ascii") as file:
        wanted = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    problems = []
    if len(sys.argv) > 4 and os.path.exists(sys.argv[4]):
        real = exported(sys.argv[4])
        if set(real.values()) == {node}:
            missing = set(real) - wanted
            if missing:
                problems.append(
                    f"the toolkit exports more than {os.path.basename(symbols_file)} lists: {sorted(missing)}"
                )
    found = exported(ours)
    problems += [f"{name} is missing" for name in sorted((wanted | own) - set(found))]
    problems += [f"{name} should not be exported" for name in sorted(set(found) - wanted - own)]
    problems += [
        f"{name} has the version {found[name]!r}, not {node!r}"
        for name in sorted(wanted & set(found))
        if found[name] != node
    ]
    needed, soname = dynamic(ours)
    problems += [
        f"needs {name}, which a bare machine lacks" for name in needed if not BARE_MACHINE.match(name)
    ]
    if soname != [node]:
        problems.append(f"the soname is {soname}, not {node}")
    shown = 10
    for problem in problems[:shown]:
        print(problem)
    if len(problems) > shown:
        print(f"and {len(problems) - shown} more")
    print(f"{len(found)} symbols, needs {', '.join(needed)}")
    return 1 if problems else 0


sys.exit(main())
