# SPDX-License-Identifier: MIT
"""Lab 5: which bin, also where floats round; lost samples; private counters; sort and reduce by key."""

import math
import struct
from fractions import Fraction

from worked import ITEMS, exclusive, row, table

BINS, LO, HI = 4, 0, 8
KEYS = [(x - LO) * BINS // (HI - LO) for x in ITEMS]


def edges() -> str:
    samples = [
        ("0", 0, "a bin includes its lower edge"),
        ("2", 2, "2 is the lower edge of bin 1; bin 0 excludes its upper edge"),
        ("7", 7, "between the edges 6 and 8"),
        ("8", 8, "the upper end hi is in no bin"),
        ("−1", -1, "less than lo"),
        ("NaN", math.nan, "every comparison with a NaN is false"),
    ]

    def where(x: float) -> str:
        return f"bin {(x - LO) * BINS // (HI - LO)}" if LO <= x < HI else "none"

    rows = [[name, where(x), why] for name, x, why in samples]
    return table(f"sample | {BINS} bins over [{LO}, {HI}) | why", rows)


def to_float(x: float) -> float:
    return struct.unpack("<f", struct.pack("<f", x))[0]


def rounding() -> str:
    """Each operation in double and then rounded to float: the same as in float, as every product of two
    floats fits a double."""
    rows = []
    for x in (0.3, 0.7, 0.9):
        as_float, scale = to_float(x), to_float(10.0 / 1.0)
        exact = math.floor(Fraction(as_float) * 10)
        rows.append([x, f"{as_float:.9f}", exact, int(to_float((as_float - 0.0) * scale))])
    return table("x, ten bins over [0, 1) | as a float | exact bin | `(x - lo) * scale`", rows, "llr")


def racy() -> str:
    right = [KEYS.count(b) for b in range(BINS)]
    stored = [int(b in KEYS) for b in range(BINS)]  # all threads load 0 before any stores 1
    zeros = row([0] * BINS)
    rows = [
        ["sample", *ITEMS, zeros],
        ["bin", *KEYS, zeros],
        ["loads", *[0] * 8, zeros],
        ["stores", *[1] * 8, f"**{row(stored)}**"],
    ]
    return (
        table(["lane", *range(8), "counts"], rows)
        + f"\nThe counts contain {sum(stored)} samples; {len(ITEMS) - sum(stored)} are lost. The right counts are "
        f"`{row(right)}`.\n"
    )


def private() -> str:
    threads = range(4)
    bins = [KEYS[t :: len(threads)] for t in threads]
    counts = [[bins[t].count(b) for t in threads] for b in range(BINS)]
    rows: list = [["samples", *(", ".join(map(str, ITEMS[t :: len(threads)])) for t in threads), ""]]
    rows += [[f"bin {b}", *c, f"**{sum(c)}**"] for b, c in enumerate(counts)]
    return table(["", *(f"thread {t}" for t in threads), "sum"], rows)


def sorted_tile() -> str:
    keys = sorted(KEYS)
    head = [int(i == 0 or keys[i] != keys[i - 1]) for i in range(len(keys))]
    sums, n_runs = exclusive(head)
    starts = [i for i, h in enumerate(head) if h]
    ends = starts[1:] + [len(keys)]
    blank = [""] * (len(keys) - n_runs)
    rows = [
        ["keys (bins)", *KEYS],
        ["sorted", *keys],
        ["a run starts here", *head],
        ["exclusive sum of the row above", *sums],
        ["`s_starts`", *starts, f"**{len(keys)}**", *blank[1:]],
        ["key: length of its run", *(f"{keys[s]}: {e - s}" for s, e in zip(starts, ends)), *blank],
    ]
    return (
        table(["", *range(len(keys))], rows)
        + f"\nThe {len(keys)} after the last start is the number of samples in the tile. With it, every run ends "
        f"where the next one starts. {n_runs} atomics are enough for {len(keys)} samples.\n"
    )


def sectors() -> str:
    """Of 256 counts of 8 bytes, how many sectors 32 random samples touch."""
    n, lanes = 256 * 8 // 32, 32
    touched = n * (1 - ((n - 1) / n) ** lanes)
    rows = [
        f"sectors that hold the counts | {n}",
        f"sectors that 32 samples touch, on average | {n} · (1 − ({n - 1}/{n})³²) = {touched:.1f}",
        f"bytes read and written back | {touched * 64:.0f}",
        f"bytes of the warp's samples | {lanes * 4}",
    ]
    return table("one warp of rung 1, 256 bins, uniformly distributed samples | ", rows, "lr")
