# SPDX-License-Identifier: MIT
"""Charts of measured and modelled results. figures.py draws them as SVG, and quotes.py puts them into the
pages:

chart NAME       the picture, a caption that says what to see, and the numbers

A function of CHARTS describes a chart from handouts/results in the words of plot.py, with its text alternative
and its caption, which are derived from the same numbers.
"""

import dataclasses
import functools
import json
import math
import pathlib
import re
from collections.abc import Iterable

import counted
import lessons
import measured
import scaling
from plot import (
    CHARACTER,
    QUIET,
    SERIES,
    SHAPES,
    WIDTH,
    Chart,
    Curve,
    Plot,
    axis,
    beside,
    chart_of_lines,
    doubling,
    field,
    layer,
    linear,
    lines,
    logarithmic,
    one_plot,
    points,
    position,
    power,
    short_time,
    unlabelled,
    words_at,
)
from tables import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
Panel = tuple[
    str, list[tuple[str, float, str]]
]  # of a ladder: what its rungs do; name, µs and kind of each row


# --- What the runs contain
# ------------------------------------------------------------------------------------------------


def newest(folder: str = "") -> tuple[pathlib.Path, dict]:
    """The newest published run on any device: its file, and what is in it."""
    path = max((ROOT / "handouts/results" / folder).glob("*-h*.json"))
    return path, json.loads(path.read_text(encoding="utf-8"))


def source(path: pathlib.Path, device: str, date: str) -> str:
    name = path.relative_to(ROOT / "handouts").as_posix()
    return f"{device}, {date}. Data: [{path.name}]({name})."


def library_name(name: str, versions: list[str] | None) -> str:
    """ "CUB 3.0": with the toolkit's version where two are compared, and without the call."""
    library, second, *_ = name.split()
    if second[0].isdigit():
        return f"{library} {second}"
    return f"{library} {versions[0].rsplit('.', 1)[0]}" if versions else library


WORK = {
    "row1024": "rows of 1,024",
    "row2048": "rows of 2,048",
    "row4096": "rows of 4,096",
    "row32": "rows of 32",
    "bits0to16": "by the lower 16 bits of the keys",
    "b256_": "256 bins",
    "b4096_": "4,096 bins",
    "b65536_": "65,536 bins",
    "radius50": "box filter of radius 50",
    "inclusive": "inclusive",
    "exclusive": "exclusive",
}


def work_of(case: str, first: str = "") -> str:
    """What a table's rungs do: "rows of 1,024, inclusive"."""
    about = measured.ABOUT.get(first, "")
    words = [text for key, text in WORK.items() if key in case and first != "segmented"]
    return ", ".join([*words, *([about] if about else [])])


def title_of(lab: str, labcli: str) -> str:
    return counted.labs(labcli)[lab]["title"]


# --- The labs
# ------------------------------------------------------------------------------------------------


def ladder_panels(entry: dict, order: list[str]) -> list[Panel]:
    """Of each table at the largest size: what its rungs do, and (name, µs, kind) of the rungs, of the libraries,
    and of the memory for the same bytes."""
    size, panels = entry["sizes"][-1], []
    for one in size["tables"]:
        rungs = sorted(measured.of_kind(one, "rung"), key=lambda r: order.index(r["name"]))
        rows = [(r["name"], r["median_us"], "rung") for r in rungs]
        for r in sorted(measured.of_kind(one, "peer"), key=lambda r: r["name"]):
            if r["right"]:
                rows.append((library_name(r["name"], entry.get("cccl")), r["median_us"], "library"))
        limit = one["ideal_bytes"] / measured.ceiling_of(size, one) / 1e3
        rows.append(("memory alone", limit, "limit"))
        first = rungs[0]["name"]
        panels.append((order.index(first), work_of(measured.case_of(one), first), rows))
    return [panel[1:] for panel in sorted(panels, key=lambda panel: panel[0])]


def ladder_plots(panels: list[Panel], width: int) -> list[Plot]:
    x = logarithmic([us for _, rows in panels for _, us, _ in rows], short_time)
    looks = {"rung": (SERIES[0], "circle"), "library": (SERIES[1], "square"), "limit": (QUIET, "diamond")}
    plots = []
    for work, rows in panels:
        across = x if rows is panels[-1][1] else unlabelled(x)
        labels = {"ticks": False, "domain": False, "labelPadding": 8, "grid": True, "gridDash": [2, 3]}
        y: dict = {"field": "name", "type": "nominal", "sort": [name for name, _, _ in rows], "title": None}
        y |= {"scale": {"type": "point", "padding": 0.5}, "axis": labels}
        values = [{"name": n, "us": us, "words": measured.time_of(us), "kind": k} for n, us, k in rows]
        layers = []
        for kind, look in looks.items():
            if chosen := [value for value in values if value["kind"] == kind]:
                layers.append(points(chosen, field("us", across), y, *look, size=80))
        text = {"type": "text", "align": "left", "dx": 9}
        layers.append(layer(values, text, field("us", across), y, text={"field": "words"}))
        plots.append(Plot(layers, 20 * len(rows), work if len(panels) > 1 else ""))
    plots[0].title = ": ".join(filter(None, ("GPU time (logarithmic)", plots[0].title)))
    return plots


def ladder_words(title: str, items: str, panels: list[Panel]) -> tuple[str, str]:
    """The text alternative and the caption."""
    rungs = [(name, us, *panel) for panel in panels for name, us, kind in panel[1] if kind == "rung"]
    slowest = max(rungs, key=lambda rung: rung[1])
    _, us, work, beside = next(rung for rung in rungs if rung[0] == measured.TOP)
    limit = next(t for _, t, kind in beside if kind == "limit")
    libraries = {name: t for name, t, kind in beside if kind == "library"}
    far = next(t for _, t, kind in slowest[3] if kind == "limit")
    against = f"{us / limit:.2f} times the time of the memory alone"
    if libraries:
        best = min(libraries, key=libraries.get)
        against += f", and {us / libraries[best]:.2f} times that of the fastest library, {best}"
    top = f"{measured.TOP} ({work})" if work else measured.TOP
    alt = (
        f"{title}, GPU time of every rung for {items} items: the slowest is "
        f"{slowest[0]} with {measured.time_of(slowest[1])}; {top} takes {measured.time_of(us)}, {against}."
    )
    caption = (
        f"GPU time for {items} items: rungs from the bottom of the ladder to its top (circles), "
        "libraries (squares), and a plain copy or read of the same bytes (diamonds). Each step of the axis "
        f"multiplies the time. The memory alone takes {100 * limit / us:.0f} % of the time of `{measured.TOP}`"
        f"{f' ({work})' if work else ''}, and {100 * far / slowest[1]:.2g} % of that of `{slowest[0]}`. "
    )
    return alt, caption


def ladder(lab: str, labcli: str) -> Chart:
    """The time of each rung at the largest size, of the libraries, and of the memory for the same bytes."""
    path, run = newest()
    entry = next(e for e in run["labs"] if e["lab"] == lab)
    panels = ladder_panels(entry, counted.ladder(lab, labcli))
    left = 24 + round(CHARACTER * max(len(name) for _, rows in panels for name, _, _ in rows))
    width = WIDTH - left - 84
    alt, caption = ladder_words(title_of(lab, labcli), power(entry["sizes"][-1]["n"]), panels)
    caption += source(path, entry["device"], run["date"])
    return Chart(ladder_plots(panels, width), left, width, alt, caption)


def rate_panels(entry: dict) -> dict[str, dict]:
    """By case and name: the rate by size, in TB/s, with the memory's as the last name."""
    panels: dict = {}
    for size in entry["sizes"]:
        for one in size["tables"]:
            panel, memory = panels.setdefault(measured.case_of(one), ({}, {}))
            for row in one["rows"]:
                if row["kind"] == "cpu" or not row["right"] or row["name"].startswith("Thrust"):
                    continue
                peer = row["kind"] == "peer"
                name = library_name(row["name"], entry.get("cccl")) if peer else "top rung"
                of = panel.setdefault(name, {})
                of[size["n"]] = max(one["ideal_bytes"] / row["median_us"] / 1e6, of.get(size["n"], 0))
            memory[size["n"]] = measured.ceiling_of(size, one) / 1e3
    return {case: panel | {"memory": memory} for case, (panel, memory) in panels.items() if panel}


def rate_plots(panels: dict[str, dict], sizes: list[int]) -> tuple[list[functools.partial], str]:
    """The plots, and what the caption says of the memory."""
    many, plots = len(panels) > 1, []
    memory = "“memory” is a plain copy or read of as many items."
    for case, panel in panels.items():
        # A limit far above all others would press their curves to the bottom.
        *others, limit = (max(of.values()) for of in panel.values())
        most = max(others)
        is_far = not many and limit > 4 * most
        y = linear(most if is_far else max(most, limit))
        curves = [
            Curve(name, sorted(of.items()), k, name == "memory")
            for k, (name, of) in enumerate(panel.items())
            if name != "memory" or not is_far
        ]
        if is_far:
            rate_of_memory = f"{panel['memory'][sizes[-1]]:.2f} TB/s"
            memory = f"a plain copy or read of as many items reaches {rate_of_memory}, beyond the axis."
        x = doubling(sizes, "items")
        x = x if panel is list(panels.values())[-1] else unlabelled(x)
        title = ": ".join(filter(None, ("TB/s", work_of(case) if many else "")))
        plots.append(functools.partial(lines, curves, x, y, 120 if many else 200, title))
    return plots, memory


def rate(lab: str, labcli: str) -> Chart:
    """The rate of the top rung and of CUB by size, and the memory's."""
    path, run = newest("curve")
    entry = next(e for e in run["labs"] if e["lab"] == lab)
    panels, sizes = rate_panels(entry), [size["n"] for size in entry["sizes"]]
    plots, memory = rate_plots(panels, sizes)
    last, said = sizes[-1], []
    for case, panel in panels.items():
        each = ", ".join(f"{name} {of[last]:.2f}" for name, of in panel.items())
        said.append(f"{work_of(case)}: {each}" if len(panels) > 1 else each)
    top = next(iter(panels.values()))["top rung"]
    half = next(n for n in sizes if top[n] >= top[last] / 2)
    first = min(r["median_us"] for one in entry["sizes"][0]["tables"] for r in measured.of_kind(one, "rung"))
    alt = (
        f"{title_of(lab, labcli)}: the rate rises with the number of items; the top rung reaches half of "
        f"its final rate at {power(half)}. TB/s at {power(last)}: {'; '.join(said)}."
    )
    caption = (
        f"The bytes that must move, divided by the GPU time; {memory} Below {power(half)} items the top rung "
        f"does not reach half of its final rate: even {power(sizes[0])} items take {measured.time_of(first)}. "
        f"{source(path, entry['device'], run['date'])}"
    )
    rows = [
        [", ".join(filter(None, (work_of(case), name))), *(f"{of[n]:.2f}" if n in of else "–" for n in sizes)]
        for case, panel in panels.items()
        for name, of in panel.items()
    ]
    data = table(["TB/s", *map(power, sizes)], rows, "lr")
    return chart_of_lines(plots, ["top rung"], 48, alt, caption, data)


# --- Lessons: one kernel, many inputs
# ------------------------------------------------------------------------------------------------


def lesson(name: str, *keys: str) -> tuple[list[dict], dict, str]:
    """What was measured and what was modelled, by `keys`; and the source."""
    run, of = lessons.both("h200", name, *keys)
    path = max((ROOT / "handouts/results/lessons").glob("*-h200.json"))
    return run[name], of, source(path, run["device"], run["date"])


def divergence(_labcli: str) -> Chart:
    rows, of, where = lesson("divergence", "rounds", "paths")
    paths = sorted({row["paths"] for row in rows})
    rounds = sorted({row["rounds"] for row in rows})

    def factors(which: str, r: int) -> list[tuple[int, float]]:
        one = of[which, r, 1]["median_us"]
        return [(p, of[which, r, p]["median_us"] / one) for p in paths]

    found = [Curve(f"{r} multiply-adds", factors("run", r), k) for k, r in enumerate(rounds)]
    found += [Curve("", factors("model", r), k, thin=True) for k, r in enumerate(rounds)]
    x = doubling(paths, "paths that the lanes of a warp take", str)
    y = logarithmic([y for one in found for _, y in one.points], lambda t: f"{t:g}×")
    ends = " and ".join(
        f"{factors('run', r)[-1][1]:.1f} times as long with {r} multiply-adds per item" for r in rounds
    )
    alt = (
        f"The time against that of one path grows with the number of paths in a warp. With {paths[-1]} "
        f"paths it is {ends}."
    )
    caption = (
        "GPU time against that of one path, for two numbers of multiply-adds per item; both axes are "
        f"logarithmic. With {paths[-1]} paths it is {ends}. Dotted: the modelled times. {where}"
    )
    return one_plot(found, x, y, 220, "time against one path", 56, alt, caption)


def shared_atomics(_labcli: str) -> Chart:
    rows, of, where = lesson("atomics", "addition", "addresses")
    addresses = sorted({row["addresses"] for row in rows})

    def times(which: str, kind: str) -> list[tuple[int, float]]:
        return [(n, of[which, kind, n]["ns_per_instruction"]) for n in addresses]

    kinds = {"of_one": "of 1", "of_a_variable": "of a variable", "with_old_value": "old value used"}
    found = [Curve(name, times("run", kind), k) for k, (kind, name) in enumerate(kinds.items())]
    found += [Curve("", times("model", kind), k, thin=True) for k, kind in enumerate(kinds)]
    x = doubling(addresses, "addresses in a warp", str)
    y = logarithmic([y for one in found for _, y in one.points], lambda t: f"{t:g} ns")
    same = {name: times("run", kind)[0][1] for kind, name in kinds.items()}
    worse = same["of a variable"] / same["of 1"]
    alt = "Time of an addition in shared memory, by the addresses in a warp. With one address: " + ", ".join(
        f"{ns:.1f} ns {'for an addition ' if name.startswith('of') else 'with the '}{name}"
        for name, ns in same.items()
    )
    caption = (
        "Time of a multiprocessor per warp instruction, by the number of different addresses in the warp; "
        f"both axes are logarithmic. If all lanes add to one address, an addition of a variable takes {worse:.0f} "
        f"times as long as an addition of 1. Dotted: the modelled times. {where}"
    )
    return one_plot(found, x, y, 220, "additions to shared memory", 60, f"{alt}.", caption)


def contention(labcli: str) -> Chart:
    rows, of, where = lesson("contention", "n", "bins", "rung", "percent")
    n = lessons.newest("model", "contention")["contention"][0]["n"]
    shares = sorted({row["percent"] for row in rows})
    places = dict(zip(shares, range(len(shares))))  # the axis: 90, 99 and 100 % would be one point
    order = counted.ladder("histogram", labcli)
    rungs = [r for r in order if ("run", n, 256, r, 0) in of]
    plots, every, said = [], [], []
    for bins in (16, 256, 4096, 65536):
        times = {r: [(places[s], of["run", n, bins, r, s]["median_us"]) for s in shares] for r in rungs}
        every += [us for points in times.values() for _, us in points]
        plots.append((bins, times))
    y = logarithmic(every, short_time)
    x = axis(list(places.values()), lambda k: f"{shares[k]} %", "share of the samples in one bin", grid=False)
    made = []
    for bins, times in plots:
        found = [Curve(rung, points, k) for k, (rung, points) in enumerate(times.items())]
        below = x if bins == plots[-1][0] else unlabelled(x)
        title = f"{bins:,} bins, {power(n)} samples"
        title += ": GPU time (logarithmic)" if bins == plots[0][0] else ""
        made.append(functools.partial(lines, found, below, y, 190, title))
        worst = max(times, key=lambda r: times[r][-1][1] / times[r][0][1])
        ends = (
            f"{rung} from {measured.time_of(times[rung][0][1])} to {measured.time_of(times[rung][-1][1])}"
            for rung in (worst, measured.TOP)
        )
        said.append(f"{bins:,} bins, {', '.join(ends)}")
    alt = (
        "GPU time of the histogram's rungs from uniform samples to samples that are all equal. The rung "
        f"that skew slows down most, and the top rung: {'; '.join(said)}."
    )
    slower = [r for _, times in plots for r, points in times.items() if points[-1][1] > 1.5 * points[0][1]]
    caption = (
        "Each part has another number of bins. To the right, more samples are in the same bin. Rungs that take "
        "more than 1.5 times as long at the right end as at the left end: "
        f"{', '.join(f'`{r}`' for r in dict.fromkeys(slower)) or 'none'}. {where}"
    )
    return chart_of_lines(made, rungs, 60, alt, caption)


# --- Limits and models
# ------------------------------------------------------------------------------------------------

# Rungs, each with the case on which it is counted, if not the usual one: a grid of fixed size does work that
# does not grow with the items.
IN_ROOFLINE = {
    "reduction": dict.fromkeys(("neighboured", "sequential", "shuffle"))
    | {measured.TOP: "sum_i32_n16777216_random"},
    "scan": dict.fromkeys(("brute_force", "hillis_steele", "blelloch", "kogge_stone", measured.TOP)),
}


def roofline_points(labcli: str) -> list[tuple[str, float, float, int]]:
    """Of each rung: its name, operations per byte as counted, 10¹² operations a second as measured, its lab's
    index."""
    found, n = [], 2**28
    for k, (lab, rungs) in enumerate(IN_ROOFLINE.items()):
        alone = measured.rungs_of(lab, labcli)
        for rung, case in rungs.items():
            of = counted.profile(labcli, lab, rung, case)
            worth = of["work"] / of["n"] * n / (alone[rung][n][0] * 1e6)
            found.append((rung, of["work"] / of["bytes"], worth, k))
    return found


def roofline_plot(found: list[tuple[str, float, float, int]], flat: float, slope: float, width: int) -> Plot:
    """The points below the roof of additions, `flat`, and that of the memory, of this `slope`."""
    ridge, height = flat / slope, 236
    title = "operations per byte of device memory (logarithmic)"
    x = axis([0.1, 0.2, 0.5, 1, 2, 5, 10, 20], lambda t: f"{t:g}", title, True)
    y = logarithmic([*(worth for _, _, worth, _ in found), flat], lambda t: f"{t:g}")
    low, high = x["scale"]["domain"]
    roof = Curve("", [(low, low * slope), (ridge, flat), (high, flat)], reference=True)
    layers = lines([roof], x, y, height, "", width).layer

    def place(intensity: float, worth: float) -> tuple[float, float]:
        return width * math.log(intensity / low) / math.log(high / low), position(y, worth, height)

    at = [place(intensity, worth) for _, intensity, worth, _ in found]
    taken = [(a - 5, b - 5, a + 5, b + 5) for a, b in at]
    for (name, intensity, worth, k), (across, down) in zip(found, at):
        shown = [{"x": intensity, "y": worth}]
        layers.append(points(shown, field("x", x), field("y", y), SERIES[k], SHAPES[k]))
        text = "top rung" if name == measured.TOP else name
        taken.append(beside(across, down, text, taken))
        left, top, _, bottom = taken[-1]
        layers.append(words_at(left, (top + bottom) / 2, text, SERIES[k], 0))
    layers += [
        words_at(place(ridge, flat)[0], position(y, flat, height) - 9, "32-bit additions", QUIET, 0),
        words_at(*place(2, 2.5 * slope), "memory", QUIET, -50),
    ]
    return Plot(layers, height, "10¹² operations per second (logarithmic)")


def roofline(labcli: str) -> Chart:
    """The rungs of the first two labs: operations and bytes as counted, times as measured."""
    found, chip = roofline_points(labcli), measured.simulated(labcli)
    flat = chip["multiprocessors"] * 64 * chip["clock_ghz"] / 1e3
    slope = measured.rate_of("reduction", "copy") / 1e3
    ridge = flat / slope
    ends = [found[0], found[len(IN_ROOFLINE["reduction"]) - 1]]
    reach = ", ".join(f"{name} {100 * w / (i * slope):.0f} percent" for name, i, w, _ in ends)
    alt = (
        f"A roofline of an H200. The memory's roof meets that of additions at {ridge:.1f} operations per "
        f"byte. Points far below a roof are slow. Of the memory's roof they reach: {reach}."
    )
    caption = (
        "Operations and bytes as counted, times as measured for 2²⁸ items. The distance to the roof shows how "
        "much faster a kernel with the same operations and bytes could be: the rungs of reduction (circles) do "
        "nearly the same work in less and less time, those of scan (squares) also differ in their operations. "
        "The memory's roof is a plain copy. The bytes of every access are counted, also of those that a cache "
        "serves, so a kernel that reads the same bytes several times can be above this roof, and so can one "
        "that only reads. "
    )
    path, run = max((ROOT / "handouts/results").glob("*-h200.json")), measured.published("reduction")
    caption += source(path, run["device"], run["date"])
    rows = [
        [f"{[*IN_ROOFLINE][k]} `{name}`", f"{i:.2f}", f"{w:.2f}", f"{100 * w / min(i * slope, flat):.0f} %"]
        for name, i, w, k in found
    ]
    head = ["rung", "operations per byte", "10¹² operations per second", "share of the lower roof"]
    left, width = 52, WIDTH - 82
    plot = roofline_plot(found, flat, slope, width)
    return Chart([plot], left, width, alt, caption, table(head, rows, "lr"))


def model(_labcli: str) -> Chart:
    """The rungs' modelled times against the measured ones: the numbers of the page's own table."""
    page = (ROOT / "handouts/model.md").read_text(encoding="utf-8")
    block = re.search(
        r"<!-- quote: output model --strict --markdown -->\n(.*?)<!-- end quote -->", page, re.S
    )[1]
    rows = [
        (lab.split()[0], rung, float(a), float(b))
        for lab, rung, _, a, b, *_ in (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.split("| ratio |")[1].splitlines()[2:]
            if line.startswith("|")
        )
    ]
    both = [us for row in rows for us in row[2:]]
    x = logarithmic(both, short_time, "measured (both axes are logarithmic)")
    y = logarithmic(both, short_time)
    low, high = x["scale"]["domain"]
    width, left, height = 330, 62, 330
    bounds = [
        Curve("equal", [(low, low), (high, high)], reference=True),
        Curve("2 times", [(low, 2 * low), (high / 2, high)], 0, thin=True),
        Curve("half", [(2 * low, low), (high, high / 2)], 0, thin=True),
    ]
    layers = lines([dataclasses.replace(one, name="") for one in bounds], x, y, height, "", width).layer
    at = [{"x": a, "y": b} for *_, a, b in rows]
    layers += [
        points(at, field("x", x), field("y", y), SERIES[0], size=46, opacity=0.9),
        words_at(width, 4, "equal", QUIET),
        words_at(width, position(y, high / 2, height) + 4, "half as long", SERIES[0]),
    ]
    within = sum(1 / 1.25 <= b / a <= 1.25 for *_, a, b in rows)
    far = max(rows, key=lambda row: abs(math.log(row[3] / row[2])))
    alt = (
        f"Modelled against measured times of {len(rows)} rungs, close to the diagonal: {within} are within "
        f"25 percent. The largest difference is that of {far[0]} {far[1]}: measured "
        f"{measured.time_of(far[2])}, modelled {measured.time_of(far[3])}."
    )
    device = re.match(r"Measured on ([^;]*)", block)[1].replace("\n", " ")
    caption = (
        "Each point is a rung. A point above the dashed diagonal is modelled too slow; between the dotted "
        f"lines the model is wrong by less than a factor of two. {device}. The table below contains the "
        "numbers."
    )
    return Chart([Plot(layers, height, "modelled")], left, width, alt, caption)


def scaled(curves: dict, y: dict, heading: str, alt: str, caption: str, ideal: Iterable = ()) -> Chart:
    found = [Curve(name, points, k) for k, (name, points) in enumerate(curves.items())]
    found += [Curve("ideal", list(ideal), reference=True)] if ideal else []
    x = doubling(scaling.DEVICES, "GPUs", lambda n: f"{n:,}")
    return one_plot(found, x, y, 230, heading, 58, alt, caption)


def weak(labcli: str) -> Chart:
    curves = {
        task: [(n, 100 * scaling.efficiency(labcli, task, n)) for n in scaling.DEVICES]
        for task in scaling.BEST
    }
    ends = ", ".join(f"{task} {points[-1][1]:.0f} percent" for task, points in curves.items())
    worst = min(curves, key=lambda task: curves[task][-1][1])
    alt = f"Modelled efficiency for 8 to 1,024 GPUs with 2³⁰ items on each. With 1,024 GPUs: {ends}."
    caption = (
        "Modelled, not measured: nodes of eight GPUs. The efficiency is the time of one GPU divided by "
        f"that of all GPUs, which have as many times more items. With 1,024 GPUs it is lowest for `{worst}`, with "
        f"{curves[worst][-1][1]:.0f} %{': nearly all keys are sent to other GPUs' if worst == 'sort' else ''}."
    )
    y = axis(list(range(0, 101, 20)), lambda t: f"{t} %")
    return scaled(curves, y, "modelled efficiency, 2³⁰ items on each GPU", alt, caption)


def strong(labcli: str) -> Chart:
    curves = {task: [(n, scaling.speedup(labcli, task, n)) for n in scaling.DEVICES] for task in scaling.BEST}
    ends = ", ".join(f"{task} {points[-1][1]:.0f} times" for task, points in curves.items())
    alt = f"Modelled speedup for 8 to 1,024 GPUs with 2³³ items altogether. With 1,024 GPUs: {ends}."
    caption = (
        "Modelled, not measured; both axes are logarithmic. With more GPUs the kernels take less time, but "
        "the start of a collective and its steps do not, so each curve has a limit."
    )
    y = axis([4, 16, 64, 256, 1024], lambda t: f"{t:,}×", "", True)
    ideal = [(n, n) for n in scaling.DEVICES]
    return scaled(curves, y, "modelled speedup, 2³³ items on all GPUs", alt, caption, ideal)


def collective_cost(labcli: str) -> Chart:
    """Of an all-reduce, by its bytes: the model's fastest algorithm, and the time of the bytes alone."""
    program, sizes = scaling.estimator(labcli), [2**k for k in range(3, 31)]
    curves = {
        f"{n} GPUs": [(size, scaling.estimated(program, "all_reduce", size, n)[0]) for size in sizes]
        for n in (2, 8)
    }
    rate = scaling.link(program)["gb_per_s"] * 1e3
    alone = [(size, 2 * 7 / 8 * size / rate) for size in sizes if 2 * 7 / 8 * size / rate >= 20]
    found = [Curve(name, points, k) for k, (name, points) in enumerate(curves.items())]
    found.append(Curve("8: bytes alone", alone, reference=True))
    title = "bytes of each rank's buffer (logarithmic)"
    x = axis([2**3, 2**10, 2**20, 2**30], power, title, True, grid=False)
    y = logarithmic([us for points in curves.values() for _, us in points], short_time)
    eight = dict(curves["8 GPUs"])
    small, large = eight[sizes[0]], eight[sizes[-1]]
    flat = max(size for size, us in eight.items() if us < 1.5 * small)
    alt = (
        "Modelled time of an all-reduce on 8 GPUs by its size: less than 1.5 times that of 8 bytes, "
        f"{measured.time_of(small)}, "
        f"up to {power(flat)} bytes; then it grows with the bytes, to {measured.time_of(large)} for "
        f"{power(sizes[-1])}."
    )
    caption = (
        "Modelled for H200s that are connected by NVLink; both axes are logarithmic. On the left only the "
        "latency counts, and on the right only the bytes. Between them, the algorithm changes. Dashed: the "
        "time of the bytes alone."
    )
    return one_plot(found, x, y, 230, "modelled time of ncclAllReduce over NVLink", 60, alt, caption)


LABS = [entry["lab"] for entry in newest()[1]["labs"]]
CHARTS: dict = {
    **{f"ladder-{lab.replace('_', '-')}": lambda labcli, lab=lab: ladder(lab, labcli) for lab in LABS},
    **{f"rate-{lab.replace('_', '-')}": lambda labcli, lab=lab: rate(lab, labcli) for lab in LABS},
    "roofline": roofline,
    "model": model,
    "divergence-time": divergence,
    "shared-atomics": shared_atomics,
    "contention": contention,
    "scaling-weak": weak,
    "scaling-strong": strong,
    "collective-cost": collective_cost,
}

SIMULATED = {"roofline"}  # those that need runs of the simulator


@functools.lru_cache
def made(name: str, labcli: str) -> Chart:
    return CHARTS[name](labcli)


def chart(name: str, labcli: str) -> str:
    one = made(name, labcli)
    folded = f"\n<details><summary>The numbers of this chart</summary>\n\n{one.data}\n</details>\n"
    return f"![{one.alt}](figures/{name}.svg)\n\n*{one.caption}*\n{folded if one.data else ''}"


KINDS = (chart,)
