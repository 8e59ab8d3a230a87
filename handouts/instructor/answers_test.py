#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the instructor's answers: every question and prediction of the handouts has one, none is left over,
and their numbers are right.

usage: answers_test.py HANDOUTS

A number in an answer comes from one of three sources: it is computed here, it stands in a handout's table of
counts, or it was measured in the published run (results/). NUMBERS lists them; `only` computes what the
answer must contain.
"""

import json
import math
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
DEEPER = "-deeper"
PAGES = [p for p in sorted(HANDOUTS.glob("[0-9][0-9]-*.md")) if not p.stem.endswith(DEEPER)]
NUMBERED = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", re.S | re.M)
TASK = re.compile(r"^### \d+\. `(\w+)`[^\n]*\n(.*?)(?=^#{2,3} |\Z)", re.S | re.M)
BOX = re.compile(r"<details class=\"prediction\" (data-answer=.*?)</details>", re.S)
HEADING = re.compile(r"^### (Prediction|Question|Exam) (\d+)\. (.*?)\n(.*?)(?=^#{2,3} |\Z)", re.S | re.M)
SECTIONS = {"Prediction": "Predict, then measure", "Question": "Questions"}


def text_of(page):
    """Of a lab's page, and of its deeper one, which asks the questions and has the counts."""
    deeper = page.with_stem(page.stem + DEEPER)
    return "".join(p.read_text(encoding="utf-8") for p in (page, deeper) if p.is_file())


def boxes_of(page):
    """{("Box", task): ("", its answer as a number and in words)} of a lab's page."""
    found = ((task, BOX.search(section)) for task, section in TASK.findall(text_of(page)))
    return {("Box", task): ("", box[1]) for task, box in found if box}


def answers_of(page):
    """{("Question", 3): (first words of the question, answer)}"""
    path = HANDOUTS / "instructor" / page.name
    if not path.is_file() and "\n## Questions\n" not in text_of(page):
        return {}  # a new lab, which asks nothing yet
    text = path.read_text(encoding="utf-8")
    found = HEADING.findall(text)
    assert len({(kind, number) for kind, number, *_ in found}) == len(found), (
        f"{page.name}: a number occurs twice"
    )
    return {(kind, int(number)): (title, body) for kind, number, title, body in found}


def asked(page):
    """{("Question", 3): its text} of a handout, without those that the handout answers itself."""
    text = text_of(page)
    found = {}
    for kind, section in SECTIONS.items():
        part = re.search(rf"^## {section}\n(.*?)(?=^## |^\*\*Sources|\Z)", text, re.S | re.M)
        for number, question in NUMBERED.findall(part[1] if part else ""):
            found[kind, int(number)] = " ".join(question.split())
    return found


# --- The sources of numbers.


def grouped(number):
    return f"{number:,}"


def counted(lab, rung, column):
    """A cell of the table of counts in a lab's handout; the head of its column begins with `column`."""
    page = next(page for page in PAGES if page.stem[3:].replace("-", "_") == lab)
    block = re.search(r"<!-- quote: rows counts lab=\w+: .*?<!-- end quote -->", text_of(page), re.S)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.splitlines()
        if line.startswith("| ")
    ]
    row = next(row for row in rows if row[1].startswith(f"`{rung}`"))
    return row[next(k for k, head in enumerate(rows[0]) if head.startswith(column))]


RUN = json.loads(max((HANDOUTS / "results").glob("*-h200.json")).read_text(encoding="utf-8"))
LESSONS = json.loads(max((HANDOUTS / "results/lessons").glob("*-h200.json")).read_text(encoding="utf-8"))


def sizes(lab):
    """The sizes of a lab in the newest run."""
    return {size["n"]: size for one in RUN["labs"] if one["lab"] == lab for size in one["sizes"]}


def if_all_equal(rung, n, bins):
    """How many times as long a rung of lab 5 takes for equal samples as for uniform ones."""
    rows = [row for row in LESSONS["contention"] if (row["rung"], row["n"], row["bins"]) == (rung, n, bins)]
    times = {row["percent"]: row["median_us"] for row in rows}
    return times[100] / times[0]


def measured(lab, rung, n):
    """Median in µs."""
    return next(
        row["median_us"] for table in sizes(lab)[n]["tables"] for row in table["rows"] if row["name"] == rung
    )


def one_cpu_thread(lab, n):
    """The CPU's time in µs for random items, with which a lab's goals of speedup compare (points.hpp)."""
    points = (HANDOUTS.parent / "labs" / lab / "points.hpp").read_text(encoding="utf-8")
    return float(re.search(rf'\{{"", "[^"]*_n{n}_random", (\d+), \d+\}}', points)[1])


def assumed(words):
    """The value of an assumption of the page on scaling; the first one that has these words."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (HANDOUTS / "scaling.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return float(next(row[2] for row in rows if len(row) == 4 and words in row[1]).split()[0])


def fullest(balls, boxes):
    """Expected number of balls in the fullest of the boxes."""

    def product(a, b):
        return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(balls + 1)]

    total = 0.0
    for most in range(balls):  # the probability that some box has more than `most`
        power, base, left = (
            [1.0] + [0.0] * balls,
            [(k <= most) / math.factorial(k) for k in range(balls + 1)],
            boxes,
        )
        while left:
            power, base, left = product(power, base) if left % 2 else power, product(base, base), left // 2
        total += 1 - power[balls] * math.factorial(balls) / float(boxes) ** balls
    return total


def wavefronts(words):
    """Of one access to shared memory: words per lane, None for an inactive one."""
    banks = {}
    for word in words:
        if word is not None:
            banks.setdefault(word % 32, set()).add(word)
    return max(map(len, banks.values()))


def sectors_of(words):
    """Of one access to global memory, of 4 bytes per lane."""
    return len({word // 8 for word in words})


def different(boxes, balls):
    """Expected number of boxes that are not empty."""
    return boxes * (1 - (1 - 1 / boxes) ** balls)


def inclusive(items):
    return [sum(items[: i + 1]) for i in range(len(items))]


def exclusive(items):
    return [0, *inclusive(items)[:-1]]


def spaced(items):
    return " ".join(map(str, items))


def up_sweep(items):
    rows, half = [], 1
    while half < len(items):
        items = [items[k - half] + x if (k + 1) % (2 * half) == 0 else x for k, x in enumerate(items)]
        rows.append(items)
        half *= 2
    return rows


def down_sweep(items):
    items, rows, half = [*items[:-1], 0], [], len(items) // 2
    while half:
        items = list(items)
        for k in range(2 * half - 1, len(items), 2 * half):
            items[k - half], items[k] = items[k], items[k] + items[k - half]
        rows.append(items)
        half //= 2
    return rows


def bitonic(items):
    def exchanged(items, pairs):
        items = list(items)
        for low, high in pairs:
            items[low], items[high] = sorted((items[low], items[high]))
        return items

    n = len(items)
    rows = [exchanged(items, [(j, n - 1 - j) for j in range(n // 2)])]
    stride = n // 4
    while stride:
        rows.append(exchanged(rows[-1], [(j, j + stride) for j in range(n) if j % (2 * stride) < stride]))
        stride //= 2
    return rows


def split(keys, bit):
    e = [1 - (key >> bit & 1) for key in keys]
    f = exclusive(e)
    falses = e[-1] + f[-1]
    t = [i - f[i] + falses for i in range(len(keys))]
    d = [f[i] if e[i] else t[i] for i in range(len(keys))]
    out = [0] * len(keys)
    for key, place in zip(keys, d):
        out[place] = key
    return e, f, falses, t, d, out


def parts(n, size):
    return -(-n // size)


def levels(n, size):
    """Blocks of each level of a reduction or a hierarchical scan."""
    out = [parts(n, size)]
    while out[-1] > 1:
        out.append(parts(out[-1], size))
    return out


def recursive_bytes(n, tile=2048):
    """Of lab 7's `recursive`, for two levels and at most 128 sums: whole sectors of 32 bytes."""
    tiles = n // tile
    items = 4 * 4 * n - 2 * 4 * tile
    single = 4 * 16 * 32  # 32 lanes, each with four items one after the other: four requests of 16 sectors
    return items + 32 * tiles + 2 * single + 8 * 32 * (tiles - 1)


# --- What the answers must contain: (page, kind, number): strings.


def numbers():
    k, m = 2**10, 2**24
    yield "00", "Exam", 1, [grouped(parts(100_000, 256)), grouped(100_000 - 390 * 256), "96"]
    yield (
        "00",
        "Exam",
        2,
        [f"{12 / 8}", f"{16.7 / 4.1:.1f} operations", f"{1.5 * 4.1:.2f}·10¹²", f"{16.7 / 4.1 * 8:.1f}"],
    )
    yield (
        "00",
        "Exam",
        3,
        [
            ", ".join(str(wavefronts([k * lane for lane in range(32)])) for k in [1, 2, 6, 8, 17])
            + f" and {wavefronts([32 * lane for lane in range(32)])}"
        ],
    )
    sectors = [
        len({index(lane) // 8 for lane in range(32)})
        for index in [lambda i: 3 * i, lambda i: i + 1, lambda i: i // 2]
    ]
    yield "00", "Exam", 4, ["{}, {} and {}.".format(*sectors)]
    yield (
        "00",
        "Exam",
        5,
        [f"{228 // 65} blocks", f"{228 // 65 * 256} threads", f"{100 * (228 // 65) * 256 / 2048} %"],
    )

    # Lab 1
    warps = [
        sum(any((t % (2 * s)) == 0 for t in range(32 * w, 32 * w + 32)) for w in range(8))
        for s in [1, 2, 4, 8, 16, 32, 64, 128]
    ]
    lower = [parts(s, 32) for s in [128, 64, 32, 16, 8, 4, 2, 1]]
    yield "01", "Box", "neighboured", [f'data-answer="{sum(warps)}"', "255", grouped(32 * sum(warps))]
    yield "01", "Box", "sequential", [f'data-answer="{sum(lower)}"', f"{32 * sum(lower)} lanes"]
    strides = [s for s in [128, 64, 32, 16, 8, 4, 2, 1] if s >= 32]
    yield "01", "Box", "shuffle", [f'data-answer="{1 + len(strides)}"']
    chain = [2**18 // (64 * 256) - 1, 5 + 3, 64 // 16 - 1, 4]
    yield "01", "Box", "coarsened", [f'data-answer="{sum(chain)}"', f"= {sum(chain)}"]
    yield "01", "Box", "single_launch", [f'data-answer="{2e-6 * 4.2e12 / 4 / 1e6:.1f}"']
    rounds = [
        wavefronts([2 * s * t if 2 * s * t < 256 else None for t in range(32)])
        for s in [1, 2, 4, 8, 16, 32, 64, 128]
    ]
    yield "01", "Prediction", 1, [", ".join(map(str, rounds[:-1])) + f" and {rounds[-1]}"]
    written = levels(m, 256)
    moved = 4 * m + sum(32 * blocks for blocks in written) + sum(4 * blocks for blocks in written[:-1])
    yield (
        "01",
        "Prediction",
        2,
        [grouped(moved), f"{100 * (moved / (4 * m) - 1):.1f} %", grouped(4 * m), grouped(written[0])],
    )
    times = [
        measured("reduction", rung, m) / measured("reduction", "coarsened", m)
        for rung in ["neighboured", "sequential", "shuffle"]
    ]
    yield "01", "Prediction", 3, ["{:.1f}, {:.1f} and {:.1f} times as long".format(*times)]
    yield (
        "01",
        "Question",
        4,
        [
            f"= {1e9 * 2**-24:.0f}",
            f"{10**9 * 2**31 / 1e18:.1f}·10¹⁸",
            f"{2**53 / 1e15:.1f}·10¹⁵",
            f"{2**63 / 1e18:.1f}·10¹⁸",
        ],
    )
    barriers = (
        counted("reduction", "coarsened", "barriers per"),
        counted("reduction", "neighboured", "barriers per"),
    )
    yield (
        "01",
        "Question",
        5,
        [
            grouped(m // 256),
            "{} instead of {}".format(*barriers),
            counted("reduction", "coarsened", "operations ÷ closed form"),
        ],
    )
    threads = 132 * 2 * 512
    yield (
        "01",
        "Question",
        6,
        [
            grouped(132 * 2048),
            f"{parts(m, 132 * 2048)} waves",
            f"{132 * 2048 * 4 / 1e6:.2f} MB",
            grouped(threads),
            f"{threads * 128 / 1e6:.1f} MB",
            f"{m / threads:.0f} items",
        ],
    )
    yield "01", "Question", 6, [f"{132 * 2} partial results", grouped(m // 256)]
    yield "01", "Exam", 1, ["{:,}, {} and {} blocks".format(*levels(10**6, 512))]
    fold, rows = [2, 7, 1, 8, 2, 8, 1, 8], []
    while len(fold) > 1:
        fold = [a + b for a, b in zip(fold, fold[len(fold) // 2 :])]
        rows.append(f"`{spaced(fold)}`")
    yield "01", "Exam", 3, rows
    u, n = 2**-24, 65536
    yield (
        "01",
        "Exam",
        4,
        [
            f"{(n - 1) * u:.4f}",
            f"≈ {(n - 1) * u / (1 - (n - 1) * u) * n:.0f}",
            f"≈ {263 * u / (1 - 263 * u) * n:.2f}",
        ],
    )

    # Lab 2
    network, sweeps = k * 10 - (k - 1), 2 * (k - 1)
    yield (
        "02",
        "Prediction",
        1,
        [
            grouped(network),
            f"{network / k:.1f} per item",
            grouped(sweeps),
            grouped(sweeps - 10),
            f"{(sweeps - 10) / (k - 1):.2f} times",
        ],
    )
    yield (
        "02",
        "Prediction",
        1,
        [
            counted("scan", "hillis_steele", "operations ÷ closed form"),
            counted("scan", "blelloch", "operations ÷ closed form"),
        ],
    )
    yield (
        "02",
        "Prediction",
        2,
        [f"{measured('scan', 'blelloch', m) / measured('scan', 'hillis_steele', m):.1f} times"],
    )
    passes, half = [], 1
    while half < k:
        passes.append(
            wavefronts([2 * half * (t + 1) - 1 if 2 * half * (t + 1) <= k else None for t in range(32)])
        )
        half *= 2
    yield "02", "Prediction", 3, [", ".join(map(str, passes)) + "."]
    yield (
        "02",
        "Prediction",
        4,
        [f"{counted('scan', 'global_rounds', 'bytes ÷ what must move')} times", f"{8 + 10 * 12 + 3} "[:3]],
    )
    yield "02", "Box", "hillis_steele", [f'data-answer="{1 + 10}"']
    yield "02", "Box", "blelloch", [f'data-answer="{2 + 2 * 10}"']
    yield "02", "Box", "kogge_stone", [f'data-answer="{32 * 5 - 31}"']
    yield "02", "Box", "coarsened", ['data-answer="4"', f"need {4 * (1 + 10)}"]
    yield "02", "Box", "segmented", ['data-answer="9"']
    yield "02", "Question", 1, [grouped(2048 - 1025)]
    executed = sum(
        sum(any((t + 1) % (2 << level) == 0 for t in range(32 * w, 32 * w + 32)) for w in range(32))
        for level in range(10)
    )
    yield "02", "Question", 4, [f"{executed} executions", f"{2 * executed} for both", f"10 · 32 = {10 * 32}"]
    yield (
        "02",
        "Question",
        6,
        [
            counted("scan", "segmented", "operations ÷ closed form"),
            counted("scan", "coarsened", "operations ÷ closed form"),
        ],
    )
    yield "02", "Question", 7, [f"= {32 * 5 - 31}", f"= {2 * 31}", f"saves {32 * 5 - 31 - 2 * 31}"]
    yield (
        "02",
        "Question",
        8,
        [counted("scan", "hillis_steele", "steps"), counted("scan", "coarsened", "steps")],
    )
    row = [5, 2, 0, 3, 1, 4, 2, 6]
    up = up_sweep(row)
    down = down_sweep(up[-1])
    assert down[-1] == exclusive(row)
    yield "02", "Exam", 1, [f"`{spaced(one)}`" for one in [*up, [*up[-1][:-1], 0], *down]]
    maps = [(2, 1), (3, 0), (1, 5)]
    then = lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])  # noqa: E731
    two, backwards = then(maps[0], maps[1]), then(then(maps[2], maps[1]), maps[0])
    yield "02", "Exam", 2, [f"{maps[0]}, {two}, {then(two, maps[2])}", str(backwards)]
    yield "02", "Exam", 3, [f"= {512 * 9 - 511:,} operations in 9", f"= {2 * 511:,} operations in 18"]

    # Lab 3
    yield "03", "Prediction", 1, [grouped(2**19), f"= {math.isqrt(2**20) // 2}", grouped(3 * 512)]
    launches = len(levels(2**18, 256))
    yield "03", "Box", "three_kernels", [f'data-answer="{2 * launches - 1 + 2}"']
    yield "03", "Box", "fused", [f'data-answer="{1 + 9}"']
    yield "03", "Box", "warp_aggregated", ['data-answer="2"', f"need {2048 // 256 * (1 + 9)}"]
    yield "03", "Box", "single_pass", [f'data-answer="{parts(8191, 32)}"']
    out = [(4 * 32 * p + 28) / 32 for p in [0.1, 0.9, 0.5]]
    yield (
        "03",
        "Prediction",
        2,
        [
            f"{out[0]:.1f} bytes per item, {9 + out[0]:.1f} in total",
            f"{out[1]:.1f}, {9 + out[1]:.1f} in total",
            f"gives {9 + out[2]:.1f}",
        ],
    )
    yield (
        "03",
        "Prediction",
        2,
        [f"{6 * float(counted('compaction', 'fused', 'bytes ÷ what must move')):.1f}"],
    )
    yield "03", "Prediction", 3, [f"{8 + 8 + 9 + 12 + 3} instead of {53 + 3}", f"= {8 + 8 + 9 + 12}"]
    rungs = {"three_kernels": 7, "fused": 5, "warp_aggregated": 5, "single_pass": 2}
    expected = [
        6 * m * float(counted("compaction", rung, "bytes ÷ what must move")) / 4.2e6 + 2 * launches
        for rung, launches in rungs.items()
    ]
    yield (
        "03",
        "Prediction",
        4,
        [
            "{:.0f}, {:.0f}, {:.0f} and {:.0f} µs".format(*expected),
            "{:.1f}, {:.1f}, {:.1f} and {:.1f} µs".format(
                *(measured("compaction", rung, m) for rung in rungs)
            ),
        ],
    )
    low, high = 1e-9, 0.01
    for _ in range(100):  # 1 + 100 p = 100 (1 - (1 - p)^32)
        middle = (low + high) / 2
        low, high = (low, middle) if 1 + 100 * middle < 100 * (1 - (1 - middle) ** 32) else (middle, high)
    yield "03", "Prediction", 5, [f"{100 * low:.2f} %", "99 %"]
    items = [6, 1, 9, 2, 2, 7, 3, 8]
    flags = [int(item < 5) for item in items]
    yield (
        "03",
        "Exam",
        1,
        [
            f"`{spaced(flags)}`",
            f"`{spaced(exclusive(flags))}`",
            f"`{spaced([i for i in items if i < 5])}`",
            f"{exclusive(flags)[-1]} + {flags[-1]} = {sum(flags)}",
        ],
    )
    ballot = 0xA6
    ranks = [bin(ballot & ((1 << lane) - 1)).count("1") for lane in [5, 6]]
    yield "03", "Exam", 2, ["bits 1, 2, 5 and 7", f"rank {ranks[0]}", f"gets {ranks[1]}"]
    yield "03", "Exam", 3, [f"= {10 + 4 + 3 + 7}", f"prefix {10 + 4 + 3 + 7 + 5}"]
    yield "03", "Exam", 4, [f"{parts(10_000, 2048)} tiles", grouped(10_000 - 4 * 2048)]
    yield (
        "03",
        "Exam",
        5,
        [grouped(5 * 2**20), f"= {9 / 5}", grouped(9 * 2**20), f"{9 * 2**20 / 4.2e6:.1f} µs"],
    )

    # Lab 4
    ratio = float(counted("radix_sort", "split", "bytes ÷ what must move"))
    yield (
        "04",
        "Prediction",
        1,
        [f"{ratio:.0f} · 8 / 16 = {ratio * 8 / 16:.0f}", f"= {8 + 8 + 9 + 12 + 8 + 2 + 5.75}"],
    )
    yield (
        "04",
        "Box",
        "split",
        [f'data-answer="{3 * (2 + 2 * len(levels(1025, 1024)) - 1)}"'],
    )
    yield (
        "04",
        "Box",
        "tile_sort",
        [
            f'data-answer="{2 * 32}"',
            counted("radix_sort", "tile_sort", "barriers per").removesuffix(".0") + ": ",
        ],
    )
    yield "04", "Box", "merge", [f'data-answer="{10 * 11 // 2}"']
    yield (
        "04",
        "Box",
        "digits",
        [f'data-answer="{different(256, 32):.0f}"', f"= {different(256, 32):.1f} different"],
    )
    yield "04", "Box", "onesweep", [f'data-answer="{4 + 4 * 8}"', f"needs {4 * 12}"]
    per_pass = float(counted("radix_sort", "digits", "bytes ÷ what must move")) * 8 / 4
    spread = per_pass - 92 / 16 + different(256, 32)
    yield (
        "04",
        "Prediction",
        2,
        [
            f"= {92 / 16}",
            f"{per_pass:.1f} bytes",
            f"about {spread:.0f} bytes",
            f"about {spread * 4 / 8:.0f}.",
        ],
    )
    copy = sizes("radix_sort")[m]["ceilings"]["copy"]["median_us"]
    yield (
        "04",
        "Prediction",
        3,
        [
            f"{copy:.0f} µs",
            f"{measured('radix_sort', 'split', m) / copy:.0f} times",
            *(f"{measured('radix_sort', rung, m) / copy:.0f} times" for rung in ["digits", "onesweep"]),
        ],
    )
    yield (
        "04",
        "Prediction",
        3,
        [
            f"{ratio:.0f} (the same",
            f"{float(counted('radix_sort', 'digits', 'bytes ÷ what must move')):.1f}",
            f"{float(counted('radix_sort', 'onesweep', 'bytes ÷ what must move')):.1f}",
        ],
    )
    yield (
        "04",
        "Question",
        3,
        [f"{measured('radix_sort', 'merge', m) / measured('radix_sort', 'merge_path', m):.1f} times"],
    )
    yield (
        "04",
        "Question",
        4,
        [f"{10 * 11 // 2} stages", f"{math.ceil(math.log2(10**9 / 1024))} levels", f"{64 // 8} passes"],
    )
    e, f, falses, t, d, after = split([6, 3, 5, 0, 2, 7, 1, 4], 0)
    yield (
        "04",
        "Exam",
        1,
        [*(f"`{spaced(one)}`" for one in [e, f, t, d, after]), f"{e[-1]} + {f[-1]} = {falses}"],
    )
    import struct

    def flipped(value):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return f"`{bits:08x}` becomes `{bits ^ (0xFFFFFFFF if bits >> 31 else 0x80000000):08x}`"

    yield (
        "04",
        "Exam",
        2,
        [
            f"`{-5 & 0xFFFFFFFF:08x}` becomes `{-5 & 0xFFFFFFFF ^ 0x80000000:08x}`",
            flipped(-1.0),
            flipped(2.0),
        ],
    )
    yield (
        "04",
        "Exam",
        3,
        [
            "; ".join(
                f"{parts(64, bits)}{' passes' if bits == 8 else ''} and {2**bits:,}{' counters' if bits == 8 else ''}"
                for bits in [8, 11, 16]
            )
        ],
    )
    yield "04", "Exam", 5, [f"`{spaced(one)}`" for one in bitonic([2, 5, 8, 9, 1, 3, 4, 7])]

    # Lab 5
    yield (
        "05",
        "Box",
        "global_atomics",
        [
            f'data-answer="{fullest(32, 2):.0f}"',
            f"{fullest(32, 2):.1f}.",
            "{:.1f}, {:.2f} and {:.2f}".format(*(fullest(32, bins) for bins in [16, 256, 4096])),
        ],
    )
    touched = [different(max(1, bins // 4), 32) if bins > 4 else 1 for bins in [2, 16, 256, 4096]]
    yield (
        "05",
        "Prediction",
        1,
        [
            "{:.0f}, {:.0f}, {:.0f} and {:.0f} bytes".format(*(4 + 2 * one for one in touched)),
            "1, {:.1f}, {:.1f} and {:.1f}".format(*touched[1:]),
            f"{4 + 2 * 32}",
        ],
    )
    yield "05", "Box", "private_counts", [f'data-answer="{2**23 // 65537 // 32 * 32}"']
    yield (
        "05",
        "Box",
        "sort_reduce",
        [
            f'data-answer="{2**20 // 2048}"',
            grouped(round(512 * different(256, 2048), -3)).removesuffix(".0"),
            f"{512 * different(65536, 2048) / 1000:,.0f},000".replace(",", ","),
        ],
    )
    yield "05", "Box", "shared_counts", [f'data-answer="{48 * 1024 // 4}"', grouped(5 * 48 * 1024 // 4)]
    yield "05", "Box", "combined", [f'data-answer="{257 * 32 * 4}"', grouped(257 * 32 * 4)]
    yield (
        "05",
        "Prediction",
        2,
        [
            f"= {32 / fullest(32, 256):.1f}",
            *(f"{if_all_equal(rung, m, 256):.2f} times" for rung in ["shared_counts", "combined"]),
            f"ratio is {if_all_equal('global_atomics', m, 256):.1f}:",
        ],
    )
    yield (
        "05",
        "Question",
        4,
        [f"{measured('histogram', 'shared_counts', m) / measured('histogram', 'per_warp', m):.2f} times"],
    )
    bins = [0, 0, 1, 2, 1, 0, 3, 3]
    yield "05", "Exam", 1, [f"`1 1 1 1` instead of `{spaced([bins.count(b) for b in range(4)])}`"]
    yield (
        "05",
        "Exam",
        4,
        [grouped(1001 * 32 * 4), f"{48 * 1024 // 128} counters", f"{48 * 1024 // 128 - 1} bins"],
    )

    # Lab 6
    across_rows = sectors_of([1024 * lane for lane in range(32)])
    yield "06", "Box", "serial", [f"{across_rows}: ", f"{sectors_of(range(32))} sectors"]
    for rung, words in [("serial", "moves {:.0f}:"), ("rows_columns", "{:.0f}: ")]:
        per_item = 8 * float(counted("sat", rung, "bytes ÷ what must move"))
        yield "06", "Box", "rows_columns", [words.format(per_item)]
    yield "06", "Box", "transpose", [f"{wavefronts([32 * lane for lane in range(32)])}: "]
    across, down_ = parts(4000, 64), parts(3000, 64)
    yield (
        "06",
        "Box",
        "single_pass",
        [
            f"{across} · {down_} = {across * down_:,} tiles",
            f"{across + down_ - 1} diagonals",
            f"{2 * (across + down_ - 1)} µs",
            f"{4000 * 3000 * 8 / 4.2e6:.0f} µs",
        ],
    )
    in_flight = 4.2e12 * 344e-9
    yield (
        "06",
        "Prediction",
        1,
        [
            f"{in_flight / 1e6:.1f} MB",
            f"{round(in_flight / 64, -2):,.0f} columns",
            f"{round(in_flight / 3 / 64, -2):,.0f} columns",
        ],
    )
    for n, words in [(m, "{:.1f}×"), (2**28, "{:.2f}×")]:
        yield (
            "06",
            "Prediction",
            1,
            [words.format(measured("sat", "rows_columns", n) / measured("sat", "transpose", n))],
        )
    squares = 255**2 * 4096**2
    yield "06", "Question", 3, [f"{squares / 1e12:.2f}·10¹²", f"{squares.bit_length()} bits"]
    widest = max(side for side in range(1, 5000, 2) if 255 * side**2 < 2**32)
    yield "06", "Question", 9, [f"{widest:,}", f"radius {widest // 2:,}", f"radius {widest // 2 + 1:,} on"]
    image = [[1, 0, 2], [3, 1, 0], [0, 2, 4]]
    scanned = [inclusive(row) for row in image]
    table = [[sum(scanned[i][c] for i in range(r + 1)) for c in range(3)] for r in range(3)]
    yield "06", "Exam", 1, [f"`{spaced(row)}`" for row in [*scanned, *table]]
    yield (
        "06",
        "Exam",
        2,
        [
            f"{table[2][2]} − {table[0][2]} − {table[2][0]} + {table[0][0]} = {sum(image[r][c] for r in [1, 2] for c in [1, 2])}"
        ],
    )
    side = max(side for side in range(1, 1000) if 65535 * side**2 < 2**32)
    yield "06", "Exam", 3, [f"≤ {side}", f"k = {(side - 1) // 2}"]
    yield (
        "06",
        "Exam",
        4,
        [
            "{}, {} and {}".format(
                *(wavefronts([width * lane for lane in range(32)]) for width in [32, 33, 34])
            )
        ],
    )
    across, down_ = parts(1920, 64), parts(1080, 64)
    yield (
        "06",
        "Exam",
        5,
        [
            f"{across} · {down_} = {across * down_} tiles",
            f"= {across + down_ - 1} diagonals",
            f"{min(across, down_)} tiles",
        ],
    )

    # Lab 7
    yield "07", "Prediction", 1, [grouped(recursive_bytes(2**18)), grouped(16 * 2**18), grouped(127 * 8 * 32)]
    assert f"{recursive_bytes(2**18) / (8 * 2**18):.2f}" == counted(
        "hierarchical_scan", "recursive", "bytes ÷ what must move"
    )
    yield "07", "Box", "two_levels", [f"{512**2:,} items", f'data-answer="{512**2 + 1}"']
    yield (
        "07",
        "Box",
        "recursive",
        [
            "{}, {}, {}, {} and {}".format(
                *(2 * len(levels(n, 2048)) - 1 for n in [2048, 2049, 2**22, 2**22 + 1, 2**33 + 1])
            )
        ],
    )
    steps = [int(counted("hierarchical_scan", rung, "steps")) for rung in ["recursive", "chained"]]
    yield "07", "Prediction", 2, ["{} and {}".format(*steps), f"{512 - 128} links: {steps[1] + 512 - 128}"]
    faster = [
        measured("hierarchical_scan", "recursive", n) / measured("hierarchical_scan", "reduce_then_scan", n)
        for n in [m, 2**20]
    ]
    yield (
        "07",
        "Box",
        "reduce_then_scan",
        [
            f"{4 / 3:.2f} times",
            f"{faster[0]:.2f} times",
            f"{faster[1]:.2f} at",
        ],
    )
    copy_rate = max(size["ceilings"]["copy"]["gb_per_s"] for size in sizes("hierarchical_scan").values())
    micros = 8 * m / copy_rate / 1000
    yield (
        "07",
        "Box",
        "chained",
        [
            f"{m // 2048:,} links",
            f"{m // 2048 / 1000:.1f} ms",
            f"{measured('hierarchical_scan', 'chained', m) / 1000:.2f} ms",
            f"{one_cpu_thread('hierarchical_scan', m) / 1000:.1f} ms",
            f"{one_cpu_thread('hierarchical_scan', m) / measured('hierarchical_scan', 'chained', m):.1f} times",
            f"{micros:.0f} µs",
            f"{round(m / round(micros), -4):,.0f} items",
        ],
    )
    yield "07", "Question", 2, [f"{parts(10**6, 16384)}: ", f"{10**6 / 16384:.2f}"]
    tiles = levels(10**7, 2048)
    yield (
        "07",
        "Exam",
        1,
        [
            f"{tiles[0]:,} tiles",
            f"{tiles[1]} tiles of totals",
            f"{len(tiles)} levels and {2 * len(tiles) - 1} launches",
            f"{4 * sum(tiles[:-1]):,} bytes",
        ],
    )
    row = [2, 0, 1, 5, 3, 3, 1, 0, 4]
    cut = [row[i : i + 4] for i in range(0, 9, 4)]
    yield (
        "07",
        "Exam",
        2,
        [
            *(f"`{spaced(inclusive(one))}`" for one in cut),
            f"totals `{spaced(map(sum, cut))}`",
            f"carries `{spaced(exclusive([sum(one) for one in cut]))}`",
            f"`{spaced(inclusive(row))}`",
        ],
    )
    yield (
        "07",
        "Exam",
        3,
        [
            f"{12 * 2**26 / 4.1e6:.0f} µs",
            f"{8 * 2**26 / 4.1e6:.0f} µs",
            f"{100 * 8 * 2**26 / 4.1e6 / 150:.0f} %",
        ],
    )

    # Lab 8
    yield (
        "08",
        "Box",
        "reduce",
        [
            f"{4 - 1} messages with {(4 - 1) * 4} bytes",
            f"{2 * (4 - 1)} messages",
            f"{2 * 3 * 2**22 // 4:,} bytes",
        ],
    )
    launch, step, rate, direct = (
        assumed(words)
        for words in [
            "start of a collective",
            "a step of a ring",
            "and receives at the same time",
            "the same in the low-latency",
        ]
    )
    equal = 14 * step / (7 / (1e3 * direct) - 1.75 / (1e3 * rate))
    yield (
        "08",
        "Prediction",
        1,
        [
            f"{launch:.0f} + 7n/{1000 * direct:,.0f} µs",
            f"{launch:.0f} + 14 · {step:.0f} + 1.75n/{1000 * rate:,.0f} µs",
            f"n = {equal:,.0f}",
            f"{equal / 1e6:.1f} million",
        ],
    )
    yield "08", "Box", "scan", [f"{2 / 3 * 2:.2f} on 2 GPUs", f"{2 / 3 * 8:.2f} on 8"]
    all_reduce = float(counted("multi_gpu", "histogram_all_reduce", "bytes sent"))
    slices = float(counted("multi_gpu", "histogram", "bytes sent"))
    yield (
        "08",
        "Box",
        "histogram",
        [f'data-answer="{all_reduce / slices:.0f}"', f"together {2 * 3 / 4} times"],
    )
    yield (
        "08",
        "Prediction",
        2,
        [f"t = {4 * 0.9 / 0.1:.0f} µs", f"{36e-6 * 4.6e12 / 4 / 1e6:.0f} million items"],
    )
    counts, sent = 7 * 16 * 8, 7 * 2**28 * 4 // 8
    in_round = 7 * counts
    yield (
        "08",
        "Box",
        "sort",
        [
            f"{counts:,} bytes",
            f"{in_round:,} bytes per round",
            f"{8 * in_round:,} bytes in eight",
            f"{sent:,} bytes",
            f"{round(sent / (8 * in_round), -2):,.0f} times",
        ],
    )
    yield "08", "Prediction", 3, [f"8/1,024 = 1/{1024 // 8}"]
    buffers = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    sums = [sum(column) for column in zip(*buffers)]
    yield (
        "08",
        "Exam",
        1,
        [
            f"`{spaced(sums)}`",
            "`{}`, `{}` and `{}`".format(*sums),
            "`{}`, `{}` and `{}`".format(*(spaced(column) for column in zip(*buffers))),
        ],
    )
    for n, unit, scale, digits in [(2**10, "µs", 1, 0), (2**30, "ms", 1e3, 1)]:
        times = [10 + 15 * n / 1e5, 8 * (10 + n / 1e5), 30 * 10 + 2 * 15 / 16 * n / 1e5]
        yield (
            "08",
            "Exam",
            2,
            [
                f"{name} {time / scale:.{0 if name == 'direct' else digits}f} {unit}"
                for name, time in zip(["direct", "tree", "ring"], times)
            ],
        )
    shards = [[2, 1], [], [3], [1, 4]]
    totals = [sum(shard) for shard in shards]
    whole = inclusive(sum(shards, []))
    yield (
        "08",
        "Exam",
        3,
        [
            f"totals are `{spaced(totals)}`, the prefixes are `{spaced(exclusive(totals))}`",
            f"result is `{spaced(whole[:2])}`, nothing, `{whole[2]}` and `{spaced(whole[3:])}`",
        ],
    )
    keys = sorted([4, 4, 9, 4, 4, 1, 4])
    yield (
        "08",
        "Exam",
        5,
        [
            f"`{spaced(keys[:4])}` and `{spaced(keys[4:])}`",
            f"position 4 is {keys[4]}",
            f"{4 - keys.index(4)} of the {keys.count(4)} equal",
        ],
    )


class Answers(unittest.TestCase):
    def test_every_question_has_an_answer(self):
        total = {"Prediction": 0, "Question": 0}
        for page in PAGES:
            wanted, given = asked(page), answers_of(page)
            total["Prediction"] += len(boxes_of(page))
            for kind, _number in wanted:
                total[kind] += 1
            open_ones = {one for one, text in wanted.items() if "<summary>Answer</summary>" not in text}
            self.assertEqual(open_ones, {one for one in given if one[0] != "Exam"}, page.name)
        self.assertGreater(min(total.values()), 40)

    def test_answers_belong_to_their_questions(self):
        for page in PAGES:
            wanted = asked(page)
            for one, (title, body) in answers_of(page).items():
                self.assertGreater(len(body.split()), 3, f"{page.name}, {one}: no answer")
                if one[0] != "Exam":
                    self.assertGreaterEqual(
                        len(title.split()), 3, f"{page.name}, {one}: quote more of the question"
                    )
                    self.assertTrue(
                        wanted[one].startswith(title), f"{page.name}, {one} begins: {wanted[one][:60]}"
                    )

    def test_every_lab_has_five_exam_questions(self):
        for page in PAGES:
            exam = {number: body for (kind, number), (_, body) in answers_of(page).items() if kind == "Exam"}
            if "\n## Questions\n" in text_of(page):
                self.assertGreaterEqual(len(exam), 5, page.name)
            for number, body in exam.items():
                self.assertRegex(
                    body, r"(?s)\*\*Question\.\*\* .*\*\*Answer\.\*\* ", f"{page.name}, exam {number}"
                )

    def test_numbers_are_right(self):
        pages = {page.name[:2]: answers_of(page) | boxes_of(page) for page in PAGES}
        checked = set()
        for page, kind, number, strings in numbers():
            body = " ".join(pages[page][kind, number][1].rpartition("**Answer.**")[2].split())
            for string in strings:
                self.assertIn(string, body, f"{page}, {kind} {number}")
            checked.add((page, kind, number))
        self.assertGreater(len(checked), 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
