#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what PyTorch, CuPy and NPP offer for the labs' tasks, and the labs' top rungs on the same GPU.

usage: frameworks.py BUILD_FOLDER RESULT.json [ITEMS…]      (2^20, 2^24 and 2^28 if none are given)

Needs the programs solutions/bench_LAB of the build folder and PyTorch. CuPy and NPP's libnppist.so are used
if they are there. The result is that of `bench_LAB --rung state_of_the_art`, all labs' in one, with a row
more for each of these libraries' calls. As in `./lab bench`, the time is the GPU's: each call is submitted
while an earlier kernel keeps the stream busy, and the inputs of successive runs rotate through 1 GiB, so that
they come from memory. Other memory is read before each run, so that the cache has nothing to write back. The
results lie where each library's allocator puts them. A call that waits for the device, because the size of
its result depends on the data, can't be submitted in advance: it is marked, and its time includes the host's.
"""

import ctypes
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

try:
    import cupy
except ImportError:
    cupy = None

RUNS = 60
GATE_CYCLES = 4_000_000  # about 2 ms, longer than any of the calls needs to be submitted
ROTATION_ITEMS = 1 << 28
OTHER_BYTES = 256 << 20  # several times the cache
ROW = 4096
LABS = ["reduction", "scan", "compaction", "radix_sort", "histogram", "sat", "hierarchical_scan"]


class Npp:
    """The part of NPP that computes summed area tables. Source: NVIDIA, "NPP",
    nppi_statistics_functions.h."""

    class Size(ctypes.Structure):
        _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]

    class Context(ctypes.Structure):  # NppStreamContext
        _fields_ = [
            ("stream", ctypes.c_void_p),
            ("device", ctypes.c_int),
            ("multiprocessors", ctypes.c_int),
            ("threads_per_multiprocessor", ctypes.c_int),
            ("threads_per_block", ctypes.c_int),
            ("shared_per_block", ctypes.c_size_t),
            ("major", ctypes.c_int),
            ("minor", ctypes.c_int),
            ("stream_flags", ctypes.c_uint),
            ("reserved", ctypes.c_int),
        ]

    def __init__(self) -> None:
        library = ctypes.CDLL("libnppist.so")
        self.integral = library.nppiIntegral_8u32s_C1R_Ctx
        array = [ctypes.c_void_p, ctypes.c_int]  # and the bytes from row to row
        self.integral.argtypes = [*array, *array, self.Size, ctypes.c_int, self.Context]
        chip = torch.cuda.get_device_properties(0)
        stream, threads = torch.cuda.current_stream().cuda_stream, chip.max_threads_per_multi_processor
        of_block, version = (1024, 48 << 10), (chip.major, chip.minor)
        self.context = self.Context(stream, 0, chip.multi_processor_count, threads, *of_block, *version, 0, 0)

    def table(self, image: torch.Tensor) -> torch.Tensor:
        """(height, width) bytes to (height + 1, width + 1) sums: row 0 and column 0 are zero."""
        height, width = image.shape
        sums = torch.empty((height + 1, width + 1), dtype=torch.int32, device=image.device)
        to = (sums.data_ptr(), 4 * (width + 1))
        status = self.integral(image.data_ptr(), width, *to, self.Size(width, height), 0, self.context)
        if status != 0:
            raise RuntimeError(f"NPP's status is {status}")
        return sums


def rotated(items: torch.Tensor, n: int) -> Callable:
    """turn → n of the items, other ones in successive turns."""
    n_parts = len(items) // n
    return lambda turn: items[turn % n_parts * n : (turn % n_parts + 1) * n]


def wrapped(value: torch.Tensor) -> int:
    """The value as a signed integer of 32 bits."""
    return (int(value) + (1 << 31)) % (1 << 32) - (1 << 31)


def is_close(a: Any, b: torch.Tensor) -> bool:
    return math.isclose(float(a), float(b), rel_tol=1e-3)


def calls(n: int) -> Iterator[tuple]:
    """(lab, case, library, what is called, turn → result, whether the result of turn 0 is right) for n
    items."""
    length = max(2 * n, ROTATION_ITEMS)
    torch.manual_seed(1)
    integers = torch.randint(-(2**31), 2**31 - 1, (length,), dtype=torch.int32, device="cuda")
    floats = torch.rand(length, device="cuda")
    item, real, small = rotated(integers, n), rotated(floats, n), rotated(integers & 255, n)
    side = math.isqrt(n)
    image, pixels = (lambda turn: real(turn).view(side, side)), rotated(integers.view(torch.uint8), n)
    sum_of_all = wrapped(item(0).sum(dtype=torch.int64))
    sum_of_row = wrapped(item(0)[-ROW:].sum(dtype=torch.int64))
    n_positive = int((item(0) > 0).sum())
    i32 = torch.int32

    def ends_in_sum(scanned: Any) -> bool:
        return int(scanned.reshape(-1)[-1]) == sum_of_all

    # By lab: the case, and whether a result is right.
    asked = {
        "reduction": ("sum_i32_random", ends_in_sum),
        "scan": ("inclusive_sum_i32_row4096_random", lambda sums: int(sums.reshape(-1)[-1]) == sum_of_row),
        "compaction": ("is_positive_i32_half", lambda kept: len(kept) == n_positive),
        "radix_sort": ("pairs_f32_random", lambda keys: bool((keys[1:] >= keys[:-1]).all())),
        "histogram": ("even_i32_b256_random", lambda counts: int(counts.sum()) == n),
        "sat": (
            "lower_left_f32_random",
            lambda sums: is_close(sums[-1, -1], image(0).sum(dtype=torch.float64)),
        ),
        "hierarchical_scan": ("inclusive_sum_i32_random", ends_in_sum),
    }

    def of(library: str, made: dict) -> Iterator[tuple]:
        for lab, (name, call) in made.items():
            case, is_right = asked[lab]
            yield lab, case, library, name, call, is_right

    pytorch = {
        "reduction": ("torch.sum", lambda t: torch.sum(item(t), dtype=i32)),
        "scan": ("torch.cumsum of rows", lambda t: torch.cumsum(item(t).view(-1, ROW), 1, dtype=i32)),
        "compaction": ("torch.masked_select", lambda t: torch.masked_select(item(t), item(t) > 0)),
        "radix_sort": ("torch.sort, with 64-bit indices", lambda t: torch.sort(real(t))[0]),
        "histogram": ("torch.bincount, 64-bit counts", lambda t: torch.bincount(small(t), minlength=256)),
        "sat": ("torch.cumsum twice", lambda t: image(t).cumsum(1).cumsum(0)),
        "hierarchical_scan": ("torch.cumsum", lambda t: torch.cumsum(item(t), 0, dtype=i32)),
    }
    yield from of("PyTorch", pytorch)
    try:
        npp = Npp()
    except OSError:
        pass
    else:
        yield (
            "sat",
            "lower_left_f32_random",
            "NPP",
            "nppiIntegral_8u32s, of bytes",
            lambda t: npp.table(pixels(t).view(side, side)),
            lambda sums: int(sums[-1, -1]) == wrapped(pixels(0).sum(dtype=torch.int64)),
        )
    if cupy is None:
        return

    def on_cupy(function: Callable) -> Callable:
        return lambda turn: cupy.asarray(function(turn))

    x, f, b, p = on_cupy(item), on_cupy(real), on_cupy(small), on_cupy(image)
    on_rows = {"axis": 1, "dtype": "int32"}
    cupys = {
        "reduction": ("cupy.sum", lambda t: x(t).sum(dtype="int32")),
        "scan": ("cupy.cumsum of rows", lambda t: cupy.cumsum(x(t).reshape(-1, ROW), **on_rows)),
        "compaction": ("x[x > 0]", lambda t: x(t)[x(t) > 0]),
        "radix_sort": ("cupy.sort, without values", lambda t: cupy.sort(f(t))),
        "histogram": ("cupy.bincount, 64-bit counts", lambda t: cupy.bincount(b(t), minlength=256)),
        "sat": ("cupy.cumsum twice", lambda t: p(t).cumsum(axis=1).cumsum(axis=0)),
        "hierarchical_scan": ("cupy.cumsum", lambda t: cupy.cumsum(x(t), dtype="int32")),
    }
    yield from of("CuPy", cupys)


def timed(call: Callable, other: torch.Tensor) -> dict:
    """What RUNS runs of a call took: the figures of a row. `other` is memory that the call does not use."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    waits, us = False, []
    for turn in range(RUNS):
        other.sum()
        torch.cuda.synchronize()
        torch.cuda._sleep(GATE_CYCLES)
        begin.record()
        call(turn)
        waits |= begin.query()  # the gate opened before all work was submitted
        end.record()
        torch.cuda.synchronize()
        us.append(1000 * begin.elapsed_time(end))
    us.sort()
    half = 0.98 * math.sqrt(RUNS)  # the median's 95 % confidence interval, as in times.hpp
    spread = (us[math.ceil(RUNS / 2 + half)] - us[math.floor(RUNS / 2 - half)]) / us[RUNS // 2]
    return {
        "median_us": round(us[RUNS // 2], 3),
        "min_us": round(us[0], 3),
        "spread": round(spread, 4),
        "runs": RUNS,
        "waits": waits,
    }


def top_rungs(build: str, lab: str, sizes: list[int]) -> dict:
    """What the lab's own benchmark measures: its top rung and the libraries that it knows."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        program = [f"{build}/solutions/bench_{lab}", "--rung", "state_of_the_art", "--no-cpu"]
        subprocess.run([*program, "--sizes", ",".join(map(str, sizes)), "--json", file.name], check=True)
        return json.load(file)


def kind_of(case: str) -> str:
    """A case's name without its sizes."""
    return re.sub(r"_n\d+|_bench\d+|_\d+x\d+", "", case)


def main() -> None:
    build, result = sys.argv[1:3]
    sizes = [int(n) for n in sys.argv[3:]] or [1 << 20, 1 << 24, 1 << 28]
    labs = [top_rungs(build, lab, sizes) for lab in LABS]
    tables = {
        (entry["lab"], kind_of(table["case"]), size["n"]): table["rows"]
        for entry in labs
        for size in entry["sizes"]
        for table in size["tables"]
    }
    other = torch.zeros(OTHER_BYTES // 4, device="cuda")
    if cupy is not None:
        cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream).use()
    for n in sizes:
        for lab, case, library, name, call, is_right in calls(n):
            row: dict = {"name": f"{library} {name}", "kind": "peer"}
            try:
                row |= {"right": is_right(call(0)), **timed(call, other)}
            except RuntimeError as error:  # too little memory, or a size that the library refuses
                row |= {"right": False, "error": str(error).splitlines()[0]}
            print(lab, n, row, file=sys.stderr)
            tables[lab, case, n].append(row)
    versions = {"PyTorch": torch.__version__, **({"CuPy": cupy.__version__} if cupy else {})}
    made = {"schema": 1, "date": time.strftime("%Y-%m-%d"), "versions": versions, "labs": labs}
    with open(result, "w", encoding="utf-8") as file:
        json.dump(made, file, indent=1)


if __name__ == "__main__":
    main()
