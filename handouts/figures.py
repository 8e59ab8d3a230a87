#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws every figure of the handouts: from a run of the kernels that it is about, or from what pictures.py
computes.

    meson compile -C build figures                                   # writes handouts/figures/*.svg
    handouts/figures.py --labcli build/grader/labcli [--check] [NAME...]

FIGURES says for each how it is drawn and what it shows. --check changes nothing: exit code 1 when one has
drifted, is not used by any handout, or is used with other words for those who do not see it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import pictures
import pictures_multi_gpu

# By name: what draws it (a command that prints a trace, or a function of pictures.py), and its text
# alternative.
FIGURES = {
    "memory-hierarchy": (
        pictures.memory,
        "The memories of an H200, from registers to device memory: each is slower than the one above, and more threads share it.",
    ),
    "divergence": (
        pictures.divergence,
        "A branch that splits a warp makes it execute both sides, A and B, one after the other; a branch that all lanes take together does not.",
    ),
    "coalescing": (
        pictures.coalescing,
        "The sectors that a warp touches: 4 for neighbouring words, 8 for every second word, 5 if the first word is not at the start of a sector, 32 for distant words.",
    ),
    "banks": (
        pictures.banks,
        "The words that a warp reads, by bank: one per bank for strides of 1 and 33, two for a stride of 2, eight for 8, and all 32 in one bank for 32.",
    ),
    "reduction-neighboured": (
        "trace reduction neighboured --arrays d_in,s_data,d_out",
        "Neighboured pairs: partners are 1, then 2, then 4 apart, and the left one keeps the sum; element 0 ends with 25.",
    ),
    "reduction-sequential": (
        "trace reduction sequential --arrays d_in,s_data,d_out",
        "Sequential addressing: partners are 4, then 2, then 1 apart, and the lower half keeps the sums; element 0 ends with 25.",
    ),
    "reduction-lanes": (
        pictures.lanes,
        "The active lanes of a block with 256 threads in each round: in rung 1 they are spread over all warps; in rungs 2 and 3 they fill the first warps.",
    ),
    "reduction-shuffle": (
        "trace reduction shuffle --arrays d_in,lanes,d_out",
        "Reduction in a warp with shuffles: in each round a lane adds the value of a lane further up; the rounds need no array.",
    ),
    "scan-hillis-steele": (
        "trace scan hillis_steele",
        "Hillis–Steele: each element adds the element 1 position to its left, in the next rounds 2 and 4 positions; each round reads one buffer and writes the other.",
    ),
    "scan-up-sweep": (
        "trace scan blelloch --steps 2-5",
        "Up-sweep: each right child becomes the sum of both children, level by level; the last element ends with the total, 25.",
    ),
    "scan-down-sweep": (
        "trace scan blelloch --steps 5-10",
        "Down-sweep: the root becomes 0. On each level the left child receives its parent's value, and the right child receives that value plus the left child's sum.",
    ),
    "scan-kogge-stone": (
        "trace scan kogge_stone",
        "Kogge–Stone in a warp: with shuffles, each lane adds the value of the lane that is 1, then 2, then 4 positions below it.",
    ),
    "compaction-map-scan-scatter": (
        pictures.compaction,
        "Compaction: flags by map, positions by exclusive scan, then each kept item goes to its position; the count is the last position plus the last flag.",
    ),
    "radix-split": (
        pictures.split,
        "One split by the lowest bit: the keys with bit 0 go to the positions in f, the keys with bit 1 to the positions in t, and both groups keep their order.",
    ),
    "radix-bitonic": (
        pictures.bitonic,
        "A whole sort of eight keys: two tiles are sorted, and a network merges them by comparing keys in a flip, at distance 2 and at distance 1.",
    ),
    "histogram-copies": (
        pictures.histogram,
        "Privatisation: each of two blocks counts its samples in its own counters, and then adds its counters to the global counts.",
    ),
    "sat-passes": (
        "trace sat serial --n 9",
        "A summed area table in two passes: the image, the sums along its rows, and then the sums of these along its columns.",
    ),
    "sat-corners": (
        pictures.corners,
        "Four look-ups: from the rectangle D up to the box's far corner, subtract the rectangles B above and C to the left, and add A, which both contain.",
    ),
    "hierarchical-scan": (
        pictures.hierarchy,
        "A scan in two levels: each tile is scanned, the totals of the tiles are scanned, and each tile adds its carry.",
    ),
    "look-back": (
        pictures.look_back,
        "Look-back over five tiles: most tiles publish first their aggregate and then their prefix, and a later tile can have its prefix before an earlier one.",
    ),
    "ranks": (
        pictures_multi_gpu.ranks,
        "Four ranks: each has a device with a stream, a communicator and a shard of the array; one host thread makes the calls of all of them.",
    ),
    "collectives": (
        pictures_multi_gpu.collectives,
        "Four collectives on four ranks: the buffers before, above, and after, below.",
    ),
    "ring": (
        pictures_multi_gpu.ring,
        "An all-reduce in a ring of four ranks: in three steps each chunk collects the values of all ranks, and in three more steps each rank receives the finished chunks.",
    ),
    "collective-cost": (
        pictures_multi_gpu.cost,
        "Modelled time of an all-reduce by its size: constant up to about a megabyte, then in proportion to the bytes.",
    ),
    "multi-gpu-scan": (
        pictures_multi_gpu.scan,
        "A scan over four ranks, one of them with an empty shard: totals, all totals on every rank, and the scan of each shard, which starts with the prefix.",
    ),
    "multi-gpu-sort": (
        pictures_multi_gpu.sort,
        "A sort over three ranks: local sort, cuts, exchange of the parts, and a merge of the received runs.",
    ),
    "scaling-weak": (
        pictures_multi_gpu.weak,
        "Modelled efficiency for 8 to 1,024 GPUs with 2³⁰ items on each: nearly constant for reduce, scan and histogram; that of sort falls when the second node is added.",
    ),
    "scaling-strong": (
        pictures_multi_gpu.strong,
        "Modelled speedup for 8 to 1,024 GPUs with 2³³ items altogether: all curves flatten, because the latencies do not become smaller.",
    ),
}
USED = re.compile(r"!\[([^\]]*)\]\((?:handouts/)?figures/([\w-]+)\.svg\)")


def drawn(labcli, name):
    how, title = FIGURES[name]

    def run(command):
        done = subprocess.run(
            [labcli, *command.split(), "--solutions"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0:
            sys.exit(f"{name}: labcli {command} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    if callable(how):
        run.labcli = labcli
        return how(run).svg(title)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figure.svg"
        command = [labcli, *how.split(), "--solutions", "--title", title, "--svg", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not path.exists():
            sys.exit(f"{name}: labcli {how} failed:\n{done.stdout}{done.stderr}")
        return path.read_text(encoding="utf-8")


def misused():
    """Figures that no handout shows, or not in the words above; and those shown that nobody draws."""
    used = {}
    for page in sorted(HERE.glob("*.md")):
        for words, name in USED.findall(page.read_text(encoding="utf-8")):
            used[name] = words
            if name not in FIGURES:
                yield f"{page.name} shows figures/{name}.svg, which nothing draws"
    for name, (_, title) in FIGURES.items():
        if name not in used:
            yield f"no handout shows figures/{name}.svg"
        elif used[name] != title:
            yield f"figures/{name}.svg is shown with other words than figures.py has: {title}"
    for path in (HERE / "figures").glob("*"):
        if path.suffix != ".svg" or path.stem not in FIGURES:
            yield f"figures/{path.name} is none of figures.py"


def main():
    parser = argparse.ArgumentParser(description="Draws the handouts' figures.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("names", nargs="*", help="figures to draw; all when none is named")
    arguments = parser.parse_args()
    complaints = list(misused()) if arguments.check else []
    for name in arguments.names or FIGURES:
        if name not in FIGURES:
            sys.exit(f"there is no figure {name}; there are {', '.join(FIGURES)}")
        path = HERE / "figures" / f"{name}.svg"
        wanted = drawn(arguments.labcli, name)
        if path.exists() and path.read_text(encoding="utf-8") == wanted:
            continue
        if arguments.check:
            complaints.append(
                f"figures/{name}.svg has drifted: meson compile -C build figures draws it afresh"
            )
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
