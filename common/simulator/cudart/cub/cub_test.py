# SPDX-License-Identifier: MIT
"""Runs a program of this folder on simulated devices, with one and two host threads. It must succeed, and what
was counted must not depend on the number of host threads.

usage: cub_test.py PROGRAM LIBRARY_FOLDER [CHIPS]     on a chip of each architecture; CHIPS: on each in that folder
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

program, library_folder = sys.argv[1:3]


def totals(device: str, threads: int) -> dict:
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        path = library_folder + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
        env = os.environ | {"SIM_DEVICE": device, "SIM_THREADS": str(threads), "SIM_REPORT": report.name}
        env |= {"SIM_QUIET": "1", "LD_LIBRARY_PATH": path}
        run = subprocess.run([program], env=env, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(
                f"{device}, {threads} host thread(s): exit code {run.returncode}\n{run.stdout}{run.stderr}"
            )
        text = json.load(open(report.name))
        if text["findings"]:
            sys.exit(f"{device}, {threads} host thread(s): {text['findings'][0]['message']}")
        return text["totals"]


if os.environ.get("LAB_DEVICE") == "gpu":
    sys.exit(subprocess.run([program]).returncode)
devices = ["a100", "h200"]  # the one runs PTX for compute_80, the other for compute_90
if len(sys.argv) > 3:
    devices = sorted(
        file.stem for file in pathlib.Path(sys.argv[3]).glob("*.inc") if "timing" not in file.stem
    )
for device in devices:
    one, two = totals(device, 1), totals(device, 2)
    if one["lane_instructions"] == 0:
        sys.exit(f"{device}: nothing ran")
    different = [
        f"{name}: {one[name]} with one host thread, {two[name]} with two"
        for name in one
        if one[name] != two[name]
    ]
    if different:
        sys.exit(f"{device}: " + "; ".join(different))
