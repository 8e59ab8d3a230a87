#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the glossary: sorted, complete in three languages, no term twice, and each one used in a handout.

usage: glossary_test.py HANDOUTS
"""

import pathlib
import re
import sys
import unittest

HANDOUTS = pathlib.Path(sys.argv[1])
ROWS = [
    [re.sub(r'<a id="[^"]*"></a>', "", cell).strip() for cell in line.strip("|\n").split("|")]
    for line in (HANDOUTS / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| English")
]


class Glossary(unittest.TestCase):
    def test_every_row_is_complete(self):
        for row in ROWS:
            self.assertEqual(len(row), 4, row)
            self.assertTrue(all(row), row)
            self.assertRegex(row[1], "[\u4e00-\u9fff]", f"no Chinese for {row[0]}")
            self.assertRegex(row[2], "[\u3040-\u30ff\u4e00-\u9fff]", f"no Japanese for {row[0]}")

    def test_every_row_has_an_anchor(self):
        text = (HANDOUTS / "glossary.md").read_text(encoding="utf-8")
        self.assertEqual(len(re.findall(r'^\| <a id="[\w–-]+"></a>', text, re.M)), len(ROWS))

    def test_a_word_has_one_translation(self):
        """Terms that contain another term use its translation."""
        of = {row[0]: row[1:3] for row in ROWS}
        for longer, shorter in [
            ("active lane", "lane"),
            ("exclusive prefix", "prefix"),
            ("tile status", "tile"),
            ("segmented scan", "scan"),
        ]:
            for whole, part in zip(of[longer], of[shorter]):
                usual = part.partition("；")[0]  # other names follow
                self.assertIn(usual, whole, f"{longer}: {whole} without {usual}")
        self.assertIn(of["exclusive prefix"][0], of["carry"][0])
        self.assertNotIn(of["fence"][0][:2], of["mbarrier"][0])

    def test_is_sorted_and_has_no_term_twice(self):
        terms = [row[0] for row in ROWS]
        self.assertEqual(terms, sorted(set(terms), key=str.casefold))
        self.assertGreater(len(terms), 60)

    def test_explains_only_what_the_handouts_say(self):
        text = " ".join(
            p.read_text(encoding="utf-8")
            for p in [*HANDOUTS.glob("[0-9][0-9]-*.md"), HANDOUTS / "memory-model.md", HANDOUTS / "rules.md"]
        ).lower()
        text = re.sub(r"[\s-]+", " ", text)
        stems = {term: re.sub(r"[\s-]+", " ", term.lower()).rstrip("esy") for term, *_ in ROWS}
        self.assertEqual(
            [term for term, stem in stems.items() if stem not in text], [], "no handout speaks of these"
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
