#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the slides of all weeks, and notes for the lecturer, from the plans in lectures/.

    python3 -m venv /tmp/slides && /tmp/slides/bin/pip install -r handouts/instructor/requirements.txt  # once
    /tmp/slides/bin/python handouts/instructor/slides.py OUT  # OUT/week-01.pdf, OUT/week-01-notes.pdf …
    slides.py OUT --week 4                                    # one week
    slides.py OUT --typst                                     # the sources alone: needs no package

It needs the built course, because it runs kernels. `--labcli` says where the built command line tool is.

A plan is a list of slides with one idea each. Only its title, at most 30 words on the slide, what explains
marked lines, answers of the grader, and the notes are written there. What the slide shows comes from the
course, so a change of the course changes the slides:

    picture = "banks"                      a figure or a chart of the handouts; with `part = [0, 200]`, what it
                                           has in its upper 200 pixels; a drawing with steps has a slide for each
    trace = "scan blelloch"                what ./lab trace records, or a figure that is a trace: a slide for each
                                           step, its picture above the lines of code that made it; `steps` chooses
                                           some, and `lines` has the pattern of a step's line if the record has
                                           none: after a launch
    code = "scan/k03_blelloch"             a solution's function, from the line that matches `first` to the
                                           last one that matches `last`; `calls` marks lines and explains
                                           them; with `mutant`, as this wrong submission has it
    says = "scan/in_place"                 a wrong submission: the changed lines with `around` lines (2) before
                                           and after, and `answer`, what the grader says of it
    example = "00-ideas/The first kernel/1"  the first code block or table of a section of a handout
    question = "scan/blelloch"             the prediction of a task; with a number, one of the deeper page of a
                                           lab (of 00-ideas-deeper: a question)
    erratum = 1                            a kernel or a trace of errata.md, in which to find the mistake

All letters have at least 18 pt, for which long lines of code are broken and letters of figures are enlarged: a slide on
which its contents do not fit is an error. Typst (the package of requirements.txt) makes the PDF, without a
network.
"""

import argparse
import difflib
import functools
import html
import pathlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
TOOLS = HERE.parents[1] / "common/tools"
sys.path[:0] = [str(HERE), str(HERE.parent / "scripts"), str(TOOLS), str(TOOLS / "authoring")]
import figures
import hint
import make_mutant
from typeset import ROOT, blocks, inline, quoted, table, write
from weeks import WEEKS, Part, page_of

HANDOUTS = ROOT / "handouts"
MAX_WORDS = 30
MARKS = "①②③④⑤"
BOX = re.compile(r'<details class="prediction"[^>]*><summary>Predict: (.*?)</summary>\n(.*?)</details>', re.S)
FRAME = 7  # px around a figure's drawing
WIDTH = 66  # characters of code in 18 pt, and a mark
LABCLI = ROOT / "build/grader/labcli"
ELEMENT = re.compile(r'(?m)^<[rtpcl]\w+\b[^>]*?(?: c?y1?="| d="M[\d.]+ )([\d.]+)(?:L\S+ ([\d.]+))?.*\n')
STEP = re.compile(r'<g class="step" .*?</g>', re.S)
DRAWING = re.compile(
    r'<svg class="trace".*? aria-label="(.*?)"( width="(\d+)" height="(\d+)".*?>)(.*?</svg>)', re.S
)
LINE = re.compile(
    r'<span class="line ?(\w*)">(?:<span class="n">.*?</span>)?(.*?)</span>(?=<span class="line|</pre>)'
)
HEAD = """\
#set document(title: {title})
#set page(paper: "presentation-16-9", margin: 1cm, numbering: "1", number-align: right)
#set text(size: 20pt, font: ("DejaVu Sans", "Libertinus Serif"), fallback: true)
#show raw: set text(font: "DejaVu Sans Mono")
#show raw.where(block: true): set par(leading: 0.45em)
#show raw.where(block: false): set text(size: 1.25em)
#set table(stroke: 0.5pt + luma(170), inset: 0.35em)
#let blue = rgb("#1f4e79")
// Code with some of its lines highlighted.
#let lit(hot, code) = {{
  show raw.line: it => if it.number in hot {{ box(fill: rgb("#ffedb3"), outset: 3pt, it.body) }} else {{ it }}
  code
}}
// The largest sizes at which code and body fit on what is left of the slide, and the code of its other steps, too.
#let fit(title, code, body, others: ()) = layout(size => {{
  for points in (24, 22, 20, 18) {{
    let sized(code) = {{ set text(size: points * 1.25pt); code }}  // 0.8 of it in a block of code
    let widest = calc.max(..(code, ..others).map(one => measure(sized(one)).width))
    for words in (20, 18).filter(words => widest <= size.width and words <= points) {{
      let all(code, above: 4pt) = block(width: size.width, {{
        v(above)
        sized(code)
        set text(size: words * 1pt)
        body
      }})
      let rest = size.height - calc.max(..(code, ..others).map(one => measure(all(one)).height))
      if rest >= 0pt {{ return all(code, above: calc.min(16pt, 4pt + rest / 2)) }}
    }}
  }}
  panic(title + " does not fit at 18 pt")
}})
#let slide(title, words, body) = {{
  pagebreak(weak: true)
  block(height: 100%, width: 100%, grid(rows: (auto, 1fr, auto), row-gutter: 0.5em,
    text(size: 26pt, weight: "bold", fill: blue, title), body, if words != [] {{ text(size: 20pt, words) }}))
}}
#align(center + horizon)[#text(size: 40pt, weight: "bold", fill: blue, {title})

#text(size: 22pt)[{topics}]]
"""


def plan_of(week: int) -> list[dict]:
    """The week's slides, each a dict with title, words, notes, and one of KINDS or none."""
    plan = tomllib.loads((HERE / f"lectures/week-{week:02}.toml").read_text(encoding="utf-8"))["slide"]
    for slide in plan:
        for key in ("words", "notes"):
            slide[key] = " ".join(slide.get(key, "").split())
    return plan


def text_of(page: str, folder: pathlib.Path = HANDOUTS) -> str:
    """A handout, by its name or that of its lab."""
    name = re.compile(rf"(\d\d-)?{page.replace('_', '-')}")
    if (found := next((path for path in folder.glob("*.md") if name.fullmatch(path.stem)), None)) is None:
        sys.exit(f"slides.py: there is no handout of {page}")
    return found.read_text(encoding="utf-8")


def section_of(text: str, heading: str, page: str) -> str:
    """A section of a handout, up to the next heading of its level."""
    text = re.sub(r"^```.*?^```$", lambda m: m[0].replace("\n#", "\n\0#"), text, flags=re.S | re.M)
    found = re.search(rf"^(##+) {re.escape(heading)}\n(.*?)(?=^\1 |^## |\Z)", text, re.M | re.S)
    if found is None:
        sys.exit(f"slides.py: {page} has no section “{heading}”")
    return found[2].replace("\0", "")


def without_comment(line: str) -> str:
    return re.sub(r"\s+// .*$", "", line)


def code_lines(text: str) -> list[str]:
    """Without comments, blank lines and the steering lines of make_skeleton.py."""
    text = re.sub(r",\n\s+", ", ", text)  # arguments on several lines
    lines = map(without_comment, text.splitlines())
    return [line for line in lines if line.strip() and not re.match(r"\s*//", line)]


def like(lines: list[str], pattern: str, where: str) -> list[int]:
    """The indices of the lines that match a pattern."""
    found = [k for k, line in enumerate(lines) if re.search(pattern, line)]
    return found or sys.exit(f"slides.py: no line of {where} is like {pattern}")


def solution(lab: str) -> str:
    return make_mutant.source_of(ROOT / f"solutions/{lab}/{lab}.cu", ROOT)


def broken(line: str, most: int = WIDTH) -> list[str]:
    """A line of code in parts of at most so many characters, and a mark: behind the condition of a statement, a
    comma, a bracket or `=`, or before an operator, in as few brackets as possible, as far right as possible."""
    if len(line.rstrip(MARKS).rstrip()) <= most:
        return [line]
    indent = len(line) - len(line.lstrip())
    pattern = r"\) (?!\{)|[,;] |(?<![+|*-])= |\(|\S(?= (?:&&|\|\||[?:+*-]) )"

    def rank(end: int) -> tuple:
        before = line[:end].rstrip()
        depth = sum(before.count(one) - before.count(other) for one, other in ("()", "[]"))
        return depth > 0 or before[-1] != ")", depth, -end

    is_statement = re.match(r"\s*(?:else )?(?:if|for|while) ", line)
    ends = [m.end() for m in re.finditer(pattern, line) if indent < m.end() <= most]
    ends = [end for end in ends if line[end - 2 : end] != ") " or (is_statement and not rank(end)[0])]
    at = min(ends, key=rank, default=most)
    return [line[:at].rstrip(), *broken(" " * (indent + 4) + line[at:].lstrip(), most)]


def raw(lines: list[str], language: str = "cpp", hot: Iterable[int] = ()) -> str:
    """A block of code, or a command and its output; `hot`: the indices of the lines that are highlighted."""
    language = language if language != "cpp" or re.search("[;{}]", "".join(lines)) else "text"
    lines = [re.sub(r"(?<=\S) {3,}", "  ", line) if lines[0][:2] == "$ " else line for line in lines]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip("⋮ ")), default=0)
    parts = [[p.rstrip() for p in broken(line[indent:] if line.strip("⋮ ") else line)] for line in lines]
    numbers = [k in hot for k, part in enumerate(parts) for _ in part]
    text = quoted("\n".join(line for part in parts for line in part))
    marked = "".join(f"{k}, " for k, is_hot in enumerate(numbers, 1) if is_hot)
    return f'lit(({marked}), raw(block: true, lang: "{language}", {text}))'


def image(text: str, alt: str, size: tuple[float, float], scale: float, title: str) -> str:
    """A drawing in SVG, of this size in px; its letters are enlarged as far as they must be."""
    if (least := 18 / scale) > 15.5:
        sys.exit(f"slides.py: “{title}” needs a smaller part: letters need {least:.1f} px")
    text = re.sub(r'(font-size[:=]\s*"?)([\d.]+)', lambda m: m[1] + str(max(float(m[2]), least)), text)
    drawn = f'image(bytes({quoted(text)}), format: "svg", alt: {quoted(html.unescape(alt))}, '
    return drawn + f"width: {size[0] * scale:.0f}pt)"


def picture(slide: dict) -> list[str]:
    """Without its frame, and as large as there is space; step by step, if the drawing has steps."""
    text = (HANDOUTS / f"figures/{slide['picture']}.svg").read_text(encoding="utf-8")
    whole, width, height = re.search(r'width="(\d+)" height="(\d+)" viewBox="[^"]*"', text).group(0, 1, 2)
    width, height = int(width), int(height)
    top, bottom = slide.get("part", (0, height))
    if "part" in slide:
        text = re.sub("</?g.*?>", "", text)
        text = ELEMENT.sub(lambda m: m[0] * all(top <= float(y) <= bottom for y in m.groups() if y), text)
    top, bottom, width = max(top, FRAME), min(bottom, height - FRAME), width - 2 * FRAME
    height = bottom - top
    is_wide = height < 0.45 * width
    scale = min(765 / width, 300 / height) if is_wide else min(585 / width, 386 / height)
    text = text.replace(whole, f'width="{width}" height="{height}" viewBox="{FRAME} {top} {width} {height}"')
    alt = re.search(r"<title[^>]*>(.*?)</title>", text)[1]
    words, slide["words"] = inline(slide["words"]), slide["words"] * is_wide
    bodies = []
    for later in [STEP.findall(text)[k:] for k in range(1, len(STEP.findall(text)))] + [[]]:
        shown = functools.reduce(lambda drawing, step: drawing.replace(step, ""), later, text)
        drawn = image(shown, alt, (width, height), scale, slide["title"])
        beside = f"align(horizon, text(size: 18pt)[{words}])"
        grid = f"grid(columns: (auto, 1fr), rows: 100%, gutter: 0.8em, align(horizon, {drawn}), {beside})"
        bodies.append(f"align(center + horizon, {drawn})" if is_wide else grid)
    return bodies


@functools.lru_cache
def recorded(name: str) -> dict[str, str]:
    """What a trace shows of each step, by its number."""
    page = figures.traced(LABCLI, name, "--html")
    return {one.partition('"')[0]: one for one in page.split('<li class="step" id="step-')[1:]}


def lines_of(step: str, slide: dict, number: str) -> tuple[list[str], set[int]]:
    """At most five lines of code at a step, and which of them made it."""
    lines = [(look, without_comment(html.unescape(line))) for look, line in LINE.findall(step)]
    lines = [(look, line) for look, line in lines if line.strip() and not re.match(r"\s*//", line)]
    if pattern := slide.get("lines", {}).get(number):
        kernel, lab = re.search(r"Launch \d+: (\w+)", step)[1], figures.command_of(slide["trace"]).split()[1]
        source = solution(lab)
        text = code_lines(source[slice(*make_mutant.function_range(source, kernel, lab))])
        at = like(text, pattern, kernel)[0]
        lines = [("hot" * (k == at), line) for k, line in enumerate(text)][max(at - 2, 0) : at + 2]
    while (
        lines[-1][0] == "gap"
        or sum(len(broken(line)) for _, line in lines) > 5
        or lines[0][1].strip() in "⋮}"
    ):
        lines.pop(0 if lines[0][0] != "hot" else -1)
    return [line for _, line in lines], {k for k, (look, _) in enumerate(lines) if look == "hot"}


def trace(slide: dict) -> list[str]:
    found = recorded(slide["trace"])
    chosen = (n for n, one in found.items() if 'class="source"' in one or n in slide.get("lines", {}))
    numbers = [*map(str, slide.get("steps", chosen))]
    if unknown := [number for number in numbers if number not in found]:
        sys.exit(f"slides.py: the trace of {slide['trace']} has no step {', '.join(unknown)}")
    figure = (HANDOUTS / "figures/scan-up-sweep.svg").read_text("utf-8")
    looks = re.search("<style>.*?</defs>", figure, re.S)[0]
    drawn = [DRAWING.search(found[number]).groups() for number in numbers]
    sizes = [(float(width), float(height)) for _, _, width, height, _ in drawn]
    scale = min(1.5, 765 / max(width for width, _ in sizes), 225 / max(height for _, height in sizes))
    room = scale * max(height for _, height in sizes)
    codes = []
    for number in numbers:
        lines, hot = lines_of(found[number], slide, number)
        codes.append(raw(lines, hot=hot))
    bodies = []
    for code, size, (alt, head, _, _, body) in zip(codes, sizes, drawn):
        text = f'<svg xmlns="http://www.w3.org/2000/svg"{head}{looks}{body}'
        made = image(text, alt, size, scale, slide["title"])
        below = f"fitted({code}, [], others: ({', '.join(codes)},))"
        bodies.append(f"grid(rows: ({room:.0f}pt, 1fr), gutter: 6pt, {made}, {below})")
    return bodies


def code(slide: dict) -> str:
    lab, function = slide["code"].split("/")
    source = make_mutant.changed(ROOT, slide["mutant"])[2] if "mutant" in slide else solution(lab)
    begin, end = make_mutant.function_range(source, function, lab)
    lines = code_lines(source[begin:end])
    first, last = (like(lines, slide.get(key, "."), function) for key in ("first", "last"))
    lines = lines[first[0] : last[-1] + 1]
    return marked(lines, slide)


def marked(lines: list[str], slide: dict) -> str:
    """Lines of code, their marks, and what is said of them."""
    said, hot = "", []
    for mark, (pattern, words) in zip(MARKS, slide.get("calls", ())):
        hot += like(lines, pattern, f"“{slide['title']}”")[:1]
        lines[hot[-1]] += f"  {mark}"
        said += f"[{mark}], [{inline(words)}], "
    explained = f"[#v(0.4em)\n#grid(columns: (auto, 1fr), gutter: 0.5em, {said})]" if said else "[]"
    return f"fitted({raw(lines, hot=hot)}, {explained})"


def says(slide: dict) -> str:
    name = slide["says"]
    right = make_mutant.apply(solution(name.partition("/")[0]), [], name)
    header, _, wrong = make_mutant.changed(ROOT, name)
    lines = difflib.unified_diff(code_lines(right), code_lines(wrong), n=slide.get("around", 2), lineterm="")
    changes = [*lines][3:]
    indent = min(len(line) - 1 - len(line[1:].lstrip()) for line in changes if line[0] != "@")
    changes = [line[0] + line[1 + indent :] if line[0] != "@" else " …" for line in changes]
    parts = [f"{line[0]} {part}" for line in changes for part in broken(line[1:], WIDTH - 2)]
    message = " ".join(slide["answer"].split())
    return (
        f"fitted({raw(parts, 'diff')}, [#v(0.3em)\n#block(fill: luma(240), inset: 0.4em, width: 100%)["
        f"*{header['task'][0]}: #text(fill: rgb(161, 22, 22), {quoted(header['verdict'][0])})* "
        f"#linebreak() #{quoted(message)}]])"
    )


def example(slide: dict) -> str:
    page, heading, number = slide["example"].split("/")
    section = section_of(text_of(page), heading, page)
    shown = [(kind, lines) for kind, lines in blocks(section) if kind in ("code", "table")]
    if int(number) > len(shown):
        sys.exit(f"slides.py: “{heading}” of {page} has {len(shown)} examples")
    kind, lines = shown[int(number) - 1]
    lines = code_lines("\n".join(lines)) if "calls" in slide else lines
    return marked(lines, slide) if kind == "code" else f"fitted([], [{table(lines)}])"


def question(slide: dict) -> tuple[str, str]:
    """What is asked, and the answer: on the instructor's page of a lab, or folded below the question."""
    page, number = slide["question"].split("/")
    text = text_of(page)
    if task := hint.tasks_of(text).get(number):
        said, folded = BOX.search(task[1]).groups()
        return f"align(horizon, text(size: 24pt)[{inline(said[:1].upper() + said[1:])}])", folded
    if "\n## Questions\n" not in text:
        text = text_of(f"{page}-deeper")
    heading = "Predict, then measure" if "\n## Predict, then measure\n" in text else "Questions"
    section = section_of(text, heading, page)
    item = re.search(rf"^{number}\. (.*?)(?=^\d+\. |^\*\*|\Z)", section, re.S | re.M)[1]
    said, _, folded = item.partition("<details><summary>Answer</summary>")
    if not folded:
        answers = text_of(page, HERE)
        folded = re.search(rf"^### Prediction {number}\. .*?\n(.*?)(?=^##|\Z)", answers, re.S | re.M)[1]
    said = re.sub(r"\s*\(Compare.*?\)$", "", " ".join(said.split()))
    return f"align(horizon, text(size: 24pt)[{inline(said)}])", folded


def erratum(slide: dict) -> tuple[str, str]:
    pattern = rf"^## {slide['erratum']}\. .*?\n(.*?)(?=^<a id=|\Z)"
    section = re.search(pattern, text_of("errata"), re.M | re.S)[1]
    shown, folded = section.split("<details><summary>Answer</summary>")
    lines = next(lines for kind, lines in blocks(shown) if kind == "code")
    return marked(lines, slide), folded.partition("The checkers report ")[0]


KINDS: dict[str, Callable] = {f.__name__: f for f in (picture, trace, code, says, example, question, erratum)}
ANSWERED = ("question", "erratum")


def shown(slide: dict) -> list[str]:
    """The slides of a part of a plan: several if something is built up."""
    slide = dict(slide)
    if kind := next((kind for kind in KINDS if kind in slide), None):
        made = KINDS[kind](slide)
        bodies = [made[0]] if kind in ANSWERED else made if isinstance(made, list) else [made]
    else:
        bodies = [f"align(horizon, text(size: 26pt)[{inline(slide['words'])}])"]
        slide["words"] = ""
    counts = [f" ({k}/{len(bodies)})" * (len(bodies) > 1) for k in range(1, len(bodies) + 1)]
    return [slide_of(slide["title"] + count, slide["words"], body) for count, body in zip(counts, bodies)]


def slide_of(title: str, words: str, body: str) -> str:
    title = quoted(title)
    return f"#slide({title}, [{inline(words)}], {{ let fitted = fit.with({title}); {body} }})\n"


def deck(number: int) -> str:
    week = WEEKS[number]
    titles = [re.match(r"# (?:Lab .: )?(.*)", page_of(part))[1] for part in week.parts]
    title = f"Week {number}: {', '.join(titles)}"
    out = HEAD.format(title=quoted(title), topics=inline(week.topics)) + "".join(
        one for slide in plan_of(number) for one in shown(slide)
    )
    if rows := [row for part in week.parts for row in task_rows(part)]:
        rows = ["| task | difficulty | time | points |", "|---|---|---|--:|", *rows]
        return out + slide_of("Tasks of this week", "", f"fitted([], [{table(rows)}])")
    return out + slide_of("This week", "", f"align(horizon, text(size: 26pt)[{inline(week.also)}])")


def task_rows(part: Part) -> Iterator[str]:
    text = page_of(part)
    known = hint.tasks_of(text)
    if missing := [task for task in part.tasks if task not in known]:
        sys.exit(
            f"slides.py: handouts/{part.page}.md has no task {', '.join(missing)}; correct the guide's table of weeks"
        )
    points = dict(re.findall(r"^\| `(\w+)` .*\| (\d+) \|$", text, re.M))
    for task in part.tasks:
        difficulty, time = hint.effort(known[task][1])
        name = re.sub(rf"\b{task}\b", f"`{task}`", known[task][0], count=1)
        yield f"| {name} | {difficulty} | {time} | {points[task]} |"


def notes(week: int) -> str:
    """What the lecturer reads: what to know before, and slide by slide what to say and the answers."""
    parts, before = WEEKS[week].parts, WEEKS.get(week - 1)
    done = [task for part in before.parts for task in part.tasks] if before else []
    plan = plan_of(week)
    facts = [
        f"Read before: {', '.join(f'handouts/{part.page}.md' for part in parts)}; their answers are in "
        "handouts/instructor/.",
        f"The students have done {', '.join(f'`{task}`' for task in done)}." if done else "",
        f"{len(plan)} topics for 90 minutes: about {90 // len(plan)} minutes each, longer for the questions.",
    ]
    out = '#set page(margin: 2cm, numbering: "1")\n'
    out += '#set text(size: 11pt, font: ("DejaVu Sans", "Libertinus Serif"))\n'
    out += f"#text(size: 16pt)[*Notes: week {week}*]\n\n{inline(' '.join(filter(None, facts)))}\n"
    number = 2  # the first slide is the title
    for slide in plan:
        out += f"\n*{number}. #{quoted(slide['title'])}* #linebreak() {inline(slide['notes'])}\n"
        number += len(shown(slide))
        for kind in ANSWERED:
            if kind in slide:
                answer = " ".join(re.sub(r"</?details>", "", KINDS[kind](slide)[1]).split())
                out += f"#linebreak() _Answer:_ {inline(answer)}\n"
    return out


def main() -> None:
    global LABCLI
    parser = argparse.ArgumentParser(description="Makes the slides of all weeks, and the lecturer's notes.")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="a folder")
    parser.add_argument("--week", type=int, choices=WEEKS, help="one week only")
    parser.add_argument("--typst", action="store_true", help="write the sources of the slides, no PDF")
    parser.add_argument("--labcli", type=pathlib.Path, default=LABCLI, help="the built command line tool")
    arguments = parser.parse_args()
    LABCLI = arguments.labcli
    arguments.out.mkdir(parents=True, exist_ok=True)
    for week in [arguments.week] if arguments.week else WEEKS:
        for name, source in {f"week-{week:02}": deck(week), f"week-{week:02}-notes": notes(week)}.items():
            write(arguments.out / name, source, arguments.typst)


if __name__ == "__main__":
    main()
