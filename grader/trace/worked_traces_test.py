#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The worked traces of the course come out of ./lab trace: on the solutions, and on right kernels that are
written differently.

usage: worked_traces_test.py LABCLI [LAB:TASK:RUNNER ...]      the further runners are of grader/mutants/*/right_*
"""

import re
import subprocess
import sys
import unittest

LABCLI, *OTHERS = sys.argv[1:]

# Rows that must stand in a trace's arrays one after the other (others may come in between), as the handouts
# work them out.
UP = ["3 4 7 7 4 5 6 9", "3 4 7 11 4 5 6 14", "3 4 7 11 4 5 6 25"]
DOWN = ["3 4 7 11 4 5 6 0", "3 4 7 0 4 5 6 11", "3 0 7 4 4 11 6 16", "0 3 4 11 11 15 16 22"]
ROUNDS = ["3 1 7 0 4 1 6 3", "3 4 8 7 4 5 7 9", "3 4 11 11 12 12 11 14", "3 4 11 11 15 16 22 25"]
WORKED = {
    ("scan", "blelloch"): ["3 1 7 0 4 1 6 3", *UP, *DOWN],
    ("scan", "blelloch", "--items", "ascending"): [
        "0 1 2 3 4 5 6 7",
        "0 1 2 6 4 9 6 28",
        "0 0 1 3 6 10 15 21",
    ],
    ("scan", "hillis_steele"): ROUNDS,
    ("scan", "kogge_stone"): ROUNDS,
    ("reduction", "neighboured"): ["4 1 7 0 5 1 9 3", "11 1 7 0 14 1 9 3", "25 1 7 0 14 1 9 3"],
    ("reduction", "sequential"): ["7 2 13 3 4 1 6 3", "20 5 13 3 4 1 6 3", "25 5 13 3 4 1 6 3"],
    ("compaction", "three_kernels"): ["1 1 0 1 0 1 0 1", "0 1 2 2 3 3 4 4", "3 1 0 1 3"],
    ("radix_sort", "split"): [
        "0 0 0 1 1 0 1 0",
        "0 0 0 0 1 2 2 3",
        "0 4 6 3 1 7 1 3",
        "1 1 0 0 1 0 1 0",
        "0 1 2 2 2 3 3 4",
    ],
    ("radix_sort", "split", "--items", "4,7,2,6,3,5,1,0"): [
        "1 0 1 1 0 0 0 1",
        "0 1 1 2 3 3 3 3",
        "4 4 5 5 5 6 7 8",
        "0 4 1 2 5 6 7 3",
        "0 1 2 3 4 5 6 7",
    ],
    ("sat", "serial"): ["1 3 6 4 9 15 7 15 24", "1 3 6 5 12 21 12 27 45"],
    ("sat", "serial", "--n", "16"): ["4 9 12 14 2 6 9 11 2 5 6 8 1 2 2 4"],
    ("sat", "transpose"): [
        "1 3 6 4 9 15 7 15 24",
        "1 4 7 3 9 15 6 15 24",
        "1 5 12 3 12 27 6 21 45",
        "1 3 6 5 12 21 12 27 45",
    ],
}

# The root is zeroed before the way down; that is a step of its own only where a barrier follows it.
NO_STEP_OF_ITS_OWN = DOWN[0]


def rows(lab, task, *more):
    """The arrays after each step, as their numbers."""
    done = subprocess.run([LABCLI, "trace", lab, task, "--markdown", *more], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    cells = [
        [c.strip().strip("*") for c in line.split("|")[4:-1]]
        for line in done.stdout.splitlines()
        if re.match(r"\| [a-z_]", line) and "| after |" not in line
    ]
    return [" ".join(c for c in row if c) for row in cells]


class WorkedTraces(unittest.TestCase):
    def check(self, wanted, found):
        at = 0
        for row in wanted:
            while at < len(found) and found[at] != row:
                at += 1
            self.assertLess(at, len(found), f"{row} is missing, or comes too early, in:\n" + "\n".join(found))

    def test_come_out_of_the_solutions(self):
        for (lab, task, *options), wanted in WORKED.items():
            with self.subTest(lab=lab, task=task, options=options):
                self.check(wanted, rows(lab, task, "--solutions", *options))

    def test_come_out_of_kernels_written_differently(self):
        for other in OTHERS:
            lab, task, runner = other.split(":", 2)
            for (of_lab, of_task, *options), wanted in WORKED.items():
                if (of_lab, of_task) == (lab, task):
                    with self.subTest(runner=runner, options=options):
                        self.check(
                            [row for row in wanted if row != NO_STEP_OF_ITS_OWN],
                            rows(lab, task, "--runner", runner, *options),
                        )

    def test_all_have_such_a_kernel(self):
        if OTHERS:
            self.assertEqual({key[:2] for key in WORKED}, {tuple(other.split(":")[:2]) for other in OTHERS})

    def test_fails_when_a_row_is_missing(self):
        with self.assertRaises(AssertionError):
            self.check(["3 4 7 7 4 5 6 9", "no such row"], rows("scan", "blelloch", "--solutions"))
        with self.assertRaises(AssertionError):
            self.check([*DOWN, *UP], rows("scan", "blelloch", "--solutions"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
