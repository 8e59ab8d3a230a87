# SPDX-License-Identifier: MIT
"""Explorers of the site: below a figure, the same picture for every value of a quantity, to be chosen with
the slider of the traces' player (grader/page/trace.js). All pictures and numbers are computed here; the
page's script only shows one of them. The look-ups of a summed area table have a script of their own."""

from collections.abc import Iterator

import pictures
import registers
from worked import hierarchical_scan


def banks() -> Iterator[tuple[str, pictures.Picture]]:
    """The stride of a warp in shared memory."""
    for stride in range(1, 34):
        p = pictures.Picture()
        base = pictures.bank_strip(p, 24, f"s_data[{pictures.times_lane(stride)}]", stride, 5)
        pictures.bank_numbers(p, base + 15)
        n, _ = pictures.busiest(stride * lane for lane in range(32))
        yield f"stride {stride}: {n} wavefront{'s' * (n > 1)}", p


def sectors() -> Iterator[tuple[str, pictures.Picture]]:
    """The first word and the stride of a warp in device memory."""
    cases = [(1, first) for first in range(9)] + [(stride, 0) for stride in (2, 3, 4, 5, 6, 7, 8, 16, 32)]
    for stride, first in cases:
        p = pictures.Picture()
        words = [stride * lane + first for lane in range(32)]
        title = f"d_in[{pictures.times_lane(stride)}{f' + {first}' if first else ''}]"
        pictures.sector_rows(p, 24, title, words)
        n = len({word // 8 for word in words})
        yield f"{title}: {n} sectors, {100 * 128 / (32 * n):.3g} % of their bytes are used", p


def occupancy() -> Iterator[tuple[str, pictures.Picture]]:
    """The registers of a thread, for blocks of several sizes."""
    for used in range(16, 257, 8):
        p = pictures.Picture()
        p.text(14, 24, f"{used} registers per thread", "bold")
        y = 36
        for threads in (64, 128, 256, 512, 1024):
            fits = registers.resident_warps({"threads": threads, "registers": used})
            p.text(14, y + 14, f"blocks of {threads:,}", "")
            p.rect(130, y, 4 * registers.WARPS, 18, "cold")
            if fits:
                p.rect(130, y, 4 * fits, 18, "one")
            p.text(396, y + 14, f"{fits} of {registers.WARPS} warps", "")
            y += 26
        yield f"{used} registers per thread", p


def schedules() -> Iterator[tuple[str, pictures.Picture]]:
    """A look-back under a scheduler that chooses the block of each step."""
    for seed in range(16):
        events, lengths = hierarchical_scan.scheduled(seed)
        p, rows, old = pictures.Picture(), [], [0] + [("", 0)] * len(lengths)
        for event in events:
            new = [event.tickets, *event.statuses]
            written = {i for i, (a, b) in enumerate(zip(old, new)) if a != b}
            states = [f"{kind} {value}" if kind else "" for kind, value in event.statuses]
            rows.append((event.words, event.tickets, states, written))
            old = new
        pictures.status_rows(p, rows, stepping=False)
        longest = max(lengths)
        yield (
            f"schedule {seed}{' (one block after the other)' if seed == 0 else ''}: "
            f"the longest look-back reads {longest} status{'es' * (longest > 1)}",
            p,
        )


def lookups() -> dict:
    """An image and its table, for common/tools/site/lookups.js."""
    image, table = pictures.image_and_table()
    return {"image": image, "table": table}


# By the figure below which they stand.
EXPLORERS = {
    "banks": ("Choose a stride", banks),
    "coalescing": ("Choose the addresses of a warp", sectors),
    "look-back": ("Choose a schedule of the blocks", schedules),
    "memory-hierarchy": ("How many warps fit, by the registers of a thread", occupancy),
}
