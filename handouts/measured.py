# SPDX-License-Identifier: MIT
"""Tables from the published runs (handouts/results/, the newest one on a device), for quotes.py:

roof LAB          the roofs of the simulated chip: its arithmetic from its preset, the memory as the run measured it
ceilings LAB      how fast the run's device copied and read, by size
tops DEVICE LABS  the labs' fastest rungs, compared with the library and the memory's rate
curve DEVICE LABS the top rungs' times by size, and the best library's times divided by them
kinds DEVICE LABS the top rungs compared with the libraries on every kind of input that the grader tests
frameworks DEVICE the top rungs compared with PyTorch, CuPy and NPP
foreign DEVICE    the times of kernels that are not the course's, measured and modelled
reached DEVICES   whether they reach what they were built for
backwards LABS    the rungs that were slower than the one below, at the largest size
trips LAB         how long the memory takes for an array that crosses it twice, three times, four times
in_flight LAB     how many bytes must be in flight to keep the memory busy
times LAB         the times of every rung in the order of the ladder, of the library and the CPU: a table for each kind of input
rivals LAB        lab 2's two algorithms: what the simulator counts, and what the run measured
by_sorting LAB    counting in shared memory, and the sort that reduce-by-key needs before it can begin
divergence DEVICE         lessons: one kernel with 1 to 32 paths in a warp
shared_atomics DEVICE     lessons: additions in shared memory, by the number of addresses in a warp
contention DEVICE BINS    lessons: every rung of the histogram lab, by the share of equal samples
predicted LAB     what was predicted for the rungs, what the run measured, and why they differ
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys

import counted

ROOT = pathlib.Path(__file__).resolve().parent.parent


def runs_of(device):
    """All published runs on a device, the newest first. The files are named by date, then by device."""
    files = sorted((ROOT / "handouts/results").glob(f"*-{device}.json"), reverse=True)
    return [json.loads(p.read_text(encoding="utf-8")) for p in files]


def kind_of(case):
    """The name of a case without its size."""
    return re.sub(r"_n\d+|_bench\d+|_\d+x\d+", "", case)


def published(lab, device="h200"):
    """What the newest published run measured of a lab, and its date."""
    run = runs_of(device)[0]
    mhz = max(entry.get("clocks", {}).get("while_measuring_mhz", 0) for entry in run["labs"])
    return {**next(entry for entry in run["labs"] if entry["lab"] == lab), "date": run["date"], "mhz": mhz}


def measured_at(lab, n):
    """What the newest published run measured for n items."""
    return next(size for size in published(lab)["sizes"] if size["n"] == n)


def compared_at(lab, name, other, n):
    """The newest run's time of a rung for n items, and that of the rung that it is compared with, if one is given."""
    tables = [{row["name"]: row["median_us"] for row in t["rows"]} for t in measured_at(lab, n)["tables"]]
    # A rung in several tables (several cases): the first. Rungs that are compared do the same work, if they are in the same table.
    times = next((t for t in tables if name in t and other in t), next(t for t in tables if name in t))
    slower = times[other] if other in times else next((t[other] for t in tables if other in t), None)
    return times[name], slower


def result_of(lab, name, other, exponent):
    """What the newest run measured for a prediction: a factor or a time."""
    time, slower = compared_at(lab, name, other, 2**exponent)
    if slower is None:
        return time_of(time)
    factor = slower / time
    return f"{factor:.2f}×" if factor < 1.05 else f"{factor:.1f}×" if factor < 10 else f"{factor:.0f}×"


def ceilings(lab, _labcli):
    measured = published(lab)
    runs = measured["sizes"][0]["ceilings"]["copy"]["runs"]
    rows = [
        f"Rates of an {measured['device']}, measured on {measured['date']} together with lab {lab}. GPU time: medians of {runs} runs.",
        "",
    ]
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
    return f"""| quantity | computed from | value |
|---|---|--:|
| rate of 32-bit integer additions | {sms} multiprocessors · {lanes} additions per cycle · {ghz} GHz | {additions / 1e12:.1f}·10¹² per second |
| memory bandwidth | the fastest plain copy of the published run | {bytes_a_second / 1e12:.1f}·10¹² bytes per second |
| ridge point | rate of additions ÷ bandwidth | {additions / bytes_a_second:.1f} operations per byte |
| highest rate for a sum of 4-byte items | {intensity} operations per byte × bandwidth | {intensity * bytes_a_second / 1e12:.1f}·10¹² additions per second |
"""


def time_of(microseconds):
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def both_times(row):
    """ "7.6 (10.8) µs": the GPU's time, and with the launch where that was measured."""
    launched = row.get("launched_us")
    if launched is None:
        return time_of(row["median_us"])
    if row["median_us"] < 1000:
        return f"{row['median_us']:.1f} ({launched:.1f}) µs"
    return f"{row['median_us'] / 1000:.2f} ({launched / 1000:.2f}) ms"


def libraries_of(table, versions):
    """The fastest right row of each library version, None where it has none: the toolkit's, then a newer one's."""
    newer = (
        tuple(f"{name} {versions[1].rsplit('.', 1)[0]} " for name in ("CUB", "Thrust"))
        if len(versions) > 1
        else ()
    )
    right = [r for r in table["rows"] if r["kind"] == "peer" and r["right"]]
    groups = [[r for r in right if not (newer and r["name"].startswith(newer))]]
    if newer:
        groups.append([r for r in right if r["name"].startswith(newer)])
    return [min(group, key=lambda r: r["median_us"], default=None) for group in groups]


def tops(arguments, _labcli):
    """A row for each table of a device's published run that holds a lab's top rung: the device, then labs."""
    name, *labs = arguments.split()
    device = published(labs[0], name)
    versions = next((entry["cccl"] for entry in runs_of(name)[0]["labs"] if entry.get("cccl")), [])
    heads = [f"CUB {v.rsplit('.', 1)[0]}" for v in versions] or ["library"]
    has_launch = any("launched_us" in r for s in device["sizes"] for t in s["tables"] for r in t["rows"])
    what = (
        "in parentheses the time with the launch"
        if has_launch
        else "without the time that the host takes to launch"
    )
    ratios = (
        ["faster library ÷ top rung", "with the launch"] if has_launch else ["library's time ÷ top rung's"]
    )
    rows = [
        f"{device['device']}, {device['date']}: the GPU's time, {what}. Medians of as many runs as it takes for a 95 % confidence interval of 1 %, at most 200 runs or 2 seconds.",
        "",
        f"| lab, case | items | top rung | {' | '.join(heads + ratios)} | share of the memory's rate |",
        f"|---|--:|--:|{'--:|' * len(heads + ratios)}--:|",
    ]
    for lab in labs:
        for size in published(lab, name)["sizes"]:
            for table in size["tables"]:
                top = next((r for r in table["rows"] if r["name"] == "state_of_the_art"), None)
                if not top:
                    continue
                # As `./lab bench` does it: what is hardly written is compared with reading.
                is_read = table["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"]
                ceiling = size["ceilings"]["read" if is_read else "copy"]
                libraries = libraries_of(table, versions)
                cells = [both_times(row) if row else "–" for row in libraries]
                for key in ("median_us", "launched_us")[: len(ratios)]:
                    best = min((row[key] for row in libraries if row), default=None)
                    cells.append(f"{best / top[key]:.2f}" if best else "–")
                rows.append(
                    f"| {lab} `{kind_of(table['case'])}` | {power(size['n'])} | {both_times(top)} | {' | '.join(cells)} "
                    f"| {100 * top['gb_per_s'] / ceiling['gb_per_s']:.0f} % |"
                )
    return "\n".join(rows) + "\n"


def of_top_rungs(folder, device):
    """The newest published run of the top rungs alone."""
    return json.loads(
        max((ROOT / "handouts/results" / folder).glob(f"*-{device}.json")).read_text(encoding="utf-8")
    )


def compared(run, lab):
    """What a run of the top rungs measured of a lab: for each table its size, case, top rung and libraries'
    rows."""
    for size in next(entry for entry in run["labs"] if entry["lab"] == lab)["sizes"]:
        for table in size["tables"]:
            rows = {kind: [r for r in table["rows"] if r["kind"] == kind] for kind in ("rung", "peer")}
            if rows["rung"]:
                yield size["n"], kind_of(table["case"]), rows["rung"][0], rows["peer"]


def foreign(device, _labcli):
    folder = ROOT / "common/sim/calibration"
    files = [
        folder / "data" / name
        for name in (
            f"foreign_{device}.json",
            f"foreign_{device}_modelled.json",
            f"foreign_profiler_{device}.json",
        )
    ]
    return subprocess.run(
        [sys.executable, folder / "foreign/compare.py", *files], check=True, capture_output=True, text=True
    ).stdout


def power(n):
    return f"2^{n.bit_length() - 1}"


def curve(arguments, _labcli):
    device, *labs = arguments.split()
    run, found = of_top_rungs("curve", device), {}
    for lab in labs:
        for n, case, top, peers in compared(run, lab):
            best = min((r["median_us"] for r in peers if r["right"]), default=None)
            ratio = f" ({best / top['median_us']:.2f})" if best else ""
            found.setdefault((lab, case), {})[n] = time_of(top["median_us"]) + ratio
    sizes = sorted({n for row in found.values() for n in row})
    rows = [
        f"{run['labs'][0]['device']}, {run['date']}: the top rung's time, and in parentheses the faster library's time divided by it.",
        "",
    ]
    rows += ["| lab, case | " + " | ".join(power(n) for n in sizes) + " |", "|---|" + "--:|" * len(sizes)]
    rows += [
        f"| {lab} `{case}` | " + " | ".join(row.get(n, "–") for n in sizes) + " |"
        for (lab, case), row in found.items()
    ]
    return "\n".join(rows) + "\n"


def kinds(arguments, _labcli):
    device, *labs = arguments.split()
    run, rows, slower = of_top_rungs("kinds", device), [], []
    for lab in labs:
        ratios, others = [], 0
        for n, case, top, peers in compared(run, lab):
            right = [r["median_us"] for r in peers if r["right"]]
            others += not right
            if right:
                ratios.append(min(right) / top["median_us"])
                if ratios[-1] < 0.995:
                    slower.append(
                        f"| {lab} `{case}` | {power(n)} | {time_of(top['median_us'])} | {time_of(min(right))} |"
                    )
        ratios.sort()
        spread = [f"{ratios[k]:.2f}" for k in (0, len(ratios) // 2, -1)] if ratios else ["–"] * 3
        rows.append(f"| {lab} | {len(ratios)} | {' | '.join(spread)} | {others} |")
    head = [
        "| lab | compared | lowest ratio | median | highest | without a comparison |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    again = [
        "",
        "The library is faster here:",
        "",
        "| lab, kind of input | items | top rung | library |",
        "|---|--:|--:|--:|",
    ]
    return (
        "\n".join(
            [
                f"{run['labs'][0]['device']}, {run['date']}: the library's time divided by the top rung's, at 2^16 and 2^22 items.",
                "",
                *head,
                *rows,
                *again,
                *slower,
            ]
        )
        + "\n"
    )


def frameworks(device, _labcli):
    run = of_top_rungs("frameworks", device)
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    rows = [
        f"{run['labs'][0]['device']}, {run['date']}, {versions}: time of the library divided by that of the top rung. *: contains time of the host, because the call waits for the size of its result.",
        "",
    ]
    found, sizes = {}, sorted({size["n"] for size in run["labs"][0]["sizes"]})
    for entry in run["labs"]:
        for n, case, top, peers in compared(run, entry["lab"]):
            for peer in peers:
                if peer["name"].startswith(("PyTorch", "CuPy", "NPP")) and peer["right"]:
                    library, call = peer["name"].split(" ", 1)
                    found.setdefault((entry["lab"], case, library, call), {})[n] = (
                        f"{peer['median_us'] / top['median_us']:.1f}{'*' if peer['waits'] else ''}"
                    )
    rows += [
        "| lab, case | library | call | " + " | ".join(power(n) for n in sizes) + " |",
        "|---|---|---|" + "--:|" * len(sizes),
    ]
    rows += [
        f"| {lab} `{case}` | {library} | {call} | " + " | ".join(by.get(n, "–") for n in sizes) + " |"
        for (lab, case, library, call), by in found.items()
    ]
    return "\n".join(rows) + "\n"


# What a table's rungs compute, by its first rung, where the name of the case does not say it.
ABOUT = {
    "segmented": "rows with segments",
    "tile_sort": "sorts each tile of 1,024 keys, not the whole array",
    "merge": "merges sorted tiles",
    "digits": "sorts the whole array",
    "any_key": "floats with values",
}
# A task that takes two rungs, in the table of the rung that does it alone: the name of each in ABOUT.
TOGETHER = {"radix_sort": ("digits", [("tile_sort", "merge"), ("tile_sort", "merge_path")])}


def tables_of(lab, labcli):
    """The published tables, in the order of the ladder: the case, and each row's name, kind and entry by
    number of items."""
    order, found = counted.ladder(lab, labcli), {}
    for size in published(lab)["sizes"]:
        for table in size["tables"]:
            case = kind_of(table["case"])
            first = next(r["name"] for r in table["rows"] if r["kind"] == "rung")
            # A table is known by a rung that it has at every size: some rungs are measured with few items
            # only.
            key = next(
                (
                    k
                    for k in found
                    if k[0] == case
                    and any((r["name"], r["kind"]) in found[k] for r in table["rows"] if r["kind"] == "rung")
                ),
                (case, first),
            )
            reading = table["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"]
            rate = size["ceilings"]["read" if reading else "copy"]["gb_per_s"]
            for row in table["rows"]:
                bytes_a_us = 1e-3 * table["ideal_bytes"] / row["median_us"]
                found.setdefault(key, {}).setdefault((row["name"], row["kind"]), {})[size["n"]] = (
                    row["median_us"],
                    bytes_a_us / rate,
                )

    def place(row):
        return (
            ["rung", "peer", "cpu"].index(row[1]),
            order.index(row[0]) if row[1] == "rung" else 0,
        )

    tables = [
        (case, dict(sorted(rows.items(), key=lambda item: place(item[0]))))
        for (case, _), rows in found.items()
    ]
    return sorted(tables, key=lambda table: order.index(next(iter(table[1]))[0]))


def version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


# Labs whose top rung has become faster since the newest run on an H200.
RENEWED = {"histogram", "sat"}


def times(lab, labcli):
    run = published(lab)
    sizes = [size["n"] for size in run["sizes"]]
    text = [
        f"{run['device']}, driver for CUDA {version(run['driver'])}, toolkit {version(run['runtime'])}, {run['mhz']:.0f} MHz, {run['date']}. "
        "GPU time: the median, from the start of the first kernel to the end of the last one, without the time of the launch call. In brackets: the share of the memory's rate, measured in the same run with a plain copy, or with a plain read if almost nothing is written."
        + (" The kernel of `state_of_the_art` has become faster since this run." if lab in RENEWED else "")
        + "\n"
    ]
    tables = tables_of(lab, labcli)
    alone = {name: entries for _, rows in tables for (name, kind), entries in rows.items() if kind == "rung"}
    for case, rows in tables:
        first = next(iter(rows))[0]
        library = min(
            (entries[sizes[-1]][0] for (_, kind), entries in rows.items() if kind == "peer"), default=None
        )
        head = [f"2^{n.bit_length() - 1}" for n in sizes] + (
            [f"against the library at 2^{sizes[-1].bit_length() - 1}"] if library else []
        )
        text += [
            f"`{case}`" + (f": {ABOUT[first]}" if first in ABOUT else "") + "\n",
            f"| | {' | '.join(head)} |",
            "|---|" + "--:|" * len(head),
        ]

        def cells(entries, kind, library=library):
            for n in sizes:
                time, share = entries.get(n, (None, None))
                yield (
                    ""
                    if time is None
                    else time_of(time)
                    if kind in ("cpu", "sum")
                    else f"{time_of(time)} ({100 * share:.0f} %)"
                )
            if library:
                yield (
                    f"{library / entries[sizes[-1]][0]:.2f}×"
                    if kind in ("rung", "sum") and sizes[-1] in entries
                    else ""
                )

        sums = []
        if TOGETHER.get(lab, ("",))[0] == first:
            for parts in TOGETHER[lab][1]:
                added = {n: (sum(alone[part][n][0] for part in parts), 0) for n in sizes}
                sums.append((" + ".join(f"`{part}`" for part in parts), "sum", added))
        named = [
            (f"`{name}`" if kind == "rung" else f"*{name}*", kind, entries)
            for (name, kind), entries in rows.items()
        ]
        text += [
            f"| {name} | {' | '.join(cells(entries, kind))} |".replace("|  |", "| |").replace("|  |", "| |")
            for name, kind, entries in sums + named
        ]
        text.append("")
    return "\n".join(text).rstrip() + "\n"


def rivals(lab, labcli):
    tables = {
        name: entries
        for _, rows in tables_of(lab, labcli)
        for (name, kind), entries in rows.items()
        if kind == "rung"
    }
    sizes = sorted(tables["hillis_steele"])
    rows = ["| rows of 1,024 items | `hillis_steele` | `blelloch` |", "|---|--:|--:|"]
    counts = [counted.profile(labcli, lab, rung) for rung in ("hillis_steele", "blelloch")]
    rows.append(
        "| operations ÷ those of the loop (counted) | "
        + " | ".join(counted.figure(c, "work_ratio") for c in counts)
        + " |"
    )
    rows.append(
        "| active lanes (counted) | " + " | ".join(f"{100 * c['active_lanes']:.0f} %" for c in counts) + " |"
    )
    rows.append(
        "| barriers per 1,000 operations of the loop (counted) | "
        + " | ".join(counted.figure(c, "barriers") for c in counts)
        + " |"
    )
    for n in sizes:
        rows.append(
            f"| time for 2^{n.bit_length() - 1} items (measured) | "
            + " | ".join(time_of(tables[r][n][0]) for r in ("hillis_steele", "blelloch"))
            + " |"
        )
    return "\n".join(rows) + "\n"


def by_sorting(_lab, labcli):
    """Reduce-by-key over a whole array begins with a sort of all bins."""
    counting = {
        name: entries
        for name_of_case, rows in tables_of("histogram", labcli)
        if "b256_" in name_of_case
        for (name, _), entries in rows.items()
    }
    many = {
        name: entries
        for name_of_case, rows in tables_of("histogram", labcli)
        if "b65536_" in name_of_case
        for (name, _), entries in rows.items()
    }
    sorting = next(
        {name: entries for (name, kind), entries in rows.items() if kind == "peer"}
        for case, rows in tables_of("radix_sort", labcli)
        if "bits0to16" in case
    )
    (library, sorted_times), *_ = sorting.items()
    sizes = sorted(sorted_times)
    lines = [
        ("sort of 16-bit keys alone, *" + library + "*", sorted_times),
        ("whole histogram, 256 bins, `sort_reduce` (tile by tile)", counting["sort_reduce"]),
        ("whole histogram, 256 bins, `shared_counts`", counting["shared_counts"]),
        ("whole histogram, 65,536 bins, `state_of_the_art` as it was then", many["state_of_the_art"]),
    ]
    rows = [
        "| | " + " | ".join(f"2^{n.bit_length() - 1}" for n in sizes) + " |",
        "|---|" + "--:|" * len(sizes),
    ]
    rows += [
        f"| {name} | " + " | ".join(time_of(entries[n][0]) for n in sizes) + " |" for name, entries in lines
    ]
    return "\n".join(rows) + "\n"


def backwards(labs, labcli):
    rows = ["| lab, case | items | slower rung | rung below it |", "|---|--:|---|---|"]
    for lab in labs.split():
        order = counted.ladder(lab, labcli)
        size = published(lab)["sizes"][-1]
        for table in size["tables"]:
            case = kind_of(table["case"])
            rungs = sorted(
                (r for r in table["rows"] if r["kind"] == "rung"), key=lambda r: order.index(r["name"])
            )
            for below, rung in itertools.pairwise(rungs):
                if rung["median_us"] > below["median_us"]:
                    rows.append(
                        f"| {lab} `{case}` | 2^{size['n'].bit_length() - 1} | `{rung['name']}`, {time_of(rung['median_us'])} "
                        f"| `{below['name']}`, {time_of(below['median_us'])} |"
                    )
    return "\n".join(rows) + "\n"


# What the top rungs were built for: a share of a rate, times as fast as the library, or 10⁹ items a second;
# at these sizes; case.
GOALS = [
    ("reduction", "read", 0.99, [28], ""),
    ("reduction", "library", 1.1, [20, 24], ""),
    ("scan", "copy", 0.99, [28], ""),
    ("compaction", "copy", 0.60, [20], ""),
    ("compaction", "copy", 0.75, [24], ""),
    ("compaction", "copy", 0.88, [28], ""),
    ("radix_sort", "items", 40, [28], "pairs_f32"),
    ("histogram", "read", 0.97, [28], "b256_"),
    ("histogram", "read", 0.95, [28], "b4096_"),
    ("histogram", "read", 0.60, [28], "b65536_"),
    ("sat", "copy", 0.90, [28], ""),
    ("hierarchical_scan", "copy", 0.75, [20], ""),
    ("hierarchical_scan", "copy", 0.88, [24], ""),
    ("hierarchical_scan", "copy", 0.94, [28], ""),
]


def reached(devices, _labcli):
    devices = devices.split()
    names = [
        f"{published('reduction', device)['device'].split()[1]}, {published('reduction', device)['date']}"
        for device in devices
    ]
    rows = ["| lab | goal | at | " + " | ".join(names) + " |", "|---|---|--:|" + "---|" * len(names)]
    for lab, what, goal, sizes, case in GOALS:
        for exponent in sizes:
            cells = []
            for device in devices:
                size = next(s for s in published(lab, device)["sizes"] if s["n"] == 2**exponent)
                for table in size["tables"]:
                    top = [r for r in table["rows"] if r["name"] == "state_of_the_art"]
                    if not top or case not in table["case"]:
                        continue
                    us = top[0]["median_us"]
                    if what == "library":
                        value = next(r for r in table["rows"] if r["kind"] == "peer")["median_us"] / us
                        wanted, found = f"{goal:g} times as fast as the library", f"{value:.2f}"
                    elif what == "items":
                        value = size["n"] / us / 1000
                        wanted, found = f"{goal} · 10⁹ items per second", f"{value:.1f}"
                    else:
                        value = top[0]["gb_per_s"] / size["ceilings"][what]["gb_per_s"]
                        rate = {"read": "reading", "copy": "copying"}[what]
                        wanted, found = f"{100 * goal:.0f} % of the rate of {rate}", f"{100 * value:.1f} %"
                    cells.append(f"{'yes' if value >= goal else 'no'}: {found}")
            name = {"b": f", {case[1:-1]} bins", "p": ", pairs"}.get(case[:1], "")
            rows.append(f"| {lab}{name} | {wanted} | 2^{exponent} | {' | '.join(cells)} |")
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
    rows = [
        f"| | first pass | last pass | together | 2²⁴ int32 at {rate / 1000:.2f} TB/s |",
        "|---|---|---|---|--:|",
    ]
    rows += [
        f"| {way} | {first} | {last} | **{k}n** | {k * n_bytes / rate / 1000:.0f} µs |"
        for way, first, last, k in ways
    ]
    return "\n".join(rows).replace("|  |", "| |") + "\n"


def in_flight(lab, _labcli):
    timing = (ROOT / "common/sim/chips/timing_h200.inc").read_text(encoding="utf-8")
    preset = (ROOT / "common/sim/types.hpp").read_text(encoding="utf-8")
    clocks = float(re.search(r"memory_latency = ([\d.]+)", timing)[1])
    ghz = float(re.search(r"double clock_ghz = ([\d.]+);", preset)[1])
    sms = int(re.search(r"int multiprocessors = (\d+);", preset)[1])
    rate, wait = rate_of(lab, "read") * 1e9, clocks / ghz * 1e-9
    return f"""| quantity | computed from | value |
|---|---|--:|
| bandwidth | the fastest plain read of the published run | {rate / 1e12:.2f} TB/s |
| latency of an idle memory | a chain of dependent reads, and no other accesses | {wait * 1e9:.0f} ns |
| bytes in flight, whole device | bandwidth × latency | {rate * wait / 1e6:.1f} MB |
| bytes in flight, each of {sms} multiprocessors | the same ÷ {sms} | {rate * wait / sms / 1e3:.0f} KB |
"""


# A rung; the rung that it is compared with, or none for a time; log2 of the number of items; the prediction; the
# explanation. comments.py writes them above the rungs in solutions/.
MET = "about as predicted"
PREDICTIONS = {
    "reduction": [
        (
            "reindexed",
            "neighboured",
            24,
            "1.5×",
            "The prediction ignored bank conflicts. In the eight rounds the lanes access shared memory with strides of 2, 4, 8, … 256 words, so that up to 2, 4, 8, 8, 8, 4, 2 and 1 lanes use the same bank. On this GPU the conflicts cost more than the inactive lanes did.",
        ),
        ("sequential", "reindexed", 24, "1.2×", MET),
        (
            "sequential",
            "neighboured",
            24,
            "1.8×",
            "The product of the two predictions above. Inactive lanes were not the main cost of rung 1. Both rungs have one load per thread, short blocks, and a barrier in each of eight rounds.",
        ),
        (
            "first_add",
            "sequential",
            24,
            "almost 2×",
            "At 2^28 items the measured factor is larger than here and close to the prediction.",
        ),
        ("shuffle", "first_add", 24, "1.1× to 1.3×", MET),
        (
            "coarsened",
            "shuffle",
            28,
            "3× to 5×",
            "The prediction was impossible: `shuffle` already reads at about half of the memory's rate, so no kernel can be much more than twice as fast. `coarsened` gains almost all that is left.",
        ),
        (
            "single_launch",
            "coarsened",
            20,
            "2×",
            "The rung saves the second launch. In the same stream, a second launch costs less than the prediction assumed.",
        ),
        (
            "state_of_the_art",
            "",
            28,
            "258 µs",
            "A little faster than predicted, because this run also read faster than the rate on which the prediction is based. Compared with the rate of this run it is a little slower.",
        ),
    ],
    "scan": [
        (
            "brute_force",
            "hillis_steele",
            24,
            "0.06×",
            "The model predicts too long a time for `brute_force`. On the GPU, the caches serve most of its loads.",
        ),
        (
            "global_rounds",
            "brute_force",
            24,
            "3× to 4×",
            "Less than predicted, because `brute_force` is faster than predicted.",
        ),
        ("hillis_steele", "global_rounds", 24, "4×", MET),
        (
            "blelloch",
            "hillis_steele",
            24,
            "0.77×",
            "Slower was expected: a warp's instruction takes the same time, however few of its lanes are active, and the tree has twice as many levels. Probably the 22 barriers make it even slower. At each one, all 32 warps of the block wait for the slowest.",
        ),
        (
            "compact",
            "blelloch",
            24,
            "1.6×",
            "Rows of 2,048 items, compared with rows of 1,024. The first threads handle all nodes, so most warps skip most levels. Besides, each thread handles two items.",
        ),
        ("conflict_free", "compact", 24, "1.1×", "Bank conflicts cost more than the model predicts."),
        (
            "kogge_stone",
            "hillis_steele",
            24,
            "3×",
            "Rows of 32 items, compared with rows of 1,024. Probably too few bytes are in flight, because each thread loads one item of 4 bytes.",
        ),
        (
            "block_scan",
            "hillis_steele",
            24,
            "2.7×",
            "Probably the reason is the same: one load of 4 bytes per thread.",
        ),
        (
            "coarsened",
            "block_scan",
            24,
            "1.3×",
            "Rows of 4,096 items, compared with rows of 1,024. `block_scan` is slower than predicted. In `coarsened` each thread loads 16 items, so more bytes are in flight. This brings it close to the copy rate.",
        ),
        (
            "segmented",
            "coarsened",
            24,
            "0.91×",
            "It computes something else, with more bytes and more instructions per item. They cost a little more than predicted.",
        ),
        ("state_of_the_art", "", 28, "522 µs, the copy rate", MET),
    ],
    "compaction": [
        ("three_kernels", "", 24, "250 µs", "somewhat slower than predicted"),
        ("fused", "three_kernels", 24, "2.5× to 4×", "a little less than predicted"),
        (
            "warp_aggregated",
            "fused",
            24,
            "1.5× to 2×",
            "Both rungs move nearly the same number of bytes. The gain comes from fewer barriers, and from eight loads in flight per thread. The prediction underestimated both.",
        ),
        (
            "single_pass",
            "warp_aggregated",
            24,
            "1.4×",
            "The rung reads the items once instead of twice. But while the first warp of a block looks back, the whole block waits, and it has no other loads in flight. So the kernel moves fewer bytes, but at a much lower rate.",
        ),
        (
            "single_pass",
            "warp_aggregated",
            20,
            "no prediction",
            "For few items the rung is faster, probably because it needs fewer launches.",
        ),
        (
            "packed",
            "single_pass",
            24,
            "1.7×",
            "A block still waits, first for its ticket and then for the look-back.",
        ),
        ("state_of_the_art", "", 28, "436 µs, 90 % of the copy rate", MET),
    ],
    "radix_sort": [
        ("split", "", 24, "4 ms for these 16 bits", MET),
        ("tile_sort", "", 24, "0.5 ms", MET),
        (
            "merge",
            "",
            24,
            "4 ms",
            "The prediction counts only bytes. In the launches that use shared memory, the limiter is instruction issue (according to the [model](model.md)).",
        ),
        (
            "merge_path",
            "merge",
            24,
            "7×",
            "The prediction counts only bytes. According to the model, the limiter is latency; every block starts with binary searches, which are chains of dependent loads.",
        ),
        ("digits", "", 24, "0.8 ms", "a little faster than predicted"),
        (
            "state_of_the_art",
            "counts_first",
            28,
            "no prediction",
            "Both sort floats with values here. Arrays of that length have large tiles, so a multiprocessor holds as many warps as with rung 7.",
        ),
        (
            "onesweep",
            "digits",
            24,
            "1.3×",
            "It moves fewer bytes, but the limiter is the ranking of the keys, which both rungs do in the same way. `onesweep` also needs time for the look-back.",
        ),
    ],
    "histogram": [
        (
            "global_atomics",
            "",
            24,
            "0.2 to 0.5 ms",
            "The limiter is the rate of atomics in the L2 cache (according to the [model](model.md)). All multiprocessors increment the same 257 counts, which lie in only 65 sectors.",
        ),
        ("private_counts", "", 24, "0.4 ms", MET),
        (
            "shared_counts",
            "global_atomics",
            24,
            "5× to 10×",
            "The rung is so much faster because global atomics are slower than predicted.",
        ),
        (
            "sort_reduce",
            "shared_counts",
            24,
            "0.2× to 0.3×",
            "The limiter is the shared memory, in which the sort does 66 rounds; shared atomics cost less than predicted.",
        ),
        (
            "per_warp",
            "shared_counts",
            24,
            "1.1×",
            "There is no gain: atomics of different warps hardly disturb each other in rung 3 either.",
        ),
        (
            "run_lengths",
            "shared_counts",
            24,
            "no prediction",
            "The gain probably comes from the 16-byte loads, because random samples have few runs.",
        ),
        (
            "combined",
            "shared_counts",
            24,
            "3×",
            "Every block clears and merges 32 copies. They save little, because one instruction counts all lanes with the same address ([details](#contention)). A part of the time is a second wave of blocks: fewer than eight blocks fit on a multiprocessor.",
        ),
    ],
    "sat": [
        ("rows_columns", "serial", 28, "7×", "somewhat less than predicted"),
        (
            "transpose",
            "rows_columns",
            24,
            "faster",
            "There are only 4096 columns, too few threads to fill the device in `rows_columns`.",
        ),
        (
            "transpose",
            "rows_columns",
            28,
            "slower",
            "It moves twice the bytes, and 16384 columns give `rows_columns` enough threads.",
        ),
        (
            "fused",
            "transpose",
            28,
            "1.7×, if the device were full",
            "The device is not full: the image has only 512 strips of rows, and each strip is a chain of tiles.",
        ),
        (
            "single_pass",
            "rows_columns",
            28,
            "1.2×",
            "The limiter is the chain of 511 tiles that wait for each other, as predicted, but `rows_columns` is slower than predicted.",
        ),
        (
            "look_back",
            "single_pass",
            28,
            "3×",
            "A tile does two look-backs, one after the other, and each step takes two round trips to the L2 cache.",
        ),
        (
            "state_of_the_art",
            "",
            28,
            "the time of a copy",
            "The edges of the tiles must be cleared, published and read, and tiles along diagonals are slower to copy than rows ([details](#state_of_the_art)).",
        ),
    ],
    "hierarchical_scan": [
        ("recursive", "", 24, "73 µs", "somewhat slower than predicted"),
        ("reduce_then_scan", "recursive", 24, "1.2×", MET),
        ("chained", "", 24, "8 ms", MET),
        (
            "look_back",
            "chained",
            24,
            "10× to 20×",
            "Better than predicted, but slower than `recursive`: one thread looks back, with two dependent loads and a fence per step.",
        ),
        ("one_word", "look_back", 24, "3×", MET),
        (
            "warp_look_back",
            "one_word",
            28,
            "2.2×",
            "Of this, 1.5× was expected from the 32 lanes, and 1.5× from the larger tiles. Why they give less together is not known.",
        ),
        ("state_of_the_art", "", 28, "537 µs, a persistent copy", MET),
    ],
}


def predicted(lab, _labcli):
    rows = [
        "| rung | compared with | items | predicted | measured | explanation |",
        "|---|---|--:|---|--:|---|",
    ]
    for name, other, exponent, prediction, explanation in PREDICTIONS[lab]:
        found = result_of(lab, name, other, exponent)
        against = f"`{other}`" if other else "time"
        rows.append(f"| `{name}` | {against} | 2^{exponent} | {prediction} | {found} | {explanation} |")
    return "\n".join(rows) + "\n"


def lessons(device):
    """What solutions/lessons measured on a device, or in the model: the newest file."""
    path = max((ROOT / "handouts/results/lessons").glob(f"*-{device}.json"))
    run = json.loads(path.read_text(encoding="utf-8"))
    return {**run, "date": path.stem.removesuffix(f"-{device}")}


def both(device):
    """A device's lessons and the model's, and the line above the tables that compare them."""
    run = lessons(device)
    return (
        run,
        lessons("model"),
        f"{run['device']}, {run['date']}. GPU time, median; in brackets the modelled time.",
    )


def divergence(device, _labcli):
    run, model, head = both(device)
    rounds = sorted({row["rounds"] for row in run["divergence"]})
    of = {
        (which, row["rounds"], row["paths"]): row
        for which, one in (("run", run), ("model", model))
        for row in one["divergence"]
    }
    rows = [head + f" {run['divergence'][0]['n']:,} items.", ""]
    rows += [
        "| paths in each warp | "
        + " | ".join(
            f"{r} multiply-adds per item | against one path | warp instructions per 32 items" for r in rounds
        )
        + " |"
    ]
    rows += ["|--:|" + "--:|--:|--:|" * len(rounds)]
    for paths in sorted({row["paths"] for row in run["divergence"]}):
        cells = []
        for r in rounds:
            us, modelled = of["run", r, paths]["median_us"], of["model", r, paths]
            cells += [
                f"{time_of(us)} ({time_of(modelled['median_us'])})",
                f"{us / of['run', r, 1]['median_us']:.1f}×",
            ]
            cells.append(f"{32 * modelled['counted']['warp_instructions'] / modelled['n']:,.0f}")
        rows.append(f"| {paths} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


ADDITIONS = {
    "of_one": "of 1, old value not used",
    "of_a_variable": "of a variable, old value not used",
    "with_old_value": "of 1, old value used",
}


def shared_atomics(device, _labcli):
    run, model, _ = both(device)
    of = {
        (which, row["addition"], row["addresses"]): row["ns_per_instruction"]
        for which, one in (("run", run), ("model", model))
        for row in one["atomics"]
    }
    rows = [
        f"{run['device']}, {run['date']}. Nanoseconds of a multiprocessor per warp instruction; in brackets the model's.",
        "",
    ]
    rows += [
        "| addresses in a warp | " + " | ".join(ADDITIONS.values()) + " |",
        "|--:|" + "--:|" * len(ADDITIONS),
    ]
    for addresses in sorted({row["addresses"] for row in run["atomics"]}):
        cells = (
            f"{of['run', kind, addresses]:.1f} ({of['model', kind, addresses]:.1f})" for kind in ADDITIONS
        )
        rows.append(f"| {addresses} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def contention(arguments, labcli):
    device, bins = arguments.split()
    run, model, head = both(device)
    n = model["contention"][0]["n"]
    of = {
        (which, row["rung"], row["percent"]): row["median_us"]
        for which, one in (("run", run), ("model", model))
        for row in one["contention"]
        if (row["n"], row["bins"]) == (n, int(bins))
    }
    shares = sorted({row["percent"] for row in run["contention"]})
    words = [
        "uniform" if share == 0 else "all in one bin" if share == 100 else f"{share} % in one bin"
        for share in shares
    ]
    rows = [
        f"{int(bins):,} bins, 2^{n.bit_length() - 1} samples. {head}",
        "",
        f"| | {' | '.join(words)} |",
        "|---|" + "--:|" * len(shares),
    ]
    for rung in counted.ladder("histogram", labcli):
        rows.append(
            f"| `{rung}` | "
            + " | ".join(
                f"{time_of(of['run', rung, share])} ({time_of(of['model', rung, share])})" for share in shares
            )
            + " |"
        )
    return "\n".join(rows) + "\n"


KINDS = (
    divergence,
    shared_atomics,
    contention,
    roof,
    ceilings,
    times,
    rivals,
    by_sorting,
    tops,
    curve,
    kinds,
    frameworks,
    foreign,
    reached,
    backwards,
    trips,
    in_flight,
    predicted,
)
