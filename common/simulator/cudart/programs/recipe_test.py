#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the README's recipe for CI, as it stands there, on a CMake project that knows nothing of the simulator.

usage: recipe_test.py LIBRARY_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
HERE = Path(__file__).resolve().parent
SKIPPED = 77


def main():
    readme = (HERE / "../../README.md").read_text(encoding="utf-8")
    recipe = next(block for block in re.findall(r"```yaml\n(.*?)```", readme, re.S) if "cmake" in block)
    build, check = re.findall(r"^- run: (.*)", recipe, re.M)
    variables = dict(re.findall(r"^ +([A-Z_]+): (\S+)", recipe, re.M))
    assert variables["LD_LIBRARY_PATH"] == "/opt/cusan/lib", variables
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    environment["CUDACXX"] = shutil.which(os.environ.get("NVCC", "nvcc"))
    for name in ("CI", "CXXFLAGS", "CUDAFLAGS"):
        environment.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(HERE / "foreign", project)

        def run(command, **more):
            words, variables = ["bash", "-c", command], environment | more
            done = subprocess.run(words, cwd=project, env=variables, capture_output=True, text=True)
            print(done.stdout, done.stderr)
            return done

        assert run(build).returncode == 0
        checked = variables | {"LD_LIBRARY_PATH": str(FOLDER)}
        both = run(check, **checked)
        assert both.returncode != 0, "a race must fail the job"
        assert re.search(r"right \.+ +Passed", both.stdout) and re.search(r"racy \.+\*+Failed", both.stdout)
        said = run(check + " -V -R racy", **checked).stdout
        assert "error: shared-race" in said and re.search(r"/sum\.cu:10\b", said), "the line of the race"
        assert run(check + " -E racy", **checked).returncode == 0


if not shutil.which("cmake") or not shutil.which(os.environ.get("NVCC", "nvcc")):
    sys.exit(SKIPPED)
main()
