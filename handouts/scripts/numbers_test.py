#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers in texts are made, or say where they are from: what was counted or measured stands in a quotation, or
in a paragraph or a table with the date of the run.

usage: numbers_test.py HANDOUTS

Elsewhere, no line and no table has a time, a rate, a share, a number of megabytes or of registers. The same holds
for the comments in solutions/ and labs/. LINES and COMMENTS are the exceptions: definitions, limits of the
hardware, assumptions of questions. instructor/answers_test.py checks the instructor's answers.
"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(HANDOUTS.parent / "common/tools/checks"))
import wrap_markdown

# The tests "goals LAB" compare a task's limits with the code.
MADE = re.compile(
    r"<!-- quote: .*?<!-- end quote -->|^(?:Limits of the \[counters\]\(rules\.md#efficient\)|Speedup goals): .*?\n\n",
    re.S | re.M,
)
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
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

CODE = "what the rungs' code does: its sizes and formulas; no result of a run"
# Lines that may have a time, a rate or a share, by words that stand in them: why.
ASSUMED = "what a question or an exercise assumes"
BY_HAND = "measured by hand on other machines: only the order of magnitude matters"
LINES = {
    "Assume that a launch takes 2 µs and that the memory delivers 4.2 TB/s": ASSUMED,
    "if 10 % or 90 % of the items are kept": ASSUMED,
    "divided by 4.2 TB/s and 2 µs per launch": ASSUMED,
    "If one step along the chain takes 2 µs": ASSUMED,
    "if one link takes 1 µs": ASSUMED,
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
    "3, with tiles 8 times as large": CODE,
    "when a warp executes the line | 100 %": "the ideal of a column",
    "take different directions | 0 %": "the same",
    "the processor time of a case | 40 s": "kSecondsPerCase of session_runner.hpp",
    "768 MB of memory and 10 minutes": "Gradescope's documentation, which the sentence links",
    "choose two CPUs or 30 minutes": "settings of Gradescope",
    "the package stops after 9 minutes": "the default of `./lab gradescope --minutes`",
    "it downloads about 190 MB": BY_HAND,
    "takes 500 MB of disk space": BY_HAND,
    "measured times are more than 20 % apart": "what the table counts as a pair",
}


# The same for comments in solutions/ and labs/.
COMMENTS = {"90 % have the same value": "what Pattern::skewed makes", "all or 90 % in one bin": "the same"}


def pages():
    instructors = [HANDOUTS / f"instructor/{name}.md" for name in ("checklist", "guide", "top-rungs")]
    return [*sorted(HANDOUTS.glob("*.md")), *instructors, HANDOUTS.parent / "README.md"]


def typed(text):
    """The text without what tools fill in, each paragraph, list, table or block of code in one piece."""
    whole = wrap_markdown.wrapped(MADE.sub("", text), width=sys.maxsize)
    return [
        block
        for block in re.split(r"\n{2,}", whole.strip())
        if block and not re.fullmatch(r"(</?details>|<summary>.*|<!--.*)+", block)
    ]


def complaints(name, text):
    before = ""
    for block in typed(text):
        # A date holds for a paragraph, and for the table or the code below it.
        dated = DATE.search(block) or (block[0] in "|`" and DATE.search(before))
        before = block if block[0] not in "|`<" else before
        for sentence in [] if dated else re.split(r"\n|(?<=[.?!:]) (?=[^a-z0-9])", block):
            if UNIT.search(sentence) and not any(words in sentence for words in LINES):
                yield f"{name}: a time, a rate or a share that nothing makes: {sentence.strip()}"


def comments(text):
    """A source's lines, each with its comment alone, without what was measured at a date."""
    text = re.sub(
        r"^// Predicted \(.*\n(?://   .*\n)*",
        lambda lines: "" if DATE.search(lines[0]) else lines[0],
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
    def assert_none(self, found):
        why = "CONTRIBUTING.md, “A number in a text”, says how one is made."
        self.assertEqual(found, [], "\n".join(["", *found, why]))

    def test_of_comments_are_made(self):
        found = [
            c
            for p in sources()
            for c in typed_in_comments(p.relative_to(HANDOUTS.parent), p.read_text(encoding="utf-8"))
        ]
        self.assert_none(found)

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
        self.assert_none(found)

    def test_exceptions_are_needed(self):
        whole = "\n".join(block for page in pages() for block in typed(page.read_text(encoding="utf-8")))
        self.assertEqual([words for words in LINES if words not in whole], [])
        code = "\n".join(
            line for source in sources() for line in comments(source.read_text(encoding="utf-8"))
        )
        if (HANDOUTS.parent / "solutions").is_dir():
            self.assertEqual([words for words in COMMENTS if words not in code], [])

    def test_typed_ones_are_found(self):
        sentences = [
            "It takes 12 µs.",
            "It takes 12\nms. That is long.",
            "It reaches 4.1 TB/s.",
            "It is 86 % of that.",
            "It takes 28 s.",
            "It needs 190 MB.",
        ]
        table = "| a | b |\n|---|--:|\n| x | 3.5 µs |\n"
        for text in [table, f"H200, 2026-11-26.\n\nText.\n\n{table}", *sentences]:
            self.assertEqual(len(list(complaints("page", text))), 1, text)
        quoted = f"<!-- quote: rows h200: n of median_us -->\n{table}<!-- end quote -->\n"
        for text in [quoted, f"H200, 2026-11-26.\n\n{table}", "2 · log₂ n steps", "12 µs (H200, 2026-11-26)"]:
            self.assertEqual(list(complaints("page", text)), [], text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
