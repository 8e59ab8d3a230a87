#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares modelled times of the foreign kernels with measured ones, as Markdown.

usage: compare.py MEASURED.json MODELLED.json [--fill PAGE.md]

Both files are written by foreign; cases.txt says which cases took part in fitting. --fill replaces the text between
the markers of PAGE.md.
"""

import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
MARK = re.compile(r"(<!-- foreign kernels -->\n).*?(<!-- end foreign kernels -->)", re.DOTALL)


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
    if len(sys.argv) not in (3, 5):
        print(__doc__)
        return 2
    measured, modelled = (json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in sys.argv[1:3])
    text = table(measured, modelled)
    if len(sys.argv) == 3:
        print(text, end="")
        return 0
    page = pathlib.Path(sys.argv[4])
    old = page.read_text(encoding="utf-8")
    if not MARK.search(old):
        raise SystemExit(f"compare: {page} has no place for the table")
    page.write_text(MARK.sub(lambda m: m[1] + text + m[2], old), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
