# SPDX-License-Identifier: MIT
"""Tables from the lessons' runs (handouts/results/lessons, the newest file of a device or of
the model), for quotes.py:

divergence DEVICE         one kernel with 1 to 32 paths in a warp
shared_atomics DEVICE     additions in shared memory, by the number of addresses in a warp
contention DEVICE BINS    every rung of the histogram lab, by the share of equal samples
networks DEVICE           scans of rows by four networks
levels DEVICE             a scan with a launch for each level of its tree, and lab 7's top rung
transfers DEVICE          a copy of all items to the CPU, and a compaction before it
sorting DEVICE            a histogram by sort and reduce over all keys, and rungs of lab 5
"""

import json

import counted
from measured import ROOT, TOP, power, rungs_of, time_of
from worked import table


def newest(device: str, lesson: str) -> dict:
    """What was measured on a device, or in the model: the newest file with a lesson."""
    files = sorted((ROOT / "handouts/results/lessons").glob(f"*-{device}.json"), reverse=True)
    runs = ({**json.loads(p.read_text(encoding="utf-8")), "date": p.stem[:10]} for p in files)
    return next(run for run in runs if run.get(lesson))


def both(device: str, lesson: str, *keys: str) -> tuple[dict, dict]:
    """A device's lessons, the rows of one by ("run", keys …) or, in the model, ("model", keys …)."""
    runs = {"run": newest(device, lesson), "model": newest("model", lesson)}
    of = {(which, *(row[k] for k in keys)): row for which, run in runs.items() for row in run[lesson]}
    return runs["run"], of


def divergence(device: str, _labcli: str) -> str:
    run, of = both(device, "divergence", "rounds", "paths")
    rounds = sorted({row["rounds"] for row in run["divergence"]})
    rows = []
    for paths in sorted({row["paths"] for row in run["divergence"]}):
        cells = []
        for r in rounds:
            us, modelled = of["run", r, paths]["median_us"], of["model", r, paths]
            cells += [
                f"{time_of(us)} ({time_of(modelled['median_us'])})",
                f"{us / of['run', r, 1]['median_us']:.1f}×",
                f"{32 * modelled['counted']['warp_instructions'] / modelled['n']:,.0f}",
            ]
        rows.append([paths, *cells])
    each = ("{} multiply-adds per item", "against one path", "warp instructions per 32 items")
    head = ["paths in each warp", *(words.format(r) for r in rounds for words in each)]
    return (
        f"{run['device']}, {run['date']}. GPU time, median; in brackets the modelled time. "
        f"{run['divergence'][0]['n']:,} items.\n\n{table(head, rows, 'r')}"
    )


ADDITIONS = {
    "of_one": "of 1, old value not used",
    "of_a_variable": "of a variable, old value not used",
    "with_old_value": "of 1, old value used",
}


def shared_atomics(device: str, _labcli: str) -> str:
    run, of = both(device, "atomics", "addition", "addresses")
    rows = []
    for addresses in sorted({row["addresses"] for row in run["atomics"]}):
        times = [
            [of[which, kind, addresses]["ns_per_instruction"] for which in ("run", "model")]
            for kind in ADDITIONS
        ]
        rows.append([addresses, *(f"{time:.1f} ({modelled:.1f})" for time, modelled in times)])
    return (
        f"{run['device']}, {run['date']}. Nanoseconds of a multiprocessor per warp instruction; "
        f"in brackets the model's.\n\n{table(['addresses in a warp', *ADDITIONS.values()], rows, 'r')}"
    )


def contention(arguments: str, labcli: str) -> str:
    device, bins = arguments.split()
    run, of = both(device, "contention", "n", "bins", "rung", "percent")
    n = newest("model", "contention")["contention"][0]["n"]
    shares = sorted({row["percent"] for row in run["contention"]})
    words = {0: "uniform", 100: "all in one bin"}
    rows = []
    for rung in counted.ladder("histogram", labcli):
        times = [
            [time_of(of[which, n, int(bins), rung, share]["median_us"]) for which in ("run", "model")]
            for share in shares
        ]
        rows.append([f"`{rung}`", *(f"{time} ({modelled})" for time, modelled in times)])
    head = ["", *(words.get(share, f"{share} % in one bin") for share in shares)]
    return (
        f"{int(bins):,} bins, {power(n)} samples. {run['device']}, {run['date']}. GPU time, median; in brackets "
        f"the modelled time.\n\n{table(head, rows, 'lr')}"
    )


def source(run: dict) -> str:
    """Where and when a run was measured, or that it was modelled."""
    said = "Modelled time." if run["modelled"] else "GPU time, median."
    return f"{run['device']}, {run['date']}. {said}"


def networks(device: str, _labcli: str) -> str:
    run = newest(device, "networks")
    of = {(row["network"], row["n"]): row for row in run["networks"]}
    sizes = sorted({n for _, n in of})
    rows = []
    for name in dict.fromkeys(name for name, _ in of):
        one = of[name, sizes[0]]
        times = (time_of(of[name, n]["median_us"]) for n in sizes)
        rows.append([name, f"{one['operations']:,}", one["steps"], *times])
    head = ["network, rows of 1,024 items", "operations per row", "steps"]
    return f"{source(run)}\n\n{table([*head, *(f'{power(n)} items' for n in sizes)], rows, 'lr')}"


def levels(device: str, labcli: str) -> str:
    run, rows = newest(device, "levels"), []
    if run["modelled"]:
        head = ["items", "launches", "bytes per item", "time"]
        for row in run["levels"]:
            counted_bytes = f"{row['counted']['bytes'] / row['n']:.0f}"
            rows.append([power(row["n"]), row["launches"], counted_bytes, time_of(row["median_us"])])
    else:
        head = ["items", "launches", "time", f"lab 7, `{TOP}`", "ratio"]
        scans = rungs_of("hierarchical_scan", labcli, "inclusive_sum_i32", device=device)[TOP]
        for row in run["levels"]:
            us, top = row["median_us"], scans[row["n"]][0]
            rows.append([power(row["n"]), row["launches"], time_of(us), time_of(top), f"{us / top:.1f}×"])
    return f"{source(run)}\n\n{table(head, rows, 'r')}"


def transfers(device: str, _labcli: str) -> str:
    run = newest(device, "transfers")
    rows = [
        [
            power(row["n"]),
            f"{row['percent']} %",
            f"{4 * row['n'] / 1e6:,.1f} MB",
            f"{4 * row['count'] / 1e6:,.2f} MB",
            time_of(row["copy_all_us"]),
            time_of(row["compact_on_cpu_us"]),
            f"{time_of(row['compact_and_copy_us'])} ({time_of(row['compact_us'])})",
        ]
        for row in run["transfers"]
    ]
    head = "items | kept | all items | kept items | copy of all items | then compaction on one CPU core | "
    head += "compaction on the GPU, then copy of the kept items"
    return (
        f"{run['device']}, {run['date']}. The host's time, median, with page-locked memory. In brackets: the GPU's "
        f"time for the compaction alone.\n\n{table(head, rows, 'r')}"
    )


def sorting(device: str, _labcli: str) -> str:
    run = newest(device, "sorting")
    of = {(row["bins"], row["method"], row["n"]): row["median_us"] for row in run["sorting"]}
    sizes = sorted({row["n"] for row in run["sorting"]})
    rows = []
    for bins, method in dict.fromkeys((row["bins"], row["method"]) for row in run["sorting"]):
        name = f"`{method}`" if "_" in method else f"{method}, all keys"
        rows.append([f"{bins:,}", name, *(time_of(of[bins, method, n]) for n in sizes)])
    head = ["bins", "method", *(f"{power(n)} samples" for n in sizes)]
    return f"{source(run)}\n\n{table(head, rows, 'rlr')}"


KINDS = (networks, levels, transfers, sorting, divergence, shared_atomics, contention)
