#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A lab's page begins with a core that is short enough to read before the first task, and a reader can
predict every result before seeing it.

usage: core_test.py HANDOUTS
"""

import pathlib
import re
import sys
import unittest

HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
LABS = sorted(HANDOUTS.glob("0[1-9]-*.md"))
MAX_WORDS = 2500  # before the first task
CORE = [
    "The problem",
    "Ideas",
    "A worked trace",
    "Worked traces",
    "Your tasks",
    "The programs",
    "Pitfalls",
    "Hints",
]
MORE = [
    "Predict, then measure",
    "Steps, work, bytes",
    "Atomics, contention, bytes",
    "The ladder",
    "Scaling",
    "Questions",
    "Points",
    "Extra",
]
# What a reader should predict first: counts, and times that were measured or modelled. The tables with these heads
# help to predict.
RESULT = re.compile(
    r"<!-- quote: (?:rows|chart (?:ladder-|contention|shared-atomics|divergence))|\|.*\d [µm]s\b"
)
BEFORE = ("| quantity | computed from |", "| bytes of the array |", "| | first pass |", "| collective |")


def words_before_tasks(text):
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return len(text[: re.search(r"^### 1\. ", text, re.M).start()].split())


def open_results(text):
    """The results that are not folded."""
    depth, table = 0, ""
    for line in text.splitlines():
        table = (table or line) if line.startswith("|") else ""
        if depth == 0 and RESULT.match(line) and not table.startswith(BEFORE):
            yield line
        depth += line.count("<details>") - line.count("</details>")


class Core(unittest.TestCase):
    def test_is_short(self):
        found = {p.name: words_before_tasks(p.read_text(encoding="utf-8")) for p in LABS}
        self.assertEqual({name: n for name, n in found.items() if n > MAX_WORDS}, {})

    def test_comes_before_the_rest(self):
        for page in LABS:
            found = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.M)
            wanted = [heading for heading in CORE + MORE if heading in found]
            self.assertEqual(found, wanted, page.name)

    def test_results_are_folded(self):
        for page in sorted(HANDOUTS.glob("0[0-9]-*.md")):
            self.assertEqual(list(open_results(page.read_text(encoding="utf-8"))), [], page.name)

    def test_an_open_result_is_found(self):
        row = "| `reduce` | 201.1 µs |\n"
        folded = f"<details><summary>a</summary>\n<!-- quote: rows h200: n of share -->\n{row}</details>\n"
        self.assertEqual(list(open_results(folded)), [])
        self.assertEqual(len(list(open_results(folded + "<!-- quote: rows h200: n of share -->\n"))), 1)
        self.assertEqual(len(list(open_results(row))), 1)
        self.assertEqual(len(list(open_results("<!-- quote: chart ladder-scan -->\n"))), 1)


class Folds(unittest.TestCase):
    def test_text_after_a_fold_is_markdown(self):
        """HTML reaches up to the next blank line, so a text directly after it would not be formatted."""
        for page in sorted(HANDOUTS.rglob("*.md")):
            found = re.findall(r"^</details>\n(?=[^\s<`])(.*)$", page.read_text(encoding="utf-8"), re.M)
            self.assertEqual(found, [], page.name)


class Errata(unittest.TestCase):
    KINDS = re.compile(r"Recorded: |Reported by a reader of the source: |[Nn]ot confirmed|P\. Cozzi, ")

    def test_each_erratum_says_where_it_is_from(self):
        text = (HANDOUTS / "errata.md").read_text(encoding="utf-8")
        errata = re.findall(r"^## \d+\. .*\n\n(.*(?:\n.+)*)", text, re.M)
        self.assertGreaterEqual(len(errata), 22)
        for paragraph in errata:
            self.assertTrue(paragraph.startswith("*Source: "), paragraph)
            self.assertRegex(paragraph, self.KINDS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
