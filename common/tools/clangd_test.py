#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An editor's view of kernels: clangd, with the .clangd of this repository, takes every lab's .cu file
without an error.

usage: clangd_test.py ROOT        exit status 77 (skipped) without clangd, or when there is no build/ for it to look at
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
WARNING = re.compile(
    r"\[(?:-W|modernize|bugprone|readability|performance|misc|clang-analyzer|cppcoreguidelines|google|cert)"
)
clangd = next(filter(None, map(shutil.which, ["clangd-14", "clangd"])), None)
if clangd is None or not (ROOT / "build/compile_commands.json").is_file():
    sys.exit(77)
wrong = []
for path in sorted(ROOT.glob("labs/*/*.cu")):
    done = subprocess.run(
        [clangd, f"--check={path}", "--check-lines=1-1", "--log=error"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    # "E[time] [clang's name of the error] Line 3: …"; warnings look the same, with names that begin with "-W"
    # or are clang-tidy's.
    errors = [line for line in done.stderr.splitlines() if "] [" in line and not WARNING.search(line)]
    wrong += [f"{path.relative_to(ROOT)}: {line}" for line in errors]
print("\n".join(wrong) or "clangd takes them all")
sys.exit(1 if wrong else 0)
