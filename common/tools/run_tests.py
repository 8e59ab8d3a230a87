#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab test: runs the suite with `meson test` and counts what really ran.

usage: run_tests.py …                what ./lab test takes (HELP)
       run_tests.py --targets        what the tests without --all need, as ninja's targets

The short suite is every test but those whose meson.build puts them into the suite "all-only". With --all it
is every test but those in the suite "short-only", which do a part of what another test does whole.

The last line is "N passed, N failed[, N skipped]", counted in test cases, from Meson's JUnit report (which
holds every GoogleTest case). Exit status 1 when a case failed, when a program failed without naming a case,
or when no case passed.
"""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

HELP = """\
./lab test LAB --mine [OPTIONS OF GoogleTest]
./lab test [--device sim|gpu] [--all | NAME… | OPTIONS OF meson test]

A lab's public tests, a test for each task and case, on your file:

  ./lab test reduction --mine
  ./lab test reduction --gtest_filter='neighboured.*'
  ./lab test reduction --gtest_list_tests

The project's own tests:

  ./lab test                 the short suite: tests every part
  ./lab test --all           every test
  ./lab test ptx             one test by its name
  ./lab test --list          the names
  ./lab test --suite grader  the tests of one part
  ./lab test --device gpu    the same programs on a GPU (the first option)

Builds what the tests need. The last line is "N passed, N failed", counted in
test cases; the exit status is 1 if one failed, or if none passed.
Other arguments go to "meson test": -v shows what the tests print.
"""


def googletest_names(build: pathlib.Path) -> set[str]:
    """Names of the tests that are GoogleTest programs, from Meson's own list."""
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text())
    return {test["name"] for test in tests if test["protocol"] == "gtest"}


LEFT_OUT = {"short": "all-only", "all": "short-only"}


def suites_chosen(arguments: list[str]) -> tuple[set[str], set[str]] | None:
    """The suites that the arguments take and leave out; None if they say anything else."""
    names = arguments[1::2]
    if len(arguments) % 2 or any(word not in ("--suite", "--no-suite") for word in arguments[::2]):
        return None
    chosen: tuple[set[str], set[str]] = (set(), set())
    for option, name in zip(arguments[::2], names, strict=True):
        chosen[option == "--no-suite"].add(name)
    return chosen


def targets_of(build: pathlib.Path, taken: set[str], left_out: set[str]) -> list[str]:
    """What the tests of some suites need, as ninja names it. Nothing taken: those of all."""
    info = build / "meson-info"
    targets = json.loads((info / "intro-targets.json").read_text())
    files = {target["id"]: target["filename"] for target in targets}
    needed: set[str] = set()
    for test in json.loads((info / "intro-tests.json").read_text()):
        suites = {suite.rsplit(":", 1)[-1] for suite in test["suite"]}
        if (not taken or suites & taken) and not suites & left_out:
            needed.update(file for target in test["depends"] for file in files[target])
    return sorted(os.path.relpath(file, build) for file in needed)


def count(report: str, googletests: set[str]) -> dict[str, int]:
    """Cases in Meson's JUnit report by what became of them. GoogleTest and Meson mark a skipped case in
    different ways.

    A GoogleTest program that ended well but left no report of its own (it called exit, say) is one failed
    case: Meson takes its exit status for a pass.
    """
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in ElementTree.fromstring(report).iter("testcase"):
        by_meson = case.get("status") is None
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
            counts["skipped"] += 1
        elif case.get("status") == "notrun":
            pass  # disabled: GoogleTest lists it, but nothing ran
        elif by_meson and case.get("name", "").rsplit(" / ", 1)[-1] in googletests:
            print(f"{case.get('name')}: ended without its GoogleTest report: counted as one failure.")
            counts["failed"] += 1
        else:
            counts["passed"] += 1
    return counts


def main(arguments: list[str]) -> int:
    if arguments in (["-h"], ["--help"]):
        print(HELP, end="")
        return 0
    build = pathlib.Path(os.environ["LAB_BUILD"])
    if arguments == ["--targets"]:
        print("\n".join(targets_of(build, set(), {LEFT_OUT["short"]})))
        return 0
    setup = "sim"
    if arguments[:1] == ["--device"] and len(arguments) > 1:
        setup, arguments = arguments[1], arguments[2:]
    suite = {(): "short", ("--all",): "all"}.get(tuple(arguments))
    report = build / "meson-logs" / f"testlog-{setup}.junit.xml"
    # GoogleTest's own reports lie in the build folder; one left from before must not stand in for a program
    # that died.
    for stale in [report, *build.glob("*.xml")]:
        stale.unlink(missing_ok=True)

    # What a whole suite needs has been built by now; Meson builds what named tests need.
    if suite:
        arguments = ["--no-rebuild", "--no-suite", LEFT_OUT[suite]]
    elif arguments and (chosen := suites_chosen(arguments)):
        # Meson would build what all tests need.
        subprocess.run(["ninja", "-C", str(build), *targets_of(build, *chosen)], check=True)
        arguments = ["--no-rebuild", *arguments]
    command = ["meson", "test", "-C", str(build), "--setup", setup, "--print-errorlogs", *arguments]
    status = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    if report.is_file():
        counts = count(report.read_text(), googletest_names(build))
    if status != 0 and counts["failed"] == 0:
        although = "although no case is marked as failed: counted as one failure."
        print(f"meson test ended with status {status} {although}")
        counts["failed"] = 1
    if counts["passed"] + counts["failed"] == 0:
        print("No test ran: counted as one failure.")
        counts["failed"] = 1
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 0 if counts["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
