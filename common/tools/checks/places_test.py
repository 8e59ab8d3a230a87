# SPDX-License-Identifier: MIT
"""Counts the files that know of one checker, counter, command and so on: what CONTRIBUTING's table "How to
add" says must be edited to add another. A name that turns up in a further file means that adding one got
longer. Also checks that the source files that comments and Markdown speak of exist.

usage: places_test.py ROOT
"""

import pathlib
import re
import sys
import tempfile
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
            "common/simulator/sim/grid/launch_counters.cpp",
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
            "grader/grading/scoring/metrics.cpp",
            "grader/grading/scoring/line_with_most.cpp",
            "handouts/scripts/counted.py",
        },
    ),
    "a command": (
        r"\badd_points\b|\bcli/points\b",
        {"grader/cli/commands.hpp", "grader/cli/points.cpp", "grader/meson.build"},
    ),
    "a verdict": (
        r"\bmemory_limit\b|\bMEMORY_LIMIT\b",
        {
            "common/harness/verifier/verdict.hpp",
            "common/harness/verifier/attempt.cpp",
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
    "a major version of CUDA": (r"libcudart\.so\.1[23]", {"common/base/cuda_versions.hpp"}),
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


# In comments and Markdown: a source file, with or without its folder. Names in capitals stand for something.
SOURCE = re.compile(
    r"(?<![\w.*/<>$…{}-])((?:[a-z][\w.-]*/)*[a-z][a-z0-9_]*\.(?:cpp|hpp|cuh|py|sh|build)|"
    r"(?:common|grader|handouts|labs|solutions)/(?:[\w.-]+/)*[a-z][a-z0-9_]*\.(?:cu|md|h))(?![\w/{*]|\.[a-z])"
)
# Written by the build, by others, or by the examples.
ELSEWHERE = re.compile(
    r"assets\.hpp|handouts/rungs\.md|vpl_evaluate\.sh|tests/grade\.sh|cub/|thrust/|labs/x\.cu"
)


def prose(file):
    """Pairs (line number, text) of a Markdown file, or of a source file's comments and documentation."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        kept = re.compile(r".+")
    elif file.suffix in (".py", ".sh", ".build"):
        kept = re.compile(r'"""(?:[^"]|"(?!""))*"""|(?:^|(?<=\s))# .*', re.M)
    else:
        kept = re.compile(r"// .*")
    for found in kept.finditer(text):
        yield from enumerate(found[0].splitlines(), text.count("\n", 0, found.start()) + 1)


def missing_files(root):
    tops = [
        root / top for top in ("common", "grader", "handouts", "labs", "solutions") if (root / top).is_dir()
    ]
    files = [file for top in tops for file in top.rglob("*") if "__pycache__" not in file.parts]
    parts = [file.relative_to(root).parts for file in files]
    known = {"/".join(p[k:]) for p in parts for k in range(len(p))} | {"meson.build"}
    for file in [*files, root / "CONTRIBUTING.md", root / "README.md"]:
        if file.suffix not in SOURCES | {".cu", ".cuh", ".sh", ".md"} or not file.is_file():
            continue
        if NOT_COUNTED.search(str(file.relative_to(root))):
            continue
        for number, text in prose(file):
            for name in SOURCE.findall(text):
                if name not in known and not ELSEWHERE.match(name) and not (file.parent / name).is_file():
                    yield f"{file.relative_to(root)}:{number}: there is no {name}"


def missing_tests(root, page):
    """The tests that a Markdown file names, as `Suite.Name`, and no C++ file has."""
    named = set(re.findall(r"`([A-Z]\w+)\.([A-Z]\w+)`", page.read_text(encoding="utf-8")))
    known = set()
    for top in ("common", "grader", "labs"):
        for file in (root / top).rglob("*_test.cpp"):
            known |= set(re.findall(r"TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read_text(encoding="utf-8")))
    return sorted(f"{suite}.{name}" for suite, name in named - known)


class Places(unittest.TestCase):
    def test_tests_that_contributing_names_exist(self):
        self.assertEqual(missing_tests(ROOT, ROOT / "CONTRIBUTING.md"), [])

    def test_source_files_in_texts_exist(self):
        self.assertEqual(list(missing_files(ROOT)), [])

    def test_missing_source_file_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "labs").mkdir()
            for name, text in (
                ("a.cpp", "// See b.hpp, and labs/c.cu.\n"),
                ("b.py", '"""As d.py does,\nsee sim/e.cpp"""\n# beside a.cpp\n'),
            ):
                (pathlib.Path(folder) / "labs" / name).write_text(text, encoding="utf-8")
            (pathlib.Path(folder) / "CONTRIBUTING.md").write_text(
                "`labs/b.py`, `labs/f.sh`, `abiNN.cpp`", encoding="utf-8"
            )
            found = [line.split("there is no ")[1] for line in missing_files(pathlib.Path(folder))]
        self.assertEqual(sorted(found), ["b.hpp", "d.py", "labs/c.cu", "labs/f.sh", "sim/e.cpp"])

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
