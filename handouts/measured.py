# SPDX-License-Identifier: MIT
"""Tables from the published run (handouts/results/, the newest file), for quotes.py:

    roof LAB          the roofs of the simulated chip: its arithmetic from its preset, the memory as the run measured it
    ceilings LAB      how fast the run's device copied and read, by size
    tops LABS         the labs' fastest rungs, beside the library and the memory's rate
    reached LABS      whether they reach what they were built for
    backwards LABS    the rungs that were slower than the one below, at the largest size
    trips LAB         how long the memory takes for an array that crosses it twice, three times, four times
    in_flight LAB     how many bytes must be under way to keep the memory busy
    predicted LAB     what the solution's comments predicted for its rungs, what the run measured, and why they differ
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


# A rung; the rung that it is compared with, or none for a time; log2 of the number of items; the prediction (of the comment above the rung in
# solutions/); the explanation.
MET = "about as predicted"
PREDICTIONS = {
    "radix_sort": [
        ("split", "", 24, "4 ms for these 16 bits", MET),
        ("tile_sort", "", 24, "0.5 ms", MET),
        ("merge", "", 24, "4 ms", "The prediction counts only bytes. In the launches that use shared memory, the limiter is instruction issue (according to the [model](model.md))."),
        ("merge_path", "merge", 24, "7×", "The prediction counts only bytes. According to the model, the limiter is latency; every block starts with binary searches, which are chains of dependent loads."),
        ("digits", "", 24, "0.8 ms", "a little faster than predicted"),
        ("onesweep", "digits", 24, "1.3×", "It moves fewer bytes, but the limiter is the ranking of the keys, which both rungs do in the same way. `onesweep` also needs time for the look-back."),
    ],
    "histogram": [
        ("global_atomics", "", 24, "0.2 to 0.5 ms", "The limiter is the rate of atomics in the L2 cache (according to the [model](model.md)). All multiprocessors increment the same 257 counts, which lie in only 65 sectors."),
        ("private_counts", "", 24, "0.4 ms", MET),
        ("shared_counts", "global_atomics", 24, "5× to 10×", "The rung is so much faster because global atomics are slower than predicted."),
        ("sort_reduce", "shared_counts", 24, "0.2× to 0.3×", "The limiter is the shared memory, in which the sort does 66 rounds; shared atomics cost less than predicted."),
        ("per_warp", "shared_counts", 24, "1.1×", "Atomics of different warps hardly disturb each other, as predicted."),
        ("run_lengths", "shared_counts", 24, "no prediction", "The gain probably comes from the 16-byte loads, because random samples have few runs."),
        ("combined", "shared_counts", 24, "3×", "Every block clears and merges 32 copies. They save little, because one instruction counts all lanes with the same address ([details](#contention))."),
    ],
    "sat": [
        ("serial", "", 26, "4.3 ms", "somewhat slower than predicted"),
        ("rows_columns", "", 26, "0.6 ms", "somewhat slower than predicted"),
        ("transpose", "rows_columns", 24, "faster", "There are only 4096 columns, too few threads to fill the device in `rows_columns`."),
        ("transpose", "rows_columns", 26, "slower", "It moves twice the bytes, and 8192 columns give `rows_columns` enough threads."),
        ("fused", "", 26, "0.35 ms, if the device were full", "The device is not full: the image has only 256 strips of rows, and each strip is a chain of tiles."),
        ("single_pass", "", 26, "0.5 ms", "about as predicted: the limiter is a chain of 255 tiles that wait for each other"),
        ("look_back", "", 26, "0.16 ms", "A tile does two look-backs, one after the other, and each step takes two round trips to the L2 cache."),
    ],
    "hierarchical_scan": [
        ("recursive", "", 24, "73 µs", "somewhat slower than predicted"),
        ("reduce_then_scan", "recursive", 24, "1.2×", MET),
        ("chained", "", 24, "8 ms", MET),
        ("look_back", "chained", 24, "10× to 20×", "Better than predicted, but slower than `recursive`: one thread looks back, with two dependent loads and a fence per step."),
        ("one_word", "look_back", 24, "3×", MET),
        ("warp_look_back", "one_word", 28, "2.2×", "Of this, 1.5× was expected from the 32 lanes, and 1.5× from the larger tiles. Each change alone was measured to give almost 1.5×; why they give less together is not known."),
        ("state_of_the_art", "", 28, "513 µs, the copy rate", "A stand-alone version of the kernel is faster; which of the differences is the reason is not known."),
    ],
}


def predicted(lab, _labcli):
    rows = ["| rung | compared with | items | predicted | measured | explanation |", "|---|---|--:|---|--:|---|"]
    for name, other, exponent, prediction, explanation in PREDICTIONS[lab]:
        size = next(s for s in published(lab)["sizes"] if s["n"] == 2**exponent)
        tables = [{r["name"]: r["median_us"] for r in t["rows"]} for t in size["tables"]]
        # A rung in several tables (several cases): the first. Rungs that are compared do the same work, if they are in the same table.
        times = next((t for t in tables if name in t and other in t), next(t for t in tables if name in t))
        if other:
            slower = times[other] if other in times else next(t[other] for t in tables if other in t)
            factor = slower / times[name]
            found = f"{factor:.2f}×" if factor < 1.05 else f"{factor:.1f}×" if factor < 10 else f"{factor:.0f}×"
        else:
            found = time_of(times[name])
        against = f"`{other}`" if other else "time"
        rows.append(f"| `{name}` | {against} | 2^{exponent} | {prediction} | {found} | {explanation} |")
    return "\n".join(rows) + "\n"


KINDS = (roof, ceilings, tops, reached, backwards, trips, in_flight, predicted)
