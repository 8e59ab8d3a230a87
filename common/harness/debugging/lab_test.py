#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debugs the reference kernels of a lab: every task's first kernel is stopped at a line, stepped, and stepped
back.

usage: lab_test.py LIBRARY_FOLDER PROGRAM LAB
"""

import faulthandler
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "common/simulator/debug"), str(ROOT / "common/simulator/debug/testing")]
from session import Session

LIBRARIES, PROGRAM, LAB = sys.argv[1:4]
TASKS = re.findall(r'\.id = "(\w+)"', (ROOT / f"labs/{LAB}/points.hpp").read_text())
TASKS = [task for task in TASKS if task != LAB]  # the manifest's own id


class LabKernels(unittest.TestCase):
    def test_kernels_are_stepped_forwards_and_back(self):
        self.assertGreaterEqual(len(TASKS), 2)
        for task in TASKS:
            with self.subTest(task=task), Session(LIBRARIES, PROGRAM, LAB, task) as s:
                # A kernel may begin with an inlined function of solutions/device, or one that the lab gives.
                self.assertRegex(s.debugger.stop["place"]["file"], f"/(solutions/({LAB}|device)|labs/{LAB})/")
                states, places, seen = [s.state()], [s.debugger.stop["place"]], []
                for _ in range(4):
                    s.do("step")
                    if "focus" not in s.debugger.stop:
                        s.do(f"goto {states[-1][0]}")  # the kernel has ended
                        break
                    states.append(s.state())
                    places.append(s.debugger.stop["place"])
                    seen.append(s.terminal.locals())
                self.assertGreater(len(states), 1)
                self.assertTrue(any(f"/{LAB}/" in p["file"] for p in places), places)
                self.assertTrue(any("text" in v for values in seen for v in values), seen)
                for time, state in reversed(states[:-1]):
                    s.do("reverse-step")
                    self.assertEqual(s.state(), (time, state))
                place = next((p for p in places if p != places[0]), places[0])
                s.do(f"break {place['file']}:{place['line']}")
                self.assertIn("Breakpoint 1.", s.do("continue"))
                self.assertEqual(s.debugger.stop["place"], place)
                s.do("delete 1")
                self.assertIn("program: right", s.do("continue"))
                self.assertIn("The result is right.", s.do("wrong"))


faulthandler.dump_traceback_later(250, exit=True)
unittest.main(argv=sys.argv[:1], verbosity=2)
