#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the candidates for solutions/device/tuning.hpp on this machine's GPU and writes the fastest ones into
its tables.

Rule: of all candidates that fit and whose results are right, the one with the lowest geometric mean of its
times over the sizes. If it is faster than the present choice by less than 2 %, which is noise, the present
choice stays.
"""

import argparse
import math
import re
import subprocess
import sys

TABLES = {"scan": "ScanInWaves", "compaction": "CompactionInWaves"}
NOISE = 1.02


class Refused(Exception):
    pass


def read(text: str) -> tuple[str, int, dict[str, dict]]:
    """The device's name, its compute capability, and {lab: {candidate: geometric mean of its times}}."""
    lines = text.splitlines()
    device = re.fullmatch(r"# (.*), compute capability (\d+)", lines[0] if lines else "")
    if not device:
        raise Refused("no GPU was measured")
    times, unfit = {}, set()
    for line in lines[2:]:
        lab, name, _, us, *differences = line.split(",")
        if differences != ["0"]:
            unfit.add((lab, name))
        else:
            times.setdefault(lab, {}).setdefault(name, []).append(float(us))
    means = {
        lab: {
            name: math.exp(sum(map(math.log, us)) / len(us))
            for name, us in of_lab.items()
            if (lab, name) not in unfit
        }
        for lab, of_lab in times.items()
    }
    return device[1], int(device[2]), means


def choice(means: dict[str, float]) -> "str | None":
    """The best candidate, or None if the table's choice is as good."""
    candidates = {name: us for name, us in means.items() if re.fullmatch(r"\d+(x\d+){4}", name)}
    if not candidates:
        raise Refused("no candidate fits this device")
    best = min(candidates, key=candidates.get)
    return best if candidates[best] * NOISE < means.get("table", math.inf) else None


def row(capability: int, name: str) -> str:
    threads, rows, blocks, lag, slots = name.split("x")
    return f"Row<{capability}, RingTuning<TileTuning<{threads}, {rows}, {blocks}>, {lag}, {slots}>>"


def with_row(header: str, struct: str, capability: int, name: str) -> str:
    """The header with this row in the struct's table."""
    table = re.compile(rf"(struct {struct} {{\n  using Measured = Table<)(.*?)(>;\n)", re.S)
    found = table.search(header)
    if not found:
        raise Refused(f"tuning.hpp has no table in {struct}")
    rows = {
        int(number): text
        for text, number in re.findall(r"(Row<(\d+), RingTuning<TileTuning<[\d, ]+>, \d+, \d+>>)", found[2])
    }
    rows[capability] = row(capability, name)
    text = (",\n" + " " * len("  using Measured = Table<")).join(rows[number] for number in sorted(rows))
    return header[: found.start(2)] + text + header[found.end(2) :]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./lab tune", description=__doc__.splitlines()[0])
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("header", help=argparse.SUPPRESS)
    parser.add_argument("--logs", default="20,24,28", help="sizes to time, as powers of two (20,24,28)")
    parser.add_argument("--dry-run", action="store_true", help="print the choices without writing them")
    options = parser.parse_args()
    done = subprocess.run(
        [options.program, "--logs", options.logs], stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, end="")
    try:
        device, capability, means = read(done.stdout)
        with open(options.header, encoding="utf-8") as file:
            header = file.read()
        for lab, struct in TABLES.items():
            name = choice(means.get(lab, {}))
            print(
                f"{device}, {lab}: "
                + ("the table's choice is as fast as any" if name is None else f"{name} is the fastest")
            )
            if name is not None:
                header = with_row(header, struct, capability, name)
        if not options.dry_run:
            with open(options.header, "w", encoding="utf-8") as file:
                file.write(header)
    except Refused as refused:
        print(f"lab tune: {refused}", file=sys.stderr)
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
