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
import comments
import counted
import limits
import measured
import quotes
import registers


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
        text = "<!-- quote: table points x -->\nold\n<!-- end quote -->\n<!-- quote: output list -->\n<!-- end quote -->\n"
        self.assertEqual(self.run_on(text, "--only", "table").returncode, 0)
        self.assertEqual(self.page.read_text(), text.replace("old", "| points | x --markdown |"))
        self.assertEqual(self.again("--check", "--only", "table").returncode, 0)
        self.tool.write_text("#!/bin/sh\nexit 1\n")
        self.assertIn("points x", self.again().stderr)

    def test_what_is_not_there_is_no_quotation(self):
        for what in ["kernel no_such", "output profile /nothing like it/"]:
            self.assertNotEqual(
                self.run_on(f"<!-- quote: {what} -->\n<!-- end quote -->\n").returncode, 0, what
            )
        self.assertNotEqual(self.run_on("<!-- quote: kernel erratum_4_scan_in_place -->\n").returncode, 0)

    def test_code_of_examples_is_quoted_by_section(self):
        code = quotes.code("handouts/library/cub_calls.cu compaction", None)
        self.assertIn("cub::DeviceSelect::If", code)
        self.assertNotIn("// ---", code)
        with self.assertRaises(SystemExit):
            quotes.code("handouts/library/cub_calls.cu no such section", None)

    def test_a_kernel_comes_with_its_own_finding(self):
        code, found = (kind("erratum_4_scan_in_place", None) for kind in (quotes.kernel, quotes.finding))
        self.assertIn("`shared-race`", found)
        self.assertIn("s_data[tid] += s_data[tid - d];\n", found)
        self.assertNotIn("erratum_3", code)

    def test_a_kernel_does_not_tell_its_fault(self):
        code = quotes.kernel("erratum_4_scan_in_place", None)
        for words in ("in_place", "race", "//"):
            self.assertNotIn(words, code)

    def test_the_roofs_are_worked_out(self):
        chips = {"h200": {"multiprocessors": 132, "clock_ghz": 1.98, "memory_latency": 800}}
        text = measured.roof("reduction", self.answer({"list": {"chips": chips}}))
        additions, copied, ridge, total = (float(x) for x in re.findall(r"\| (\d+\.\d)[^|]*\|$", text, re.M))
        self.assertAlmostEqual(ridge, additions / copied, delta=0.2)
        self.assertAlmostEqual(total, copied / 4, delta=0.1)

    def test_goals_reached_are_told_from_those_that_are_not(self):
        for line in measured.reached("h200 h100", None).splitlines()[2:]:
            goal = float(re.search(r"\| (\d+(?:\.\d+)?)(?= %| times as| · )", line)[1])
            cells = re.findall(r"(yes|no): (\d+(?:\.\d+)?)", line)
            self.assertEqual(len(cells), 2, line)
            for word, found in cells:
                self.assertEqual(word == "yes", float(found) >= goal, line)

    def test_predictions_stand_beside_measured_values(self):
        for lab, predictions in measured.PREDICTIONS.items():
            rows = [line.strip("| ").split(" | ") for line in measured.predicted(lab, None).splitlines()[2:]]
            self.assertEqual(
                [row[3] for row in rows], [prediction for _, _, _, prediction, *_ in predictions]
            )
            for row in rows:
                self.assertRegex(row[4], r"^\d[\d.]*×$" if row[1] != "time" else r"^\d[\d.]* (µs|ms)$", row)

    def test_comments_of_rungs_are_up_to_date(self):
        found = list(comments.sources())
        self.assertGreater(len(found), 7)
        for lab, path in found:
            text = path.read_text(encoding="utf-8")
            self.assertEqual(comments.filled(lab, text), text, f"Run handouts/scripts/comments.py: {path}")

    def test_a_comment_gets_every_prediction_of_its_rung(self):
        start = "// Why.\n// Predicted (sequential)\n//   old\n// Predicted (sequential, against x): 3\n// Drawback.\n"
        lines = comments.filled("reduction", start).splitlines()
        self.assertEqual((lines[0], lines[-1]), ("// Why.", "// Drawback."))
        self.assertRegex(
            lines[1],
            r"^// Predicted \(sequential, against reindexed, 2\^24 items\): 1.2×. Measured: [\d.]+× \(H200, ",
        )
        self.assertEqual(len([line for line in lines if line.startswith("// Predicted")]), 2)
        with self.assertRaises(SystemExit):
            comments.filled("reduction", "// Predicted (no_such)\n")

    def test_registers_decide_how_many_warps_fit(self):
        # 48 registers are allocated for 47: 12 warps need 18,432 of 65,536, so three blocks fit.
        self.assertEqual(registers.resident_warps({"registers": 47, "threads": 384}), 36)
        self.assertEqual(registers.resident_warps({"registers": 32, "threads": 1024}), 64)
        rows = registers.registers("radix_sort k07_sweep k08_sweep", None).splitlines()
        self.assertEqual(len([row for row in rows if "`k07_sweep`" in row]), 4)

    def test_limits_are_read_from_the_code(self):
        self.assertRegex(
            limits.limits("all", None),
            r"\| the processor time of a case \| \d+ s \|\n\| what a case may print \| \d+ MiB \|",
        )
        with self.assertRaises(SystemExit):
            limits.constant("grader/compile/build.cpp", "kNoSuchConstant = (.*);")

    def test_times_stand_in_the_order_of_the_ladder(self):
        rungs = self.rungs_of("reduction")
        tool = self.answer({"list": {"labs": [{"id": "reduction", "tasks": rungs, "further_rungs": []}]}})
        shown = re.findall(r"^\| `(\w+)` \|", measured.times("reduction", tool), re.M)
        self.assertEqual(sorted(shown), sorted(rung["id"] for rung in rungs), "every rung once")
        self.assertLess(shown.index("neighboured"), shown.index("reindexed"))
        self.assertLess(shown.index("reindexed"), shown.index("sequential"))

    def test_a_whole_sort_takes_the_time_of_both_rungs(self):
        tool = self.answer(
            {
                "list": {
                    "labs": [{"id": "radix_sort", "tasks": self.rungs_of("radix_sort"), "further_rungs": []}]
                }
            }
        )
        times = dict(
            re.findall(r"^\| (.*?) \| [^|]* \| ([\d.]+) (?:ms|µs)", measured.times("radix_sort", tool), re.M)
        )
        self.assertAlmostEqual(
            float(times["`tile_sort` + `merge`"]),
            float(times["`tile_sort`"]) / 1000 + float(times["`merge`"]),
            delta=0.01,
        )

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

    def test_cases_are_named_without_their_size(self):
        tool = self.answer(
            {"list": {"labs": [{"id": "sat", "tasks": self.rungs_of("sat"), "further_rungs": []}]}}
        )
        for row in measured.backwards("sat", tool).splitlines()[2:]:
            self.assertIn("| sat `lower_left_f32_random` |", row)

    def test_trips_take_as_long_as_their_bytes(self):
        times = [int(x) for x in re.findall(r"(\d+) µs", measured.trips("hierarchical_scan", None))]
        self.assertEqual(sorted(times, reverse=True), times)
        self.assertAlmostEqual(times[0] / times[2], 2, delta=0.1)

    def answer(self, answers):
        self.tool.write_text(
            f"#!{sys.executable}\nimport json, sys\nprint(json.dumps({answers!r}[sys.argv[1]]))\n"
        )
        return str(self.tool)

    def lab_of_our_own(self):
        """A tool that knows one task, and counts its bytes."""
        task = {
            "id": "neighboured",
            "counted_on": ["n4", "n5"],
            "timed_on": ["n6"],
            "baseline": "one_thread",
            "speedup": [{"speedup": 8.0}],
            "efficiency": [
                {"metric": "barriers", "limit": 0.0, "unit": ""},
                {"metric": "bank_conflicts", "limit": 5, "unit": "row"},
                {"metric": "active_lanes", "limit": 0.9, "unit": ""},
            ],
        }
        answers = {
            "list": {
                "metrics": {
                    "barriers": {"at_least": False},
                    "bank_conflicts": {"at_least": False},
                    "active_lanes": {"at_least": True},
                },
                "labs": [
                    {
                        "id": "reduction",
                        "title": "Reduction",
                        "tasks": [task],
                        "further_rungs": [{"id": "reindexed"}],
                    }
                ],
            }
        }
        answers["profile"] = {
            "case": "n4",
            "metrics": {"bytes_ratio": 1.5, "active_lanes": 0.75},
            "work": 0,
            "steps": 3,
        }
        return self.answer(answers)

    def test_goals_are_the_tasks_own(self):
        said = counted.goals("reduction neighboured", self.lab_of_our_own())
        self.assertIn(
            "no `barriers`, `bank_conflicts` per row at most 5, `active_lanes` at least 0.9. "
            "Speedup goals: 8 times as fast as one CPU thread.",
            said,
        )
        with self.assertRaises(SystemExit):
            counted.goals("reduction nothing", str(self.tool))

    def test_cases_are_the_tasks_own(self):
        self.assertIn(
            "| `neighboured` | `n4`<br>`n5` | `n6` |\n", counted.tried("reduction", self.lab_of_our_own())
        )

    def test_counts_stand_in_the_order_of_the_ladder(self):
        said = counted.counted("reduction bytes_ratio steps work active_lanes", self.lab_of_our_own())
        self.assertIn("| `neighboured` ★ | 1.50 | 3 | | 75 % |\n| `reindexed` | 1.50 |", said)
        self.assertIn(
            "| `neighboured` | 1.50 |",
            counted.cases("reduction neighboured bytes_ratio n4=four_items", str(self.tool)),
        )

    def test_what_the_grader_said_comes_from_the_kill_matrix(self):
        self.answer({"list": {"labs": [{"id": "histogram", "title": "Histogram"}]}})
        self.assertIn(
            "histogram / global_atomics: WRONG_ANSWER\n  race: ",
            quotes.said("histogram/racy", str(self.tool)),
        )

    def test_a_faulty_function_does_not_show_its_fault(self):
        code = quotes.faulty("reduction/missing_barrier", None)
        self.assertIn("k03_sequential", code)
        self.assertNotIn("//", code)
        self.assertNotIn("\n\n  }", code)
        answer = quotes.mended("reduction/missing_barrier", None)
        self.assertIn("+    __syncthreads();", answer)
        self.assertIn("racecheck", answer)
        self.assertIn("__shfl_down_sync", quotes.function("reduction warp_fold", None))

    def test_a_mutant_comes_with_its_verdict(self):
        text = quotes.mutant("reduction/tid_guard", None)
        self.assertIn("-gid < n ?\n+tid < n ?", text)
        self.assertIn("WRONG_ANSWER, found by the checker `memcheck`", text)


if __name__ == "__main__":
    unittest.main()
