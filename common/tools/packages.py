# SPDX-License-Identifier: MIT
"""Python packages that one program needs, in an environment of their own: made once, and again when the list
of packages has changed."""

import pathlib
import shutil
import subprocess
import sys

from waiting import Waiting


def environment(venv: pathlib.Path, wanted: pathlib.Path, what: str, *more: str) -> pathlib.Path:
    """The Python of an environment with the packages of the file `wanted`. `what` needs them; `more` options are
    for pip."""
    stamp = venv / "requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        with Waiting(f"Making the Python environment of {what}"):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        options = ["--disable-pip-version-check", "--no-input", "--timeout", "10", *more]
        with Waiting(f"Fetching the packages of {what}"):
            done = subprocess.run([venv / "bin/python", "-m", "pip", "install", "-q", *options, "-r", wanted])
        if done.returncode != 0:
            sys.exit(f"The packages of {what} ({wanted}) cannot be downloaded from the Python index.")
        shutil.copyfile(wanted, stamp)
    return venv / "bin/python"
