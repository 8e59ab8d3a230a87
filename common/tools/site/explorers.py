# SPDX-License-Identifier: MIT
"""Explorers: below some figures, a drawing for each value of a quantity, as steps of a player."""

import html
from collections.abc import Callable, Iterable, Iterator

STRIDES = range(1, 34)  # of a warp in shared memory
ADDRESSES = [(1, first) for first in range(9)] + [(stride, 0) for stride in (2, 3, 4, 5, 6, 7, 8, 16, 32)]
REGISTERS = range(16, 257, 8)  # of a thread
REGISTER_FILE, WARPS, BLOCKS = 65536, 64, 32  # of a multiprocessor
TOTALS = (5, 3, 6, 2, 4)  # of the tiles
# Schedules of a look-back: the most statuses that a tile reads, and the events in order: a block takes a ticket
# (t), or a tile publishes its aggregate (a) or its prefix (p).
SCHEDULES = (
    (1, "t 0p t 1a 1p t 2a 2p t 3a 3p t 4a 4p"),
    (2, "t t t t 2a t 4a 0p 1a 1p 3a 2p 3p 4p"),
    (2, "t 0p t t t 2a 3a 1a t 4a 1p 2p 4p 3p"),
    (2, "t t 1a 0p t t 3a 1p t 2a 4a 2p 3p 4p"),
    (3, "t t t t 3a 0p 2a t 1a 3p 2p 4a 1p 4p"),
    (4, "t t 1a 0p t t t 2a 4a 3a 2p 1p 3p 4p"),
    (3, "t t t t 1a t 0p 2a 3a 4a 1p 2p 3p 4p"),
    (3, "t t t t 3a t 0p 1a 4a 1p 2a 3p 2p 4p"),
)
# Boxes in an image of 5 rows, by the first and last row and column.
BOXES = ((1, 1, 2, 3), (0, 1, 2, 3), (1, 0, 3, 2), (0, 0, 2, 3), (2, 4, 2, 4), (0, 0, 4, 5))
IMAGE = [[(3, 1, 7, 0, 4, 1, 6, 3)[(row + column) % 8] for column in range(6)] for row in range(5)]


def text(x: float, y: float, words: object, look: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{look}">{html.escape(str(words))}</text>\n'


def boxes(look: str, width: int, height: int, places: Iterable[tuple[int, int]]) -> str:
    path = "".join(f"M{x} {y}h{width}v{height}h-{width}Z" for x, y in places)
    return f'<path class="{look}" d="{path}"/>\n'


def many(n: int, what: str, more: str = "s") -> str:
    return f"{n} {what}{more if n > 1 else ''}"


def times_lane(stride: int) -> str:
    return "lane" if stride == 1 else f"{stride} * lane"


def banks() -> Iterator[tuple[str, int, int, str]]:
    for stride in STRIDES:
        words = {stride * lane for lane in range(32)}
        n = max(sum(word % 32 == bank for word in words) for bank in range(32))
        base = 34 + 5 * n
        filled = [(bank, k) for bank in range(32) for k in range(sum(word % 32 == bank for word in words))]
        drawn = text(14, 24, f"s_data[{times_lane(stride)}]", "mono bold")
        drawn += text(430, 24, many(n, "wavefront"), "end")
        look = "one small" if n == 1 else "two small"
        drawn += boxes(look, 13, 5, ((14 + 13 * bank, base - 5 - 5 * k) for bank, k in filled))
        drawn += f'<path class="line" d="M14 {base}h416"/>\n' + text(20.5, base + 15, "bank 0", "note")
        for bank in (8, 16, 24, 31):
            drawn += text(20.5 + 13 * bank, base + 15, bank, "note middle")
        yield f"stride {stride}: {many(n, 'wavefront')}", 444, base + 31, drawn


def sectors() -> Iterator[tuple[str, int, int, str]]:
    for stride, first in ADDRESSES:
        wanted = {stride * lane + first for lane in range(32)}
        touched = sorted({word // 8 for word in wanted})  # sectors of 32 bytes
        name = f"d_in[{times_lane(stride)}{f' + {first}' if first else ''}]"
        at = {
            8 * sector + word: (14 + 54 * (k % 8) + 6 * word, 34 + 16 * (k // 8))
            for k, sector in enumerate(touched)
            for word in range(8)
        }
        drawn = text(14, 24, name, "mono bold") + text(
            440, 24, f"{len(touched)} sectors for 128 bytes", "end"
        )
        drawn += boxes("cold small", 6, 10, (place for word, place in at.items() if word not in wanted))
        drawn += boxes("one small", 6, 10, (at[word] for word in sorted(wanted)))
        used = f"{len(touched)} sectors, {400 / len(touched):.3g} % of their bytes are used"
        yield f"{name}: {used}", 454, 40 + 16 * -(-len(touched) // 8), drawn


def occupancy() -> Iterator[tuple[str, int, int, str]]:
    for registers in REGISTERS:
        drawn = text(14, 24, f"{registers} registers per thread", "bold")
        for k, threads in enumerate((64, 128, 256, 512, 1024)):
            warps = threads // 32
            fits = warps * min(WARPS // warps, REGISTER_FILE // (32 * registers) // warps, BLOCKS)
            drawn += text(14, 50 + 26 * k, f"blocks of {threads:,}")
            drawn += boxes("cold", 4 * WARPS, 18, [(130, 36 + 26 * k)])
            drawn += boxes("one", 4 * fits, 18, [(130, 36 + 26 * k)] * bool(fits))
            drawn += text(396, 50 + 26 * k, f"{fits} of {WARPS} warps")
        yield f"{registers} registers per thread", 511, 170, drawn


def schedules() -> Iterator[tuple[str, int, int, str]]:
    for number, (longest, events) in enumerate(SCHEDULES):
        drawn = text(14, 28, "tickets", "bold")
        for tile in range(len(TOTALS)):
            drawn += text(110 + 80 * tile, 28, f"tile {tile}", "bold middle")
        tickets, statuses, y = 0, [""] * len(TOTALS), 36
        for event in events.split():
            changed = -1 if event == "t" else int(event[0])
            if event == "t":
                tickets += 1
            elif event[1] == "a":
                statuses[changed] = f"aggregate {TOTALS[changed]}"
            else:
                statuses[changed] = f"prefix {sum(TOTALS[: changed + 1])}"
            drawn += text(36, y + 17, tickets, f"mono middle{' bold' * (event == 't')}")
            for tile, status in enumerate(statuses):
                look = "box written" if tile == changed else "box" if status else "faint"
                drawn += boxes(look, 80, 25, [(70 + 80 * tile, y)])
                bold = " bold" * (tile == changed)
                drawn += text(110 + 80 * tile, y + 17, status, f"note middle{bold}") if status else ""
            y += 25
        order = " (one block after the other)" * (number == 0)
        reads = f"the longest look-back reads {many(longest, 'status', 'es')}"
        yield f"schedule {number}{order}: {reads}", 484, y + 12, drawn


def corners() -> Iterator[tuple[str, int, int, str]]:
    table = [[sum(sum(line[: c + 1]) for line in IMAGE[: r + 1]) for c in range(6)] for r in range(5)]
    for top, left, bottom, right in BOXES:
        corner = {
            (bottom, right): "D",
            (top - 1, right): "B",
            (bottom, left - 1): "C",
            (top - 1, left - 1): "A",
        }
        drawn = text(14, 24, "image", "bold") + text(232, 24, "summed area table", "bold")
        for r, c in ((r, c) for r in range(5) for c in range(6)):
            look = "box one" if top <= r <= bottom and left <= c <= right else "box"
            drawn += boxes(look, 34, 34, [(14 + 34 * c, 34 + 34 * r)])
            drawn += text(31 + 34 * c, 56 + 34 * r, IMAGE[r][c], "mono middle")
            drawn += boxes(f"box{' written' * ((r, c) in corner)}", 44, 34, [(232 + 44 * c, 34 + 34 * r)])
            drawn += text(254 + 44 * c, 56 + 34 * r, f"{corner.get((r, c), '')} {table[r][c]}", "mono middle")
        d, b, c, a = (table[r][c] if r >= 0 and c >= 0 else 0 for r, c in corner)
        yield f"sum of the box = D − B − C + A = {d} − {b} − {c} + {a} = {d - b - c + a}", 510, 218, drawn


# By the figure below which they stand.
EXPLORERS: dict[str, tuple[str, Callable[[], Iterator[tuple[str, int, int, str]]]]] = {
    "banks": ("Choose a stride:", banks),
    "coalescing": ("Choose the addresses of a warp:", sectors),
    "look-back": ("Choose a schedule of the blocks:", schedules),
    "sat-corners": ("Choose a box:", corners),
    "memory-hierarchy": ("How many warps fit, by the registers of a thread:", occupancy),
}


def explorer(name: str) -> str:
    """What a reader can try below a figure; "" if there is nothing."""
    if name not in EXPLORERS:
        return ""
    asked, drawings = EXPLORERS[name]
    steps = ""
    for title, width, height, drawn in drawings():
        steps += (
            f'<li class="step"><p class="moment">{title}</p><div class="picture"><svg role="img" aria-label="{title}" '
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n<rect class="card" x="0.5" y="0.5" '
            f'width="{width - 1}" height="{height - 1}" rx="8"/>\n{drawn}</svg></div></li>\n'
        )
    return f'<div class="stepper explorer"><p class="try">{asked}</p><ol class="steps">\n{steps}</ol></div>'
