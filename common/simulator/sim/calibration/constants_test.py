#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a chip's timing constants with what was measured on it. See README.md beside this file.

usage: constants_test.py MEASURED.json FILE.inc

Each constant comes from one family of cases, as the slope of a straight line through points in which nothing
else changes. If FILE holds others, the right ones are printed.
"""

import json
import pathlib
import re
import statistics
import sys


class Measured:
    """Medians in µs by family and parameters; the mean where there are several."""

    def __init__(self, documents: list[dict]):
        self.clocks_per_us = documents[0].get("clock_ghz", 1.98) * 1e3
        self.multiprocessors = documents[0].get("multiprocessors", 132)
        self.cases: list[tuple[str, dict, float]] = []
        for case in documents[0]["cases"]:
            same = [c for d in documents for c in d["cases"] if key(c) == key(case)]
            times = [t for c in same for t in (c["us"] if "us" in c else [c["median_us"]])]
            self.cases.append((case["family"], case["parameters"], sum(times) / len(times)))

    def us(self, family: str, **wanted: float) -> float:
        """The one case of a family with these parameters."""
        found = [t for f, p, t in self.cases if f == family and all(p.get(k) == v for k, v in wanted.items())]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} cases of '{family}' have {wanted}; one is needed")
        return found[0]

    def line(self, family: str, of: str, at: list[float], **fixed: float) -> tuple[float, float]:
        """Slope and intercept, µs, of the times over parameter `of`."""
        points = [(x, self.us(family, **{of: x}, **fixed)) for x in at]
        return least_squares(points)


def key(case: dict) -> tuple:
    return case["family"], tuple(sorted(case["parameters"].items()))


def least_squares(points: list[tuple[float, float]]) -> tuple[float, float]:
    line = statistics.linear_regression(*zip(*points))
    return line.slope, line.intercept


def fit(m: Measured) -> dict[str, tuple[float, str]]:
    """The constants of sim/timing.hpp that follow from measurements, each with the family it comes from."""
    clocks = m.clocks_per_us
    found: dict[str, tuple[float, str]] = {}
    submit, _ = m.line("launches", "launches", [1, 2, 4, 8, 16, 32])
    empty = m.us("blocks", blocks=132, threads=32)  # one launch between two events

    # Latencies: chains in which each step needs the last one. In an iteration there are a load and the
    # arithmetic of its address.
    far, _ = m.line("chain", "length", [512, 2048], kib=131072)
    add, _ = m.line("latency add", "rounds", [64, 256])  # eight times two additions
    addition = add * clocks / 16
    near = (m.us("chain", kib=16, length=2048) - m.us("chain", kib=16, length=512)) / 1536 * clocks
    arithmetic = 4 * addition  # shift, shift, add, and
    shared, _ = m.line("shared chain", "length", [256, 1024])
    found["shared_latency"] = (shared * clocks - addition, "shared chain")
    found["near_latency"] = (near - arithmetic, "chain, in the first-level cache")
    found["memory_latency"] = (far * clocks - arithmetic, "chain")

    # From block to block: a flag costs a read from the second-level cache, and what its writing takes to be
    # seen.
    flag, _ = m.line("block chain", "blocks", [256, 1024, 4096], threads=32, with_value=0)
    l2_latency = 270.0  # chosen: no case has its data there alone
    found["l2_latency"] = (l2_latency, "chosen")
    found["publish_latency"] = (flag * clocks - l2_latency, "block chain")
    sizes = (32, 128, 256, 512, 1024)
    times = [(m.us("barriers", threads=t, blocks_each=1) - empty) * clocks / 256 for t in sizes]
    barrier, base = least_squares([(t / 32, time) for t, time in zip(sizes, times)])
    found["barrier_latency"] = (base, "barriers")
    found["barrier_latency_per_warp"] = (barrier, "barriers")

    # Rates.
    reads, _ = m.line("shared reads", "stride", [8, 16, 32])
    found["near_passes_per_clock"] = (64 * 4 * 32 / (reads * clocks), "shared reads")
    found["l2_sectors_per_clock"] = (109.0, "chosen, with the profiler's counts of foreign kernels")
    hot = m.us("global atomics", addresses=1, stride=8) - empty
    found["hot_atomics_per_clock"] = (1024 * 256 / (hot * clocks), "global atomics")
    apart = m.us("global atomics", addresses=1 << 20, rounds=4) - m.us(
        "global atomics", addresses=1 << 20, stride=1, warp_wide=0, rounds=None
    )
    found["atomic_sectors_per_clock"] = (3 * 1024 * 256 / (apart * clocks), "global atomics")
    blocks, _ = m.line("blocks", "blocks", [16384, 65536], threads=256)
    found["blocks_per_clock"] = (1 / (blocks * clocks), "blocks")
    latency = m.line("blocks", "blocks", [16384, 65536], threads=1024)[0] * clocks * 2 * m.multiprocessors
    found["block_latency"] = (latency, "blocks, two at once on a multiprocessor")

    # Launches.
    found["kernel_us"] = (empty - submit, "blocks")
    found["submit_us"] = (submit, "launches")
    found["l2_efficiency"] = (0.97, "chosen, with foreign kernels")
    found["first_access_us"] = (1.2, "chosen, with foreign kernels and rungs")
    found["blend"] = (4.0, "chosen, with foreign kernels and rungs")
    return found


ORDER = re.compile(r"\b(\w+)\s*=\s*[0-9.]+[,;]")


def in_order(constants: dict, header: pathlib.Path) -> list[str]:
    """Names as they come in the header: C++ wants designated initialisers in that order."""
    names = ORDER.findall(header.read_text(encoding="utf-8"))
    return sorted(constants, key=names.index)


def main() -> int:
    measured, constants_of_chip = map(pathlib.Path, sys.argv[1:3])
    constants = fit(Measured([json.loads(measured.read_text(encoding="utf-8"))]))
    header = pathlib.Path(__file__).resolve().parent.parent / "timing.hpp"
    text = f"// From {measured.name}, by common/simulator/sim/calibration/constants_test.py. "
    text += "Clocks, unless the name says otherwise.\n"
    for name in in_order(constants, header):
        value, family = constants[name]
        text += f".{name} = {value:.3g},  // {family}\n"
    if constants_of_chip.read_text(encoding="utf-8") == text:
        return 0
    print(f"{constants_of_chip} is not what the measurements give:\n{text}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
