#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares modelled times of the foreign kernels with measured ones, as Markdown.

usage: compare.py MEASURED.json MODELLED.json PROFILER.json

The first two files are written by foreign, the third is Nsight Compute's; cases.txt says which cases took
part in fitting. handouts/model.md quotes from the table of ../data/foreign_h200.json, foreign_h200_modelled.json
and foreign_profiler_h200.json.
"""

import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent


GROUPS = {
    "fit": "used for choosing constants",
    "test": "not used for this",
    "blind": "predicted before they were measured",
}
SHORTEST_US = 3  # the profiler's shares of shorter launches are mostly those of starting and ending
OTHER_NAMES = {
    "global atomics": "second-level cache",
    "shared atomics": "shared memory and first-level cache",
}


def limiters(modelled: dict, profiler: dict) -> str:
    """How often the model names the unit that the profiler found busiest, or none if none was busy for half
    of the time."""
    busy, idle = [], []
    for name, launches in profiler["cases"].items():
        for launch, limiter in zip(launches, modelled["cases"][name]["limiters"], strict=True):
            percent = launch["busy_percent"]
            named = OTHER_NAMES.get(limiter, limiter)
            if launch["us"] >= SHORTEST_US and max(percent.values()) >= 50:
                busy.append(percent.get(named, 0) == max(percent.values()))
            elif launch["us"] >= SHORTEST_US:
                idle.append(named not in percent)
    return (
        f"The limiter is the profiler's busiest unit in {sum(busy)} of {len(busy)} launches in which a unit is busy for at least "
        f"half of the time. In {sum(idle)} of {len(idle)} others, it is rightly none of the units. Launches under {SHORTEST_US} µs are left out.\n"
    )


def table(measured: dict, modelled: dict, profiler: dict) -> str:
    cases = [line.split("\t") for line in (HERE / "cases.txt").read_text(encoding="utf-8").splitlines()]
    if not set(measured["cases"]) <= set(modelled["cases"]) & {name for _, name in cases}:
        raise SystemExit("compare: a measured case is not modelled, or not in cases.txt")
    rows = []
    for group, name in cases:
        if name not in measured["cases"]:
            continue
        a, b = measured["cases"][name]["median_us"], modelled["cases"][name]["median_us"]
        rows.append((group, name, a, b, b / a))
    text = f"Measured on {measured['device']}; modelled for the same chip.\n\n"
    text += "| kernels | number | median error | error above 30 % |\n|---|--:|--:|--:|\n"
    for group, words in GROUPS.items():
        errors = [abs(ratio - 1) for g, _, _, _, ratio in rows if g == group]
        if not errors:
            continue
        wrong = sum(e > 0.3 for e in errors)
        text += f"| {words} | {len(errors)} | {100 * statistics.median(errors):.0f} % | {wrong} |\n"
    text += f"\n{limiters(modelled, profiler)}"
    text += "\n| kernel | measured, µs | modelled, µs | ratio | used for choosing |\n|---|--:|--:|--:|---|\n"
    for group, name, a, b, ratio in rows:
        text += f"| {name} | {a:.1f} | {b:.1f} | {ratio:.2f} | {'yes' if group == 'fit' else ''} |\n"
    return text


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    print(table(*(json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in sys.argv[1:])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
