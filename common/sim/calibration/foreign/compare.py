#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares modelled times of the foreign kernels with measured ones, as Markdown.

usage: compare.py MEASURED.json MODELLED.json

Both files are written by foreign; cases.txt says which cases took part in fitting. handouts/model.md quotes the table
of ../data/foreign_h200.json and ../data/foreign_h200_modelled.json.
"""

import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent


def table(measured: dict, modelled: dict) -> str:
    cases = [line.split("\t") for line in (HERE / "cases.txt").read_text(encoding="utf-8").splitlines()]
    if {name for _, name in cases} != set(measured["cases"]) or set(measured["cases"]) != set(modelled["cases"]):
        raise SystemExit("compare: the files and cases.txt have different cases")
    rows = []
    for group, name in cases:
        a, b = measured["cases"][name]["median_us"], modelled["cases"][name]["median_us"]
        rows.append((group, name, a, b, b / a))
    text = f"Measured on {measured['device']}; modelled for the same chip.\n\n"
    text += "| kernels | number | median error | error above 30 % |\n|---|--:|--:|--:|\n"
    for group, words in (("fit", "used for choosing constants"), ("test", "not used for this")):
        errors = [abs(ratio - 1) for g, _, _, _, ratio in rows if g == group]
        wrong = sum(e > 0.3 for e in errors)
        text += f"| {words} | {len(errors)} | {100 * statistics.median(errors):.0f} % | {wrong} |\n"
    text += "\n| kernel | measured, µs | modelled, µs | ratio | used for choosing |\n|---|--:|--:|--:|---|\n"
    for group, name, a, b, ratio in rows:
        text += f"| {name} | {a:.1f} | {b:.1f} | {ratio:.2f} | {'yes' if group == 'fit' else ''} |\n"
    return text


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    print(table(*(json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in sys.argv[1:])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
