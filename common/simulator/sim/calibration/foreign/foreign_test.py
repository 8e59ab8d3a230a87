#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models the foreign kernels again and compares with what is stored: a change of the model shows here.

usage: foreign_test.py PROGRAM LIBRARY_FOLDER MODELLED.json

If a change is meant, the new times replace MODELLED.json: ../README.md.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def main() -> int:
    program, libraries, stored_file = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "modelled.json"
        command = [program, file]
        subprocess.run(
            command, env=os.environ | {"LD_LIBRARY_PATH": libraries}, stdout=subprocess.DEVNULL, check=True
        )
        modelled = json.loads(file.read_text(encoding="utf-8"))["cases"]
    stored = json.loads(pathlib.Path(stored_file).read_text(encoding="utf-8"))["cases"]
    differ = 0
    for name, case in stored.items():
        now = modelled[name]
        ratio = now["median_us"] / case["median_us"]
        if abs(ratio - 1) > 0.01 or now["limiters"] != case["limiters"]:
            print(
                f"{name}: {now['median_us']:.2f} us by {now['limiters']}; "
                f"stored: {case['median_us']:.2f} by {case['limiters']}"
            )
            differ += 1
    print(f"{len(stored)} cases, {differ} differ")
    return 1 if differ or len(stored) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
