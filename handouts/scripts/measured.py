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
profile DEVICE    what the profiler says of the kernels that miss a goal
backwards LABS    the rungs that were slower than the one below, at the largest size
trips LAB         how long the memory takes for an array that crosses it twice, three times, four times
in_flight LAB     how many bytes must be in flight to keep the memory busy
times LAB         the times of every rung in the order of the ladder, of the library and the CPU: a table for each kind of input
rivals LAB        lab 2's two algorithms: what the simulator counts, and what the run measured
by_sorting LAB    counting in shared memory, and the sort that reduce-by-key needs before it can begin
predicted LAB     what was predicted for the rungs, what the run measured, and why they differ
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import counted
from worked import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = "state_of_the_art"


def runs_of(device: str) -> list[dict]:
    """All published runs on a device, the newest first. The files are named by date, then by device."""
    files = sorted((ROOT / "handouts/results").glob(f"*-{device}.json"), reverse=True)
    return [json.loads(p.read_text(encoding="utf-8")) for p in files]


def published(lab: str, device: str = "h200") -> dict:
    """What the newest published run measured of a lab, and its date."""
    run = runs_of(device)[0]
    mhz = max(entry.get("clocks", {}).get("while_measuring_mhz", 0) for entry in run["labs"])
    return {**next(entry for entry in run["labs"] if entry["lab"] == lab), "date": run["date"], "mhz": mhz}


# What was predicted for the rungs of a lab; comments.py writes it above them in solutions/.
PREDICTIONS = {
    lab: [tuple(row) if len(row) == 5 else (*row, "about as predicted") for row in rows]
    for lab, rows in tomllib.loads((ROOT / "handouts/predictions.toml").read_text("utf-8")).items()
}


def measured_at(lab: str, n: int) -> dict:
    """What the newest published run measured for n items."""
    return next(size for size in published(lab)["sizes"] if size["n"] == n)


def compared_at(lab: str, name: str, other: str, n: int) -> tuple[float, float | None]:
    """The newest run's time of a rung for n items, and that of the rung that it is compared with, if one is
    given."""
    tables = [
        {row["name"]: row["median_us"] for row in table["rows"]} for table in measured_at(lab, n)["tables"]
    ]
    # A rung in several tables (several cases): the first. Rungs that are compared do the same work, if they
    # are in the same table.
    times = next((t for t in tables if name in t and other in t), next(t for t in tables if name in t))
    slower = times[other] if other in times else next((t[other] for t in tables if other in t), None)
    return times[name], slower


def result_of(lab: str, name: str, other: str, exponent: int) -> str:
    """What the newest run measured for a prediction: a factor or a time."""
    time, slower = compared_at(lab, name, other, 2**exponent)
    if slower is None:
        return time_of(time)
    factor = slower / time
    return f"{factor:.{2 if factor < 1.05 else 1 if factor < 10 else 0}f}×"


def power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"


def time_of(microseconds: float) -> str:
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def of_kind(rows: dict, kind: str) -> list[dict]:
    return [row for row in rows["rows"] if row["kind"] == kind]


def case_of(measured: dict) -> str:
    return re.sub(r"_n\d+|_bench\d+|_\d+x\d+", "", measured["case"])


def ceiling_of(size: dict, measured: dict) -> float:
    """As `./lab bench` does it: what is hardly written is compared with reading."""
    reading = measured["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"]
    return size["ceilings"]["read" if reading else "copy"]["gb_per_s"]


def simulated(labcli: str) -> dict:
    """The chip that is simulated by default."""
    return counted.catalogue(labcli)["chips"]["h200"]


def ceilings(lab: str, _labcli: str) -> str:
    measured = published(lab)
    runs = measured["sizes"][0]["ceilings"]["copy"]["runs"]
    rows = [
        [power(c["bytes"]), *(f"{c[k]['gb_per_s'] / 1000:.2f} TB/s" for k in ("copy", "read"))]
        for c in (size["ceilings"] for size in measured["sizes"])
    ]
    return (
        f"Rates of an {measured['device']}, measured on {measured['date']} together with lab {lab}. "
        f"GPU time: medians of {runs} runs.\n\n"
        + table(["bytes of the array", "plain copy (read and write)", "plain read"], rows, "r")
    )


def roof(lab: str, labcli: str) -> str:
    chip = simulated(labcli)
    sms, ghz = chip["multiprocessors"], chip["clock_ghz"]
    lanes = 64  # 32-bit integer additions a cycle and multiprocessor: CUDA C++ Programming Guide, 9.0
    additions, rate = sms * lanes * ghz / 1e3, rate_of(lab, "copy") / 1e3  # 10¹² per second
    intensity = 0.25  # a sum of 4-byte items: an addition for each
    rows = [
        f"rate of 32-bit integer additions | {sms} multiprocessors · {lanes} additions per cycle · {ghz} GHz | "
        f"{additions:.1f}·10¹² per second",
        f"memory bandwidth | the fastest plain copy of the published run | {rate:.1f}·10¹² bytes per second",
        f"ridge point | rate of additions ÷ bandwidth | {additions / rate:.1f} operations per byte",
        f"highest rate for a sum of 4-byte items | {intensity} operations per byte × bandwidth | "
        f"{intensity * rate:.1f}·10¹² additions per second",
    ]
    return table("quantity | computed from | value", rows, "llr")


def both_times(row: dict) -> str:
    """ "7.6 (10.8) µs": the GPU's time, and with the launch where that was measured."""
    launched = row.get("launched_us")
    if launched is None:
        return time_of(row["median_us"])
    if row["median_us"] < 1000:
        return f"{row['median_us']:.1f} ({launched:.1f}) µs"
    return f"{row['median_us'] / 1000:.2f} ({launched / 1000:.2f}) ms"


def libraries_of(measured: dict, versions: list[str]) -> list:
    """The fastest right row of each library version, None where it has none: the toolkit's, then a newer
    one's."""
    newest = versions[1].rsplit(".", 1)[0] if len(versions) > 1 else ""
    newer = tuple(f"{name} {newest} " for name in ("CUB", "Thrust")) if newest else ()
    groups: list[list[dict]] = [[], []] if newer else [[]]
    for row in of_kind(measured, "peer"):
        if row["right"]:
            groups[bool(newer) and row["name"].startswith(newer)].append(row)
    return [min(group, key=lambda r: r["median_us"], default=None) for group in groups]


def tops(arguments: str, _labcli: str) -> str:
    """A row for each table of a device's published run that holds a lab's top rung: the device, then labs."""
    name, *labs = arguments.split()
    device = published(labs[0], name)
    versions: list[str] = next((entry["cccl"] for entry in runs_of(name)[0]["labs"] if entry.get("cccl")), [])
    has_launch = any("launched_us" in r for s in device["sizes"] for t in s["tables"] for r in t["rows"])
    what = "without the time that the host takes to launch"
    ratios = ["library's time ÷ top rung's"]
    if has_launch:
        what = "in parentheses the time with the launch"
        ratios = ["faster library ÷ top rung", "with the launch"]
    rows = []
    for lab in labs:
        for size in published(lab, name)["sizes"]:
            for measured in size["tables"]:
                top = next((r for r in measured["rows"] if r["name"] == TOP), None)
                if top is None:
                    continue
                libraries = libraries_of(measured, versions)
                cells = [both_times(top), *(both_times(row) if row else "–" for row in libraries)]
                for key in ("median_us", "launched_us")[: len(ratios)]:
                    best = min((row[key] for row in libraries if row), default=None)
                    cells.append(f"{best / top[key]:.2f}" if best else "–")
                cells.append(f"{100 * top['gb_per_s'] / ceiling_of(size, measured):.0f} %")
                rows.append([f"{lab} `{case_of(measured)}`", power(size["n"]), *cells])
    heads = [f"CUB {v.rsplit('.', 1)[0]}" for v in versions] or ["library"]
    head = ["lab, case", "items", "top rung", *heads, *ratios, "share of the memory's rate"]
    return (
        f"{device['device']}, {device['date']}: the GPU's time, {what}. "
        "Medians of as many runs as it takes for a 95 % confidence interval of 1 %, at most 200 runs or 2 seconds."
        f"\n\n{table(head, rows, 'lr')}"
    )


def of_top_rungs(folder: str, device: str) -> tuple[dict, str]:
    """The newest published run of the top rungs alone, and its device and date."""
    path = max((ROOT / "handouts/results" / folder).glob(f"*-{device}.json"))
    run = json.loads(path.read_text(encoding="utf-8"))
    return run, f"{run['labs'][0]['device']}, {run['date']}"


def compared(run: dict, lab: str) -> Iterator[tuple[int, str, dict, list[dict]]]:
    """What a run of the top rungs measured of a lab: for each table its size, case, top rung and libraries'
    rows."""
    for size in next(entry for entry in run["labs"] if entry["lab"] == lab)["sizes"]:
        for measured in size["tables"]:
            if rungs := of_kind(measured, "rung"):
                yield size["n"], case_of(measured), rungs[0], of_kind(measured, "peer")


def foreign(device: str, _labcli: str) -> str:
    folder = ROOT / "common/simulator/sim/calibration"
    names = (f"foreign_{device}", f"foreign_{device}_modelled", f"foreign_profiler_{device}")
    files = [folder / f"data/{name}.json" for name in names]
    command: list = [sys.executable, folder / "foreign/compare.py", *files]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def by_size(head: list[str], found: dict) -> str:
    """`found`: cells by the words of a row, and by n."""
    sizes = sorted({n for row in found.values() for n in row})
    rows = [[*words, *(row.get(n, "–") for n in sizes)] for words, row in found.items()]
    return table([*head, *map(power, sizes)], rows, "l" * len(head) + "r")


def curve(arguments: str, _labcli: str) -> str:
    device, *labs = arguments.split()
    run, about = of_top_rungs("curve", device)
    found: dict = {}
    for lab in labs:
        for n, case, top, peers in compared(run, lab):
            best = min((r["median_us"] for r in peers if r["right"]), default=None)
            ratio = f" ({best / top['median_us']:.2f})" if best else ""
            found.setdefault((f"{lab} `{case}`",), {})[n] = time_of(top["median_us"]) + ratio
    return (
        f"{about}: the top rung's time, and in parentheses the faster library's time divided by it.\n\n"
        + by_size(["lab, case"], found)
    )


def kinds(arguments: str, _labcli: str) -> str:
    device, *labs = arguments.split()
    (run, about), rows, slower = of_top_rungs("kinds", device), [], []
    for lab in labs:
        ratios, others = [], 0
        for n, case, top, peers in compared(run, lab):
            right = [r["median_us"] for r in peers if r["right"]]
            others += not right
            if right:
                ratios.append(min(right) / top["median_us"])
                if ratios[-1] < 0.995:
                    times = [time_of(top["median_us"]), time_of(min(right))]
                    slower.append([f"{lab} `{case}`", power(n), *times])
        ratios.sort()
        spread = [f"{ratios[k]:.2f}" for k in (0, len(ratios) // 2, -1)] if ratios else ["–"] * 3
        rows.append([lab, len(ratios), *spread, others])
    head = ["lab", "compared", "lowest ratio", "median", "highest", "without a comparison"]
    return (
        f"{about}: the library's time divided by the top rung's, at 2^16 and 2^22 items.\n\n"
        f"{table(head, rows, 'lr')}\nThe library is faster here:\n\n"
        + table(["lab, kind of input", "items", "top rung", "library"], slower, "lr")
    )


def frameworks(device: str, _labcli: str) -> str:
    run, about = of_top_rungs("frameworks", device)
    found: dict = {}
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    for entry in run["labs"]:
        for n, case, top, peers in compared(run, entry["lab"]):
            for peer in peers:
                if peer["name"].startswith(("PyTorch", "CuPy", "NPP")) and peer["right"]:
                    row = found.setdefault((f"{entry['lab']} `{case}`", *peer["name"].split(" ", 1)), {})
                    row[n] = f"{peer['median_us'] / top['median_us']:.1f}{'*' if peer['waits'] else ''}"
    return (
        f"{about}, {versions}: time of the library divided by that of the top rung. "
        "*: contains time of the host, because the call waits for the size of its result.\n\n"
        + by_size(["lab, case", "library", "call"], found)
    )


def profile(device: str, _labcli: str) -> str:
    path = max((ROOT / "handouts/results/profile").glob(f"*-{device}.json"))
    run = json.loads(path.read_text(encoding="utf-8"))
    rows = [
        [
            f"{one['lab']} `{one['kernel']}`",
            power(one["n"]),
            time_of(one["duration_us"]),
            *(f"{one[name + '_percent']:.0f} %" for name in ("dram", "l2", "sm", "occupancy")),
            one["registers"],
            f"{one['cycles_per_issue_of_a_warp']:.1f}",
        ]
        for one in run["kernels"]
    ]
    head = "lab, kernel | items | time | memory | L2 | SM | occupancy | registers | cycles per issue"
    return f"{run['device']}, {run['date']}, {run['tool'].split(',')[0]}:\n\n{table(head, rows, 'lr')}"


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


def tables_of(lab: str, labcli: str, device: str = "h200") -> list[tuple[str, dict]]:
    """The published tables, in the order of the ladder: the case, and each row's name, kind and entry by
    number of items: its time, and the share of the memory's rate."""
    order, found = counted.ladder(lab, labcli), {}
    for size in published(lab, device)["sizes"]:
        for measured in size["tables"]:
            case, rungs = case_of(measured), [r["name"] for r in of_kind(measured, "rung")]
            # A table is known by a rung that it has at every size: some rungs are measured with few items
            # only.
            alike = (k for k in found if k[0] == case and any((r, "rung") in found[k] for r in rungs))
            rows = found.setdefault(next(alike, (case, rungs[0])), {})
            for row in measured["rows"]:
                share = 1e-3 * measured["ideal_bytes"] / row["median_us"] / ceiling_of(size, measured)
                rows.setdefault((row["name"], row["kind"]), {})[size["n"]] = (row["median_us"], share)

    def place(item: tuple) -> tuple[int, int]:
        (name, kind), _ = item
        return ["rung", "peer", "cpu"].index(kind), order.index(name) if kind == "rung" else 0

    tables = [(case, dict(sorted(rows.items(), key=place))) for (case, _), rows in found.items()]
    return sorted(tables, key=lambda one: order.index(next(iter(one[1]))[0]))


def rungs_of(lab: str, labcli: str, case: str = "", kind: str = "rung", device: str = "h200") -> dict:
    """The entries of all rows of a kind, by name, in the tables whose case contains `case`."""
    return {
        name: entries
        for of, rows in tables_of(lab, labcli, device)
        for (name, of_kind), entries in rows.items()
        if case in of and of_kind == kind
    }


def version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


# Labs whose top rung has become faster since the newest run on an H200.
RENEWED = {"histogram", "sat"}


def times(lab: str, labcli: str) -> str:
    run, alone = published(lab), rungs_of(lab, labcli)
    sizes = [size["n"] for size in run["sizes"]]
    text = [
        f"{run['device']}, driver for CUDA {version(run['driver'])}, toolkit {version(run['runtime'])}, "
        f"{run['mhz']:.0f} MHz, {run['date']}. GPU time: the median, from the start of the first kernel to the end "
        "of the last one, without the time of the launch call. In brackets: the share of the memory's rate, "
        "measured in the same run with a plain copy, or with a plain read if almost nothing is written."
        + (f" The kernel of `{TOP}` has become faster since this run." if lab in RENEWED else "")
        + "\n"
    ]
    for case, entries_of in tables_of(lab, labcli):
        first = next(iter(entries_of))[0]
        libraries = [entries[sizes[-1]][0] for (_, kind), entries in entries_of.items() if kind == "peer"]

        def cells(entries: dict, kind: str, libraries: list[float] = libraries) -> Iterator[str]:
            for n in sizes:
                time, share = entries.get(n, (0, 0))
                shown = f" ({100 * share:.0f} %)" if kind in ("rung", "peer") else ""
                yield time_of(time) + shown if time else ""
            if libraries:
                shown = kind in ("rung", "sum") and sizes[-1] in entries  # type: ignore[assignment]
                yield f"{min(libraries) / entries[sizes[-1]][0]:.2f}×" if shown else ""

        rows = []
        if TOGETHER.get(lab, ("",))[0] == first:
            for parts in TOGETHER[lab][1]:
                added = {n: (sum(alone[part][n][0] for part in parts), 0) for n in sizes}
                rows.append([" + ".join(f"`{part}`" for part in parts), *cells(added, "sum")])
        for (name, kind), entries in entries_of.items():
            rows.append([f"`{name}`" if kind == "rung" else f"*{name}*", *cells(entries, kind)])
        head = ["", *map(power, sizes)]
        head += [f"against the library at {power(sizes[-1])}"] if libraries else []
        about = f": {ABOUT[first]}" if first in ABOUT else ""
        text += [f"`{case}`{about}\n", table(head, rows, "lr")]
    return "\n".join(text)


def rivals(lab: str, labcli: str) -> str:
    rungs = ("hillis_steele", "blelloch")
    of = rungs_of(lab, labcli)
    counts = [counted.profile(labcli, lab, rung) for rung in rungs]

    def of_both(column: str) -> list:
        return [counted.figure(one, column) for one in counts]

    rows = [
        ["operations ÷ those of the loop (counted)", *of_both("work_ratio")],
        ["active lanes (counted)", *of_both("active_lanes")],
        ["barriers per row (counted)", *of_both("barriers")],
    ]
    for n in sorted(of[rungs[0]]):
        rows.append([f"time for {power(n)} items (measured)", *(time_of(of[r][n][0]) for r in rungs)])
    return table(["rows of 1,024 items", *(f"`{rung}`" for rung in rungs)], rows, "lr")


def by_sorting(_lab: str, labcli: str) -> str:
    """Reduce-by-key over a whole array begins with a sort of all bins."""
    counting = rungs_of("histogram", labcli, "b256_")
    many = rungs_of("histogram", labcli, "b65536_")
    (library, sorted_times), *_ = rungs_of("radix_sort", labcli, "bits0to16", "peer").items()
    lines = [
        ("sort of 16-bit keys alone, *" + library + "*", sorted_times),
        ("whole histogram, 256 bins, `sort_reduce` (tile by tile)", counting["sort_reduce"]),
        ("whole histogram, 256 bins, `shared_counts`", counting["shared_counts"]),
        (f"whole histogram, 65,536 bins, `{TOP}` as it was then", many[TOP]),
    ]
    sizes = sorted(sorted_times)
    rows = [[name, *(time_of(entries[n][0]) for n in sizes)] for name, entries in lines]
    return table(["", *map(power, sizes)], rows, "lr")


def backwards(labs: str, labcli: str) -> str:
    rows = []
    for lab in labs.split():
        order = counted.ladder(lab, labcli)
        size = published(lab)["sizes"][-1]
        for measured in size["tables"]:
            rungs = sorted(of_kind(measured, "rung"), key=lambda r: order.index(r["name"]))
            for below, rung in itertools.pairwise(rungs):
                if rung["median_us"] > below["median_us"]:
                    both = (f"`{r['name']}`, {time_of(r['median_us'])}" for r in (rung, below))
                    rows.append([f"{lab} `{case_of(measured)}`", power(size["n"]), *both])
    return table(["lab, case", "items", "slower rung", "rung below it"], rows, "lrl")


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


def reached(devices: str, _labcli: str) -> str:
    runs = {device: published("reduction", device) for device in devices.split()}
    rows = []
    for lab, what, goal, sizes, case in GOALS:
        for exponent in sizes:
            cells = []
            for device in runs:
                size = next(s for s in published(lab, device)["sizes"] if s["n"] == 2**exponent)
                for measured in size["tables"]:
                    top = next((r for r in measured["rows"] if r["name"] == TOP), None)
                    if top is None or case not in measured["case"]:
                        continue
                    us = top["median_us"]
                    if what == "library":
                        value = of_kind(measured, "peer")[0]["median_us"] / us
                        wanted, found = f"{goal:g} times as fast as the library", f"{value:.2f}"
                    elif what == "items":
                        value = size["n"] / us / 1000
                        wanted, found = f"{goal} · 10⁹ items per second", f"{value:.1f}"
                    else:
                        value = top["gb_per_s"] / size["ceilings"][what]["gb_per_s"]
                        rate = {"read": "reading", "copy": "copying"}[what]
                        wanted, found = f"{100 * goal:.0f} % of the rate of {rate}", f"{100 * value:.1f} %"
                    cells.append(f"{'yes' if value >= goal else 'no'}: {found}")
            name = {"b": f", {case[1:-1]} bins", "p": ", pairs"}.get(case[:1], "")
            rows.append([lab + name, wanted, f"2^{exponent}", *cells])
    names = [f"{run['device'].split()[1]}, {run['date']}" for run in runs.values()]
    return table(["lab", "goal", "at", *names], rows, "llrl")


def rate_of(lab: str, what: str) -> float:
    return max(size["ceilings"][what]["gb_per_s"] for size in published(lab)["sizes"])


def trips(lab: str, _labcli: str) -> str:
    """What n items cost that cross the bus in whole passes: 2^24 of 4 bytes."""
    rate, n_bytes = rate_of(lab, "copy"), 4 * 2**24
    ways = [
        ("*scan, then propagate*", "read item, write local prefix", "read local prefix, write prefix", 4),
        ("*reduce, then scan*", "read item", "read item, write prefix", 3),
        ("*single pass*", "read item, write prefix", "", 2),
    ]
    rows = [
        [way, first, last, f"**{k}n**", f"{k * n_bytes / rate / 1000:.0f} µs"] for way, first, last, k in ways
    ]
    head = ["", "first pass", "last pass", "together", f"2²⁴ int32 at {rate / 1000:.2f} TB/s"]
    return table(head, rows, "llllr")


def in_flight(lab: str, labcli: str) -> str:
    chip = simulated(labcli)
    sms = chip["multiprocessors"]
    rate, wait = rate_of(lab, "read") * 1e9, chip["memory_latency"] / chip["clock_ghz"] * 1e-9
    rows = [
        f"bandwidth | the fastest plain read of the published run | {rate / 1e12:.2f} TB/s",
        f"latency of an idle memory | a chain of dependent reads, and no other accesses | {wait * 1e9:.0f} ns",
        f"bytes in flight, whole device | bandwidth × latency | {rate * wait / 1e6:.1f} MB",
        f"bytes in flight, each of {sms} multiprocessors | the same ÷ {sms} | {rate * wait / sms / 1e3:.0f} KB",
    ]
    return table("quantity | computed from | value", rows, "llr")


def predicted(lab: str, _labcli: str) -> str:
    rows = []
    for name, other, exponent, prediction, explanation in PREDICTIONS[lab]:
        found = result_of(lab, name, other, exponent)
        against = f"`{other}`" if other else "time"
        rows.append([f"`{name}`", against, f"2^{exponent}", prediction, found, explanation])
    return table(["rung", "compared with", "items", "predicted", "measured", "explanation"], rows, "llrlrl")


OF_LABS = (roof, ceilings, times, rivals, by_sorting, backwards, trips, in_flight, predicted)
OF_TOP_RUNGS = (tops, curve, kinds, frameworks, foreign, reached, profile)
KINDS = OF_LABS + OF_TOP_RUNGS
