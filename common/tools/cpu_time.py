#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU seconds of a build, by target: runs the commands of a ninja target and adds up what each used.

usage: cpu_time.py BUILD [TARGET…] [--only REGEX] [--steps N] [-j JOBS]
BUILD: a configured build folder; everything that TARGET (default: tools) needs is built again. --only: only
the outputs that match, whose inputs must be built already. --steps: also lists the N costliest steps. -j:
compilers at a time (default 1: those that run side by side slow each other down). Compiler caches are off.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys


def run(command: str, folder: pathlib.Path) -> float:
    """Runs a shell command; the CPU seconds of it and its children."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env={**os.environ, "CCACHE_DISABLE": "1"}
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"cpu_time: this command failed:\n{command}")
    return used.ru_utime + used.ru_stime


def ninja(folder: pathlib.Path, *arguments: str) -> str:
    return subprocess.run(
        ["ninja", "-C", folder, *arguments], check=True, capture_output=True, text=True
    ).stdout


def target_of(output: str) -> str:
    """ "grader/libgrader.a.p/grade.cpp.o" belongs to "grader/libgrader.a"."""
    return output.split(".p/")[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", default=["tools"])
    parser.add_argument("--only", default="")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("-j", dest="jobs", type=int, default=1)
    options = parser.parse_args()

    entries = json.loads(ninja(options.build, "-t", "compdb"))
    outputs = {entry["command"]: entry["output"] for entry in entries}
    wanted = []
    for command in ninja(options.build, "-t", "commands", *options.targets).splitlines():
        output = outputs.get(command, command)
        if re.search(options.only, output) and "--internal regenerate" not in command:
            (options.build / output).parent.mkdir(parents=True, exist_ok=True)
            wanted.append((command, output))
    # Neighbours that compile are independent of each other; everything else waits for what stands before it.
    steps: list[tuple[float, str]] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        alone = lambda step: step[0] if " -c " not in step[1][0] else -1  # noqa: E731
        for _, group in itertools.groupby(enumerate(wanted), alone):
            commands, outputs_of = zip(*(step for _, step in group))
            steps += zip(pool.map(lambda command: run(command, options.build), commands), outputs_of)

    totals: dict[str, float] = collections.defaultdict(float)
    counts: collections.Counter = collections.Counter()
    for seconds, output in steps:
        totals[target_of(output)] += seconds
        counts[target_of(output)] += 1
    print("| target | steps | CPU s |\n|---|--:|--:|")
    for target, seconds in sorted(totals.items(), key=lambda one: -one[1]):
        print(f"| {target} | {counts[target]} | {seconds:.1f} |")
    print(f"| **all** | {len(steps)} | {sum(totals.values()):.1f} |")
    if options.steps:
        print("\n| step | CPU s |\n|---|--:|")
        for seconds, output in sorted(steps, reverse=True)[: options.steps]:
            print(f"| {output} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
