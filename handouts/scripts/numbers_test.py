#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers in texts are made: what was counted or measured stands in a generated block or a quotation, where
it can't go stale.

usage: numbers_test.py HANDOUTS

Outside of those, a table has no digits but in code and in names (lab 3, rung 2, weeks 1 to 6), and no line
has a time, a rate, a share, a number of megabytes or of registers. The same holds for comments in solutions/
and labs/, in which comments.py writes what was measured. TABLES and LINES are the exceptions: definitions,
formulas, limits of the hardware, assumptions of questions. instructor/answers_test.py checks the
instructor's answers.
"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(HANDOUTS.parent / "common/tools/checks"))
import wrap_markdown

BLOCK = re.compile(r"<!-- (generated|quote): .*?<!-- end \1 -->", re.S)
UNIT = re.compile(
    r"\d ?(?:[µunm]s|[KMGT]B/s|G(?:key|items?)/s|GHz)\b|\d(?:\.\d+)?× (?:as|faster|slower)|\d %|\d percent|\d s\b"
    r"|\d (?:seconds|minutes|[KMG]B)\b|\d times (?:as|faster|slower)|\d registers?\b"
)
# In comments, sizes in bytes and numbers of operations are those of the code below them.
UNIT_IN_CODE = re.compile(
    r"\d ?(?:[µunm]s|[KMGT]B/s|G(?:key|items?)/s|GHz)\b|\d×|\d %|\d percent|\d s\b|\d (?:seconds|minutes)\b"
    r"|\d times (?:faster|slower)|\d registers?\b"
    r"|(?:\btwice|\w times) as (?:fast|long|slow)\b|\ba (?:milli|micro)second\b"
)

# Tables that may have digits, by the first cells of their head: why.
CLOSED_FORM = "formulas, and the sizes that they speak of; what was counted stands below, generated"
CODE = "what the rungs' code does: its sizes and formulas; no result of a run"
DEFINITION = "what words mean"
TABLES = {
    "rung | operations |": CLOSED_FORM,
    "rung | additions": CLOSED_FORM,
    "rung | atomics |": CLOSED_FORM,
    "rung | bytes through memory |": CLOSED_FORM,
    "collective | steps of a ring |": CLOSED_FORM,
    "rung | idea | improvement |": CODE,
    "rung | how the positions are counted": CODE,
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
BY_HAND = "measured by hand on other machines: only the order of magnitude matters"
LINES = {
    "Assume that a launch takes 2 µs and that the memory delivers 4.2 TB/s": ASSUMED,
    "if a launch costs 2 µs": ASSUMED,
    "if 10 % or 90 % of the items are kept": ASSUMED,
    "divided by 4.2 TB/s and 2 µs per launch": ASSUMED,
    "If one step along the chain takes 2 µs": ASSUMED,
    "How long does the memory need at 4.2 TB/s?": ASSUMED,
    "if one link takes 1 µs": ASSUMED,
    "A chain of g links of 10 µs": ASSUMED,
    "How many items per GPU does `reduce` need": ASSUMED,
    "costs 100 times as much as its compaction": ASSUMED,
    "for an array of 64 MB": "the L2 cache of an H200: NVIDIA's data sheet; the array is what the question assumes",
    "Process 16 MB of the array": ASSUMED,
    "greater than 100 percent": "the limit that a share of the copy rate may exceed",
    "can exceed 100 percent": "the same",
    "above 100 is possible": "the same",
    "skewed (90 percent of them in one bin)": "what Pattern::skewed of labs/histogram/problem.cpp makes",
    "This makes 9 · 32 bytes": CODE,
    "A tile has 64 KB": CODE,
    "768 MB of memory and 10 minutes": "Gradescope's documentation, which the sentence links",
    "grading took 28 s": BY_HAND,
    "and 49 s for `sat`": BY_HAND,
    "with half a CPU and 768 MB": "Gradescope's limits, as above",
    "took 21 s of processor": BY_HAND,
    "Grading a task needs up to 400 MB": BY_HAND,
    "less than 1.5 GB": "TWO_TASKS_NEED of grade_submission.py",
    "choose two CPUs or 30 minutes": "settings of Gradescope",
    "the package stops after 9 minutes": "the default of `./lab gradescope --minutes`",
    "it downloads about 190 MB": BY_HAND,
    "takes 500 MB of disk space": BY_HAND,
    "measured times are more than 20 % apart": "which pairs `labcli model` looks at",
    "less than 3 µs, because most of their time": "which kernels `labcli model --kernels` leaves out",
}


# The same for comments in solutions/ and labs/.
COMMENTS = {
    "90 % have the same value": "what Pattern::skewed makes",
    "all or 90 % in one bin": "the same",
}


def pages():
    return [*sorted(HANDOUTS.glob("*.md")), HANDOUTS.parent / "README.md"]


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
    row = re.sub(
        r"\b(labs?|rungs?|tasks?|weeks?|errat(um|a)) \d+(\w\b)?((, | and |–| to )\d+)*", "", row, flags=re.I
    )
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


def sentences(text):
    """The sentences of a text without its tables."""
    for line in wrap_markdown.wrapped(text, width=sys.maxsize).splitlines():
        if not line.startswith("|"):
            yield from re.split(r"(?<=[.?!:]) (?=[^a-z0-9])", line)


def complaints(name, text):
    text = typed(text)
    for number, head, rows in tables(text):
        if rows and not any(head.removeprefix("| ").startswith(start) for start in TABLES):
            yield f"{name}:{number}: a table with numbers that nothing makes: {head}\n    {rows[0]}"
    for sentence in sentences(text):
        if UNIT.search(sentence) and not any(words in sentence for words in LINES):
            yield f"{name}: a time, a rate or a share that nothing makes: {sentence.strip()}"


def comments(text):
    """A source's lines, each with its comment alone; what comments.py writes is left out."""
    text = re.sub(
        r"^// Predicted \(\w+, .*\n(?://   .*\n)*",
        lambda lines: "\n" * lines[0].count("\n"),
        text,
        flags=re.M,
    )
    return [line.partition("//")[2] for line in text.splitlines()]


def typed_in_comments(name, text):
    for number, line in enumerate(comments(text), 1):
        if UNIT_IN_CODE.search(line) and not any(words in line for words in COMMENTS):
            yield f"{name}:{number}: a time, a rate, a factor or a share that nothing makes: {line.strip()}"


def sources():
    for room in ("solutions", "labs"):
        yield from (
            p
            for p in sorted((HANDOUTS.parent / room).rglob("*"))
            if p.suffix in {".cu", ".cuh", ".cpp", ".hpp", ".h"}
        )


class Numbers(unittest.TestCase):
    def test_of_comments_are_made(self):
        found = [
            c
            for p in sources()
            for c in typed_in_comments(p.relative_to(HANDOUTS.parent), p.read_text(encoding="utf-8"))
        ]
        self.assertEqual(
            found,
            [],
            "\n" + "\n".join(found) + "\nCONTRIBUTING.md, “A number in a text”, says how one is made.",
        )

    def test_typed_ones_in_comments_are_found(self):
        for line in [
            "// Measured: 337 µs.",
            "f();  // takes 3 ms",
            "// 0.71×, so it is slower",
            "// It needs 40 registers.",
            "// 9 % slower",
            "// It takes half a millisecond, three times as long as before.",
        ]:
            self.assertEqual(len(list(typed_in_comments("source", line))), 1, line)
        made = "// Predicted (fused, against three_kernels, 2^24 items): 2.5×. Measured: 2.3× (H200,\n//   2026-11-23).\n"
        for line in [made, "// 2 * half apart", "f(3 % n);  // n = 3"]:
            self.assertEqual(list(typed_in_comments("source", line)), [], line)

    def test_are_made(self):
        found = [c for page in pages() for c in complaints(page.name, page.read_text(encoding="utf-8"))]
        self.assertEqual(
            found,
            [],
            "\n" + "\n".join(found) + "\nCONTRIBUTING.md, “A number in a text”, says how one is made.",
        )

    def test_exceptions_are_needed(self):
        text = "\n".join(typed(page.read_text(encoding="utf-8")) for page in pages())
        whole = wrap_markdown.wrapped(text, width=sys.maxsize)
        heads = [head.removeprefix("| ") for _, head, rows in tables(text) if rows]
        self.assertEqual([start for start in TABLES if not any(head.startswith(start) for head in heads)], [])
        self.assertEqual([words for words in LINES if words not in whole], [])
        code = "\n".join(
            line for source in sources() for line in comments(source.read_text(encoding="utf-8"))
        )
        if (HANDOUTS.parent / "solutions").is_dir():
            self.assertEqual([words for words in COMMENTS if words not in code], [])

    def test_typed_ones_are_found(self):
        sentences = [
            "It takes 12 µs.",
            "It reaches 4.1 TB/s.",
            "It is 86 % of that.",
            "It takes 28 s.",
            "It needs 190 MB.",
        ]
        for text in ["| a | b |\n|---|--:|\n| x | 3.5 |", *sentences]:
            self.assertEqual(len(list(complaints("page", text))), 1, text)
        generated = "<!-- quote: tops scan -->\n| a |\n|---|\n| 3 |\n<!-- end quote -->\n"
        for text in [
            "| a | b |\n|---|---|\n| `x[3]` of lab 3 | rungs 1, 2 and 3 |",
            "2 · log₂ n steps",
            generated,
        ]:
            self.assertEqual(list(complaints("page", text)), [], text)
        self.assertEqual(len(list(complaints("page", "It takes 12\nms. That is long."))), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
