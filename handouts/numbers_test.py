#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers in texts are made: what was counted or measured stands in a generated block or a quotation, where it can't go stale.

usage: numbers_test.py HANDOUTS

Outside of those, a table has no digits but in code and in names (lab 3, rung 2, weeks 1 to 6), and no line names a time or a rate. TABLES
and LINES are what may stay: definitions, formulas, limits of the hardware, what a question assumes.
"""

import pathlib
import re
import sys
import unittest

HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
BLOCK = re.compile(r"<!-- (generated|quote): .*?<!-- end \1 -->", re.S)
MADE_WHOLE = {"kill-matrix.md"}  # by the tests of the mutants
UNIT = re.compile(r"\d ?(?:[µunm]s|[KMGT]B/s|G(?:key|items?)/s|GHz)\b|\d(?:\.\d+)?× as|\d %")

# Tables that may have digits, by the first cells of their head: why.
CLOSED_FORM = "formulas, and the sizes that they speak of; what was counted stands below, generated"
CODE = "what the rungs' code does: its sizes and formulas; no result of a run"
DEFINITION = "what words mean"
TABLES = {
    "rung | operations |": CLOSED_FORM,
    "rung | additions": CLOSED_FORM,
    "rung | atomics |": CLOSED_FORM,
    "rung | bytes through memory |": CLOSED_FORM,
    "rung | idea | improvement |": CODE,
    "rung | how the positions are counted": CODE,
    "metric | meaning": DEFINITION,
    "column | meaning | ideal": DEFINITION,
    "in a kernel | meaning": DEFINITION,
    "operator | a ⊕ b | identity |": DEFINITION,
    "⊕ | identity |": DEFINITION,
    "predicate | keeps |": DEFINITION,
    "corner | table(r, c) is the sum of |": DEFINITION,
    "English |": DEFINITION,
    "| |": "lab 4's conventions",
    "level | how many |": "sizes of a warp and a block: CUDA C++ Programming Guide, technical specifications by compute capability",
    "space | declared as |": "registers of a thread: the same",
    "the scene |": "options of the programs that made the pictures",
}
# Lines that may have a time, a rate or a share, by words that stand in them: why.
ASSUMED = "what a question or an exercise assumes"
LINES = {
    "Assume that a launch takes 2 µs and that the memory delivers 4.2 TB/s": ASSUMED,
    "if a launch costs 2 µs": ASSUMED,
    "if 10 % or 90 % of the items are kept": ASSUMED,
    "divided by 4.2 TB/s, plus 2 µs per launch": ASSUMED,
    "If one step along the chain takes 2 µs": ASSUMED,
    "if one link takes 1 µs": ASSUMED,
    "A chain of g links of 10 µs": ASSUMED,
    "measured times are more than 20 % apart": "which pairs `labcli model` looks at",
    "less than 3 µs, because most of their time": "which kernels `labcli model --kernels` leaves out",
}


def pages():
    return [p for p in [*sorted(HANDOUTS.glob("*.md")), HANDOUTS.parent / "README.md"] if p.name not in MADE_WHOLE]


def typed(text):
    """The text with as many lines, but without what tools fill in."""
    return BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)


def digits_of(row):
    """What is left of a table's row, if there are digits that count or measure something."""
    first, *rest = row.strip().strip("|").split("|")
    first = re.sub(r"^\s*\d+\w?(\s*[,–]\s*\d+)*[:.]?(?=\s|$)", "", first)  # a number that is a name
    row = "|".join([first, *rest])
    row = re.sub(r"`[^`]*`|\[[^\]]*\d[^\]]*\]\([^)]*\)|<[^>]*>", "", row)
    row = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row)
    row = re.sub(r"\b(labs?|rungs?|tasks?|weeks?|errat(um|a)) \d+(\w\b)?((, | and |–| to )\d+)*", "", row, flags=re.I)
    return row.strip() if re.search(r"(?<![\w.])\d", row) else ""


def tables(text):
    """Each table's first line, its head and its rows with digits."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("|") or (number > 1 and lines[number - 2].startswith("|")):
            continue
        rows = []
        for row in lines[number - 1 :]:
            if not row.startswith("|"):
                break
            rows.append(row)
        yield number, rows[0], [left for row in rows if (left := digits_of(row))]


def complaints(name, text):
    text = typed(text)
    for number, head, rows in tables(text):
        if rows and not any(head.removeprefix("| ").startswith(start) for start in TABLES):
            yield f"{name}:{number}: a table with numbers that nothing makes: {head}\n    {rows[0]}"
    for number, line in enumerate(text.splitlines(), 1):
        if UNIT.search(line) and not line.startswith("|") and not any(words in line for words in LINES):
            yield f"{name}:{number}: a time, a rate or a share that nothing makes: {line.strip()}"


class Numbers(unittest.TestCase):
    def test_are_made(self):
        found = [c for page in pages() for c in complaints(page.name, page.read_text(encoding="utf-8"))]
        self.assertEqual(found, [], "\n" + "\n".join(found) + "\nCONTRIBUTING.md, “A number in a text”, says how one is made.")

    def test_exceptions_are_needed(self):
        text = "\n".join(typed(page.read_text(encoding="utf-8")) for page in pages())
        heads = [head.removeprefix("| ") for _, head, rows in tables(text) if rows]
        self.assertEqual([start for start in TABLES if not any(head.startswith(start) for head in heads)], [])
        self.assertEqual([words for words in LINES if words not in text], [])

    def test_typed_ones_are_found(self):
        for text in ["| a | b |\n|---|--:|\n| x | 3.5 |", "It takes 12 µs.", "It reaches 4.1 TB/s.", "It is 86 % of that."]:
            self.assertEqual(len(list(complaints("page", text))), 1, text)
        generated = "<!-- quote: tops scan -->\n| a |\n|---|\n| 3 |\n<!-- end quote -->\n"
        for text in ["| a | b |\n|---|---|\n| `x[3]` of lab 3 | rungs 1, 2 and 3 |", "2 · log₂ n steps", generated]:
            self.assertEqual(list(complaints("page", text)), [], text)
        self.assertIn("page:6:", next(complaints("page", generated + "12 ms")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
