# SPDX-License-Identifier: MIT
"""The published runs (handouts/results/): records for rows.py, and functions for charts.py."""

import functools
import json
import pathlib
import re
from collections.abc import Iterator

import counted

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = "state_of_the_art"
# What a table's rungs compute, by its first rung, where the name of the case does not say it.
ABOUT = {
    "segmented": "rows with segments",
    "tile_sort": "sorts each tile of 1,024 keys, not the whole array",
    "merge": "merges sorted tiles",
    "digits": "sorts the whole array",
    "any_key": "floats with values",
}


@functools.lru_cache
def newest(source: str) -> dict:
    """The newest run on a device: "h200", or "curve/h200" in a folder of its own. Its file is named by date and
    device."""
    folder, _, device = source.rpartition("/")
    path = max((ROOT / "handouts/results" / folder).glob(f"*-{device}.json"))
    return {"date": path.stem[:10], **json.loads(path.read_text(encoding="utf-8"))}


def published(lab: str, device: str = "h200") -> dict:
    """What the newest run measured of a lab, and its date."""
    run = newest(device)
    return {**next(entry for entry in run["labs"] if entry["lab"] == lab), "date": run["date"]}


def time_of(microseconds: float) -> str:
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def power(value: int) -> str:
    """A power of two, as 2²⁸."""
    return "2" + str(value.bit_length() - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def of_kind(rows: dict, kind: str) -> list[dict]:
    return [row for row in rows["rows"] if row["kind"] == kind]


def case_of(measured: dict) -> str:
    return re.sub(r"_n\d+|_bench\d+|_\d+x\d+", "", measured["case"])


def ceiling_of(size: dict, measured: dict) -> float:
    """The memory's rate in GB/s, by a copy; what is hardly written is compared with reading."""
    reading = measured["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"]
    return size["ceilings"]["read" if reading else "copy"]["gb_per_s"]


def simulated(labcli: str) -> dict:
    """The chip that is simulated by default."""
    return counted.catalogue(labcli)["chips"]["h200"]


def rate_of(lab: str, what: str) -> float:
    return max(size["ceilings"][what]["gb_per_s"] for size in published(lab)["sizes"])


def times_of(entry: dict, order: list[str]) -> Iterator[dict]:
    """The rows of a lab's tables at all sizes, rungs in this order: each with the share of the memory's rate
    that it reaches, and how many times as fast as the fastest library it is."""
    for size in entry["sizes"]:
        for one in sorted(size["tables"], key=lambda one: order.index(one["rows"][0]["name"])):
            about = ABOUT.get(one["rows"][0]["name"])
            case = f"`{case_of(one)}`" + (f": {about}" if about else "")
            best = min((row["median_us"] for row in of_kind(one, "peer") if row["right"]), default=None)
            rungs = sorted(of_kind(one, "rung"), key=lambda row: order.index(row["name"]))
            for row in [*rungs, *of_kind(one, "peer"), *of_kind(one, "cpu")]:
                share = 1e-3 * one["ideal_bytes"] / row["median_us"] / ceiling_of(size, one)
                library = best / row["median_us"] if best and row["kind"] == "rung" else None
                more = {"lab": entry["lab"], "n": size["n"], "case": case, "share": share, "library": library}
                yield row | more


def records(source: str, labcli: str) -> Iterator[dict]:
    run = newest(source)
    for entry in run.get("labs", []):
        order = counted.ladder(entry["lab"], labcli)
        yield from ({"device": entry["device"], **row} for row in times_of(entry, order))
    for row in run.get("kernels", []):
        yield {"device": run["device"], **row}
