# SPDX-License-Identifier: MIT
"""Rows of a table of results, for quotes.py:

    rows SOURCE KEY=VALUE,VALUE … : KEY … [by KEY] of COLUMN …

SOURCE is `h200` (the newest run on this device in handouts/results), `curve/h200` (in a folder there), or `counts`
(what `./lab profile` counts of a lab's rungs). KEY=VALUE keeps the rows that have one of these values, in which *
stands for any letters; of `counts`, the keys are lab (one, needed), name and case, and * has no meaning. There is a
row for each combination of the keys after the colon. Without `by`, it has a cell for each COLUMN; with it, a cell
for each value of that key, with the first COLUMN and the others in brackets.
"""

import fnmatch
import sys

import counted
import measured
from tables import table

HEADS = {
    "name": "rung",
    "n": "items",
    "median_us": "GPU time, median",
    "launched_us": "with the launch",
    "share": "share of the memory's rate",
    "library": "times as fast as the fastest library",
    "dram_percent": "memory",
    "l2_percent": "L2",
    "sm_percent": "SM",
}
WHOLE = ("work", "steps", "bytes", "launches", "messages", "barriers_passed", "registers")


def shown(record: dict, key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if key in ("name", "kernel") or (key == "case" and "`" not in value):
        star = " ★" * (key == "name" and record.get("kind") == "task")
        return f"*{value}*" if record.get("kind") in ("peer", "cpu") else f"`{value}`{star}"
    if key == "n":
        return measured.power(value)
    if isinstance(value, str):
        return value
    if key.endswith("_us"):
        return measured.time_of(value)
    if key.endswith("_percent"):
        return f"{value:.0f} %"
    if key in ("share", "active_lanes"):
        return f"{100 * value:.0f} %"
    if key == "library":
        return f"{value:.2f}×"
    if key in WHOLE:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def cell(record: dict, columns: list[str]) -> str:
    first, *more = [text for column in columns if (text := shown(record, column))] or [""]
    return f"{first} ({', '.join(more)})" if more else first


def rows(arguments: str, labcli: str) -> str:
    head, _, query = arguments.partition(":")
    source, *words = head.split()
    filters = {key: values.split(",") for key, values in (word.split("=") for word in words)}
    left, _, right = query.partition(" of ")
    (keys, across), columns = (part.split() for part in (left + " by ").split(" by ")[:2]), right.split()
    if source == "counts":
        (lab,), names, cases = filters["lab"], filters.get("name", []), filters.get("case", [])
        found = list(counted.records(lab, names, cases, labcli))
        heads = {column: counted.head(column, counted.labs(labcli)[lab]) for column in columns}
    else:
        found, heads = list(measured.records(source, labcli)), {}
        for key, wanted in filters.items():
            found = [r for r in found if any(fnmatch.fnmatchcase(str(r[key]), one) for one in wanted)]
    if not found:
        sys.exit(f"there are no rows {arguments}")
    lines: dict = {}
    for record in found:
        line = lines.setdefault(tuple(shown(record, key) for key in keys), {})
        if across:
            line[shown(record, across[0])] = cell(record, columns)
        else:
            line.update((column, shown(record, column)) for column in columns)
    titles = list(dict.fromkeys(title for line in lines.values() for title in line))
    body, above = [], ("",) * len(keys)
    for values, line in lines.items():
        # What the row above says, too, is left out, but for the last key.
        same = next(k for k in range(len(keys)) if k == len(keys) - 1 or values[k] != above[k])
        body.append([*[""] * same, *values[same:], *(line.get(title, "") for title in titles)])
        above = values

    def titled(name: str) -> str:
        plain = name.removesuffix("_us").removesuffix("_percent").replace("_", " ")
        return heads.get(name) or HEADS.get(name) or plain

    title = [*map(titled, keys), *(titles if across else map(titled, titles))]
    if source == "counts" and across:
        title[len(keys) - 1] = titled(columns[0])
    made = table(title, body, "l" * len(keys) + "r")
    if source == "counts":
        return made
    said = f"{found[0]['device']}, {measured.newest(source)['date']}"
    if across:
        first, *more = map(titled, columns)
        said += f": {first}" + (f" ({', '.join(more)})" if more else "")
    return f"{said}.\n\n{made}"


KINDS = (rows,)
