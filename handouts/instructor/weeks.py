# SPDX-License-Identifier: MIT
"""The weeks of the course: their topics, and which tasks students do. The table of the instructor's guide
(`weeks` of quotes.py) comes from WEEKS, and so do the first and the last slide of a week."""

import pathlib
import re
import sys
from typing import NamedTuple

HANDOUTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HANDOUTS.parent / "common/tools"), str(HANDOUTS / "scripts")]
import hint
from worked import table

MAX_HOURS = 12  # of a week's tasks, without the bonus


class Part(NamedTuple):
    """What comes from one handout."""

    page: str
    tasks: list = []


class Week(NamedTuple):
    topics: str
    parts: list
    also: str = ""  # what students do besides the tasks


WEEKS = {
    1: Week(
        "kernels, the hierarchy, steps and work, the roofline",
        [Part("00-ideas")],
        "set-up; the edition's [demonstration](#before-the-first-week): `./lab grade`, `trace`, `profile`, `check`",
    ),
    2: Week(
        "barriers, guards, divergence, bank conflicts, shuffles",
        [Part("01-reduction", ["neighboured", "sequential", "shuffle"])],
        "[errata](errata.md) 1–3, 8",
    ),
    3: Week(
        "many items per thread, memory-bound kernels; associative and commutative operators",
        [Part("01-reduction", ["coarsened", "single_launch"]), Part("02-scan", ["hillis_steele"])],
        "errata 4, 5, 15",
    ),
    4: Week(
        "work efficiency; a scan in a warp",
        [Part("02-scan", ["blelloch", "kogge_stone"])],
        "errata 6, 7, 11–14, 21, 22",
    ),
    5: Week(
        "a scan in a block; scan as a tool that computes output positions",
        [Part("02-scan", ["coarsened", "segmented"]), Part("03-compaction", ["three_kernels"])],
        "errata 9, 16",
    ),
    6: Week(
        "ballots; what limits a compaction",
        [Part("03-compaction", ["fused", "warp_aggregated", "single_pass"])],
    ),
    7: Week("stability; sources of parallelism", [Part("04-radix-sort", ["split", "tile_sort"])]),
    8: Week("sorting networks and merging", [Part("04-radix-sort", ["merge"])]),
    9: Week("ranks in a tile", [Part("04-radix-sort", ["digits"])]),
    10: Week(
        "keys of any type; contention and privatisation",
        [
            Part("04-radix-sort", ["any_key", "onesweep"]),
            Part("05-histogram", ["global_atomics", "private_counts", "shared_counts"]),
        ],
    ),
    11: Week(
        "skewed samples; coalescing in two dimensions",
        [Part("05-histogram", ["sort_reduce", "combined"]), Part("06-sat", ["serial"])],
        "erratum 10",
    ),
    12: Week(
        "transposes; accuracy; applications of a table",
        [Part("06-sat", ["rows_columns", "transpose", "box", "single_pass"])],
    ),
    13: Week(
        "levels; what moves 4n, 3n and 2n bytes",
        [Part("07-hierarchical-scan", ["two_levels", "recursive", "reduce_then_scan"])],
    ),
    14: Week(
        "look-back, forward progress",
        [Part("07-hierarchical-scan", ["chained", "look_back"])],
        "errata 17–20",
    ),
    15: Week("ranks, collectives and their cost", [Part("08-multi-gpu", ["reduce", "scan", "histogram"])]),
    16: Week("splitters, exchange, scaling", [Part("08-multi-gpu", ["sort"])]),
}


def page_of(part: Part) -> str:
    return (HANDOUTS / f"{part.page}.md").read_text(encoding="utf-8")


def hours(week: int) -> int:
    """Of a week's tasks without the bonus, as the handouts have them."""
    found = 0
    for part in WEEKS[week].parts:
        known = hint.tasks_of(page_of(part))
        for task in part.tasks:
            title, section = known[task]
            if "(bonus)" not in title:
                found += sum(map(int, re.findall(r"\d+", hint.effort(section)[1])))
    return found


def weeks(_all: str, _labcli: str) -> str:
    rows = []
    for number, week in WEEKS.items():
        texts, tasks = [], []
        for part in week.parts:
            text = page_of(part)
            title = re.match(r"# (?:Lab \d+: )?(.*)", text)[1]
            texts.append(f"[{title}]({part.page}.md)")
            known = hint.tasks_of(text)
            tasks += [f"`{task}`" + " (bonus)" * ("(bonus)" in known[task][0]) for task in part.tasks]
        do = "; ".join(filter(None, [", ".join(tasks), week.also]))
        rows.append([number, ", ".join(texts), do, hours(number) or "", week.topics])
    return table("week | text | tasks | hours | topics for the lecture", rows, "rllrl")


KINDS = (weeks,)
