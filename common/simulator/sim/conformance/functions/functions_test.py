#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the simulator's results are those of an H100 in every bit: functions_test.py FOLDER_OF_LIBCUDART
PROGRAM

h100.tsv: what the program printed there (2026-11-26, driver 580.159.04, nvcc 13.0)."""

import os
import pathlib
import subprocess
import sys
import unittest

LIBRARIES, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)


def digests(text):
    return dict(line.split("\t") for line in text.splitlines())


class Functions(unittest.TestCase):
    def test_results_are_those_of_an_h100(self):
        variables = os.environ | {"LD_LIBRARY_PATH": LIBRARIES}
        here = subprocess.run([PROGRAM], check=True, capture_output=True, text=True, env=variables)
        there = pathlib.Path(__file__).with_name("h100.tsv").read_text(encoding="utf-8")
        self.assertGreater(len(digests(there)), 400)
        self.assertEqual(digests(here.stdout), digests(there))


unittest.main(verbosity=2)
