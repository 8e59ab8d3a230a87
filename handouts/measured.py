# SPDX-License-Identifier: MIT
"""Tables from the published run (handouts/results/, the newest file), for quotes.py:

    roof LAB          the roofs of the simulated chip: its arithmetic from its preset, the memory as the run measured it
    ceilings LAB      how fast the run's device copied and read, by size
    tops LABS         the labs' fastest rungs, beside the library and the memory's rate
    reached LABS      whether they reach what they were built for
    backwards LABS    the rungs that were slower than the one below, at the largest size
    trips LAB         how long the memory takes for an array that crosses it twice, three times, four times
    in_flight LAB     how many bytes must be under way to keep the memory busy
"""

import json
import pathlib
import re

import counted

ROOT = pathlib.Path(__file__).resolve().parent.parent


def published(lab):
    """What the newest published run measured of a lab, and its date."""
    runs = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "handouts/results").glob("*.json"))]
    run = max(runs, key=lambda r: r["date"])
    return {**next(entry for entry in run["labs"] if entry["lab"] == lab), "date": run["date"]}


def ceilings(lab, _labcli):
    measured = published(lab)
    rows = [f"{measured['device']}, {measured['date']}, in the run of {lab}. Medians of {measured['sizes'][0]['ceilings']['copy']['runs']} runs.", ""]
    rows += ["| bytes of the array | plain copy (read and write) | plain read |", "|--:|--:|--:|"]
    for size in measured["sizes"]:
        c = size["ceilings"]
        rate = {k: f"{c[k]['gb_per_s'] / 1000:.2f} TB/s" for k in ("copy", "read")}
        rows.append(f"| 2^{c['bytes'].bit_length() - 1} | {rate['copy']} | {rate['read']} |")
    return "\n".join(rows) + "\n"


def roof(lab, _labcli):
    preset = (ROOT / "common/sim/types.hpp").read_text(encoding="utf-8")
    sms = int(re.search(r"int multiprocessors = (\d+);", preset)[1])
    ghz = float(re.search(r"double clock_ghz = ([\d.]+);", preset)[1])
    lanes = 64  # 32-bit integer additions a clock and multiprocessor: CUDA C++ Programming Guide, arithmetic throughput, 9.0
    additions = sms * lanes * ghz * 1e9
    sizes = published(lab)["sizes"]
    bytes_a_second = max(size["ceilings"]["copy"]["gb_per_s"] for size in sizes) * 1e9
    intensity = 0.25  # a sum of 4-byte items: an addition for each
    return f"""| roof | comes from | |
|---|---|--:|
| integer additions | {sms} multiprocessors · {lanes} lanes · {ghz} GHz | {additions / 1e12:.1f}·10¹² a second |
| memory | the fastest plain copy of the published run | {bytes_a_second / 1e12:.1f}·10¹² bytes a second |
| ridge | where the two meet | {additions / bytes_a_second:.1f} operations a byte |
| a sum of 4-byte items | {intensity} operations a byte × memory | {intensity * bytes_a_second / 1e12:.1f}·10¹² additions a second |
"""


def time_of(microseconds):
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def tops(labs, _labcli):
    """A row for each table of the published run that holds a lab's top rung and one of a library."""
    device = published(labs.split()[0])
    rows = [f"{device['device']}, {device['date']}: median times of {device['sizes'][0]['ceilings']['copy']['runs']} runs.", ""]
    rows += ["| lab, case | items | top rung | library | times as fast | of the memory's rate |", "|---|--:|--:|--:|--:|--:|"]
    for lab in labs.split():
        for size in published(lab)["sizes"]:
            for table in size["tables"]:
                top = [r for r in table["rows"] if r["name"] == "state_of_the_art"]
                peer = [r for r in table["rows"] if r["kind"] == "peer"]
                if not top or not peer:
                    continue
                # As `./lab bench` does it: what is hardly written is compared with reading.
                ceiling = size["ceilings"]["read" if table["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"] else "copy"]
                case = re.sub(r"_n\d+|_bench\d+", "", table["case"])
                times = top[0]["median_us"], peer[0]["median_us"]
                rows.append(
                    f"| {lab} `{case}` | 2^{size['n'].bit_length() - 1} | {time_of(times[0])} | {time_of(times[1])} "
                    f"| {times[1] / times[0]:.2f} | {100 * top[0]['gb_per_s'] / ceiling['gb_per_s']:.0f} % |"
                )
    return "\n".join(rows) + "\n"


def backwards(labs, labcli):
    rows = ["| lab, case | items | rung | slower than the one below it |", "|---|--:|---|---|"]
    for lab in labs.split():
        order = counted.ladder(lab, labcli)
        size = published(lab)["sizes"][-1]
        for table in size["tables"]:
            case = re.sub(r"_n\d+|_bench\d+", "", table["case"])
            rungs = sorted((r for r in table["rows"] if r["kind"] == "rung"), key=lambda r: order.index(r["name"]))
            for below, rung in zip(rungs, rungs[1:]):
                if rung["median_us"] > below["median_us"]:
                    rows.append(
                        f"| {lab} `{case}` | 2^{size['n'].bit_length() - 1} | `{rung['name']}`, {time_of(rung['median_us'])} "
                        f"| `{below['name']}`, {time_of(below['median_us'])} |"
                    )
    return "\n".join(rows) + "\n"


# What the top rungs were built for: a share of a rate, or times as fast as the library; at these sizes; case.
GOALS = [
    ("reduction", "read", 0.99, [28], ""),
    ("reduction", "library", 1.1, [20, 24], ""),
    ("scan", "copy", 0.85, [28], ""),
    ("compaction", "copy", 0.85, [28], ""),
    ("histogram", "read", 0.85, [28], "b256_"),
    ("histogram", "read", 0.80, [28], "b4096_"),
    ("histogram", "library", 5, [28], "b65536_"),
    ("hierarchical_scan", "copy", 0.85, [24, 28], ""),
]


def reached(_arguments, _labcli):
    rows = ["| lab | goal | at | reached |", "|---|---|--:|---|"]
    for lab, what, goal, sizes, case in GOALS:
        for size in published(lab)["sizes"]:
            exponent = size["n"].bit_length() - 1
            for table in size["tables"]:
                top = [r for r in table["rows"] if r["name"] == "state_of_the_art"]
                if not top or exponent not in sizes or case not in table["case"]:
                    continue
                if what == "library":
                    peer = next(r for r in table["rows"] if r["kind"] == "peer")
                    value = peer["median_us"] / top[0]["median_us"]
                    wanted, found = f"{goal:g} times as fast as the library", f"{value:.2f}"
                else:
                    value = top[0]["gb_per_s"] / size["ceilings"][what]["gb_per_s"]
                    rate = {"read": "reading", "copy": "copying"}[what]
                    wanted, found = f"{100 * goal:.0f} % of the rate of {rate}", f"{100 * value:.1f} %"
                bins = f", {case[1:-1]} bins" if case else ""
                rows.append(f"| {lab}{bins} | {wanted} | 2^{exponent} | {'yes' if value >= goal else 'no'}: {found} |")
    return "\n".join(rows) + "\n"


def rate_of(lab, what):
    return max(size["ceilings"][what]["gb_per_s"] for size in published(lab)["sizes"])


def trips(lab, _labcli):
    """What n items cost that cross the bus in whole passes: 2^24 of 4 bytes."""
    rate, n_bytes = rate_of(lab, "copy"), 4 * 2**24
    ways = [
        ("*scan, then propagate*", "read item, write local prefix", "read local prefix, write prefix", 4),
        ("*reduce, then scan*", "read item", "read item, write prefix", 3),
        ("*single pass*", "read item, write prefix", "", 2),
    ]
    rows = [f"| | first pass | last pass | together | 2²⁴ int32 at {rate / 1000:.2f} TB/s |", "|---|---|---|---|--:|"]
    rows += [f"| {way} | {first} | {last} | **{k}n** | {k * n_bytes / rate / 1000:.0f} µs |" for way, first, last, k in ways]
    return "\n".join(rows).replace("|  |", "| |") + "\n"


def in_flight(lab, _labcli):
    timing = (ROOT / "common/sim/chips/timing_h200.inc").read_text(encoding="utf-8")
    preset = (ROOT / "common/sim/types.hpp").read_text(encoding="utf-8")
    clocks = float(re.search(r"memory_latency = ([\d.]+)", timing)[1])
    ghz = float(re.search(r"double clock_ghz = ([\d.]+);", preset)[1])
    sms = int(re.search(r"int multiprocessors = (\d+);", preset)[1])
    rate, wait = rate_of(lab, "read") * 1e9, clocks / ghz * 1e-9
    return f"""| bytes in flight | from | |
|---|---|--:|
| bandwidth | the fastest plain read of the published run | {rate / 1e12:.2f} TB/s |
| × latency | a chain of reads, one after the other, in a memory that is otherwise idle | {wait * 1e9:.0f} ns |
| = for the whole device | at the least: under load the latency is longer | {rate * wait / 1e6:.1f} MB |
| = for each of {sms} multiprocessors | | {rate * wait / sms / 1e3:.0f} KB |
"""


KINDS = (roof, ceilings, tops, reached, backwards, trips, in_flight)
