#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our nccl.h with NVIDIA's, where that is installed: the values and layouts that it declares, and
the signatures of the functions that the library defines. Without NVIDIA's header the test is skipped (exit
status 77).

usage: abi_test.py CXX TOOLKIT_INCLUDE_FOLDER

Looks for nccl.h in $NCCL_HOME/include, in the Python environment (pip install nvidia-nccl-cu13) and in
/usr/include.
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile

CXX, TOOLKIT = sys.argv[1:3]
HERE = pathlib.Path(__file__).resolve().parent
COMMON = ["-std=c++20", "-isystem", TOOLKIT]


def nvidia_folder():
    places = [os.environ["NCCL_HOME"] + "/include"] if "NCCL_HOME" in os.environ else []
    for prefix in (sys.prefix, os.environ.get("LAB_VENV", sys.prefix)):
        places += glob.glob(prefix + "/lib/python*/site-packages/nvidia/nccl/include")
    return next(
        (folder for folder in [*places, TOOLKIT, "/usr/include"] if pathlib.Path(folder, "nccl.h").is_file()),
        None,
    )


def values(include, folder):
    program = folder + "/values"
    subprocess.run(
        [CXX, *COMMON, "-I", str(include), HERE / "testing/abi_values.cpp", "-o", program], check=True
    )
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    theirs = nvidia_folder()
    if theirs is None:
        print("skipped: NVIDIA's nccl.h is not installed; set NCCL_HOME, or pip install nvidia-nccl-cu13")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        different = [
            pair
            for pair in zip(values(HERE, folder), values(theirs, folder), strict=True)
            if pair[0] != pair[1]
        ]
    for ours, real in different:
        print(f"our header says {ours}, {theirs}/nccl.h says {real}")
    # A definition that differs from its declaration in type is an error.
    for source in ("api/calls.cpp", "api/comm.cpp"):
        subprocess.run(
            [CXX, *COMMON, "-fsyntax-only", "-include", theirs + "/nccl.h", "-I", HERE.parent, HERE / source],
            check=True,
        )
    return 1 if different else 0


sys.exit(main())
