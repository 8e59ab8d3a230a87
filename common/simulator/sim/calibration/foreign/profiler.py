#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns Nsight Compute's table of all launches of `foreign --once` into the JSON that compare.py reads.

usage: ncu --csv --page raw --print-units base --cache-control all --clock-control none --metrics $(profiler.py) \\
           foreign --once | profiler.py MODELLED.json DEVICE > PROFILER.json

MODELLED.json, written by foreign on the simulator, says how many launches each case has. Without arguments:
the metrics.
"""

import csv
import json
import sys

TIME = "gpu__time_duration.sum"
SHARE = ".avg.pct_of_peak_sustained_elapsed"
UNITS = {  # as the simulator names them; of two metrics the larger counts
    "memory": ["dram__throughput"],
    "second-level cache": ["lts__throughput"],
    "shared memory and first-level cache": ["l1tex__data_pipe_lsu_wavefronts", "l1tex__throughput"],
    "issue": ["sm__inst_issued", "sm__throughput"],
}


def launch_of(row: dict) -> dict:
    def number(metric: str) -> float:
        return float(row[metric].replace(",", "") or 0)

    name = row["Kernel Name"].replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    shares = {
        unit: round(max(number(metric + SHARE) for metric in metrics), 1) for unit, metrics in UNITS.items()
    }
    return {
        "kernel": name.split("(")[0].split("<")[0].split("::")[-1],
        "us": round(number(TIME) / 1e3, 2),
        "busy_percent": shares,
    }


def main() -> int:
    if len(sys.argv) != 3:
        print(",".join([TIME, *(metric + SHARE for metrics in UNITS.values() for metric in metrics)]))
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        modelled = json.load(file)["cases"]
    _units, *rows = csv.DictReader(line for line in sys.stdin if not line.startswith("=="))
    if len(rows) != sum(len(case["limiters"]) for case in modelled.values()):
        raise SystemExit("profiler: the profiler and the simulator saw different numbers of launches")
    launches = map(launch_of, rows)
    cases = [
        f" {json.dumps(name)}: {json.dumps([next(launches) for _ in case['limiters']])}"
        for name, case in modelled.items()
    ]
    print(
        f'{{"device": {json.dumps(sys.argv[2])}, "tool": "Nsight Compute, caches empty, clocks as they are", "cases": {{'
    )
    print(",\n".join(cases) + "\n}}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
