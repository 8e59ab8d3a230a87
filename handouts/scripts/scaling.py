# SPDX-License-Identifier: MIT
"""The modelled time of lab 8's tasks on more GPUs than anybody here could measure, for charts.py.

Inside a node, collectives take the time of common/simulator/nccl/operation/model.cpp, which
build/handouts/nccl_estimate prints. Between nodes they take that of `Network`, whose constants are
assumptions. What one device does alone takes the time of the published run (measured.py).
"""

import functools
import itertools
import math
import pathlib
import subprocess

import measured

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
