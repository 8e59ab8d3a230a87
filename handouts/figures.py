#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws every figure of the handouts from a run of the kernels that they are about.

    meson compile -C build figures                                   # writes handouts/figures/*.svg
    handouts/figures.py --labcli build/grader/labcli [--check] [NAME...]

FIGURES says for each which trace it is and what it shows. --check changes nothing: exit code 1 when one has drifted, is not
used by any handout, or is used with other words for those who do not see it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = {
    "reduction-neighboured": (
        "trace reduction neighboured --arrays d_in,s_data,d_out",
        "Neighboured pairs: partners are 1, then 2, then 4 apart, and the left one keeps the sum; element 0 ends with 25.",
    ),
    "reduction-sequential": (
        "trace reduction sequential --arrays d_in,s_data,d_out",
        "Sequential addressing: partners are 4, then 2, then 1 apart, and the lower half keeps the sums; element 0 ends with 25.",
    ),
    "reduction-shuffle": (
        "trace reduction shuffle --n 16 --columns 16 --arrays d_in,lanes,d_out",
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
        "trace compaction three_kernels --arrays d_in,d_flags,d_positions,d_out,d_count",
        "Compaction: flags by map, positions by exclusive scan, then each kept item goes to its position.",
    ),
    "radix-split": (
        "trace radix_sort split --arrays d_keys_in,d_e,d_f,d_t,d_d,d_keys_out --steps 1-20",
        "One split by the lowest bit: e is 1 where the bit is 0, f is the exclusive scan of e, t holds the positions of the ones, and d the position to which each key goes.",
    ),
    "radix-bitonic": (
        "trace radix_sort merge --case keys_u32_n2048_random --seed 2 --columns 8 --arrays s_keys --steps 5-8",
        "The end of a bitonic merge: keys are compared at distances of 4, then 2, then 1, and the smaller key goes to the lower position.",
    ),
    "histogram-copies": (
        "trace histogram shared_counts --n 16384 --columns 5 --arrays s_counts,d_counts",
        "Privatisation: each of two blocks clears its own counters, counts its samples there, and then adds its counters to the global counts.",
    ),
    "sat-passes": (
        "trace sat serial --n 9",
        "A summed area table in two passes: the image, the sums along its rows, and then the sums of these along its columns.",
    ),
    "look-back": (
        "trace hierarchical_scan look_back --n 10240 --columns 6 --arrays d_workspace",
        "Look-back: a ticket counter, then one status word per tile: 0 nothing available, 1 aggregate available, 2 prefix available.",
    ),
}
USED = re.compile(r"!\[([^\]]*)\]\((?:handouts/)?figures/([\w-]+)\.svg\)")


def drawn(labcli, name):
    command, title = FIGURES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figure.svg"
        done = subprocess.run([labcli, *command.split(), "--solutions", "--title", title, "--svg", path], capture_output=True, text=True)
        if done.returncode != 0 or not path.exists():
            sys.exit(f"{name}: labcli {command} failed:\n{done.stdout}{done.stderr}")
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
            complaints.append(f"figures/{name}.svg has drifted: meson compile -C build figures draws it afresh")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
