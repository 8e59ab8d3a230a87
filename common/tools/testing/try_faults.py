#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does `./lab test` notice when something breaks? Plants one fault after the other, in each folder, and runs
the test of the short suite that has to fail.

usage: source build/.lab-stamp; PATH=$STAMP_PATH:$PATH common/tools/testing/try_faults.py [--build FOLDER] [FOLDER_OF_FAULTS ...]

It changes the working tree and puts every file back. Each fault costs a build of what depends on the file and
of the one test: an hour for all of them. FOLDER_OF_FAULTS (such as grader/batch) chooses faults. Prints a
line for each, and exits 1 when one was not noticed.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]

# File, text that occurs in it once, what stands there instead, a test that must fail.
FAULTS = [
    ("common/base/demangle.hpp", "status == 0 && text ?", "status != 0 && text ?", "base"),
    ("common/simulator/cudart/graph/graph.cpp", "node->graph == &graph;", "node->graph != &graph;", "cudart"),
    ("common/simulator/cudart/programs/transpose.cu", "int main", "int not_main", "transpose"),
    (
        "common/simulator/cudart/abi/symbols13.txt",
        "\ncudaMalloc3D\n",
        "\ncudaMalloc4D\n",
        "cudart exports 13",
    ),
    ("common/harness/fuzz/driver.cpp", "bound == 0 ? 0 :", "bound != 0 ? 0 :", "fuzz ptx"),
    (
        "common/harness/lab/compare.cpp",
        "if (std::isnan(got)) return false;",
        "if (std::isnan(got)) return true;",
        "lab",
    ),
    (
        "common/simulator/nccl/clique/matcher.cpp",
        "b.code, a.code);",
        "nullptr, nullptr), Outcome{};",
        "nccl faults",
    ),
    (
        "common/simulator/nccl/operation/move.cpp",
        "default: return add(a, b);",
        "default: return add(b, add(a, b));",
        "nccl collectives of 3 in group",
    ),
    (
        "common/tools/authoring/make_mutant.py",
        "source.count(old, start, end)) != 1",
        "source.count(old, start, end)) == 0",
        "make_mutant",
    ),
    ("common/simulator/ptx/parser/parser_body.cpp", "lexer_.accept('!');", "lexer_.accept('?');", "ptx"),
    (
        "common/harness/remote/device/host_link.cpp",
        "if (packet && !*packet) return result;",
        "if (packet) return result;",
        "remote",
    ),
    (
        "common/simulator/sim/checkers/initcheck/initcheck.cpp",
        "return missing == 0;",
        "return true;",
        "checkers",
    ),
    ("common/simulator/sim/memory/cache.cpp", "return copies;", "return {};", "sim"),
    ("common/tools/run_tests.py", 'counts["failed"] += 1', 'counts["passed"] += 1', "tools"),
    ("grader/batch/names.py", "return name[: -len(ending)]", "return name", "batch"),
    ("grader/gradescope/package.py", "def main", "def not_main", "gradescope"),
    (
        "grader/hostile/histogram/claims_counts.cu",
        "namespace course::histogram {",
        "namespace course::histogram {\nnonsense",
        "some hostile histogram",
    ),
    (
        "grader/mutants/scan/shuffle_mask.mutant",
        "// verdict: WRONG_ANSWER",
        "// verdict: OK",
        "some mutants scan",
    ),
    (
        "grader/mutants/sat/right_row_by_row.mutant",
        "//--- replace\n",
        "//--- replace\nnowhere\n",
        "mutants can be made",
    ),
    (
        "grader/profile/profile.cpp",
        "below > 0 ? std::optional(above / below)",
        "below > 0 ? std::optional(below / above)",
        "grader",
    ),
    ("grader/report/csv.cpp", 'fmt::format("{:.6g}", value)', 'fmt::format("{:.1g}", value)', "reports"),
    ("grader/sandbox/view.cpp", '"--tmpfs", "/tmp"', '"--bind", "/tmp", "/tmp"', "sandbox"),
    ("grader/screen/rules.cpp", '{"cudaMemcpy", &kCopies},', "", "grader"),
    ("grader/trace/tables.cpp", 'array.starts_with("d_") &&', 'array.starts_with("d_") ||', "grader"),
    ("handouts/01-reduction.md", "](", "](nowhere/", "links"),
    ("labs/histogram/histogram.cu", "not_implemented(job)", "not_implemented( job)", "skeleton histogram"),
    (
        "labs/reduction/problem.cpp",
        "sum.add(static_cast<long double>(item))",
        "sum.add(1 + static_cast<long double>(item))",
        "some cases of reduction",
    ),
    ("labs/sat/app/image.cpp", 'return error_in(path, "is larger than 1 GiB");', "break;", "sat pictures"),
    (
        "solutions/device/block_scan.cuh",
        "inclusive ? next : prefix;",
        "inclusive ? prefix : next;",
        "some cases of hierarchical_scan",
    ),
    (
        "solutions/scan/scan.cu",
        "job.op(s_data[k - half], s_data[k])",
        "job.op(s_data[k], s_data[k - half])",
        "some cases of scan",
    ),
]


def short_tests(build):
    tests = json.loads((build / "meson-info/intro-tests.json").read_text())
    return {test["name"] for test in tests if not any(suite.endswith(":all-only") for suite in test["suite"])}


def notices(build, name):
    """Does the test fail, or what it needs not build?"""
    command = ["meson", "test", "-C", str(build), name]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode != 0


def try_one(build, fault):
    path, old, new, test = fault
    file = ROOT / path
    text = file.read_text(encoding="utf-8")
    if old not in text:
        return f"{path} no longer holds: {old}"
    if test not in short_tests(build):
        return f"'{test}' is not a test of the short suite"
    try:
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        return "" if notices(build, test) else f"'{test}' passes all the same"
    finally:
        file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("folders", nargs="*", help="only the faults in these folders")
    options = parser.parse_args()
    missed = 0
    for fault in FAULTS:
        if options.folders and not any(fault[0].startswith(folder) for folder in options.folders):
            continue
        begin = time.monotonic()
        problem = try_one(options.build, fault)
        missed += problem != ""
        print(
            f"{fault[0]}: {problem or 'noticed by ' + repr(fault[3])} ({time.monotonic() - begin:.0f} s)",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
