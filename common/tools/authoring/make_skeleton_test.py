#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of make_skeleton.py: python3 -m unittest, from this folder."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import make_skeleton as m


class Skeleton(unittest.TestCase):
    def test_leaves_a_todo_with_hint_length_and_stand_in_for_a_solution(self):
        source = "int f() {\n  //@solution Add\n  //@hint them.\n  //@instead return 0;\n  int a = 1;\n\n  // why\n  return a;\n  //@end\n}\n"
        self.assertEqual(
            m.skeleton(source), "int f() {\n  // TODO(student): Add them. (roughly 2 lines)\n  return 0;\n}\n"
        )

    def test_says_how_in_a_guided_file_alone(self):
        source = "//@solution Add them.\n//@how Use a tree\n//@how of warps.\nx\n//@end\n"
        self.assertEqual(m.skeleton(source), "// TODO(student): Add them. (roughly 1 line)\n")
        guided = m.skeleton(source, guided=True)
        self.assertEqual(guided, "// TODO(student): Use a tree of warps. (roughly 1 line)\n")
        plain = "//@solution Add them.\nx\n//@end\n"
        self.assertEqual(m.skeleton(plain, guided=True), m.skeleton(plain))

    def test_drops_reference_parts_and_adds_student_lines(self):
        source = "a\n//@student // yours\n//@reference\nsecret\n//@end\nb\n"
        self.assertEqual(m.skeleton(source), "a\n// yours\nb\n")

    def test_closes_the_gaps_it_leaves(self):
        self.assertEqual(m.skeleton("a\n\n//@reference\nx\n//@end\n\nb\n"), "a\n\nb\n")

    def test_rounds_long_counts(self):
        body = "".join(f"x{i};\n" for i in range(13))
        self.assertIn("(roughly 15 lines)", m.skeleton(f"//@solution Do.\n{body}//@end\n"))

    def test_names_the_line_of_a_misplaced_mark(self):
        for source, line in [
            ("//@end\n", 1),
            ("a\n//@hint x\n", 2),
            ("//@solution x\n//@reference\n", 2),
            ("//@solution x\ncode\n//@hint late\n//@end\n", 3),
            ("//@reference\n", 1),
            ("//@solution\nx\n//@end\n", 1),
            ("//@solutoin x\n", 1),
        ]:
            with self.assertRaisesRegex(m.SkeletonError, f"f.cu:{line}:"):
                m.skeleton(source, "f.cu")

    def test_check_tells_drift_and_the_command_that_mends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            solution, skeleton = pathlib.Path(folder, "s.cu"), pathlib.Path(folder, "k.cu")
            solution.write_text("a\n//@reference\nx\n//@end\n")
            tool = [sys.executable, str(HERE / "make_skeleton.py")]
            files = [str(solution), str(skeleton)]
            self.assertEqual(subprocess.run(tool + files).returncode, 0)
            self.assertEqual(subprocess.run(tool + ["--check"] + files).returncode, 0)
            skeleton.write_text("b\n")
            drifted = subprocess.run(tool + ["--check"] + files, capture_output=True, text=True)
            self.assertEqual(drifted.returncode, 1)
            self.assertIn(f"make_skeleton.py {solution} {skeleton}", drifted.stderr)


if __name__ == "__main__":
    unittest.main()
