#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs right programs under all checkers: these must find nothing in their kernels. (What a program allocates
and leaves, or calls wrongly on purpose, is another matter.)

usage: checked_test.py LIBRARY_FOLDER PROGRAM...
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER, PROGRAMS = sys.argv[1], sys.argv[2:]
NOT_OF_KERNELS = ("leak", "api-error")


class Checked(unittest.TestCase):
    def test_nothing_is_found_in_right_programs(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "report.json")
                environment = os.environ | {
                    "LD_LIBRARY_PATH": FOLDER,
                    "SIM_MODE": "checks",
                    "SIM_REPORT": path,
                }
                done = subprocess.run(
                    [program], env=environment, capture_output=True, text=True, timeout=300, check=False
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                if not os.path.exists(
                    path
                ):  # what it shows is not there in this CUDA version: no call of CUDA at all
                    self.assertEqual(done.stdout, "ok\n")
                    continue
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
                errors = [
                    f
                    for f in report["findings"]
                    if f["severity"] == "error" and f["kind"] not in NOT_OF_KERNELS
                ]
                self.assertEqual([f["message"] for f in errors], [])


unittest.main(argv=sys.argv[:1], verbosity=2)
