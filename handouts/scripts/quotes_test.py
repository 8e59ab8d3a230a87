#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of quotes.py, with a command line tool of our own making."""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import measured
import quotes
import rows


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

    def test_a_table_is_what_the_command_prints_as_markdown(self):
        self.tool.write_text('#!/bin/sh\necho "| $1 | $2 $3 |"\n')
        text = "<!-- quote: output points x --markdown -->\nold\n<!-- end quote -->\n<!-- quote: output list -->\n<!-- end quote -->\n"
        self.assertEqual(self.run_on(text, "--only", "markdown$").returncode, 0)
        self.assertEqual(self.page.read_text(), text.replace("old", "| points | x --markdown |"))
        self.assertEqual(self.again("--check", "--only", "markdown$").returncode, 0)
        self.tool.write_text("#!/bin/sh\nexit 1\n")
        self.assertIn("points x", self.again().stderr)

    def test_what_is_not_there_is_no_quotation(self):
        for what in [
            "output profile /nothing like it/",
            "rows h200 lab=none: n of share",
            "lines README.md /no such words/ /x/",
        ]:
            self.assertNotEqual(
                self.run_on(f"<!-- quote: {what} -->\n<!-- end quote -->\n").returncode, 0, what
            )
        self.assertNotEqual(self.run_on("<!-- quote: output list -->\n").returncode, 0)

    def test_lines_of_a_file_end_before_the_second_pattern(self):
        code = quotes.lines(r"handouts/library/cub_calls.cu /--- compaction\n/ /--- /", None)
        self.assertIn("cub::DeviceSelect::If", code)
        self.assertNotIn("---", code)
        function = quotes.lines(r"solutions/reduction/reduction.cu /^template.*\n.*warp_fold\(/ /^$/", None)
        self.assertIn("warp_fold", function.splitlines()[1])
        self.assertNotIn("//@", function)
        self.assertTrue(function.endswith("\n}\n```\n"), function)

    def rungs_of(self, lab):
        return [
            {"id": n}
            for n in dict.fromkeys(
                r["name"]
                for s in measured.published(lab)["sizes"]
                for t in s["tables"]
                for r in t["rows"]
                if r["kind"] == "rung"
            )
        ]

    def times(self, query):
        """A table of the newest run: its rows as lists of cells."""
        labs = [entry["lab"] for entry in measured.newest("h200")["labs"]]
        known = [{"id": lab, "tasks": self.rungs_of(lab), "further_rungs": []} for lab in labs]
        made = rows.rows(query, self.answer({"list": {"labs": known}}))
        return [
            [cell.strip() for cell in line[1:-1].split("|")] for line in made.splitlines() if line[:1] == "|"
        ]

    def test_times_stand_in_the_order_of_the_ladder(self):
        head, _, *found = self.times("h200 lab=reduction: case name by n of median_us share library")
        self.assertEqual(head[:2], ["case", "rung"])
        shown = [row[1].strip("`") for row in found if row[1].startswith("`")]
        self.assertEqual(
            sorted(shown), sorted(rung["id"] for rung in self.rungs_of("reduction")), "every rung once"
        )
        self.assertLess(shown.index("neighboured"), shown.index("reindexed"))
        self.assertLess(shown.index("reindexed"), shown.index("sequential"))
        for row in found:
            self.assertRegex(row[-1], r"^\d[\d.]* (µs|ms) \(\d+ %(, \d+\.\d\d×)?\)$")

    def test_cases_are_named_without_their_size(self):
        _, _, *found = self.times("h200 lab=sat name=state_of_the_art: lab case n of median_us")
        self.assertEqual({row[1] for row in found}, {"`lower_left_f32_random`", ""})
        self.assertEqual([row[2] for row in found], ["2²⁰", "2²⁴", "2²⁸"])

    def test_what_only_some_rungs_do_is_said(self):
        _, _, *found = self.times("h200 lab=radix_sort name=tile_sort: case name by n of median_us")
        self.assertIn("sorts each tile of 1,024 keys", found[0][0])

    def answer(self, answers):
        self.tool.write_text(
            f"#!{sys.executable}\nimport json, sys\nprint(json.dumps({answers!r}[sys.argv[1]]))\n"
        )
        return str(self.tool)

    def lab_of_our_own(self):
        """A tool that knows one task, and counts its bytes."""
        goals = [("barriers", 0.0, ""), ("bank_conflicts", 5, "row"), ("active_lanes", 0.9, "")]
        goals = [{"metric": metric, "limit": limit, "unit": unit} for metric, limit, unit in goals]
        task, further = {"id": "neighboured", "efficiency": goals}, [{"id": "reindexed"}]
        lab = {"id": "reduction", "title": "Reduction", "tasks": [task], "further_rungs": further}
        profile = {"case": "n4", "metrics": {"bytes_ratio": 1.5, "active_lanes": 0.75}}
        profile |= {"ideal": {"work": 1, "bytes": 2}, "work": 0, "bytes": 3, "steps": 3}
        return self.answer({"list": {"labs": [lab]}, "profile": profile})

    def test_counts_stand_in_the_order_of_the_ladder(self):
        said = rows.rows(
            "counts lab=reduction: case name of bytes_ratio steps work active_lanes", self.lab_of_our_own()
        )
        self.assertIn("| `n4` | `neighboured` ★ | 1.50 | 3 | | 75 % |\n| | `reindexed` | 1.50 |", said)
        query = "counts lab=reduction name=neighboured case=n4: name by case of bytes_ratio"
        self.assertIn("| bytes ÷ what must move | `n4` |", rows.rows(query, str(self.tool)))


if __name__ == "__main__":
    unittest.main()
