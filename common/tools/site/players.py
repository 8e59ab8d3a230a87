# SPDX-License-Identifier: MIT
"""Players in the pages of the site: in place of a figure that has steps, its steps with a slider.

A figure that is a trace is run again, by the command that draws it (handouts/scripts/figures.py), for the list of
steps of `./lab trace --html`; a drawing has marks between its steps. The player is that of all traces,
grader/page/trace.js, and so are the colours. The figure itself is what one sees without scripts, on paper, and
in the Markdown page.
"""

import html
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FIGURES = ROOT / "handouts/figures"
sys.path[:0] = [str(HERE), str(ROOT / "handouts/scripts")]
import figures

# As the generator writes it: in a paragraph of its own, in which no list may stand.
IMAGE = re.compile(r'<p>(<img alt="[^"]*" src="(?:\.\./)*(?:handouts/)?figures/([\w-]+)\.svg" ?/?>)</p>')
STYLE = ROOT / "grader/page/style.css"
MARKS = '<g class="step" '
# The head of all arrows, once on a page.
HEAD = re.compile(r'<svg class="unseen".*?</svg>\n?|<defs><marker id="head".*?</defs>\n?', re.S)
ONE_HEAD = (
    '<svg class="arrow-head" width="0" height="0" aria-hidden="true"><defs><marker id="head" '
    'viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8Z"/></marker></defs></svg>'
)


def scoped(scope: str, rules: str) -> str:
    return f"{scope} {{\n{rules.strip()}\n}}\n"


def style() -> str:
    """The style sheet of traces and pictures, for elements in a `.stepper` only, in the colours of the site's
    setting."""
    text = STYLE.read_text(encoding="utf-8")
    light, dark = re.findall(r"^ *:root \{\n(.*?)\}", text, re.M | re.S)[:2]
    light = re.sub(r"^\s*color-scheme:.*$", "", light, flags=re.M)
    traces = text[text.index("/* Traces:") :].split("@media print")[0]
    series = "".join(re.findall(r"^(?:\.quiet|svg text|\.wide|\.unseen|th, td|td\.number).*$", text, re.M))
    drawing = (FIGURES / "banks.svg").read_text(encoding="utf-8")  # all drawings have the same style
    of_pictures, dark_pictures = re.search(
        r"<style>\n(.*)@media \(prefers-color-scheme: dark\) \{\n(.*)\}\n</style>", drawing, re.S
    ).groups()
    return (
        "/* Made by players.py from grader/page/style.css and the drawings of the handouts. */\n"
        + scoped(".stepper", light)
        + scoped("[data-md-color-scheme=slate] .stepper", dark)
        + scoped(".stepper", series + traces)
        + scoped(".stepper .picture", of_pictures.replace("400px", "30rem"))
        + scoped("[data-md-color-scheme=slate] .stepper .picture", dark_pictures)
    )


def of_trace(name: str, labcli: pathlib.Path) -> str:
    """The list of steps of a figure that is a trace."""
    page = figures.traced(labcli, name, "--html")
    steps = re.search(r'<ol class="steps">.*?</ol>\n', page, re.S)[0]
    return steps.replace('id="step-', f'id="{name}-step-')


def inline(text: str) -> str:
    """A picture for the middle of a page: without its style sheet and its ids."""
    text = re.sub(r"<style>.*?</style>\n", "", text, flags=re.S)
    title = html.unescape(re.search(r"<title[^>]*>(.*?)</title>\n", text)[1])
    text = re.sub(r"<title[^>]*>.*?</title>\n", "", text)
    text = text.replace(' aria-labelledby="title"', f' aria-label="{html.escape(title)}"', 1)
    return HEAD.sub("", text)


def of_picture(name: str) -> str | None:
    """A picture whose steps are drawn one after the other, or None if it has no steps."""
    text = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    return f'<div class="steps grows picture">{inline(text)}</div>' if MARKS in text else None


class Players:
    def __init__(self, labcli: pathlib.Path, with_source: bool) -> None:
        self.labcli, self.with_source = labcli, with_source
        self.made: dict = {}  # by figure

    def steps_of(self, name: str) -> str | None:
        if name not in self.made:
            steps = of_trace(name, self.labcli) if name in figures.TRACES else of_picture(name)
            if steps and not self.with_source:
                steps = re.sub(r'<div class="beside">.*?</div>\n', "", steps, flags=re.S)
            self.made[name] = steps
        return self.made[name]

    def put_into(self, text: str) -> str:
        """A page with its players."""

        def player(match: re.Match) -> str:
            name = match[2]
            steps = self.steps_of(name)
            if steps is None:
                return match[0]
            still = f'<p class="still">{match[1]}</p>'
            return f'<div class="stepper">{still}{steps}</div>'

        found = IMAGE.sub(player, text)
        if found != text:
            found = found.replace("</body>", f"{ONE_HEAD}</body>")
        return found
