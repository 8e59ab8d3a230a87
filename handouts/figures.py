#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws every figure of the handouts: from a run of the kernels that it is about, from what pictures.py
computes, or as a chart of results (charts.py).

    meson compile -C build figures                                   # writes handouts/figures/*.svg
    meson compile -C build charts                                    # those of results alone, in seconds
    handouts/figures.py --labcli build/grader/labcli [--check] [--charts] [NAME...]

FIGURES says for each how it is drawn and what it shows. --check changes nothing: exit code 1 when one has
drifted, is not used by any handout, or is used with other words for those who do not see it. Where the
package that draws charts is missing, --check compares their specifications alone.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "common/tools")]
import charts
import packages
import pictures
import pictures_multi_gpu
import quotes

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
    "reduction-tournament": (
        pictures.tournament,
        "A tournament for the maximum of eight items: four matches in the first round, two in the second and one in the third; 7 wins.",
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
    "multi-gpu-scan": (
        pictures_multi_gpu.scan,
        "A scan over four ranks, one of them with an empty shard: totals, all totals on every rank, and the scan of each shard, which starts with the prefix.",
    ),
    "multi-gpu-sort": (
        pictures_multi_gpu.sort,
        "A sort over three ranks: local sort, cuts, exchange of the parts, and a merge of the received runs.",
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


def venv_of(labcli):
    return pathlib.Path(labcli).resolve().parents[1] / "charts-venv"


def use_packages(venv):
    """Lets this program import what is in an environment."""
    sys.path += map(str, venv.glob("lib/python*/site-packages"))


def is_drawn(path, chart):
    """Whether the file shows the chart: byte for byte where the package that draws it is at hand."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if importlib.util.find_spec("vl_convert"):
        return text == charts.render(chart)
    return f"<!-- specification {chart.digest()} -->" in text


def misused(made):
    """Figures that no handout shows, or not in the words above; and those shown that nobody draws. `made`:
    the charts by name."""
    titles = {name: title for name, (_, title) in FIGURES.items()}
    titles |= {name: chart.alt for name, chart in made.items()}
    used = {}
    for page in sorted(HERE.glob("*.md")):
        for words, name in USED.findall(page.read_text(encoding="utf-8")):
            used.setdefault(name, set()).add(words)
            if name not in titles:
                yield f"{page.name} shows figures/{name}.svg, which nothing draws"
    for name, title in titles.items():
        if name not in used:
            yield f"no handout shows figures/{name}.svg"
        elif used[name] != {title}:
            yield f"figures/{name}.svg is shown with other words than it has: {title}"
    for path in (HERE / "figures").glob("*"):
        if path.suffix != ".svg" or path.stem not in titles:
            yield f"figures/{path.name} is none of figures.py"


def write_captions(names, labcli):
    """Writes the captions and numbers of the charts into the pages."""
    for page in HERE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        wanted = quotes.filled(text, labcli, lambda kind, name: kind == "chart" and name in names)
        if wanted != text:
            page.write_text(wanted, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Draws the handouts' figures.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--charts", action="store_true", help="only charts that need no simulation")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("names", nargs="*", help="figures to draw; all when none is named")
    arguments = parser.parse_args()
    if not arguments.check:
        packages.environment(venv_of(arguments.labcli), HERE / "requirements.txt", "charts")
    use_packages(venv_of(arguments.labcli))
    results = [name for name in charts.CHARTS if name not in charts.SIMULATED]
    everything = results if arguments.charts else [*charts.CHARTS, *FIGURES]
    for name in arguments.names:
        if name not in everything:
            sys.exit(f"there is no figure {name}; there are {', '.join(everything)}")
    names = arguments.names or everything
    made = {name: charts.made(name, arguments.labcli) for name in names if name in charts.CHARTS}
    if not arguments.check:
        write_captions(made, arguments.labcli)
    complaints = list(misused(made)) if arguments.check and len(names) > len(charts.CHARTS) else []
    for name in names:
        path = HERE / "figures" / f"{name}.svg"
        if name in made:
            if is_drawn(path, made[name]):
                continue
            wanted = None if arguments.check else charts.render(made[name])
        else:
            wanted = drawn(arguments.labcli, name)
            if path.exists() and path.read_text(encoding="utf-8") == wanted:
                continue
        if arguments.check:
            target = "charts" if name in made else "figures"
            complaints.append(
                f"figures/{name}.svg has drifted: meson compile -C build {target} draws it afresh"
            )
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
