#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes exam sheets to print of the exam questions in this folder, and a key to each sheet.

    exam.py OUT --labs reduction scan --questions 6 --seed "midterm 2026" --variants 2
                                        OUT/sheet-A.pdf, key-A.pdf, sheet-B.pdf, key-B.pdf
    exam.py OUT --pick reduction:1 scan:1 scan:4      these questions, in this order
    exam.py OUT --typst                 the sources of the sheets alone: needs no package

The same seed gives the same sheets. Sheets differ in the order of the questions and in the numbers of those
that variants.py lists; it computes their keys. slides.py says how to install Typst.
"""

import argparse
import pathlib
import random
import re
import sys
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "scripts")]
from typeset import blocks, inline, quoted, table, write
from variants import VARIANTS

EXAM = re.compile(r"^### Exam (\d+)\. (.*?)\n(.*?)(?=^#{2,3} |\Z)", re.S | re.M)
HEAD = """\
#set document(title: {title})
#set page(paper: "a4", margin: 2.2cm, numbering: "1 / 1")
#set text(size: 11pt, font: ("Libertinus Serif", "DejaVu Sans"), fallback: true)
#show raw: set text(font: "DejaVu Sans Mono", size: 0.85em)
#set table(stroke: 0.5pt + luma(170), inset: 0.35em)
#align(center)[#text(size: 16pt, weight: "bold", {title})]
"""
NAME = "#v(0.5em)\nName: #box(width: 1fr, repeat[.]) #h(1em) Number: #box(width: 4cm, repeat[.])\n#v(0.5em)\n"


class Question(NamedTuple):
    page: str
    number: int
    title: str
    question: str
    answer: str

    @property
    def lab(self) -> str:
        return self.page[3:].replace("-", "_")

    def drawn(self, seed: str) -> "Question":
        """With other numbers, where that is possible."""
        if (variant := VARIANTS.get((self.page, self.number))) is None:
            return self
        values = variant.draw(random.Random(f"{seed} {self.page} {self.number}"))
        question, answer = variant.text(*values)
        return self._replace(question=question, answer=answer)


def questions_of(page: str) -> list[Question]:
    found = []
    for number, title, body in EXAM.findall((HERE / f"{page}.md").read_text(encoding="utf-8")):
        question, answer = re.split(r"^\*\*Answer\.\*\* ?", body, maxsplit=1, flags=re.M)
        question = question.strip().removeprefix("**Question.** ")
        found.append(Question(page, int(number), title, question, answer))
    return found


def content(text: str) -> str:
    """Markdown as Typst."""
    out = ""
    for kind, lines in blocks(text):
        if kind == "code":
            out += f"#raw(block: true, {quoted(chr(10).join(lines))})\n\n"
        elif kind == "table":
            out += f"{table(lines)}\n\n"
        elif kind == "list":
            out += "".join(f"- {inline(re.sub(r'^([-*]|[0-9]+[.]) ', '', item))}\n" for item in lines) + "\n"
        else:
            out += f"{inline(lines[0])}\n\n"
    return out


def sheet(title: str, questions: list[Question], key: bool) -> str:
    out = HEAD.format(title=quoted(title)) + ("" if key else NAME)
    for number, one in enumerate(questions, 1):
        out += f'\n#block(breakable: false)[#strong("{number}.")#h(0.5em)\n{content(one.question)}]\n'
        answer = f"#block(inset: (left: 1em), stroke: (left: 1pt))[\n{content(one.answer)}]\n"
        out += answer if key else "#v(4.5cm)\n"
    return out


def chosen(options: argparse.Namespace, known: list[Question]) -> list[Question]:
    labs = list(dict.fromkeys(one.lab for one in known))
    if wrong := [lab for lab in options.labs or [] if lab not in labs]:
        sys.exit(f"exam.py: there are no questions of {wrong[0]}; there are of {', '.join(labs)}")
    if options.pick:
        by_name = {f"{one.lab}:{one.number}": one for one in known}
        if wrong := [name for name in options.pick if name not in by_name]:
            sys.exit(f"exam.py: there is no question {wrong[0]}; there are {', '.join(by_name)}")
        return [by_name[name] for name in options.pick]
    pool = [one for one in known if not options.labs or one.lab in options.labs]
    if options.questions > len(pool):
        sys.exit(f"exam.py: these labs have {len(pool)} questions; ask for fewer with --questions")
    return random.Random(options.seed).sample(pool, options.questions)


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes exam sheets and their keys.")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="a folder")
    parser.add_argument("--labs", nargs="+", metavar="LAB", help="of these labs (default: all)")
    parser.add_argument("--questions", type=int, default=6, metavar="N", help="how many (default: 6)")
    parser.add_argument("--pick", nargs="+", metavar="LAB:N", help="these questions")
    parser.add_argument(
        "--variants", type=int, default=1, choices=range(1, 27), metavar="N", help="sheets that differ"
    )
    parser.add_argument("--seed", default="1", help="any text: it decides on questions, order and numbers")
    parser.add_argument("--title", default="Examination")
    parser.add_argument("--typst", action="store_true", help="write the sources of the sheets, no PDF")
    options = parser.parse_args()
    pages = sorted(path.stem for path in HERE.glob("[0-9][0-9]-*.md"))
    questions = chosen(options, [one for page in pages for one in questions_of(page)])
    options.out.mkdir(parents=True, exist_ok=True)
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: options.variants]:
        seed = f"{options.seed} {letter}"
        drawn = [one.drawn(seed) for one in questions]
        if options.variants > 1 and not options.pick:
            random.Random(seed).shuffle(drawn)
        named = f"{options.title}, sheet {letter}" if options.variants > 1 else options.title
        for kind in ("sheet", "key"):
            source = sheet(named + (": key" if kind == "key" else ""), drawn, kind == "key")
            write(options.out / f"{kind}-{letter}", source, options.typst)
    n_drawn = sum((one.page, one.number) in VARIANTS for one in questions)
    print(
        f"{options.out}: {options.variants} sheets and keys of {len(questions)} questions; {n_drawn} of these have drawn numbers."
    )


if __name__ == "__main__":
    main()
