# SPDX-License-Identifier: MIT
"""Runs a program on the simulator of a folder, with these of the simulator's variables alone."""

import os
import re
import subprocess


def run(folder, program, *arguments, **variables):
    """Its exit code, stdout and stderr; under all checks whole findings, without what each program says first."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    environment["LD_LIBRARY_PATH"] = folder
    if checked := "SIM_CHECK" in variables:
        environment["SIM_VERBOSE"] = "1"
    environment.update(variables)
    done = subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    err = re.sub(r"^simulator: no GPU is used.*\n", "", done.stderr, flags=re.M) if checked else done.stderr
    return done.returncode, done.stdout, err
