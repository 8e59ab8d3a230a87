# SPDX-License-Identifier: MIT
"""Figures of lab 8 and of the page on scaling, for figures.py: computed from worked examples."""

from collections.abc import Callable

from pictures import Picture
from worked import multi_gpu

WIDTH = 440  # of what is drawn, beside margins


def ranks(_run: object) -> Picture:
    p = Picture()
    w, gap, n = 94, 16, 4
    p.rect(14, 14, n * w + (n - 1) * gap, 30, "box")
    p.text(14 + (n * w + (n - 1) * gap) / 2, 34, "one host thread calls for all ranks", "bold middle")
    for r in range(n):
        x: float = 14 + r * (w + gap)
        p.line("arrow", x + w / 2, 46, x + w / 2, 62)
        p.rect(x, 66, w, 112, "box")
        p.text(x + w / 2, 84, f"device {r}", "bold middle")
        for k, words in enumerate(("stream", "ncclComm_t", f"shard {r}")):
            p.rect(x + 6, 94 + 27 * k, w - 12, 23, "box" if k < 2 else "box one")
            p.text(x + w / 2, 110 + 27 * k, words, "note middle" if k < 2 else "middle")
    y = 196
    p.rect(14, y, n * w + (n - 1) * gap, 28, "box written")
    p.text(14 + (n * w + (n - 1) * gap) / 2, y + 19, "links: ranks 0 to 3 of one communicator", "middle")
    for r in range(n):
        x = 14 + r * (w + gap) + w / 2
        p.line("arrow", x - 6, 178, x - 6, y - 3)
        p.line("arrow", x + 6, y, x + 6, 181)
    return p


def collectives(_run: object) -> Picture:
    """Four ranks with a buffer of four values each, before and after."""
    before = multi_gpu.BUFFERS
    p = Picture()
    w, y = 24, 24
    for name, after, note in multi_gpu.collectives(before):
        p.step(f"{name}: {note}")
        p.text(14, y, name, "mono bold")
        p.text(WIDTH + 8, y, note, "note end")
        y += 8
        for r in range(4):
            x = 14 + r * 112
            p.cells(x, y, before[r], w, 22)
            p.line("arrow", x + 2 * w, y + 24, x + 2 * w, y + 36)
            received = [i for i, v in enumerate(after[r]) if v is not None]
            p.cells(x, y + 39, ["" if v is None else v for v in after[r]], w, 22, received)
        y += 90
    for r in range(4):
        p.text(14 + r * 112 + 2 * w, y - 12, f"rank {r}", "note middle")
    return p


def ring(_run: object) -> Picture:
    """The steps of an all-reduce in a ring of four ranks; a cell is a chunk, its text the ranks that it
    contains."""
    p = Picture()
    w, x0, y = 34, 74, 26
    for r in range(4):
        p.text(x0 + r * 96 + 1.25 * w, y, f"rank {r}", "bold middle")
    y += 12
    steps = list(multi_gpu.ring(4))
    for k, (name, state, received) in enumerate(steps):
        p.step(name)
        p.text(14, y + 15, name, "note" if k else "bold note")
        for r in range(4):
            for c in range(4):
                x, n, new = x0 + r * 96 + c * 21, len(state[r][c]), received.get(r) == c
                p.rect(x, y, 21, 22, "box written" if new else "box one" if n == 4 else "box")
                p.text(x + 10.5, y + 16, n, "mono middle" + " bold" * new)
        y += 30
        if k + 1 < len(steps):
            for r in range(3):
                p.line("line", x0 + r * 96 + 86, y - 19, x0 + r * 96 + 94, y - 19)
        if k == 3:
            p.line("faint", 14, y - 4, WIDTH + 10, y - 4)
            y += 4
    return p


def scan(_run: object) -> Picture:
    shards = multi_gpu.SHARDS
    totals, prefixes, results = multi_gpu.scanned(shards)
    p = Picture()
    w, column = 25, 112
    at = [14 + r * column for r in range(len(shards))]

    def strip(y: int, rows: list[list[int]], **looks: Callable) -> None:
        for x, values in zip(at, rows):
            if values:
                p.cells(x, y, values, w, 26, **{name: look(values) for name, look in looks.items()})
            else:
                p.rect(x, y, 4 * w, 26, "faint")
                p.text(x + 2 * w, y + 17, "empty", "note middle")

    def arrows(y: int) -> None:
        for x in at:
            p.line("arrow", x + 2 * w, y, x + 2 * w, y + 14)

    for r, x in enumerate(at):
        p.text(x + 2 * w, 24, f"rank {r}", "bold middle")
    strip(32, shards)
    p.step("1. Reduce: each rank reads its shard", 78)
    arrows(84)
    for x, total in zip(at, totals):
        p.cells(x + 1.5 * w, 101, [total], w, 26, [0])
    p.step("2. ncclAllGather: each rank has all totals. Blue: those of lower ranks", 147)
    arrows(153)
    for r, x in enumerate(at):
        p.cells(x, 170, totals, w, 26, (), dict.fromkeys(range(r), "box one"))
        p.text(x + 2 * w, 212, f"prefix {prefixes[r]}", "mono middle")
    p.step("3. Scan: each rank reads its shard again, and starts with its prefix", 232)
    arrows(238)
    strip(255, results, written=lambda values: range(len(values)))
    return p


def sort(_run: object) -> Picture:
    shards = multi_gpu.SORT_SHARDS
    locally, cuts, received, results = multi_gpu.sorted_by_exchange(shards)
    p = Picture()
    w, gap, left = 30, 28, 14
    at, x = [], left
    for shard in shards:
        at.append(x)
        x += len(shard) * w + gap
    looks = ["box written", "box one", "box two"]

    def owner(r: int, i: int) -> int:
        return next(q for q in range(len(shards)) if cuts[r][q] <= i < cuts[r][q + 1])

    for r, shard in enumerate(shards):
        p.text(at[r] + len(shard) * w / 2, 24, f"rank {r}", "bold middle")
        p.cells(at[r], 32, shard, w, 26)
    p.step("1. Sort locally. 2. Cut: the colour says which rank gets a key", 78)
    for r, row in enumerate(locally):
        p.cells(at[r], 86, row, w, 26, (), {i: looks[owner(r, i)] for i in range(len(row))})
    p.step("3. Exchange: each rank gets a sorted run from each rank", 132)
    top, y = 138, 196
    for q, runs in enumerate(received):
        flat = [key for run in runs for key in run]
        p.cells(at[q], y, flat, w, 26, (), dict.fromkeys(range(len(flat)), looks[q]))
        first = 0
        for r, run in enumerate(runs):
            if run:
                half = len(run) / 2
                p.line("arrow", at[r] + (cuts[r][q] + half) * w, top, at[q] + (first + half) * w, y - 3)
                first += len(run)
                if first < len(flat):
                    p.line("ring", at[q] + first * w, y - 3, at[q] + first * w, y + 29)
    p.step("4. Merge the runs (red lines separate them)", 246)
    for q, row in enumerate(results):
        p.cells(at[q], 254, row, w, 26, (), dict.fromkeys(range(len(row)), looks[q]))
    return p
