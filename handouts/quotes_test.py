#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of quotes.py, with a command line tool of our own making."""

import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import quotes  # noqa: E402


class Quotes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.page = pathlib.Path(self.folder.name) / "page.md"
        self.tool = pathlib.Path(self.folder.name) / "tool"
        self.print_line("  60%  1.0   80  if (a) b();")

    def tearDown(self):
        self.folder.cleanup()

    def print_line(self, line):
        self.tool.write_text(f"#!/bin/sh\necho '{line}'\necho other\n")
        self.tool.chmod(self.tool.stat().st_mode | stat.S_IXUSR)

    def run_on(self, text, *options):
        self.page.write_text(text, encoding="utf-8")
        return self.again(*options)

    def again(self, *options):
        command = [sys.executable, HERE / "quotes.py", *options, "--labcli", self.tool, self.page]
        return subprocess.run(command, capture_output=True, text=True)

    def test_lines_of_an_output_are_chosen_filled_and_watched(self):
        text = "<!-- quote: output profile /if/ -->\n<!-- end quote -->\n"
        self.assertEqual(self.run_on(text, "--check").returncode, 1)
        self.assertEqual(self.again().returncode, 0)
        self.assertIn("$ ./lab profile\n  60%  1.0   80  if (a) b();\n```", self.page.read_text())
        self.assertNotIn("other", self.page.read_text())
        self.assertEqual(self.again("--check").returncode, 0)
        self.print_line("  60%  1.0  181  if (a) b();")  # only the place in the source is another one
        self.assertEqual(self.again("--check").returncode, 0)
        self.print_line("  61%  1.0   80  if (a) b();")
        self.assertEqual(self.again("--check").returncode, 1)

    def test_what_is_not_there_is_no_quotation(self):
        for what in ["kernel no_such", "output profile /nothing like it/"]:
            self.assertNotEqual(self.run_on(f"<!-- quote: {what} -->\n<!-- end quote -->\n").returncode, 0, what)
        self.assertNotEqual(self.run_on("<!-- quote: kernel erratum_4_scan_in_place -->\n").returncode, 0)

    def test_a_kernel_comes_with_its_own_finding(self):
        self.assertIn("`shared-race`", quotes.kernel("erratum_4_scan_in_place", None))
        self.assertNotIn("erratum_3", quotes.kernel("erratum_4_scan_in_place", None))

    def test_the_roofs_are_worked_out(self):
        text = quotes.roof("reduction", None)
        additions, copied, ridge, total = (float(x) for x in re.findall(r"\| (\d+\.\d)[^|]*\|$", text, re.M))
        self.assertAlmostEqual(ridge, additions / copied, delta=0.2)
        self.assertAlmostEqual(total, copied / 4, delta=0.1)

    def test_a_mutant_comes_with_its_verdict(self):
        text = quotes.mutant("reduction/tid_guard", None)
        self.assertIn("-gid < n ?\n+tid < n ?", text)
        self.assertIn("WRONG_ANSWER, found by `memcheck`", text)


if __name__ == "__main__":
    unittest.main()
