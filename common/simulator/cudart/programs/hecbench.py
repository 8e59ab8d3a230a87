#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs of HeCBench (Jin and Vetter 2023, doi:10.1109/ISPASS57527.2023.00041) with all checks.

    hecbench.py SOURCES LIBRARIES [PROGRAM…]

SOURCES is HeCBench's folder src, LIBRARIES the folder of the simulator's libcudart. Builds and runs each
PROGRAM (all, if none is named) of hecbench.tsv with the arguments that stand there, which are smaller than
HeCBench's own, and writes what came of it into that table. HeCBench is not part of this repository, so no
test runs this.
"""

import csv
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

RUN_LIMIT = 120  # seconds of processor time
TABLE = pathlib.Path(__file__).with_suffix(".tsv")


def result_of(folder, arguments, libraries):
    """One of: agrees (the program says that its results are right), differs, runs (it says neither),
    reported (the first finding, or what is not supported), ends (its exit code), too slow, not built (the
    first error)."""
    compiler = "CC=nvcc -cudart shared -lineinfo"
    built = subprocess.run(["make", "-C", folder, compiler, "ARCH=sm_90"], capture_output=True, text=True)
    if built.returncode:
        errors = [line for line in built.stderr.splitlines() if "error" in line]
        return f"not built: {(errors or ['?'])[0][:100]}"
    run = subprocess.run(
        ["./main", *arguments.split()],
        cwd=folder,
        env=os.environ | {"LD_LIBRARY_PATH": libraries, "SIM_CHECK": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (RUN_LIMIT, RUN_LIMIT)),
    )
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too slow"
    if finding := re.search(r"^simulator: (?:error|unsupported): (.*)", run.stderr, re.M):
        return "reported: " + re.sub(r" in .*", "", finding[1])
    if run.returncode:
        return f"ends: {run.returncode}"
    said = re.sub(r"\b(?:no|0) (?:error|fail|mismatch)\w*", "pass", run.stdout, flags=re.I)
    if re.search(r"\bfail|mismatch|incorrect", said, re.I):
        return "differs"
    return "agrees" if re.search(r"pass|success|correct|\bok\b", said, re.I) else "runs"


def main():
    sources, libraries, *names = sys.argv[1:]
    rows = list(csv.DictReader(TABLE.read_text().splitlines(), delimiter="\t"))
    for row in rows:
        if names and row["program"] not in names:
            continue
        row["result"] = result_of(f"{sources}/{row['program']}-cuda", row["arguments"], libraries)
        print(row["program"], row["result"], sep="\t", flush=True)
        lines = ["\t".join(line) for line in [rows[0].keys(), *(r.values() for r in rows)]]
        TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
