# SPDX-License-Identifier: MIT
"""Charts of results. charts.toml says of each which rows it shows, its axes and what to see. specification() turns
it into Vega-Lite and render() into SVG. figures.py draws the pictures, and quotes.py puts them into the pages:

chart NAME       the picture, with a text alternative made of its rows, and a caption

A row is a point: its name (of a curve or a dot), x and y. Rows of one name are a curve; `look` is the index of
its colour and mark, `label` its text if not the name, `faint` makes it thin and dashed (a limit or a model).

Only render() needs the package of requirements.txt. A picture contains the digest of its specification, so that
others can see without the package whether it is up to date. The layout never depends on measured texts, so that
a chart has the same bytes on every machine.
"""

import dataclasses
import functools
import hashlib
import html
import itertools
import json
import math
import pathlib
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable
from typing import Any

import counted
import measured

HANDOUTS = pathlib.Path(__file__).resolve().parents[1]
# Okabe and Ito's colours, which colour-blind readers can tell apart. Only INKS change in the dark.
INKS = {"#1b1b1f": "#e6e7ea", "#ffffff": "#16171b", "#c9ccd4": "#43464f", "#767a86": "#8b8f9c"}
TEXT, BACK, LINE, EDGE = INKS
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", TEXT]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]
# On a telephone, letters have 11 px, and on a slide 18 pt.
WIDTH, HEIGHT, ROW = 356, 170, 15  # of a picture, of the plot of curves, of a dot's row
TOP, BOTTOM, CHARACTER = 26, 46, 7.4  # around the plot; the width of a character in a wide font
AXIS = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": TEXT}
AXIS |= {"titleColor": TEXT, "gridColor": LINE, "domainColor": EDGE, "tickColor": EDGE}
AXIS |= {"labelOverlap": False, "labelFlush": False, "labelLimit": 0, "labelAngle": 0}
STYLE = {
    "font": "'DejaVu Sans', Verdana, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": AXIS,
    "text": {"color": TEXT, "fontSize": 12, "align": "left", "lineBreak": "\n"},
}
# Of an axis: Vega's expression for a tick, and the words for a value.
POWERS = json.dumps([measured.power(2**k) for k in range(64)], ensure_ascii=False)
UNITS: dict[str, tuple[str, Callable]] = {
    "µs": ("datum.value < 1000 ? datum.value + ' µs' : datum.value / 1000 + ' ms'", measured.time_of),
    "power": (f"{POWERS}[round(log(datum.value) / LN2)]", measured.power),
    "words": ("datum.value", str),
}


class Axis:
    def __init__(self, title: str, log: int = 0, unit: str = "", limits: tuple = ()) -> None:
        self.title, self.log, self.unit, self.limits = title, log, unit, limits
        of_number = f"format(datum.value, ',~g') + '{unit}'", lambda v: f"{v:,.{3 if v < 1000 else 6}g}{unit}"
        self.expression, self.say = UNITS.get(unit, of_number)

    def domain(self, values: list) -> list[float]:
        """A logarithmic axis of base 10 has room for marks beyond its values, one of base 2 ends at them; others
        begin at zero."""
        if self.limits or self.unit == "words":
            return list(self.limits)
        room = 1.15 if self.log == 10 else 1
        return [min(values) / room, max(values) * room] if self.log else [0, max(values) * 1.05]

    def encoded(self, values: list, **more: object) -> dict:
        """As Vega-Lite has it, with ticks that do not depend on the width of their labels."""
        shown = {"title": self.title, "labelExpr": self.expression, **more}
        if self.unit == "words":
            return {"field": "x", "type": "ordinal", "sort": None, "scale": {"type": "point"}, "axis": shown}
        low, high = self.domain(values)
        if self.log == 10:
            steps = [m * 10.0**e for e in range(-4, 10) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
            tens = [s for s in steps if f"{s:e}"[0] == "1"]
            few = len(steps) <= (3 if "orient" in more else 6)  # beside each other, above each other
            shown["values"] = steps if few else tens if len(tens) > 1 else steps[::2]
        elif self.log:
            ticks = sorted({*values}, reverse=True)
            shown["values"] = ticks[:: math.ceil(len(ticks) / 7)]
        else:
            shown["tickCount"] = 5
        scale = {"type": "log" if self.log else "linear", "domain": [low, high], "nice": False}
        return {"type": "quantitative", "scale": scale, "axis": shown}

    def pixel(self, value: float, values: list, length: float) -> float:
        """How far a value is from the beginning of an axis of this length."""
        low, high, value = (math.log(v) if self.log else v for v in (*self.domain(values), value))
        return length * (value - low) / (high - low)


def mark(kind: str, rows: list[dict], x: dict, y: dict, *looks: str, **style: Any) -> dict:
    """A layer; `looks`: what the rows say of their marks (color, shape, detail, text)."""
    encoding = {look: {"field": look, "type": "nominal", "scale": None} for look in looks}
    return {
        "data": {"values": rows},
        "mark": {"type": kind, **style},
        "encoding": {"x": x, "y": y, **encoding},
    }


def by_name(rows: list[dict]) -> dict[str, list[dict]]:
    found: dict = {}
    for row in rows:
        found.setdefault(row["name"], []).append(row)
    return found


def at(name: str) -> dict:
    """A field with pixels."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def as_one(rows: list[dict], y: Axis) -> list[dict]:
    """Curves that lie over each other look like one: `same` names the first of them."""
    ys = [row["y"] for row in rows]
    places: dict = {}
    for name, points in by_name(rows).items():
        places[name] = [points[0].get("faint"), *((p["x"], y.pixel(p["y"], ys, HEIGHT)) for p in points)]

    def alike(one: str, other: str) -> bool:
        (kind, *a), (other_kind, *b) = places[one], places[other]
        near = all(p == q and abs(at - there) < 4 for (p, at), (q, there) in zip(a, b))
        return kind == other_kind and len(a) == len(b) and near

    return [row | {"same": next(name for name in places if alike(name, row["name"]))} for row in rows]


def apart(ends: list[dict]) -> list[dict]:
    """Moves labels down, or up from the bottom of the plot, so that none covers another."""
    ends = sorted(ends, key=lambda end: end["at"])
    room = 1 + 14 * max(1 + end.get("text", "").count("\n") for end in ends)
    for above, below in itertools.pairwise(ends):
        below["at"] = max(below["at"], above["at"] + room)
    limit = HEIGHT + 6.0
    for end in reversed(ends):
        end["at"] = min(end["at"], limit)
        limit = end["at"] - room
    return ends


def broken(text: str, most: int = 12) -> str:
    """A text in lines of so many characters, if it can be broken there."""
    return "\n".join(textwrap.wrap(text.replace("_", "_ "), most)).replace("_ ", "_")


def curves(x: Axis, y: Axis, rows: list[dict], width: int, beside: bool = False) -> tuple[list[dict], int]:
    """Lines with marks. Their labels are at the right, or `beside` the last point of each."""
    xs, ys = ([row[key] for row in rows] for key in "xy")
    full, faint, ends, found = [], [], [], by_name(as_one(rows, y))
    for name, points in found.items():
        last, first = points[-1], found[points[0]["same"]][0]
        look = first.get("look", [*found].index(first["name"]))
        colour = EDGE if look is None else COLOURS[look]
        looks = {"color": colour, "shape": SHAPES[look or 0], "detail": name}
        if first["name"] == name:
            (faint if last.get("faint") else full).extend(row | looks for row in points)
        across = x.pixel(last["x"], xs, width) if beside else width + 20
        place = {"at": HEIGHT - y.pixel(last["y"], ys, HEIGHT), "across": across}
        said = broken(last.get("label", name), 99 if beside else 12)
        ends.append({**looks, **last, **place, "true": place["at"], "text": said})
    ends = [end for end in ends if end["text"]]
    ends = ends if beside else apart(ends)
    leaders = [end | {"x2": width + 4, "x3": width + 14} for end in ends if not beside]
    keys = [end for end in ends if "faint" not in end]
    over = x.encoded(xs, grid=beside) | {"field": "x"}, y.encoded(ys, title=None) | {"field": "y"}
    aside = {"dx": {"expr": "datum.left ? -8 : 8"}, "align": {"expr": "datum.left ? 'right' : 'left'"}}
    marked: dict = {"filled": True, "opacity": 1, "size": 50}
    layers = [
        mark("line", faint, *over, "color", "detail", strokeWidth=1.4, strokeDash=[4, 3]),
        mark("line", full, *over, "color", "detail", strokeWidth=2.2),
        mark("point", full, *over, "color", "shape", **marked),
        mark("point", keys, at("across"), at("at"), "color", "shape", **marked),
        mark("text", ends, at("across"), at("at"), "text", **aside),
        mark("rule", leaders, at("x2"), at("true"), color=EDGE),
    ]
    layers[-1]["encoding"] |= {"x2": {"field": "x3"}, "y2": {"field": "at"}}
    return layers, HEIGHT


def dots(x: Axis, _y: Axis, rows: list[dict], width: int) -> tuple[list[dict], int]:
    """A line for each row: its name, its dot, another one to compare with (`other`), and `words`."""
    rows = [
        row | {"at": ROW * k + ROW / 2, "shape": "circle", "color": COLOURS[0]} for k, row in enumerate(rows)
    ]
    others = [
        row | {"x": row["other"], "shape": "square", "color": COLOURS[1]} for row in rows if row.get("other")
    ]
    over = x.encoded([row["x"] for row in rows + others], orient="top") | {"field": "x"}
    grey = {"strokeDash": [2, 3], "color": LINE}
    layers = [mark("rule", rows, {"value": 0}, at("at"), **grey)]
    layers[0]["encoding"]["x2"] = {"value": width}
    for some in (others, rows):
        layers.append(mark("point", some, over, at("at"), "color", "shape", filled=True, opacity=1, size=70))
    names = [row | {"text": row["name"]} for row in rows]
    words = [row | {"text": row["words"]} for row in rows]
    layers.append(mark("text", names, {"value": -10}, at("at"), "text", align="right"))
    return [*layers, mark("text", words, {"value": width + 10}, at("at"), "text")], ROW * len(rows)


@dataclasses.dataclass
class Chart:
    specification: dict
    alt: str
    caption: str

    def digest(self) -> str:
        """With six digits of each number: the last ones differ between versions of Python."""
        text = json.dumps(self.specification)
        six = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.6g}"))
        text = json.dumps([six, self.alt, [*INKS.values()]], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


FORMS: dict[str, Callable] = {"curves": curves, "dots": dots}
FORMS["labelled"] = functools.partial(curves, beside=True)


def specification(form: str, x: Axis, y: Axis, rows: list[dict]) -> dict:
    names = "\n".join(broken(row.get("label", row["name"]), 99 if form == "dots" else 12) for row in rows)
    longest, title = round(CHARACTER * max(map(len, names.split("\n")))), textwrap.wrap(y.title, 46)
    top = TOP + 14 * len(title)
    margins = {"curves": (58, longest + 34, top), "dots": (longest + 18, 78, top + 30)}
    left, right, top = margins.get(form, (58, 12, top))
    width = WIDTH - left - right
    layers, height = FORMS[form](x, y, rows, width)
    words = {"type": "text", "text": title, "fontWeight": "bold"}
    layers.append({"mark": words, "encoding": {"x": {"value": 12 - left}, "y": {"value": 16 - top}}})
    bottom = 8 if form == "dots" else BOTTOM
    return {
        "config": STYLE,
        "background": BACK,
        "autosize": {"type": "none"},
        "padding": {"left": left, "right": right, "top": top, "bottom": bottom},
        "width": width,
        "height": height,
        "data": {"values": [{}]},
        "layer": layers,
    }


def render(chart: Chart) -> str:
    """The chart as SVG, which follows the reader's light or dark setting."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.specification, vl_version="6.4")
    size = r'<svg[^>]*width="(\d+)" height="(\d+)"[^>]*>(.*</svg>)'
    width, height, body = re.search(size, svg, re.S).groups()
    body = re.sub(r' (?:aria-[a-z]+|role|class)="[^"]*"| transform="translate\(0,0\)"', "", body)
    body = re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), body)
    dark = "".join(
        f'[fill="{ink}"] {{ fill: {other}; }} [stroke="{ink}"] {{ stroke: {other}; }}\n'
        for ink, other in INKS.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">\n<!-- specification {chart.digest()} -->\n'
        f'<title id="title">{html.escape(chart.alt)}</title>\n'
        f"<style>\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n"
        + body.replace("><", ">\n<")
        + "\n"
    )


# --- Rows: functions of the built command line and of what the chart says
# ------------------------------------------------------------------------------------------------


@functools.lru_cache
def run_of(folder: str, key: str = "labs", device: str = "h200") -> tuple[dict, str]:
    """The newest run in handouts/results that has `key`, and where its numbers are from."""
    for path in sorted((HANDOUTS / "results" / folder).glob(f"*-{device}.json"), reverse=True):
        run = json.loads(path.read_text(encoding="utf-8"))
        if run.get(key):
            where = run.get("device") or run[key][0]["device"]
            name = path.relative_to(HANDOUTS).as_posix()
            return run, f"{where}, {path.name[:10]}. Data: [{path.name}]({name})."
    raise FileNotFoundError(f"no run on {device} in handouts/results/{folder} has {key}")


def lab_of(folder: str, lab: str) -> tuple[list[dict], str]:
    run, source = run_of(folder)
    return next(entry["sizes"] for entry in run["labs"] if entry["lab"] == lab), source


def peers(one: dict) -> list[dict]:
    return [row for row in measured.of_kind(one, "peer") if row["right"]]


def ladder(labcli: str, lab: str) -> tuple[list[dict], str]:
    """The rungs at the largest size, each in the first table that has it, and that table's fastest library."""
    sizes, source = lab_of("", lab)
    found: dict = {}
    for one in sizes[-1]["tables"]:
        memory_us = one["ideal_bytes"] / measured.ceiling_of(sizes[-1], one) / 1e3
        library = min((row["median_us"] for row in peers(one)), default=None)
        for row in measured.of_kind(one, "rung"):
            us = row["median_us"]
            shares = {"x": 100 * memory_us / us, "other": library and 100 * memory_us / library}
            found.setdefault(row["name"], {"name": row["name"], "words": measured.time_of(us), **shares})
    return [found[name] for name in counted.ladder(lab, labcli) if name in found], source


def rate(_labcli: str, lab: str, memory: bool = True) -> tuple[list[dict], str]:
    """By size: the rate of the top rung, of the faster library, and of the memory."""
    sizes, source = lab_of("curve", lab)
    rows = []
    for size in sizes:
        one = next(t for t in size["tables"] if any(r["name"] == measured.TOP for r in t["rows"]))
        times = {"top rung": next(r["median_us"] for r in one["rows"] if r["name"] == measured.TOP)}
        times["library"] = min(row["median_us"] for row in peers(one))
        rates = {name: one["ideal_bytes"] / us / 1e6 for name, us in times.items()}
        rates |= {"memory": measured.ceiling_of(size, one) / 1e3} if memory else {}
        faint = {"memory": {"faint": True, "look": None}}
        rows += [{"name": n, "x": size["n"], "y": y, **faint.get(n, {})} for n, y in rates.items()]
    return rows, source


SAID = {"of_one": "of 1", "of_a_variable": "of a variable", "with_old_value": "of 1, old value used"}


def lesson(
    _labcli: str,
    key: str,
    name: str,
    x: str,
    y: str,
    modelled: bool = False,
    relative: bool = False,
    names: tuple = (),
    only: dict | None = None,
) -> tuple[list[dict], str]:
    """The curves of a lesson, whose names have the pattern `name`; `relative`: to their first point. `names` and
    `only`: those with these names and values."""
    rows, (_, source) = [], run_of("lessons", key)
    for device in ("h200", "model") if modelled else ("h200",):
        found = [r for r in run_of("lessons", key, device)[0][key] if (only or {}).items() <= r.items()]
        for look, own in enumerate(names or dict.fromkeys(name.format(**row) for row in found)):
            points = sorted((r for r in found if name.format(**r) == own), key=lambda row: row[x])
            said = {"name": SAID.get(own, own), "look": look}
            if device == "model":
                said |= {"name": f"{said['name']}, modelled", "label": "", "faint": True}
            rows += [{"x": r[x], "y": r[y] / (points[0][y] if relative else 1), **said} for r in points]
    return rows, source


def roofline(labcli: str, **labs: list[str]) -> tuple[list[dict], str]:
    """Of some rungs: operations and bytes as counted, and times as measured, to three digits, so that a small
    change of the counts leaves the picture alone; and the two roofs. RUNG:CASE is counted on this case, because a
    grid of fixed size does work that does not grow with the items."""
    rows: list[dict] = []
    chip = measured.simulated(labcli)
    additions = chip["multiprocessors"] * 64 * chip["clock_ghz"] / 1e3
    read = measured.rate_of("reduction", "read") / 1e3
    for look, (lab, rungs) in enumerate(labs.items()):
        sizes, source = lab_of("", lab)
        times = {row["name"]: row["median_us"] for one in sizes[-1]["tables"] for row in one["rows"]}
        for rung, _, case in (one.partition(":") for one in rungs):
            of = counted.profile(labcli, lab, rung, case or None)
            rate = of["work"] / of["n"] * sizes[-1]["n"] / times[rung] / 1e6
            place = {"x": float(f"{of['work'] / of['bytes']:.3g}"), "y": float(f"{rate:.3g}")}
            label = f"top of {lab}" if rung == "state_of_the_art" else rung
            rows.append({"name": f"{lab} {rung}", "label": label, "look": look, **place})
    if beyond := [row["label"] for row in rows if row["y"] > min(additions, row["x"] * read)]:
        sys.exit(f"roofline: beyond the roof, so the counted bytes are not its limit: {beyond}")
    ridge = {"x": additions / read, "y": additions}
    limits = {
        "memory": [{"x": 0.15, "y": 0.15 * read}, ridge, {"x": 1.5, "y": 1.5 * read, "left": True}],
        "additions": [{"x": 5, "y": additions}, ridge | {"left": True}],
    }
    rows += [{"name": n, "look": None, "faint": True, **p} for n, points in limits.items() for p in points]
    return rows, source


def modelled(_labcli: str, key: str) -> tuple[list[dict], str]:
    """Rows that a model gave once."""
    run, source = run_of("modelled", key, "nvlink")
    return run[key], source


# --- The charts
# ------------------------------------------------------------------------------------------------

ROWS: dict[str, Callable] = {f.__name__: f for f in (ladder, rate, lesson, roofline, modelled)}


def described(charts: dict[str, dict]) -> dict[str, dict]:
    """What charts.toml says of each chart, with what it has from another one."""
    for chart in charts.values():
        like = charts[chart["like"]] if "like" in chart else {}
        chart.update(like | chart | {"of": like.get("of", {}) | chart.get("of", {})})
    return charts


CHARTS = described(tomllib.loads((HANDOUTS / "charts.toml").read_text(encoding="utf-8")))


def alternative(form: str, x: Axis, y: Axis, rows: list[dict]) -> str:
    """What the rows say, in words: of each curve its ends, of each dot its value."""
    said = [f"{row['name']} {x.say(row['x'])}, {row.get('words')}" for row in rows if form == "dots"]
    for name, points in by_name(rows).items() if not said else ():
        ends = dict.fromkeys(f"{y.say(row['y'])} at {x.say(row['x'])}" for row in (points[0], points[-1]))
        if points[0].get("label", name) and not (form == "labelled" and "faint" in points[0]):
            said.append(f"{name} {', '.join(ends)}")
    return f"{y.title}, by {x.title}: {'; '.join(said)}."


@functools.lru_cache
def made(name: str, labcli: str) -> Chart:
    chart = CHARTS[name]
    rows, source = ROWS[chart["rows"]](labcli, **chart["of"])
    shown = chart.get("form", "curves"), Axis(**chart["x"]), Axis(**chart["y"]), rows
    caption = f"{' '.join(chart['see'].split())} {source}".strip()
    return Chart(specification(*shown), alternative(*shown), caption)


def chart(name: str, labcli: str) -> str:
    one = made(name, labcli)
    return f"![{one.alt}](figures/{name}.svg)\n\n*{one.caption}*\n"


KINDS = (chart,)
