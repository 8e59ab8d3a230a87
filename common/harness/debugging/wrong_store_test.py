#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debugs a wrong file of a lab, programs/wrong_sum.cu: its cases, and the store that made an output wrong.

usage: wrong_store_test.py LIBRARY_FOLDERS PROGRAM
"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DEBUG = HERE.parents[1] / "simulator/debug"
sys.path[:0] = [str(DEBUG), str(DEBUG / "testing")]
import session

LIBRARIES, PROGRAM = sys.argv[1:3]
SOURCE = HERE / "programs/wrong_sum.cu"


def line_of(text: str) -> int:
    return next(k for k, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def Session(*arguments: str) -> session.Session:
    return session.Session(LIBRARIES, PROGRAM, *arguments)


class WrongSum(unittest.TestCase):
    def test_wrong_goes_to_the_store_of_the_wrong_value(self):
        with Session("reduction", "neighboured") as s:
            line = line_of("d_out[0] = total")
            text = s.flat("wrong")
            self.assertIn(f"thread 1 of block 0 at wrong_sum.cu:{line}", text)
            self.assertIn("d_out[0] becomes 22, expected is 25", text)
            self.assertEqual(
                (s.debugger.stop["place"]["line"], s.do("p tid"), s.do("p total")),
                (line, "tid = 1\n", "total = 22\n"),
            )
            time = s.debugger.stop["time"]
            s.do("findings off")
            self.assertIn("program has ended", s.do("c"))
            s.do("wrong")
            self.assertEqual(s.debugger.stop["time"], time)

    def test_wrong_says_when_nothing_is_stored(self):
        with Session("reduction", "neighboured", "--n", "1") as s:
            self.assertIn("Nothing is ever stored in d_out[0]; expected is 3.", s.do("wrong"))

    def test_lab_cases_have_the_names_and_seeds_of_reports(self):
        with Session("reduction", "neighboured", "--case", "sum_i32_n3_random", "--seed", "0x2a") as s:
            other = s.do("p d_in[0]")
        with Session("reduction", "neighboured", "--case", "sum_i32_n3_random") as s:
            self.assertNotEqual(s.do("p d_in[0]"), other)
        with Session("reduction", "neighboured", "--seed", "x") as s:
            self.assertIn("--seed takes the number from a report", s.first)


unittest.main(argv=sys.argv[:1], verbosity=2)
