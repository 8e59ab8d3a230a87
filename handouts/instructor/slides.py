#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the slides of all weeks, and notes for the lecturer, from the plans in lectures/.

    python3 -m venv /tmp/slides && /tmp/slides/bin/pip install -r handouts/instructor/requirements.txt  # once
    /tmp/slides/bin/python handouts/instructor/slides.py OUT  # OUT/week-01.pdf, OUT/week-01-notes.pdf …
    slides.py OUT --week 4                                    # one week
    slides.py OUT --typst                                     # the sources alone: needs no package

A plan is a list of slides with one idea each. Only its title, at most 30 words on the slide, and the notes
are written there. What the slide shows comes from the course, so a change of the course changes the slides:

    picture = "banks"                      a figure or a chart of the handouts; with `part = [0, 200]`, the
                                           upper 200 pixels
    code = "scan/k04_blelloch"             a solution's function, from the line that matches `first` to the
                                           last one that matches `last`; `calls` marks lines and explains
                                           them; with `mutant`, as this wrong submission has it
    says = "scan/in_place"                 a wrong submission: the changed lines with `around` lines (2) before
                                           and after, and `answer`, what the grader says of it
    example = "00-ideas/The first kernel/1"  the first code block or table of a section of a handout
    question = "scan/blelloch"             the prediction of a task; with a number, one of the deeper page of a
                                           lab (of 00-ideas-deeper: a question)
    erratum = 1                            a kernel or a trace of errata.md, in which to find the mistake

Nothing is set smaller than 14 pt: a slide on which its contents do not fit is an error. Typst (the package of
requirements.txt) makes the PDF, without a network.
"""

import argparse
import difflib
import html
import pathlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterator

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
TOOLS = HERE.parents[1] / "common/tools"
sys.path[:0] = [str(HERE), str(TOOLS), str(TOOLS / "authoring")]
import hint
import make_mutant
from typeset import ROOT, blocks, inline, quoted, table, write
from weeks import WEEKS, Part, page_of

HANDOUTS = ROOT / "handouts"
MAX_WORDS = 30
MARKS = "①②③④⑤"
SMALLEST = 14  # pt
BOX = re.compile(r'<details class="prediction"[^>]*><summary>Predict: (.*?)</summary>\n(.*?)</details>', re.S)
FRAME = 7  # px around a figure's drawing
HEAD = """\
#set document(title: {title})
#set page(paper: "presentation-16-9", margin: 1cm, numbering: "1", number-align: right)
#set text(size: 20pt, font: ("DejaVu Sans", "Libertinus Serif"), fallback: true)
#show raw: set text(font: "DejaVu Sans Mono")
#set table(stroke: 0.5pt + luma(170), inset: 0.35em)
#let blue = rgb("#1f4e79")
// The largest sizes at which code and body fit on what is left of the slide, if possible without a wrapped
// line of code.
#let fit(title, code, body) = layout(size => {{
  for wraps in (false, true) {{
    for points in (24, 22, 20, 18, 17, 16, 15, 14) {{
      let code = {{ set text(size: points * 1.25pt); code }}  // 0.8 of it in a block of code
      let fits = if wraps {{ points <= 17 }} else {{ measure(code).width <= size.width }}
      for words in (20, 18, 16, 14).filter(words => fits and words <= calc.max(points, 18)) {{
        let sized = {{ set text(size: words * 1pt); show raw: set text(size: 1.25em); body }}
        let all = block(width: size.width, {{ v(4pt); code; sized }})
        if measure(all).height <= size.height {{ return all }}
      }}
    }}
  }}
  panic(title + " does not fit at 14 pt")
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
    """The week's slides, each a dict with title, words, notes, and one of KINDS."""
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


def solution(lab: str) -> str:
    return (ROOT / f"solutions/{lab}/{lab}.cu").read_text(encoding="utf-8")


def raw(lines: list[str], language: str = "cpp") -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = quoted("\n".join(line[indent:].rstrip() for line in lines))
    return f'raw(block: true, lang: "{language}", {text})'


def picture(slide: dict) -> str:
    """Without its frame, and as large as there is space."""
    text = (HANDOUTS / f"figures/{slide['picture']}.svg").read_text(encoding="utf-8")
    whole, width, height = re.search(r'width="(\d+)" height="(\d+)" viewBox="[^"]*"', text).group(0, 1, 2)
    width, height = int(width), int(height)
    top, bottom = slide.get("part", (0, height))
    top, bottom, width = max(top, FRAME), min(bottom, height - FRAME), width - 2 * FRAME
    height = bottom - top
    is_wide = height < 0.45 * width
    scale = min(765 / width, 300 / height) if is_wide else min(585 / width, 386 / height)
    smallest = min(float(size) for size in re.findall(r'font-size[:=]\s*"?([\d.]+)', text))
    if (points := round(smallest * scale, 1)) < SMALLEST:
        sys.exit(f"slides.py: “{slide['title']}” needs a smaller part: letters have {points} pt")
    box = f'width="{width}" height="{height}" viewBox="{FRAME} {top} {width} {height}"'
    alt = html.unescape(re.search(r"<title[^>]*>(.*?)</title>", text)[1])
    drawn = f'image(bytes({quoted(text.replace(whole, box))}), format: "svg", alt: {quoted(alt)}, '
    drawn += f"width: {width * scale:.0f}pt)"
    if is_wide:
        return f"align(center + horizon, {drawn})"
    beside = f"align(horizon, text(size: 18pt)[{inline(slide['words'])}])"
    slide["words"] = ""
    return f"grid(columns: (auto, 1fr), rows: 100%, gutter: 0.8em, align(horizon, {drawn}), {beside})"


def code(slide: dict) -> str:
    lab, function = slide["code"].split("/")
    source = make_mutant.changed(ROOT, slide["mutant"])[2] if "mutant" in slide else solution(lab)
    begin, end = make_mutant.function_range(source, function, lab)
    lines = code_lines(source[begin:end])

    def matching(pattern: str) -> list[int]:
        found = [k for k, line in enumerate(lines) if re.search(pattern, line)]
        return found or sys.exit(f"slides.py: no line of {function} is like {pattern}")

    lines = lines[matching(slide.get("first", "."))[0] : matching(slide.get("last", "."))[-1] + 1]
    return marked(lines, slide)


def marked(lines: list[str], slide: dict) -> str:
    """Lines of code, their marks, and what is said of them."""
    said = ""
    for mark, (pattern, words) in zip(MARKS, slide.get("calls", ())):
        k = next((k for k, line in enumerate(lines) if re.search(pattern, line)), None)
        if k is None:
            sys.exit(f"slides.py: no line on “{slide['title']}” is like {pattern}")
        lines[k] += f"  {mark}"
        said += f"[{mark}], [{inline(words)}], "
    return f"fitted({raw(lines)}, [#v(0.4em)\n#grid(columns: (auto, 1fr), gutter: 0.5em, {said})])"


def says(slide: dict) -> str:
    name = slide["says"]
    right = make_mutant.apply(solution(name.partition("/")[0]), [], name)
    header, _, wrong = make_mutant.changed(ROOT, name)
    lines = difflib.unified_diff(code_lines(right), code_lines(wrong), n=slide.get("around", 2), lineterm="")
    parts = [f"{line[0]} {line[1:]}" if line[0] != "@" else "  …" for line in [*lines][3:]]
    message = " ".join(slide["answer"].split())
    return (
        f"fitted({raw(parts, 'diff')}, [#v(0.6em)\n#block(fill: luma(240), inset: 0.6em, width: 100%)["
        f"*{header['task'][0]}: #text(fill: rgb(161, 22, 22), {quoted(header['verdict'][0])})* #linebreak() #{quoted(message)}]])"
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
        return f"align(horizon, text(size: 24pt)[{inline(said)}])", folded
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


KINDS: dict[str, Callable] = {one.__name__: one for one in (picture, code, says, example, question, erratum)}
ANSWERED = ("question", "erratum")


def shown(slide: dict) -> str:
    slide = dict(slide)
    if kind := next((kind for kind in KINDS if kind in slide), None):
        body = KINDS[kind](slide)
        body = body[0] if kind in ANSWERED else body
    else:
        body = f"align(horizon, text(size: 26pt)[{inline(slide['words'])}])"
        slide["words"] = ""
    return slide_of(slide["title"], slide["words"], body)


def slide_of(title: str, words: str, body: str) -> str:
    title = quoted(title)
    return f"#slide({title}, [{inline(words)}], {{ let fitted = fit.with({title}); {body} }})\n"


def deck(number: int) -> str:
    week = WEEKS[number]
    titles = [re.match(r"# (?:Lab .: )?(.*)", page_of(part))[1] for part in week.parts]
    title = f"Week {number}: {', '.join(titles)}"
    out = HEAD.format(title=quoted(title), topics=inline(week.topics)) + "".join(map(shown, plan_of(number)))
    if rows := [row for part in week.parts for row in task_rows(part)]:
        rows = ["| task | difficulty | time | points |", "|---|---|---|--:|", *rows]
        return out + slide_of("Tasks of this week", "", f"fitted([], [{table(rows)}])")
    return out + slide_of("This week", "", f"text(size: 24pt)[{inline(week.also)}]")


def task_rows(part: Part) -> Iterator[str]:
    text = page_of(part)
    known = hint.tasks_of(text)
    missing = [task for task in part.tasks if task not in known]
    if missing:
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
        f"{len(plan)} slides for 90 minutes: about {90 // len(plan)} minutes each, longer for the questions.",
    ]
    out = '#set page(margin: 2cm, numbering: "1")\n'
    out += '#set text(size: 11pt, font: ("DejaVu Sans", "Libertinus Serif"))\n'
    out += f"#text(size: 16pt)[*Notes: week {week}*]\n\n{inline(' '.join(filter(None, facts)))}\n"
    for number, slide in enumerate(plan, 2):  # the first slide is the title
        out += f"\n*{number}. #{quoted(slide['title'])}* #linebreak() {inline(slide['notes'])}\n"
        for kind in ANSWERED:
            if kind in slide:
                answer = " ".join(re.sub(r"</?details>", "", KINDS[kind](slide)[1]).split())
                out += f"#linebreak() _Answer:_ {inline(answer)}\n"
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the slides of all weeks, and the lecturer's notes.")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="a folder")
    parser.add_argument("--week", type=int, choices=WEEKS, help="one week only")
    parser.add_argument("--typst", action="store_true", help="write the sources of the slides, no PDF")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for week in [arguments.week] if arguments.week else WEEKS:
        for name, source in {f"week-{week:02}": deck(week), f"week-{week:02}-notes": notes(week)}.items():
            write(arguments.out / name, source, arguments.typst)


if __name__ == "__main__":
    main()
