#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the slides of all weeks from the handouts: their figures, tables, worked examples, tasks and
predictions. The lectures that lectures.py plans have slides of their own, and notes for the lecturer.

    python3 -m venv /tmp/slides && /tmp/slides/bin/pip install -r handouts/instructor/requirements.txt     # once
    /tmp/slides/bin/python handouts/instructor/slides.py OUT            # OUT/week-01.pdf … week-16.pdf
    slides.py OUT --week 4                                              # one week
    slides.py OUT --typst                                               # the sources of the slides alone: needs no package

A change of a handout changes the slides; nothing is typed twice. weeks.py says which sections belong to
which week. Typst (the package of requirements.txt) makes the PDF,
without a network.
"""

import argparse
import html
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HANDOUTS = ROOT / "handouts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common/tools"))
sys.path.insert(0, str(HERE))
import hint
import lectures
from weeks import WEEKS, page_of

MOST_ROWS, MOST_LINES, MOST_POINTS = 13, 22, 5  # on a slide

HEAD = """\
#set document(title: {title})
#set page(paper: "presentation-16-9", margin: (x: 1.3cm, top: 1.1cm, bottom: 1.2cm), numbering: "1", number-align: right)
#set text(size: 20pt, font: ("DejaVu Sans", "Libertinus Serif"), fallback: true)
#show raw: set text(font: "DejaVu Sans Mono", size: 1em)
#set table(stroke: 0.5pt + luma(170), inset: 0.35em)
// The largest size at which the body fits on what is left of the slide. Lines that should not wrap do so only if they would be tiny.
#let fit(wrap, body) = layout(size => {{
  let sized(points) = {{ set text(size: points * 1pt); body }}
  let fits(points) = measure(block(width: size.width, sized(points))).height <= size.height
  if not wrap {{
    for points in (20, 18, 16, 14, 13, 12) {{
      if fits(points) and measure(sized(points)).width <= size.width {{ return block(width: size.width, sized(points)) }}
    }}
  }}
  for points in (if wrap {{ 20 }} else {{ 14 }}, 18, 16, 14, 13, 12, 11, 10, 9, 8, 7) {{
    if fits(points) and (wrap or points < 15) {{ return block(width: size.width, sized(points)) }}
  }}
  panic("does not fit on a slide")
}})
#let heading-of(title) = text(size: 26pt, weight: "bold", fill: rgb("#1f4e79"), title)
#let slide(title, wrap: true, body) = {{
  pagebreak(weak: true)
  block(height: 100%, width: 100%, grid(rows: (auto, 1fr), row-gutter: 0.6em, heading-of(title), fit(wrap, body)))
}}
#let figure-slide(title, caption, path) = {{
  pagebreak(weak: true)
  block(height: 100%, width: 100%, grid(rows: (auto, auto, 1fr), row-gutter: 0.6em, heading-of(title), text(size: 16pt, caption),
    layout(size => align(center, image(path, width: size.width, height: size.height, fit: "contain")))))
}}
"""


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


INLINE = re.compile(
    r"!\[[^\]]*\]\(([^)]*)\)|`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])\*(?!\s)([^*]+?)\*(?![\w*])|\[([^\]]*)\]\([^)]*\)|<br>|<(?:sup|/sup|a|/a|code|/code)\b[^>]*>",
    re.S,
)


def path_of(link):
    """A link of a handout, as Typst's root has it."""
    return "/" + (HANDOUTS / link).resolve().relative_to(ROOT).as_posix()


def inline(text):
    """Markdown inside of a paragraph, as Typst content in brackets."""
    out, at = "", 0
    for found in INLINE.finditer(text):
        out += f"#text({quoted(html.unescape(text[at : found.start()]))})" if found.start() > at else ""
        picture, code, strong, emphasis, link = found.groups()
        if picture is not None:
            out += f"#image({quoted(path_of(picture))}, width: 7.5cm)"
        elif code is not None:
            code = html.unescape(code)
            if len(code) > 24:
                code = code.replace("_", "_\u200b")  # may break there
            out += f"#raw({quoted(code)})"
        elif strong is not None:
            out += f"#strong[{inline(strong)}]"
        elif emphasis is not None:
            out += f"#emph[{inline(emphasis)}]"
        elif link is not None:
            out += inline(link)
        elif found[0] == "<br>":
            out += "#linebreak()"
        at = found.end()
    return out + (f"#text({quoted(html.unescape(text[at:]))})" if at < len(text) else "")


def first_sentences(text, most=220):
    """As many of the first sentences as are short enough, at least one."""
    text = " ".join(text.split())
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z0-9`*\[(])", text)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) > most:
            break
        kept += " " + sentence
    if (
        re.match(r"\*[^*]", kept) and kept.count("*") % 2
    ):  # the end of the emphasis is in a sentence that was cut off
        kept = kept[1:]
    return kept.rstrip(":")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines):
    """A Markdown table as Typst tables of at most MOST_ROWS rows each: their rows, whether cells may wrap,
    the table."""
    head, align, *rows = [cells(line) for line in lines]
    width = max(map(len, [head, *rows]))
    sides = ["right" if cell.endswith(":") and not cell.startswith(":") else "left" for cell in align] + [
        "left"
    ] * (width - len(align))
    plain = [
        [re.sub(r"[`*]|\]\([^)]*\)", "", row[i]) for row in [head, *rows] if i < len(row)]
        for i in range(width)
    ]
    long = any(len(cell) > 34 and " " in cell for column in plain for cell in column)
    sizes = [
        max(map(len, column), default=1) if any(len(cell) > 12 and " " in cell for cell in column[1:]) else 0
        for column in plain
    ]
    columns = ", ".join(f"{max(min(size, 100), 16)}fr" if long and size else "auto" for size in sizes)

    def row_of(row, wrap):
        return "".join(
            f"{wrap}[{inline(cell.replace(chr(92) + '|', '|'))}], "
            for cell in [*row, *[""] * (width - len(row))]
        )

    for first in range(0, len(rows), MOST_ROWS):
        body = "\n".join("  " + row_of(row, "") for row in rows[first : first + MOST_ROWS])
        heading = (
            "  table.header("
            + "".join(f"[#strong[{inline(cell)}]], " for cell in [*head, *[""] * (width - len(head))])
            + "),\n"
            if any(head)
            else ""
        )
        yield (
            len(rows[first : first + MOST_ROWS]) + 1,
            long,
            f"#table(columns: ({columns},), align: ({', '.join(sides)},),\n{heading}{body}\n)",
        )


def sections_of(text):
    """{heading: its text without the subsections}"""
    parts = re.split(
        r"^(#{2,3}) (.+)$",
        re.sub(r"^```.*?^```$", lambda m: m[0].replace("\n#", "\n\0#"), text, flags=re.S | re.M),
        flags=re.M,
    )
    return {parts[i + 1]: parts[i + 2].replace("\0", "") for i in range(1, len(parts), 3)}


def blocks(text):
    """Kind and lines of each block of a section: code, table, figure, list, text."""
    text = re.sub(r"^<!-- .*? -->\n|^<a id=.*\n|^</?details>\n?|^<details>", "", text, flags=re.M)
    text = re.sub(r"<summary>(.*?)</summary>", r"\n\1\n", text)
    for part in re.split(r"(^```.*?^```$)", text, flags=re.S | re.M):
        if part.startswith("```"):
            yield "code", part.splitlines()[1:-1]
            continue
        for block in re.split(r"\n\s*\n|\n(?=\|)(?<!\|\n)", part):
            lines = [line for line in block.splitlines() if line.strip()]
            if not lines:
                continue
            if lines[0].startswith("|"):
                rows = [line for line in lines if line.startswith("|")]
                yield "table", rows
                lines = lines[len(rows) :]
                if not lines:
                    continue
            if re.match(r"!\[.*\]\(.*\)$", lines[0]):
                yield "figure", [lines[0]]
            elif re.match(r"([-*]|\d+\.) ", lines[0]):
                yield "list", re.split(r"\n(?=[-*] |\d+\. )", "\n".join(lines))
            else:
                yield "text", [" ".join(lines)]


def slides_of(heading, text):
    """A section: its points, its figures, and its tables and examples, each below the sentence before it;
    small ones share a slide."""
    points, caption, shown = [], "", []

    def flushed():
        for first in range(0, len(points), MOST_POINTS):
            body = "\n".join(f"- {inline(point)}" for point in points[first : first + MOST_POINTS])
            yield f"#slide({quoted(heading)}, [\n{body}\n])\n"
        points.clear()
        while shown:
            together, rows, wrap = [], 0, False
            while shown and (not together or (rows + shown[0][0] <= MOST_ROWS and wrap == shown[0][1])):
                size, wrap, body = shown.pop(0)
                together.append(body)
                rows += size
            yield f"#slide({quoted(heading)}, wrap: {str(wrap).lower()}, [\n{chr(10).join(together)}\n])\n"

    for kind, lines in blocks(text):
        if kind == "text":
            caption = first_sentences(lines[0], 160)
            if re.match(r"\*\*[^*]+\*\*", lines[0]):
                if shown:
                    yield from flushed()
                points.append(first_sentences(lines[0]))
        elif kind == "list":
            if shown:
                yield from flushed()
            points += [
                first_sentences(re.sub(r"^([-*]|\d+\.) ", "", item), 170)
                for item in lines
                if not item.startswith("- [")
            ]
        elif kind == "figure":
            yield from flushed()
            alt, path = re.match(r"!\[(.*)\]\((.*)\)$", lines[0]).groups()
            yield f"#figure-slide({quoted(heading)}, [{inline(alt)}], {quoted(path_of(path))})\n"
        elif kind == "table" or len(lines) <= MOST_LINES:
            if points and caption and points[-1].startswith(caption[:40]):
                points.pop()  # it stands above the table
            if points:
                yield from flushed()
            made = (
                table(lines)
                if kind == "table"
                else [(len(lines), False, f"#raw(block: true, {quoted(chr(10).join(lines))})")]
            )
            for size, wrap, body in made:
                said = f"#block(width: 100%, text(size: 17pt)[{inline(caption)}])\n" if caption else ""
                caption = ""
                shown.append((size + 1, wrap, said + body + "\n"))
    yield from flushed()


def points_of(text):
    """{task: points}, from the table of points."""
    return dict(re.findall(r"^\| `(\w+)` .*\| (\d+) \|$", text, re.M))


def deck(number):
    week = WEEKS[number]
    titles = [re.match(r"# (.*)", page_of(part))[1] for part in week.parts]
    title = f"Week {number}: {', '.join(titles)}"
    out = HEAD.format(title=quoted(title))
    out += f'#align(center + horizon)[#text(size: 40pt, weight: "bold", fill: rgb("#1f4e79"))[{inline(title)}]\n\n#text(size: 22pt)[{inline(week.topics)}]]\n'
    plan = lectures.LECTURES.get(number)
    out += lectures.typst(plan) if plan else "".join(sections_shown(part) for part in week.parts)
    rows = [row for part in week.parts for row in task_rows(part)]
    if rows:
        rows = ["| task | difficulty | time | points |", "|---|---|---|--:|", *rows]
        out += "".join(f'#slide("Tasks of this week", [\n{body}\n])\n' for _, _, body in table(rows))
    else:
        out += f'#slide("This week", [\n{inline(week.also)}\n])\n'
    return out + "".join(predictions_of(part) for part in week.parts if part.predicts and not plan)


def sections_shown(part):
    text, out = page_of(part), ""
    sections = sections_of(text)
    for heading in part.headings:
        if heading not in sections:
            sys.exit(f"slides.py: handouts/{part.page}.md has no section “{heading}”; correct weeks.py")
        wanted = [heading]
        if heading in ("Causes of low speed",):  # with its subsections
            names = list(sections)
            at = names.index(heading) + 1
            while at < len(names) and re.search(rf"^### {re.escape(names[at])}$", text, re.M):
                wanted.append(names[at])
                at += 1
        for one in wanted:
            out += "".join(slides_of(one, sections[one]))
    return out


def task_rows(part):
    text = page_of(part)
    known = hint.tasks_of(text)
    missing = [task for task in part.tasks if task not in known]
    if missing:
        sys.exit(f"slides.py: handouts/{part.page}.md has no task {', '.join(missing)}; correct weeks.py")
    for task in part.tasks:
        difficulty, time = hint.effort(known[task][1])
        name = re.sub(rf"\b{task}\b", f"`{task}`", known[task][0], count=1)
        yield f"| {name} | {difficulty} | {time} | {points_of(text)[task]} |"


def predictions_of(part):
    asked = re.search(r"^## Predict, then measure\n(.*?)^## ", page_of(part), re.S | re.M)[1]
    items = [
        first_sentences(one, 400) for one in re.findall(r"^\d+\. (.*?)(?=^\d+\. |\Z)", asked, re.S | re.M)
    ]
    body = "\n".join(f"+ {inline(item)}" for item in items)
    return f'#slide("Predict, then measure", [\n{body}\n])\n'


def main():
    parser = argparse.ArgumentParser(description="Makes the slides of all weeks from the handouts.")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="a folder")
    parser.add_argument("--week", type=int, choices=WEEKS, help="one week only")
    parser.add_argument("--typst", action="store_true", help="write the sources of the slides, no PDF")
    arguments = parser.parse_args()
    if not arguments.typst:
        try:
            import typst
        except ImportError:
            sys.exit(
                "slides.py: the package typst is missing: pip install -r handouts/instructor/requirements.txt (or take --typst)"
            )
    arguments.out.mkdir(parents=True, exist_ok=True)
    for week in [arguments.week] if arguments.week else WEEKS:
        made = {f"week-{week:02}": deck(week)}
        if plan := lectures.LECTURES.get(week):
            made[f"week-{week:02}-notes"] = lectures.notes(plan, f"week {week}")
        for name, source in made.items():
            if arguments.typst:
                (arguments.out / f"{name}.typ").write_text(source, encoding="utf-8")
            else:
                typst.compile(source.encode(), output=arguments.out / f"{name}.pdf", root=ROOT)


if __name__ == "__main__":
    main()
