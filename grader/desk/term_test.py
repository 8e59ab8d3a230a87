#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A whole term on the instructor's desk: 300 students, five labs, about 2,000 submissions with all kinds of
trouble (testing/make_term.py). The final grades equal the table that is computed by hand, before and after
every change."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
BATCH = HERE.parent / "batch"
sys.path[:0] = [str(HERE), str(HERE / "testing"), str(BATCH), str(BATCH / "testing")]

import desk
import in_folder
import make_term


class WholeTerm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="term-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, True)
        cls.term = make_term.Term(cls.root / "term", int(os.environ.get("TERM_STUDENTS", "300")))
        cls.catalogue = cls.root / "catalogue.json"
        cls.environment = in_folder.stand_in(cls.root, FAKE_CATALOGUE=str(cls.catalogue))
        n = sum(map(len, cls.term.submissions.values()))
        print(f"{len(cls.term.students)} students, {n} submissions", flush=True)
        assert n >= 6 * len(cls.term.students)

    def setUp(self):
        self.catalogue.write_text(json.dumps(self.term.table))
        self.term.write_settings()

    def desk(self, command, *more, code=0):
        words = [command, self.term.folder, *more]
        ended, said = in_folder.run(desk.main, words, self.environment, self.root)
        self.assertEqual(ended, code, said)
        return said

    def check(self, expected):
        found = make_term.finals(self.term.folder)
        self.assertEqual(sum(map(len, found.values())), len(expected))
        for (student, lab), (points, bonus, status) in expected.items():
            got = found[student][lab]
            exact = [
                None if value is None else Fraction(str(value)) for value in (got["points"], got["bonus"])
            ]
            self.assertEqual((*exact, got["status"]), (points, bonus, status), (student, lab, got))

    def moved(self, before, after):
        """Whose points are others."""
        return {one for one in before if before[one][:2] != after[one][:2]}

    def lines_of(self, said):
        return {
            (found[1], found[2])
            for line in said.splitlines()
            if (found := re.match(r"(s\d+) \(.*?\), (\w+): .* → .*: .+", line))
        }

    def test_1_final_grades_equal_those_by_hand(self):
        said = self.desk("grades")
        expected = self.term.expected()
        self.check(expected)
        self.assertEqual(
            {status for *_, status in expected.values()},
            {"graded", "late", "too late", "refused", "missing", "excused", "no grade", "override"},
            "all kinds of trouble",
        )
        for name in self.term.unknown:
            self.assertIn(f"unknown: {name}: ", said)
        for student, row in in_folder.rows_of(self.term.folder / "final.csv", "id").items():
            shown = tuple(Fraction(row[name]) if row[name] else None for name in ("total", "bonus", "out of"))
            self.assertEqual(shown, self.term.expected_total(student, expected), student)
        found = make_term.finals(self.term.folder)
        finals = [one for labs in found.values() for one in labs.values()]
        for what in ("slip_days", "days_late"):
            self.assertGreater(sum(bool(one[what]) for one in finals), 10, what)
        self.assertIn("Grades moved: 0", self.desk("grades"))

    def test_2_a_change_of_points_moves_those_whom_it_concerns(self):
        self.desk("grades")
        before = self.term.expected()
        table = make_term.catalogue(tier=11, limit=1.3, plain=45)
        self.catalogue.write_text(json.dumps(table))
        said = self.desk("grades")
        after = self.term.expected(table)
        self.check(after)
        self.assertGreater(len(self.moved(before, after)), 100)
        self.assertEqual(self.lines_of(said), self.moved(before, after))

    def test_3_rules_deadlines_and_overrides_change(self):
        self.desk("grades")
        before = self.term.expected()
        self.term.overrides.append({"student": "s007", "lab": "scan", "points": 99, "reason": "oral exam"})
        self.term.extensions.append({"student": "s020", "days": 9, "reason": "hospital"})
        self.addCleanup(self.term.overrides.pop)
        self.addCleanup(self.term.extensions.pop)
        self.term.write_settings(counts="latest")
        said = self.desk("grades")
        after = self.term.expected(counts="latest")
        self.check(after)
        self.assertEqual(self.lines_of(said), self.moved(before, after))
        self.assertIn("set by the instructor: oral exam", said)


if __name__ == "__main__":
    unittest.main()
