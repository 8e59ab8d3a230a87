#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of fill_blocks.py: python3 -m unittest, from this folder."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import fill_blocks as f  # noqa: E402

TEXT = "a\n<!-- generated: points x -->\nold\nlines\n<!-- end generated -->\nb\n"


class FillBlocks(unittest.TestCase):
    def test_replaces_what_stands_between_the_markers_alone(self):
        self.assertEqual(
            f.filled(TEXT, lambda command: "|".join(command) + "\n"),
            "a\n<!-- generated: points x -->\npoints|x\n<!-- end generated -->\nb\n",
        )

    def test_check_fails_on_drift_and_writing_mends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            labcli, text = pathlib.Path(folder, "labcli"), pathlib.Path(folder, "t.md")
            labcli.write_text('#!/bin/sh\necho "table of $2 ($1 $3)"\n')
            labcli.chmod(0o755)
            text.write_text(TEXT)
            tool = [sys.executable, str(HERE / "fill_blocks.py"), "--labcli", str(labcli)]
            drifted = subprocess.run([*tool, "--check", str(text)], capture_output=True, text=True)
            self.assertEqual(drifted.returncode, 1)
            self.assertIn(str(text), drifted.stderr)
            self.assertEqual(text.read_text(), TEXT)
            self.assertEqual(subprocess.run([*tool, str(text)]).returncode, 0)
            self.assertIn("\ntable of x (points --markdown)\n", text.read_text())
            self.assertEqual(subprocess.run([*tool, "--check", str(text)]).returncode, 0)

    def test_names_a_block_without_an_end_and_a_failing_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "t.md")
            tool = [sys.executable, str(HERE / "fill_blocks.py"), "--labcli", "false", str(text)]
            text.write_text("<!-- generated: points x -->\n")
            self.assertIn("no end", subprocess.run(tool, capture_output=True, text=True).stderr)
            text.write_text(TEXT)
            self.assertIn("points x", subprocess.run(tool, capture_output=True, text=True).stderr)


if __name__ == "__main__":
    unittest.main()
