# SPDX-License-Identifier: MIT
"""What charts are made of: axes, lines and points as specifications of Vega-Lite, and their picture as SVG.

Only render() needs the package of requirements.txt. A drawn chart contains the digest of its specification, so
that others can see without the package whether it is up to date.

Light and dark: a specification uses only the colours of INKS, and the picture's style sheet replaces them.
The layout never depends on measured texts, so that a chart has the same bytes on every machine.
"""

import dataclasses
import functools
import hashlib
import html
import itertools
import json
import math
import re
from collections.abc import Callable

WIDTH = 500  # of a picture, so that texts stay readable on a telephone
CHARACTER = 7.4  # the width of a character in a wide font
TOP, GAP, BOTTOM = 36, 36, 46  # above, between and below the plots: their titles and axes
# The colours of grader/page/style.css, in light and dark.
INKS = {
    "#1b1b1f": "#e6e7ea",
    "#ffffff": "#16171b",
    "#c9ccd4": "#43464f",
    "#767a86": "#8b8f9c",
    "#545863": "#b4b8c4",
    "#0b57a4": "#8ab8ff",
    "#b3261e": "#ff8f8f",
    "#11682f": "#6fd08c",
    "#7a3db8": "#c9a2ff",
    "#9a5a00": "#e6b450",
    "#00707a": "#5fd0d8",
    "#a8327d": "#ff9ad6",
    "#55606e": "#b4bccb",
}
TEXT, BACK, LINE, EDGE, QUIET, *SERIES = INKS
DASHES = [[1, 0], [7, 4], [2, 4], [10, 3, 2, 3]]
SHAPES = ["circle", "square", "triangle-up", "diamond"]
STYLE = {
    "font": "'DejaVu Sans', Verdana, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": TEXT,
        "titleColor": TEXT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": False,
        "labelLimit": 0,
        "gridColor": LINE,
        "domainColor": EDGE,
        "tickColor": EDGE,
    },
    "text": {"color": TEXT, "fontSize": 12},
}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def layer(values: list[dict], mark: dict, x: dict, y: dict, **more: dict) -> dict:
    """A layer of a plot; `x`, `y` and more are encodings."""
    return {"data": {"values": values}, "mark": mark, "encoding": {"x": x, "y": y, **more}}


def field(name: str, axis: dict) -> dict:
    return {"field": name, **axis}


def points(
    values: list, x: dict, y: dict, ink: str, shape: str = "", size: int = 70, opacity: float = 1
) -> dict:
    mark = {"type": "point", "filled": True, "opacity": opacity, "size": size, "color": ink}
    return layer(values, mark | ({"shape": shape} if shape else {}), x, y)


@dataclasses.dataclass
class Plot:
    """Layers of Vega-Lite below a title; the axes are in the encodings."""

    layer: list
    height: int
    title: str = ""


@dataclasses.dataclass
class Chart:
    plots: list
    left: int  # the space for the labels of the axis
    width: int  # of the plots
    alt: str
    caption: str
    data: str = ""  # a table in Markdown, if the page has none with these numbers

    def specification(self) -> dict:
        titles = [
            layer(
                [{}],
                {"type": "text", "align": "left", "text": plot.title, "fontWeight": "bold"},
                {"value": 12 - self.left},
                {"value": -18},
            )
            for plot in self.plots
        ]
        return {
            "config": STYLE,
            "background": None,
            "spacing": GAP,
            "bounds": "flush",
            "vconcat": [
                {"width": self.width, "height": plot.height, "layer": [*plot.layer, title]}
                for plot, title in zip(self.plots, titles)
            ],
        }

    def digest(self) -> str:
        """Of the specification with six digits of each number: the last ones differ between versions of Python."""
        six = json.loads(
            json.dumps(self.specification()), parse_float=lambda digits: float(f"{float(digits):.6g}")
        )
        text = json.dumps([six, self.left, self.alt], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def render(chart: Chart) -> str:
    """The chart as SVG, which follows the reader's light or dark setting."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.specification(), vl_version="6.4")
    body = re.search(r"<svg[^>]*>\s*<g[^>]*>(.*)</g>\s*</svg>", svg, re.S)[1]
    body = re.sub(r' (?:aria-[a-z]+|role|class)="[^"]*"| transform="translate\(0,0\)"', "", body)
    body = re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), body)
    height = TOP + sum(plot.height for plot in chart.plots) + GAP * (len(chart.plots) - 1) + BOTTOM
    dark = "".join(
        f'[fill="{ink}"] {{ fill: {other}; }} [stroke="{ink}"] {{ stroke: {other}; }}\n'
        for ink, other in INKS.items()
        if ink in body or ink in (BACK, LINE)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}">\n<!-- specification {chart.digest()} -->\n'
        f'<title id="title">{html.escape(chart.alt)}</title>\n'
        f"<style>\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n"
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="{BACK}" '
        f'stroke="{LINE}"/>\n'
        f'<g transform="translate({chart.left},{TOP})" fill="none" stroke-miterlimit="10">'
        + body.replace("><", ">\n<")
        + "</g>\n</svg>\n"
    )


# --- Axes, lines and points
# ------------------------------------------------------------------------------------------------


def power(n: float) -> str:
    return "2" + str(int(n).bit_length() - 1).translate(SUPERSCRIPTS)


def short_time(us: float) -> str:
    return f"{us * 1000:g} ns" if us < 1 else f"{us:g} µs" if us < 1000 else f"{us / 1000:g} ms"


def axis(
    ticks: list, words: Callable, title: str = "", logarithmic=False, low=None, high=None, grid=True
) -> dict:
    """An axis with these ticks; `words` of a tick is its label."""
    cases = " : ".join(f"datum.value == {t!r} ? {json.dumps(words(t), ensure_ascii=False)}" for t in ticks)
    domain = [ticks[0] if low is None else low, ticks[-1] if high is None else high]
    scale = {"type": "log" if logarithmic else "linear", "domain": domain, "nice": False}
    shown = {"values": ticks, "labelExpr": f"{cases} : ''", "grid": grid}
    return {"type": "quantitative", "title": title or None, "scale": scale, "axis": shown}


def logarithmic(values: list[float], words: Callable[[float], str], title: str = "") -> dict:
    """From the step below the least value to the one above the greatest, of 1, 2, 5, 10 …; labelled at
    powers of ten alone if there are many."""
    steps = [m * 10**e if e >= 0 else round(m * 10.0**e, 6) for e in range(-3, 10) for m in (1, 2, 5)]
    first = max(s for s in steps if s <= min(values) * 1.0001)
    last = min(s for s in steps if s >= max(values) * 0.9999)
    within = [s for s in steps if first <= s <= last]
    tens = [s for s in within if f"{s:e}".startswith("1.0")]
    return axis(within if len(within) <= 5 else tens, words, title, True, low=first, high=last)


def linear(most: float, title: str = "") -> dict:
    step = next(m * 10.0**e for e in range(-3, 6) for m in (1, 2, 5) if m * 10.0**e * 5 >= most)
    ticks = [round(step * k, 6) for k in range(math.ceil(most / step - 1e-9) + 1)]
    return axis(ticks, lambda t: f"{t:g}", title)


def doubling(values: list[int], title: str, words: Callable[[float], str] = power) -> dict:
    ticks = sorted(set(values))
    shown = [t for k, t in enumerate(reversed(ticks)) if k % (2 if len(ticks) > 7 else 1) == 0][::-1]
    return axis(shown, words, title, True, low=ticks[0], high=ticks[-1], grid=False)


def unlabelled(of: dict) -> dict:
    """An axis above another one with the same values."""
    return {**of, "title": None, "axis": {**of["axis"], "labels": False, "ticks": False}}


@dataclasses.dataclass
class Curve:
    name: str  # written at its right end, unless it is ""
    points: list  # of (x, y)
    look: int = 0  # its colour, dash and shape
    reference: bool = False  # a limit: grey, without marks
    thin: bool = False  # the model's, in the colour and beside the line of what was measured


def position(of: dict, value: float, height: float) -> float:
    """Where a value of an axis is, in pixels from the top."""
    low, high = of["scale"]["domain"]
    if of["scale"]["type"] == "log":
        low, high, value = math.log(low), math.log(high), math.log(value)
    return height * (1 - (value - low) / (high - low))


def apart(ends: list[list], height: float, room: float = 15) -> list[list]:
    """Moves texts at (y, …) so that none covers another, and none is far below the plot."""
    ends = sorted(ends)
    for above, below in itertools.pairwise(ends):
        below[0] = max(below[0], above[0] + room)
    limit = height + 6
    for one in reversed(ends):
        one[0] = min(one[0], limit)
        limit = one[0] - room
    return ends


def words_at(x: float, y: float, text: str, ink: str = TEXT, dx: float = 8) -> dict:
    mark = {"type": "text", "align": "left", "dx": dx, "text": text, "color": ink}
    return layer([{}], mark, {"value": x}, {"value": round(y, 1)})


Box = tuple[float, float, float, float]  # left, top, right, bottom


def beside(x: float, y: float, text: str, taken: list[Box]) -> Box:
    """Where a text beside the point (x, y) covers the fewest of `taken`, preferably to its right."""
    wide, high = 6.6 * len(text), 7
    corners = itertools.product((x + 8, x - 8 - wide, x - wide / 2), (y, y + 14, y - 14))
    boxes = [(left, middle - high, left + wide, middle + high) for left, middle in corners]

    def covered(a: Box) -> int:
        return sum(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in taken)

    return min(boxes, key=lambda box: (box[0] < 2, covered(box)))


def lines(curves: list[Curve], x: dict, y: dict, height: int, title: str, width: int) -> Plot:
    layers, ends = [], []
    for one in curves:
        ink = EDGE if one.reference else SERIES[one.look % len(SERIES)]
        mark = {"type": "line", "color": ink, "strokeDash": DASHES[one.look % 4], "strokeWidth": 2.2}
        if one.reference or one.thin:
            mark |= {"strokeWidth": 1.2, "strokeDash": [5, 3] if one.reference else [1, 2]}
        else:
            shape = SHAPES[one.look % 4]
            mark["point"] = {"filled": True, "fill": ink, "size": 40, "shape": shape, "strokeDash": [1, 0]}
        values = [{"x": px, "y": py} for px, py in one.points]
        layers.append(layer(values, mark, field("x", x), field("y", y)))
        if one.name:
            at = position(y, one.points[-1][1], height)
            ends.append([at, one.name, QUIET if one.reference else ink])
    layers += [words_at(width, at, name, ink) for at, name, ink in apart(ends, height)]
    return Plot(layers, height, title)


def chart_of_lines(plots: list[functools.partial], names: list[str], left: int, *words: str) -> Chart:
    """`plots`: functions of the width that is left beside the names."""
    width = WIDTH - left - 20 - round(CHARACTER * max(map(len, names)))
    return Chart([plot(width=width) for plot in plots], left, width, *words)


def one_plot(curves: list[Curve], x: dict, y: dict, height: int, title: str, left: int, *words: str) -> Chart:
    plot = functools.partial(lines, curves, x, y, height, title)
    return chart_of_lines([plot], [one.name for one in curves], left, *words)
