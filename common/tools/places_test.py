# SPDX-License-Identifier: MIT
"""Counts the files that know of one checker, counter, command and so on: what CONTRIBUTING's table "How to
add" says must be edited to add another. A name that turns up in a further file means that adding one got
longer.

usage: places_test.py ROOT
"""

import pathlib
import re
import sys
import unittest

# what CONTRIBUTING calls it: an example as a regular expression, and the files that name it.
PLACES = {
    # The host reports a kind in synccheck's name, "missing-wait": another checker needs no such line.
    "a checker": (
        r"(?i:^(?!.*\"missing-wait\").*\b(?:k|SIM_)?synccheck)\b",
        {
            "common/simulator/sim/checker.hpp",
            "common/simulator/cudart/sim_control.h",
            "common/simulator/sim/checkers/checker_set.cpp",
            "common/simulator/sim/checkers/synccheck.hpp",
            "common/simulator/sim/checkers/synccheck.cpp",
            "common/simulator/sim/checkers/meson.build",
            "common/simulator/sim/observation/subset.cpp",
        },
    ),
    "a counter": (
        r"\bpartial_sectors\b",
        {
            "common/simulator/sim/counters.hpp",
            "common/simulator/sim/grid/tally.cpp",
            "common/simulator/sim/machine/warp.hpp",
            "common/simulator/sim/ops/memory.hpp",
            "common/simulator/sim/timing/model.cpp",
        },
    ),
    "a metric": (
        r"\bbank_conflicts\b",
        {
            "common/harness/lab/manifest.hpp",
            "common/harness/lab/metrics.hpp",
            "grader/grading/metrics.cpp",
            "handouts/counted.py",
        },
    ),
    "a command": (
        r"\badd_points\b|\bcli/points\b",
        {"grader/cli/commands.hpp", "grader/cli/points.cpp", "grader/meson.build"},
    ),
    "a verdict": (
        r"\bmemory_limit\b|\bMEMORY_LIMIT\b",
        {
            "common/harness/verifier/session.hpp",
            "common/harness/verifier/session.cpp",
            "common/harness/verifier/judge.cpp",
        },
    ),
    "a form in which results are reported": (
        r"\bto_csv\b|\breport/csv\b",
        {
            "grader/report/formats.hpp",
            "grader/report/csv.cpp",
            "grader/cli/report_files.cpp",
            "grader/meson.build",
        },
    ),
    # try_op_faults.py links one library by hand.
    "a major version of CUDA": (
        r"libcudart\.so\.1[23]",
        {
            "common/base/cuda_versions.hpp",
            "common/simulator/sim/conformance/differential/try_op_faults.py",
        },
    ),
    "a simulated chip": (r"\brtx4060\b", {"common/simulator/sim/chips/presets.cpp"}),
}
SOURCES = {".cpp", ".hpp", ".h", ".build", ".py"}
# Tests and examples may name what they like.
NOT_COUNTED = re.compile(r"_test\.|fuzz|/testing/|/kernels/|/mutants/|/hostile/|/template/")


def naming(root, pattern):
    word = re.compile(pattern)
    found = set()
    for top in ("common", "grader", "handouts"):
        for file in (root / top).rglob("*"):
            name = str(file.relative_to(root))
            if file.suffix not in SOURCES or NOT_COUNTED.search(name):
                continue
            comment = "#" if file.suffix in (".build", ".py") else "//"
            if any(
                word.search(line.split(comment)[0]) for line in file.read_text(encoding="utf-8").splitlines()
            ):
                found.add(name)
    return found


class Places(unittest.TestCase):
    def test_adding_one_takes_no_more_files(self):
        for what, (pattern, known) in PLACES.items():
            with self.subTest(what):
                self.assertEqual(naming(ROOT, pattern), known)

    def test_contributing_names_each_kind(self):
        rows = re.findall(
            r"^\| ([^|]+) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
        )
        for what in PLACES:
            self.assertTrue(any(row.startswith(what) for row in rows), what)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop())
    unittest.main()
