#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the sources of the slides: every week, task, figure and prediction of the handouts is there.

usage: slides_test.py HANDOUTS
"""

import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(HANDOUTS / "instructor"))
import slides


class Slides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.decks = {week: slides.deck(week) for week in slides.PLAN}

    def test_weeks_are_those_of_the_guide(self):
        self.assertEqual(sorted(slides.weeks()), sorted(slides.PLAN))

    def test_every_task_has_its_week(self):
        for page in {page for page, *_ in slides.PLAN.values()}:
            planned = [task for one, _, tasks, _ in slides.PLAN.values() if one == page for task in tasks]
            text = (HANDOUTS / f"{page}.md").read_text(encoding="utf-8")
            self.assertEqual(
                planned,
                [
                    task
                    for task, (_, section) in slides.hint.tasks_of(text).items()
                    if slides.hint.effort(section)
                ],
            )

    def test_every_figure_is_shown(self):
        shown = {
            name
            for deck in self.decks.values()
            for name in re.findall(r'"/handouts/figures/([\w-]+\.svg)"', deck)
        }
        self.assertEqual(shown, {path.name for path in (HANDOUTS / "figures").glob("*.svg")})

    def test_every_lab_has_its_predictions(self):
        for page in {page for page, *_ in slides.PLAN.values() if page != "00-ideas"}:
            decks = [self.decks[week] for week, (one, *_) in slides.PLAN.items() if one == page]
            self.assertEqual(sum(deck.count("Predict, then measure") for deck in decks), 1, page)

    def test_no_markdown_is_left(self):
        for week, deck in self.decks.items():
            for text in re.findall(r'#text\("((?:[^"\\]|\\.)*)"\)', deck):
                self.assertNotRegex(text, r"^\*\w|\*\*|\]\(|<!--|</?details", f"week {week}")

    def test_a_missing_section_is_named(self):
        plan = slides.PLAN[4]
        slides.PLAN[4] = (plan[0], ["No such section"], plan[2], plan[3])
        try:
            with self.assertRaisesRegex(SystemExit, "no section “No such section”"):
                slides.deck(4)
        finally:
            slides.PLAN[4] = plan

    def test_typst_accepts_them(self):
        try:
            import typst
        except ImportError:
            self.skipTest("no package typst")
        with tempfile.TemporaryDirectory() as folder:
            for week, deck in self.decks.items():
                target = pathlib.Path(folder) / f"{week}.pdf"
                typst.compile(deck.encode(), output=target, root=slides.ROOT)
                self.assertTrue(target.read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
