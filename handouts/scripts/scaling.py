# SPDX-License-Identifier: MIT
"""The modelled time of lab 8's tasks on more GPUs than anybody here could measure, for quotes.py and
figures.py:

    scaling assumptions | fit | checked | measured | collectives | weak | strong | exchange

Inside a node, collectives take the time of common/simulator/nccl/operation/model.cpp, which
build/handouts/nccl_estimate prints. Between nodes they take that of `Network`, whose constants are
assumptions. What one device does alone takes the time of the published run (measured.py).
"""

import functools
import itertools
import math
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import measured
from worked import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODE = 8
DEVICES = [8, 16, 32, 64, 128, 256, 512, 1024]
KEY_BYTES, BINS, COUNT_BYTES, DIGITS, DIGIT_VALUES = 4, 65536, 8, 8, 16
WEAK, STRONG = 2**30, 2**33  # items of each device, items of all devices


class Network:
    """Assumed, not measured. The latencies are those by which NCCL chooses its algorithms (NVIDIA/nccl,
    src/graph/tuning.cc: hwLat and getNetOverhead); the rate is that of a ConnectX-7 adapter for each GPU, as
    a DGX H200 has them."""

    adapter_gbit_per_s = 400
    usable = 0.9
    gb_per_s = usable * adapter_gbit_per_s / 8
    step_us = 14.0  # a step of a ring, at the full rate
    short_step_us = 5.0  # a step of a tree in the low-latency protocol …
    short_rate = 1 / 3.8  # … which has this part of the rate
    message_us = 1.0  # until an adapter has accepted a message


# --- Inside a node: common/simulator/nccl/operation/model.cpp.


def estimator(labcli: str) -> str:
    return str(pathlib.Path(labcli).resolve().parent.parent / "handouts/nccl_estimate")


def answer_of(program: str, query: str) -> str:
    done = subprocess.run([program, "nvlink"], input=query, check=True, capture_output=True, text=True)
    return done.stdout


@functools.lru_cache(None)
def estimated(program: str, kind: str, n_bytes: float, n_ranks: int) -> tuple[float, str, int, int]:
    """Of a collective: µs, algorithm, messages and bytes of the rank that sends most."""
    answer = answer_of(program, f"{kind} {n_bytes} {n_ranks}\n")
    us, algorithm, messages, sent = answer.splitlines()[1].split()
    return float(us), algorithm, int(messages), int(sent)


@functools.lru_cache(None)
def link(program: str) -> dict[str, float]:
    words = answer_of(program, "").split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


class Machine:
    """`n` devices in nodes of eight; all times in µs."""

    def __init__(self, labcli: str, n: int) -> None:
        self.program, self.n = estimator(labcli), n
        self.local, self.nodes = min(n, NODE), max(1, n // NODE)

    def inside(self, kind: str, n_bytes: float) -> float:
        return estimated(self.program, kind, max(1, round(n_bytes)), self.local)[0]

    def between(self, passes: int, n_bytes: float) -> float:
        """`passes` times through all nodes, in which each device sends n_bytes altogether: around a ring, or
        through a tree."""
        if self.nodes == 1:
            return 0.0
        moved = n_bytes / (Network.gb_per_s * 1e3)
        ring = passes * (self.nodes - 1) * Network.step_us + moved
        steps = passes * math.ceil(math.log2(self.nodes))
        return min(ring, steps * Network.short_step_us + moved / Network.short_rate)

    def sum_between(self, n_bytes: float) -> float:
        """Of the slices that a reduce-scatter in each node has left."""
        return self.between(2, 2 * n_bytes / self.local * (self.nodes - 1) / self.nodes)

    def all_reduce(self, n_bytes: float) -> float:
        return self.inside("all_reduce", n_bytes) + self.sum_between(n_bytes)

    def sum_by_slices(self, n_bytes: float) -> float:
        """A reduce-scatter, then an all-gather."""
        slice_bytes = n_bytes / self.local
        inside = self.inside("reduce_scatter", slice_bytes) + self.inside("all_gather", slice_bytes)
        return inside + self.sum_between(n_bytes)

    def all_gather(self, n_bytes: float) -> float:
        return self.between(1, n_bytes * (self.nodes - 1)) + self.inside("all_gather", n_bytes * self.nodes)

    def all_to_all(self, n_bytes: float) -> float:
        """Each device has n_bytes, of which it sends an equal part to each device, and keeps its own."""
        if self.nodes == 1:
            return self.inside("all_to_all", n_bytes / self.n)
        one, n_far = link(self.program), self.n - self.local
        near = n_bytes * (self.local - 1) / self.n / (one["gb_per_s"] * 1e3)
        far = n_bytes * n_far / self.n / (Network.gb_per_s * 1e3) + n_far * Network.message_us
        return one["launch_us"] + one["pairs_us"] + max(near, far)


# --- One device: the newest published run.


def median_us(lab: str, rungs: tuple, case: str, n: int) -> float:
    return min(
        row["median_us"]
        for one in measured.measured_at(lab, n)["tables"]
        if case in one["case"]
        for row in one["rows"]
        if row["name"] in rungs
    )


MEASURED_SIZES = (2**20, 2**24, 2**28)
BEST = {
    "reduce": ("reduction", ("state_of_the_art", "CUB DeviceReduce"), ""),
    "scan": ("hierarchical_scan", ("state_of_the_art", "CUB DeviceScan"), ""),
    "histogram": ("histogram", ("state_of_the_art", "CUB DeviceHistogram"), f"_b{BINS}_"),
    "sort": (
        "radix_sort",
        ("digits", "onesweep", "CUB DeviceRadixSort keys"),
        "keys_u32_n1048576_random_bench",
    ),
}


def alone(task: str, n: int) -> float:  # type: ignore[return]
    """µs of the fastest kernel of the published run: straight lines between the measured sizes, and in
    proportion above the largest one."""
    at = [(size, median_us(*BEST[task], size)) for size in MEASURED_SIZES]
    if n >= at[-1][0]:
        return at[-1][1] * n / at[-1][0]
    for (n0, t0), (n1, t1) in itertools.pairwise(at):
        if n <= n1:
            return t0 + (t1 - t0) * max(0, n - n0) / (n1 - n0)


def copied(n_bytes: float) -> float:
    return 2 * n_bytes / (measured.rate_of("radix_sort", "copy") * 1e3)


# --- The tasks, as the solution does them.


def parts(labcli: str, task: str, n_devices: int, n: int) -> list[tuple[str, float]]:
    """The phases of a task with n items on each device: name, µs."""
    machine = Machine(labcli, n_devices)
    if task == "reduce":
        return [("reduce", alone(task, n)), ("all-reduce", machine.all_reduce(8))]
    if task == "scan":
        return [
            ("reduce", alone("reduce", n)),
            ("all-gather", machine.all_gather(8)),
            ("scan", alone(task, n)),
        ]
    if task == "histogram":
        return [("count", alone(task, n)), ("sums", machine.sum_by_slices(BINS * COUNT_BYTES))]
    counts = (n_devices - 1) * COUNT_BYTES
    exchanged = machine.all_gather(2 * counts) + machine.all_to_all(KEY_BYTES * n)
    return [
        ("sort", alone(task, n)),
        ("splitters", DIGITS * machine.all_reduce(counts * DIGIT_VALUES)),
        ("exchange", exchanged),
        ("merge", math.ceil(math.log2(n_devices)) * copied(KEY_BYTES * n)),
    ]


def time_of(labcli: str, task: str, n_devices: int, n: int) -> float:
    return sum(us for _, us in parts(labcli, task, n_devices, n))


def efficiency(labcli: str, task: str, n_devices: int) -> float:
    return alone(task, WEAK) / time_of(labcli, task, n_devices, WEAK)


def speedup(labcli: str, task: str, n_devices: int) -> float:
    return alone(task, STRONG) / time_of(labcli, task, n_devices, STRONG // n_devices)


# --- What the pages show.


def words_of(us: float) -> str:
    return f"{us:.0f} µs" if us < 1000 else f"{us / 1000:.1f} ms" if us < 1e5 else f"{us / 1000:,.0f} ms"


def size_of(n_bytes: int) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:g} {unit}"
    return f"{n_bytes} bytes"


def assumptions(labcli: str) -> str:
    one = link(estimator(labcli))
    rows = [
        f"links of a node | start of a collective | {one['launch_us']:g} µs | "
        "fitted to two H200s; contains PyTorch's overhead",
        f" | a step of a ring | {one['step_us']:g} µs | fitted",
        f" | start of sends and receives, beyond that | {one['pairs_us']:g} µs | fitted",
        f" | a device sends, and receives at the same time | {one['gb_per_s']:g} GB/s | "
        "fitted; assumed to be the same for up to eight devices behind a switch",
        f" | the same in the low-latency protocol | {one['direct_gb_per_s']:g} GB/s | assumed: half",
        f"network | one adapter of {Network.adapter_gbit_per_s} Gbit/s for each GPU | {Network.gb_per_s:g} GB/s | "
        f"data sheet of ConnectX-7, of which {100 * Network.usable:.0f} % are assumed",
        f" | a step of a ring | {Network.step_us:g} µs | NCCL's tuner",
        f" | a step of a tree, low-latency protocol | {Network.short_step_us:g} µs, at {Network.short_rate:.2f} "
        "of the rate | NCCL's tuner",
        f" | a message, until the adapter has accepted it | {Network.message_us:g} µs | NCCL's tuner",
        " | congestion between nodes | none | assumed",
        "one device | reduction, scan, histogram, sort, copy | medians | "
        "the published run; above its largest size in proportion",
        "overlap | of kernels and communication | none | assumed",
        "keys of `sort` | equally many from each rank to each rank |  | assumed: random keys",
    ]
    return table("part | assumption | value | source", rows)


def measurements() -> tuple[list, float]:
    """What model_test.cpp compares the model with: (kind, bytes, GB/s), and µs of an all-gather of 16
    bytes."""
    text = (ROOT / "common/simulator/nccl/operation/model_test.cpp").read_text(encoding="utf-8")
    found = [(int(mib) * 2**20, float(rate)) for mib, rate in re.findall(r"\{(\d+) \* kMiB, (\d+)\}", text)]
    us = float(re.search(r"Kind::all_gather, 16, 2\)\)\.us, (\d+),", text)[1])
    assert len(found) == 6
    return [("all_reduce", *one) for one in found[:3]] + [("all_to_all", *one) for one in found[3:]], us


def percent(ratio: float) -> str:
    rounded = round(100 * (ratio - 1))
    return f"{rounded:+} %" if rounded else "0 %"


def fit(labcli: str) -> str:
    rates, us = measurements()
    program, rows = estimator(labcli), []
    for kind, n_bytes, rate in rates:
        modelled = estimated(program, kind, n_bytes, 2)[0]
        rate_modelled = n_bytes / modelled / 1e3  # of two devices each sends as many bytes as the call counts
        rates = [f"{rate:.0f} GB/s", f"{rate_modelled:.0f} GB/s", percent(rate_modelled / rate)]
        rows.append([kind.replace("_", "-"), size_of(n_bytes), *rates])
    modelled = estimated(program, "all_gather", 16, 2)[0]
    rows.append(["all-gather", "16 bytes", f"{us:.0f} µs", f"{modelled:.0f} µs", percent(modelled / us)])
    head = "collective | bytes sent by each device | measured on 2 H200s | modelled | difference"
    return table(head, rows, "lr")


@functools.lru_cache(None)
def bench_output(n_gpus: int) -> dict:
    """What `./lab bench multi_gpu --gpus 1,2,…` printed on a machine with n_gpus GPUs, in the newest run:
    {(log2 n, rung, GPUs): words of the row}."""
    text = max((ROOT / "handouts/results/multi_gpu").glob(f"*x{n_gpus}.txt")).read_text(encoding="utf-8")
    found, log, rung = {}, 0, ""
    for line in text.splitlines():
        if size := re.search(r"2\^(\d+) items on all GPUs", line):
            log = int(size[1])
        elif row := re.match(r"  (\w[\w ]*?)? +(\d) +(\d.* [µm]s .*)", line):
            rung = row[1] or rung
            found[log, rung, int(row[2])] = row[3].split()
    return found


def us_of(value: str, unit: str) -> float:
    return float(value) * {"µs": 1, "ms": 1000}[unit]


def rows_of(rung: str, n_gpus: int = 2) -> list[tuple]:
    """(log2 n, the row of one GPU or None, that of all of the machine's) by size."""
    found = bench_output(n_gpus)
    return [
        (log, found.get((log, rung, 1)), row)
        for (log, name, n), row in found.items()
        if name == rung and n == n_gpus
    ]


def measured_on_two(_labcli: str) -> str:
    """The ladder of lab 8 on two GPUs."""
    rows = []
    for rung in "reduce reduce_in_order scan_then_add scan histogram_all_reduce histogram sort".split():
        at = rows_of(rung)
        _, one, two = at[-1]
        times = (" ".join(words) for words in (one[:2], two[:2], two[5:7]))
        efficiencies = (f"{row[k]} %" for k in (3, 8) for _, _, row in at)
        rows.append([f"`{rung}`", *times, *efficiencies])
    sizes = [f"2^{log}" for log, _, _ in at]
    last = sizes[-1]
    head = ["rung", f"1 GPU, {last}", f"2 GPUs, {last} together", f"2 GPUs, {last} on each"]
    head += [f"{size} {how}" for how in ("together", "on each") for size in sizes]
    return table(head, rows, "lr")


def compared(labcli: str, n_gpus: int, device: str) -> str:
    """The model against measurements that it was not fitted to."""
    program, rows = estimator(labcli), []
    for name, kind, share in (("ncclAllReduce", "all_reduce", 1), ("all to all", "all_to_all", n_gpus)):
        for log, _, row in rows_of(name, n_gpus):
            for n_items, words in ((2**log // n_gpus, row[:2]), (2**log, row[3:5])):
                us = us_of(*words)
                modelled, _, _, sent = estimated(program, kind, n_items * KEY_BYTES // share, n_gpus)
                times = [words_of(us), words_of(modelled), percent(modelled / us)]
                rows.append([kind.replace("_", "-"), size_of(sent), *times])
    head = f"collective | bytes sent by each device | measured on {n_gpus} {device} | modelled | difference"
    return table(head, rows, "lr")


def checked(labcli: str) -> str:
    return compared(labcli, 2, "H100s")


def checked_on_four(labcli: str) -> str:
    return compared(labcli, 4, "H200s")


def rungs_on_four(labcli: str) -> str:
    """Weak scaling of lab 8's rungs on four GPUs, measured and modelled."""
    rows = []
    for task in BEST:
        for log, one, four in rows_of(task, 4):
            ideal, us = us_of(*one[:2]), us_of(*four[5:7])
            added = time_of(labcli, task, 4, 2**log) - alone(task, 2**log)
            times = [words_of(ideal), words_of(us), f"{100 * ideal / us:.0f} %", words_of(us - ideal)]
            rows.append([f"`{task}`", f"2^{log}", *times, words_of(added)])
    head = "rung | on each | 1 GPU | 4 GPUs | efficiency | added, measured | added, modelled"
    return table(head, rows, "lr")


def by_devices(title: str, cell: Callable) -> str:
    rows = [[f"`{task}`", *(cell(task, n) for n in DEVICES)] for task in BEST]
    return table([title, *(f"{n:,}" for n in DEVICES)], rows, "lr")


def weak(labcli: str) -> str:
    return by_devices("modelled efficiency", lambda task, n: f"{100 * efficiency(labcli, task, n):.0f} %")


def strong(labcli: str) -> str:
    return by_devices("modelled speedup", lambda task, n: f"{speedup(labcli, task, n):.0f}×")


def exchange(labcli: str) -> str:
    """Where the time of `sort` goes, with WEAK keys on each device."""
    rows = []
    for n in DEVICES:
        phases = parts(labcli, "sort", n, WEAK)
        whole = sum(us for _, us in phases)
        shares = (f"{words_of(us)} ({100 * us / whole:.0f} %)" for _, us in phases)
        rows.append([f"{n:,}", words_of(whole), *shares])
    return table(["GPUs", "modelled time", *(name for name, _ in phases)], rows, "r")


def collectives(labcli: str) -> str:
    """What a rank of eight sends for 1 MiB a rank, and for 8 bytes: the model's choice."""
    program, rows = estimator(labcli), []
    for kind, name in (
        ("all_reduce", "AllReduce"),
        ("reduce_scatter", "ReduceScatter"),
        ("all_gather", "AllGather"),
        ("all_to_all", "AlltoAll"),
        ("broadcast", "Broadcast"),
    ):
        for n_bytes in (8, 2**26):
            per_rank = n_bytes // 8 if kind in ("reduce_scatter", "all_gather", "all_to_all") else n_bytes
            us, algorithm, messages, sent = estimated(program, kind, per_rank, 8)
            call = f"`nccl{name}`" if n_bytes == 8 else ""
            rows.append([call, size_of(n_bytes), algorithm, messages, f"{sent:,}", words_of(us)])
    return table("collective | buffer | algorithm | messages | bytes sent | modelled time", rows, "lrlr")


def scaling(name: str, labcli: str) -> str:
    made = (assumptions, fit, checked, checked_on_four, rungs_on_four, collectives, weak, strong, exchange)
    tables = {f.__name__: f for f in made} | {"measured": measured_on_two}
    if name not in tables:
        sys.exit(f"handouts/scripts/scaling.py has no {name}")
    return tables[name](labcli)


KINDS = (scaling,)
