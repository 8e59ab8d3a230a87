# SPDX-License-Identifier: MIT
"""Figures of the handouts that are more than a trace, for figures.py: each function draws one as SVG, of a
run's trace (`run`) or of a worked example (worked/). The words are the text alternative. Widths are at most
460, so that texts stay readable on a telephone. The site shows a picture with steps one step after the other
(grader/page/trace.js)."""

import html
import json
from collections.abc import Callable, Iterable

import measured
from worked import ITEMS, exclusive, sat

# The colours of grader/page/style.css, in light and dark; the card follows the same setting as the texts on
# it.
STYLE = """text { font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 13px; fill: #1b1b1f; }
.mono { font-family: ui-monospace, 'DejaVu Sans Mono', Consolas, monospace; }
.middle { text-anchor: middle; } .end { text-anchor: end; } .bold { font-weight: 700; } .note { font-size: 12px; fill: #545863; }
.card, .box { fill: #ffffff; } .card { stroke: #c9ccd4; } .box { stroke: #767a86; }
.written { fill: #fff0b8; } .cold, .one, .two { stroke: #767a86; } .cold { fill: #ffffff; } .one { fill: #8fbcf0; } .two { fill: #f2b5a8; }
.line { fill: none; stroke: #767a86; stroke-width: 1.3; } .ring { fill: none; stroke: #b3261e; stroke-width: 2.2; }
.arrow { fill: none; stroke: #0b57a4; stroke-width: 1.4; marker-end: url(#head); } .head { fill: #0b57a4; }
.faint { fill: none; stroke: #c9ccd4; stroke-dasharray: 3 3; } .small { stroke-width: 0.4; }
@media (prefers-color-scheme: dark) {
text { fill: #e6e7ea; } .note { fill: #b4b8c4; } .card, .box, .cold { fill: #16171b; } .card { stroke: #43464f; } .box, .line { stroke: #8b8f9c; }
.written { fill: #4d4210; } .cold, .one, .two { stroke: #8b8f9c; } .one { fill: #285e9c; } .two { fill: #8a3a2e; } .ring { stroke: #ff8f8f; }
.arrow { stroke: #8ab8ff; } .head { fill: #8ab8ff; } .faint { stroke: #43464f; }
}
"""


class Picture:
    """Shapes in the order in which they are drawn; the size follows from them."""

    def __init__(self) -> None:
        self.shapes, self.right, self.bottom = [], 0.0, 0.0
        self.stepping = False

    def step(self, title: str, y: float | None = None) -> None:
        """Begins the picture's next step: what is drawn from here on belongs to it. With `y`, the title is
        written there, as a sentence."""
        self.shapes.append(f'{"</g>" * self.stepping}<g class="step" data-title="{html.escape(title)}">')
        self.stepping = True
        if y is not None:
            self.text(14, y, f"{title}.", "note")

    def reach(self, x: float, y: float) -> None:
        self.right, self.bottom = max(self.right, x), max(self.bottom, y)

    def text(self, x: float, y: float, words: object, look: str = "") -> None:
        width = 7.2 * len(str(words)) if "note" not in look else 6.4 * len(str(words))
        self.reach(x + (width / 2 if "middle" in look else 0 if "end" in look else width), y + 4)
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{look}">{html.escape(str(words))}</text>')

    def rect(self, x: float, y: float, width: float, height: float, look: str) -> None:
        self.reach(x + width, y + height)
        self.shapes.append(
            f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        )

    def path(self, look: str, d: str) -> None:
        self.shapes.append(f'<path class="{look}" d="{d}"/>')

    def line(self, look: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self.reach(max(x1, x2), max(y1, y2))
        self.path(look, f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")

    def dot(self, x: float, y: float) -> None:
        self.shapes.append(f'<circle class="head" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>')

    def cells(self, x, y, values, width=34, height=28, written=(), looks=None):
        """A strip of boxes. `written`: the indices of those with a new value; `looks`: a class for some
        others."""
        for i, value in enumerate(values):
            new = i in written
            look = "box written" if new else (looks or {}).get(i, "box")
            self.rect(x + i * width, y, width, height, look)
            self.text(x + (i + 0.5) * width, y + height / 2 + 5, value, "mono middle" + " bold" * new)

    def svg(self, words: str) -> str:
        width, height = round(self.right + 14), round(self.bottom + 12)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<title id="title">{html.escape(words)}</title>\n<style>\n{STYLE}</style>\n'
            '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8Z"/></marker></defs>\n'
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
            + "\n".join(self.shapes)
            + "</g>" * self.stepping
            + "\n</svg>\n"
        )


def colours(looks: dict[int, str]) -> dict[int, str]:
    """The classes of boxes, by their indices."""
    return {i: f"box {look}" for i, look in looks.items()}


# --- A run's trace
# --------------------------------------------------------------------------------------------


def steps(run: Callable, command: str) -> list[dict]:
    """The steps of a trace, of all its tables (grader/trace/tables.hpp has the fields)."""
    traced = json.loads(run(f"{command} --json"))
    return [step for table in traced["tables"] for step in table["steps"]]


def numbers(step: dict) -> list[int | None]:
    """The numbers in the cells, None for an empty cell."""
    return [None if cell is None else int(cell) for cell in step["values"]]


def first_of_each(run: Callable, command: str, arrays: tuple[str, ...]) -> list[list[int]]:
    """The numbers of each of these arrays, when the trace first shows it."""
    found: dict = {}
    for step in steps(run, f"{command} --arrays {','.join(arrays)}"):
        found.setdefault(step["array"], numbers(step))
    return [found[array] for array in arrays]


# --- Ideas and lab 1
# ------------------------------------------------------------------------------------------


def lanes(run: Callable) -> Picture:
    p = Picture()
    y, block, warp = 24, 256, 32
    for number, rung in ((1, "neighboured"), (2, "reindexed"), (3, "sequential")):
        p.text(14, y, f"Rung {number}: {rung.replace('rei', 're-i')}", "bold")
        y += 10
        traced = steps(run, f"trace reduction {rung} --n {block} --columns {block} --arrays s_data")
        rounds = [s for s in traced if s["after"] == "barrier" and s["array"] == "s_data"][1:]
        for k, step in enumerate(rounds):
            active = {store["thread"] for store in step["stores"]}
            p.text(14, y + 13, f"round {k + 1}", "note")
            # One path each: there are thousands of boxes.
            for look, drawn in (("cold small", set(range(block)) - active), ("one small", active)):
                at = ((70 + 38 * (t // warp) + 4 * (t % 8), y + 4 * (t % warp // 8)) for t in sorted(drawn))
                p.path(look, "".join(f"M{left} {top}h4v4h-4Z" for left, top in at))
            busy = len({t // warp for t in active})
            waves = max([1, *(lanes["wavefronts"] for lanes in step["lanes"])])
            words = f"{busy} warp{'s' * (busy > 1)}" + f", {waves}-way" * (waves > 1)
            p.text(70 + 38 * 8 + 2, y + 13, words, "note")
            y += 21
        y += 24
    return p


def tournament(_run: object) -> Picture:
    """The maximum of the items as the winner of matches between neighbours."""
    p = Picture()
    width, gap = 40, 56
    entries = [(14 + width * (i + 0.5), item) for i, item in enumerate(ITEMS)]
    p.step("the items")
    p.text(14 + width * 8 + 10, 30, "items", "note")
    for x, item in entries:
        p.rect(x - 15, 14, 30, 26, "box")
        p.text(x, 32, item, "mono middle")
    y, number = 40, 0
    while len(entries) > 1:
        number += 1
        p.step(f"round {number}: {len(entries) // 2} match{'es' * (len(entries) > 2)}")
        winners = []
        for (x, one), (other_x, other) in zip(entries[::2], entries[1::2]):
            middle = (x + other_x) / 2
            for start, value in ((x, one), (other_x, other)):
                look = "arrow" if value == max(one, other) else "line"
                p.line(look, start, y, middle, y + gap - 28)
            p.rect(middle - 15, y + gap - 26, 30, 26, "box written")
            p.text(middle, y + gap - 8, max(one, other), "mono middle bold")
            winners.append((middle, max(one, other)))
        p.text(14 + width * 8 + 10, y + gap - 10, f"round {number}", "note")
        entries, y = winners, y + gap
    return p


def busiest(words: Iterable[int]) -> tuple[int, list[list[int]]]:
    """How many different words the fullest bank has, which is the number of wavefronts, and each bank's
    words."""
    banks: list[list[int]] = [[] for _ in range(32)]
    for word in words:
        if word not in banks[word % 32]:
            banks[word % 32].append(word)
    return max(map(len, banks)), banks


def bank_strip(p: Picture, y: int, title: str, stride: int, height: int) -> int:
    """The words that the lanes of a warp read at this stride, above their banks; the height below it."""
    wavefronts, filled = busiest(stride * lane for lane in range(32))
    p.text(14, y, title, "mono bold")
    p.text(14 + 32 * 13, y, f"{wavefronts} wavefront{'s' * (wavefronts > 1)}", "end")
    base = y + 10 + height * wavefronts
    look = "one small" if wavefronts == 1 else "two small"
    for bank, words in enumerate(filled):
        for k in range(len(words)):
            p.rect(14 + 13 * bank, base - height * (k + 1), 13, height, look)
    p.line("line", 14, base, 14 + 32 * 13, base)
    return base


def bank_numbers(p: Picture, y: int) -> None:
    for bank in (0, 8, 16, 24, 31):
        words = f"bank {bank}" if bank == 0 else bank
        p.text(14 + 13 * bank + 6.5, y, words, "note middle" if bank else "note")


def times_lane(k: int) -> str:
    return "lane" if k == 1 else f"{k} * lane"


def banks(_run: object) -> Picture:
    p = Picture()
    y = 24
    for stride in (1, 2, 8, 32, 33):
        y = bank_strip(p, y, f"s_data[{times_lane(stride)}]", stride, 5 if stride == 32 else 7)
        if stride in (1, 33):
            bank_numbers(p, y + 15)
            y += 14
        y += 28
    p.bottom -= 4
    return p


def sector_rows(p: Picture, y: int, title: str, words: list[int]) -> int:
    """The sectors that contain these words, eight in a row; the height below them."""
    touched = sorted({word // 8 for word in words})  # sectors of 32 bytes
    p.text(14, y, title, "mono bold")
    p.text(14 + 8 * 54 - 6, y, f"{len(touched)} sectors for {4 * len(words)} bytes", "end")
    y += 10
    wanted = set(words)
    far = touched[-1] - touched[0] >= 2 * len(touched)  # sectors that are not neighbours: gaps between them
    for k, sector in enumerate(touched):
        x, top = 14 + 54 * (k % 8), y + 16 * (k // 8)
        for word in range(8):
            p.rect(x + 6 * word, top, 6, 10, "one small" if 8 * sector + word in wanted else "cold small")
        if not far and (k + 1) % 8 and k + 1 < len(touched):
            p.line("line", x + 48, top + 5, x + 54, top + 5)
    return y + 16 * ((len(touched) + 7) // 8)


def coalescing(_run: object) -> Picture:
    p = Picture()
    y = 24
    for title, words in (
        ("d_in[lane]", list(range(32))),
        ("d_in[2 * lane]", [2 * lane for lane in range(32)]),
        ("d_in[lane + 1]", [lane + 1 for lane in range(32)]),
        ("d_in[1024 * lane]", [1024 * lane for lane in range(32)]),
    ):
        y = sector_rows(p, y, title, words) + 24
    p.bottom += 2
    return p


def divergence(_run: object) -> Picture:
    """Time runs downwards: what one warp executes."""
    p = Picture()
    y = 24
    for title, parts in (
        ("if (lane % 2 == 0) A(); else B();", {"A": range(0, 32, 2), "B": range(1, 32, 2)}),
        ("if (tid / 32 % 2 == 0) A(); else B();", {"A": range(32)}),
    ):
        p.text(14, y, title, "mono bold")
        y += 10
        for name, active in parts.items():
            p.text(14, y + 15, name, "mono bold")
            look = "one" if name == "A" else "two"
            for lane in range(32):
                p.rect(34 + 13 * lane, y, 13, 22, look if lane in active else "cold")
            y += 26
        y += 22
    return p


def memory(run: Callable) -> Picture:
    chip = measured.simulated(run.labcli)  # type: ignore[attr-defined]
    clock, sms = chip["clock_ghz"], chip["multiprocessors"]
    near = chip["near_passes_per_clock"] * 128 * sms * clock / 1e3
    l2 = chip["l2_sectors_per_clock"] * 32 * clock / 1e3
    far = measured.rate_of("reduction", "read") / 1e3

    def ns(what: str) -> str:
        return f"{chip[what + '_latency'] / clock:.0f} ns"

    own, shared = 4 * chip["registers_per_multiprocessor"] / 1024, chip["shared_per_multiprocessor"] / 1024
    levels = [
        ("registers", f"{own:.0f} KiB per multiprocessor", "no waiting"),
        ("shared memory", f"up to {shared:.0f} KiB per multiprocessor", f"{ns('shared')} · {near:.0f} TB/s"),
        ("L2 cache", f"{chip['l2_bytes'] >> 20} MiB for the whole GPU", f"{ns('l2')} · {l2:.1f} TB/s"),
        ("device memory", "141 GB for the whole GPU", f"{ns('memory')} · {far:.1f} TB/s"),
    ]
    p = Picture()
    y, width = 16, 200
    for name, size, speed in levels:
        p.rect(14 + (432 - width) / 2, y, width, 58, "box")
        for down, words, look in ((20, name, "bold"), (36, size, "note"), (51, speed, "note")):
            p.text(230, y + down, words, f"{look} middle")
        y += 58
        if name != "device memory":
            p.line("arrow", 222, y + 18, 222, y + 3)
            p.line("arrow", 238, y + 1, 238, y + 16)
            y += 20
        width += 77
    return p


# --- The labs
# -------------------------------------------------------------------------------------------------


def compaction(run: Callable) -> Picture:
    arrays = ("d_flags", "d_positions", "d_out", "d_count")
    flags, positions, out, (count, *_) = first_of_each(run, "trace compaction three_kernels", arrays)
    items = ITEMS
    assert out[:count] == [item for item, flag in zip(items, flags) if flag]
    p = Picture()
    x, w, y = 118, 36, 14
    kept = [i for i, flag in enumerate(flags) if flag]
    for name, note, values in (
        ("d_flags", "1 = keep", flags),
        ("d_positions", "exclusive scan", positions),
        ("d_in", "the items", items),
    ):
        if name != "d_in":
            p.step({"d_flags": "map: a flag for each item", "d_positions": "scan: positions"}[name])
        p.text(14, y + 13, name, "mono bold")
        p.text(14, y + 27, note, "note")
        p.cells(x, y, values, w, 30, kept if name != "d_flags" else ())
        y += 42
    top = y - 12
    y += 30
    p.step("scatter: each kept item to its position")
    for i in kept:
        p.line("arrow", x + (i + 0.5) * w, top, x + (positions[i] + 0.5) * w, y - 3)
    p.text(14, y + 13, "d_out", "mono bold")
    p.text(14, y + 27, "the scatter", "note")
    p.cells(x, y, [v for v in out if v is not None], w, 30, range(count))
    for i in range(count, len(items)):
        p.rect(x + i * w, y, w, 30, "faint")
    last = x + 7 * w
    p.step("the count: last position + last flag")
    p.path("ring", f"M{last - 1:.0f} 13h{w + 2}v74h-{w + 2}Z")
    p.text(14, y + 54, f"d_count = {positions[-1]} + {flags[-1]} = {count}:", "mono bold")
    p.text(186, y + 54, "last position + last flag (frame)", "")
    return p


def split(run: Callable) -> Picture:
    arrays = ("d_e", "d_f", "d_t", "d_d", "d_keys_out")
    e, f, t, d, out = first_of_each(run, "trace radix_sort split", arrays)
    keys = ITEMS
    assert all(out[place] == key for key, place in zip(keys, d))
    b = [key & 1 for key in keys]
    p = Picture()
    x, w, y = 132, 36, 14
    by_bit = {i: "one" if bit else "written" for i, bit in enumerate(b)}
    for name, note, values, looks in (
        ("b", "lowest bit", b, by_bit),
        ("e", "1 if b = 0", e, {}),
        ("f", "scan of e", f, {i: look for i, look in by_bit.items() if not b[i]}),
        ("t", "i − f + zeros", t, {i: look for i, look in by_bit.items() if b[i]}),
        ("d", "f or t", d, by_bit),
        ("key", "", keys, by_bit),
    ):
        p.step({"key": "the keys"}.get(name, f"{name}: {note}"))
        p.text(14, y + 18, name, "mono bold")
        p.text(46 if name == "key" else 34, y + 18, note, "note")
        p.cells(x, y, values, w, 28, (), colours(looks))
        y += 34 if name != "key" else 28
    top, y = y, y + 62
    p.step("each key goes to position d")
    for i, place in enumerate(d):
        p.line("arrow", x + (i + 0.5) * w, top, x + (place + 0.5) * w, y - 3)
    p.text(14, y + 18, "out", "mono bold")
    p.cells(x, y, out, w, 28, (), colours({i: "one" if key & 1 else "written" for i, key in enumerate(out)}))
    p.text(14, y + 50, f"zeros = e[7] + f[7] = {e[-1]} + {f[-1]} = {e[-1] + f[-1]}", "mono")
    return p


def bitonic(_run: object) -> Picture:
    p = Picture()
    x, w, y = 112, 40, 14
    tiles = sorted(ITEMS[:4]) + sorted(ITEMS[4:])
    stages = [("flip", [(i, 7 - i) for i in range(4)])] + [
        (f"stride {s}", [(i, i + s) for i in range(8) if not i & s]) for s in (2, 1)
    ]
    looks = {**dict.fromkeys(range(4), "box written"), **dict.fromkeys(range(4, 8), "box one")}
    p.step("the input")
    p.text(14, y + 18, "input", "bold")
    p.cells(x, y, ITEMS, w, 28, (), looks)
    p.step("sort each tile")
    y += 50
    p.text(14, y - 6, "sort each tile of four keys", "note")
    p.text(14, y + 18, "two tiles", "bold")
    p.cells(x, y, tiles, w, 28, (), looks)
    keys, colour = tiles, [*[0] * 4, *[1] * 4]
    for name, pairs in stages:
        p.step(f"{name}: red pairs change places")
        y += 28
        rooms: list[tuple] = []  # a height for each pair, so that no two brackets overlap
        for low, high in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
            room = next(k for k in range(9) if all(high < a or b < low for kk, a, b in rooms if kk == k))
            rooms.append((room, low, high))
        for room, low, high in rooms:
            at = y + 10 + 9 * room
            swap = keys[low] > keys[high]
            p.line("ring" if swap else "line", x + (low + 0.5) * w, at, x + (high + 0.5) * w, at)
            p.dot(x + (low + 0.5) * w, at)
            p.dot(x + (high + 0.5) * w, at)
        keys, colour = list(keys), list(colour)
        moved = set()
        for low, high in pairs:
            if keys[low] > keys[high]:
                keys[low], keys[high] = keys[high], keys[low]
                colour[low], colour[high] = colour[high], colour[low]
                moved |= {low, high}
        height = 20 + 9 * max(room for room, _, _ in rooms)
        y += height
        p.text(14, y + 18, name, "bold")
        p.cells(x, y, keys, w, 28, (), colours({i: "one" if c else "written" for i, c in enumerate(colour)}))
    assert keys == sorted(ITEMS)
    return p


def histogram(run: Callable) -> Picture:
    rows = steps(run, "trace histogram shared_counts --n 16384 --columns 5 --arrays s_counts,d_counts")
    own = [numbers(r) for r in rows if r["array"] == "s_counts" and any(numbers(r))]  # one for each block
    cleared, *_, total = [numbers(r) for r in rows if r["array"] == "d_counts"]
    p = Picture()
    w, left, right = 40, 14, 240
    for x, block in ((left, 0), (right, 1)):
        y = 26
        p.step(f"block {block} counts in its own counters, then adds them")
        p.text(x, y, f"block {block}: 8,192 samples", "bold")
        p.text(x, y + 18, f"{' '.join(map(str, ITEMS))} and so on", "mono note")
        p.line("arrow", x + 2.5 * w, y + 26, x + 2.5 * w, y + 45)
        p.text(x + 2.5 * w + 10, y + 40, "count", "note")
        y += 48
        p.cells(x, y, own[block], w, 28, range(5))
        p.text(x, y + 43, "s_counts, its own counters", "note")
        y += 50
        for i in range(5):
            p.line("arrow", x + (i + 0.5) * w, y, 127 + (i + 0.5) * w + (4 if block else -4), y + 47)
    y += 50
    p.step("the global counts")
    p.cells(127, y, total, w, 28, range(5))
    p.text(14, y + 18, "d_counts", "mono bold")
    for i, name in enumerate(("bin 0", "bin 1", "bin 2", "bin 3", "none")):
        p.text(127 + (i + 0.5) * w, y + 42, name, "note middle")
    assert not any(cleared) and total == [a + b for a, b in zip(*own)]
    p.right = max(p.right, right + 5 * w)
    return p


def image_and_table() -> tuple[list[list[int]], list[list[int]]]:
    image = [[ITEMS[(r + c) % 8] for c in range(6)] for r in range(5)]
    return image, sat.by_columns(sat.by_rows(image))


def corners(_run: object) -> Picture:
    image, table = image_and_table()
    top, left, bottom, right = 2, 2, 3, 4  # the box: rows 2 and 3, columns 2 to 4
    at = {"A": (top - 1, left - 1), "B": (top - 1, right), "C": (bottom, left - 1), "D": (bottom, right)}
    value = {name: table[r][c] for name, (r, c) in at.items()}
    inside = sum(image[r][c] for r in range(top, bottom + 1) for c in range(left, right + 1))
    assert value["D"] - value["B"] - value["C"] + value["A"] == inside
    p = Picture()
    p.text(14, 26, "image", "bold")
    p.text(226, 26, "summed area table", "bold")
    for r in range(5):
        in_box = dict.fromkeys(range(left, right + 1), "box one") if top <= r <= bottom else {}
        p.cells(14, 36 + 26 * r, image[r], 30, 26, (), in_box)
        marked = {c: f"{name} " for name, (rr, c) in at.items() if rr == r}
        entries = [f"{marked.get(c, '')}{v}" for c, v in enumerate(table[r])]
        p.cells(226, 36 + 26 * r, entries, 38, 26, marked)
    y, side = 190, 14
    for k, (name, sign) in enumerate((("D", ""), ("B", "−"), ("C", "−"), ("A", "+"))):
        x = 14 + 114 * k
        p.step(f"{sign} {name}".strip() + f": the rectangle with sum {value[name]}")
        r1, c1 = at[name]
        for r in range(5):
            for c in range(6):
                look = ("box two" if sign == "−" else "box one") if r <= r1 and c <= c1 else "box"
                p.rect(x + side * (c + 1), y + side * r, side, side, look)
        width, height = side * (right - left + 1), side * (bottom - top + 1)
        p.path("ring", f"M{x + side * (left + 1)} {y + side * top}h{width}v{height}h-{width}Z")
        if sign:
            p.text(x - 2, y + 40, sign, "bold")
        p.text(x + 14 + 42, y + 88, f"{name} = {value[name]}", "middle")
    p.step("the sum of the box")
    numbers_of = " {} ".join(str(value[name]) for name in "DBCA").format("−", "−", "+")
    p.text(14, y + 116, f"sum of the box = D − B − C + A = {numbers_of} = {inside}", "bold")
    return p


def hierarchy(_run: object) -> Picture:
    items, size = [*ITEMS, 2, 5], 4
    parts = [items[i : i + size] for i in range(0, len(items), size)]
    sums = [sum(part) for part in parts]
    carries, _ = exclusive(sums)
    p = Picture()
    w, gap, left = 36, 12, 14
    place = [left + k * (size * w + gap) for k in range(len(parts))]
    results = []
    for k, part in enumerate(parts):
        p.text(place[k], 24, f"tile {k}", "bold")
        p.cells(place[k], 32, part, w, 28)
    p.step("1. scan each tile")
    for k, part in enumerate(parts):
        p.line("arrow", place[k] + len(part) * w / 2, 60, place[k] + len(part) * w / 2, 84)
        p.cells(place[k], 88, exclusive(part)[0], w, 28, range(len(part)))
        results.append([carries[k] + v for v in exclusive(part)[0]])
    p.text(place[0] + 2 * w + 12, 77, "1. scan each tile", "note")
    p.step("2. store the totals")
    middle = [166 + 52 * k for k in range(len(parts))]
    for k, part in enumerate(parts):
        p.line("arrow", place[k] + len(part) * w / 2, 116, middle[k] + 26, 157)
    p.text(14, 152, "2. store the totals", "note")
    p.cells(middle[0], 160, sums, 52, 28)
    p.step("3. scan the totals")
    p.line("arrow", middle[1] + 26, 188, middle[1] + 26, 212)
    p.text(14, 206, "3. scan the totals", "note")
    p.cells(middle[0], 215, carries, 52, 28, range(len(parts)))
    p.text(middle[-1] + 60, 233, "the carries", "note")
    p.step("4. add each carry")
    for k, part in enumerate(parts):
        p.line("arrow", middle[k] + 26, 243, place[k] + len(part) * w / 2, 287)
    p.text(14, 260, "4. add each carry", "note")
    for k, part in enumerate(results):
        p.cells(place[k], 290, part, w, 28, range(len(part)))
    flat = [v for part in results for v in part]
    assert flat == exclusive(items)[0]
    return p


def look_back(run: Callable) -> Picture:
    words = {0: "", 1: "aggregate", 2: "prefix"}
    p = Picture()
    traced = []
    for row in steps(run, "trace hierarchical_scan look_back --n 10240 --columns 6 --arrays d_flags"):
        if row["after"] != "publish":
            continue
        ticket, *states = now = numbers(row)
        news = [f"tile {i - 1}: {words[now[i]]} available" for i in row["written"] if i > 0]
        title = ", ".join(news) or f"a block takes ticket {ticket - 1}"
        traced.append((title, ticket, [words[state] for state in states], set(row["written"])))
    status_rows(p, traced)
    return p


def status_rows(p: Picture, rows: list[tuple], stepping: bool = True) -> None:
    """The statuses of all tiles, row by row: its title, the tickets, each tile's status, and which of them
    changed (0: the tickets)."""
    w, x, y = 80, 70, 14
    p.text(14, y + 14, "tickets", "bold")
    for tile in range(len(rows[0][2])):
        p.text(x + (tile + 0.5) * w, y + 14, f"tile {tile}", "bold middle")
    y += 22
    for title, ticket, states, written in rows:
        if stepping:
            p.step(title)
        p.text(36, y + 17, ticket, "mono middle bold" if 0 in written else "mono middle")
        for tile, state in enumerate(states):
            new = tile + 1 in written
            p.rect(x + tile * w, y, w, 25, f"box {'written' if new else ''}" if state or new else "faint")
            look = "middle" if stepping else "note middle"
            p.text(x + (tile + 0.5) * w, y + 17, state, f"{look} bold" if new else look)
        y += 25
