# SPDX-License-Identifier: MIT
"""The tools of an edition: built once by the instructor, so that students need not build them."""

import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "common/tools"))
from edition import Files, refuse, write
from waiting import Waiting


def add_tools(files: Files, folder: pathlib.Path) -> None:
    """Builds the tools of these files, which lie in the folder, and puts them into its prebuilt/. Called by ./lab
    after set-up. What is built stays in the build folder, so that a later call compiles only what has changed."""
    if platform.machine() != "x86_64":
        refuse("prebuilt tools are for x86-64, and only a machine with such a processor builds them")
    work = pathlib.Path(os.environ["LAB_BUILD"]) / "tools-of-editions"
    for path in [path for path in (work / "source").rglob("*") if path.is_file()]:
        if path.relative_to(work / "source").as_posix() not in files:
            path.unlink()
    write(files, work / "source")
    log = work / "log.txt"
    with Waiting("Building the tools (minutes)") as waiting, log.open("w+") as output:
        command: list = ["bash", HERE / "prebuilt/make_tools.sh", folder, work]
        building = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while building.poll() is None:
            time.sleep(1)
            waiting.detail = (log.read_text(errors="replace").splitlines() or [""])[-1]
    if building.returncode != 0:
        last = log.read_text(errors="replace").splitlines()[-5:]
        refuse("\n  ".join(["the tools could not be built:", *last]) + f"\nAll of it: {log}")
