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
sys.path[:0] = [str(HANDOUTS / "instructor"), str(HANDOUTS)]
import figures
import slides
import weeks

PAGES = {part.page for week in weeks.WEEKS.values() for part in week.parts}


class Slides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.decks = {week: slides.deck(week) for week in weeks.WEEKS}

    def test_every_task_has_its_week(self):
        for page in PAGES:
            planned = [
                task
                for week in weeks.WEEKS.values()
                for part in week.parts
                if part.page == page
                for task in part.tasks
            ]
            text = (HANDOUTS / f"{page}.md").read_text(encoding="utf-8")
            self.assertEqual(
                planned,
                [
                    task
                    for task, (_, section) in slides.hint.tasks_of(text).items()
                    if slides.hint.effort(section)
                ],
            )

    def test_no_week_takes_more_than_twelve_hours(self):
        hours = {week: weeks.hours(week) for week in weeks.WEEKS}
        self.assertGreater(sum(hours.values()), 100)
        self.assertEqual({week: h for week, h in hours.items() if h > weeks.MOST_HOURS}, {})

    def test_long_tasks_are_not_called_easy(self):
        for page in PAGES:
            text = (HANDOUTS / f"{page}.md").read_text(encoding="utf-8")
            for task, (_, section) in slides.hint.tasks_of(text).items():
                if not slides.hint.effort(section):
                    continue
                difficulty, time = slides.hint.effort(section)
                hours = int(re.search(r"\d+", time)[0])
                self.assertLessEqual(
                    hours, {"easy": 3, "medium": 5, "hard": 7, "very hard": 20}[difficulty], task
                )

    def test_every_figure_is_shown(self):
        shown = {
            name
            for deck in self.decks.values()
            for name in re.findall(r'"/handouts/figures/([\w-]+\.svg)"', deck)
        }
        # Charts of results may be left to the page.
        self.assertEqual({f"{name}.svg" for name in figures.FIGURES} - shown, set())

    def test_planned_slides_have_few_words_and_notes(self):
        for week, plan in slides.lectures.LECTURES.items():
            for slide in plan:
                words = f"week {week}, “{slide.title}”"
                self.assertLessEqual(len(slide.words.split()), slides.lectures.MOST_WORDS, words)
                self.assertTrue(slide.notes, words)
            notes = slides.lectures.notes(plan, "")
            self.assertEqual([s.title for s in plan if s.title not in notes], [])

    def test_a_plan_shows_what_the_course_has(self):
        plan = slides.lectures
        shown = plan.Says("", mutant="scan/missing_barrier").shown()
        self.assertIn("reads s_data", shown)
        self.assertNotIn("mutant_", shown)
        with self.assertRaisesRegex(SystemExit, "no line of k01_neighboured"):
            plan.Code("", lab="reduction", function="k01_neighboured", calls=(("nowhere", ""),)).shown()

    def test_every_lab_has_its_predictions(self):
        parts = [part.page for week in weeks.WEEKS.values() for part in week.parts if part.predicts]
        self.assertEqual(sorted(parts), sorted(PAGES - {"00-ideas"}))
        planned = [week for week, plan in slides.lectures.LECTURES.items() if week in weeks.WEEKS]
        for week, part in ((w, p) for w, of in weeks.WEEKS.items() for p in of.parts if p.predicts):
            if week in planned:
                asked = [s for s in slides.lectures.LECTURES[week] if isinstance(s, slides.lectures.Question)]
                self.assertTrue(asked, week)
            else:
                self.assertIn("Predict, then measure", self.decks[week], part.page)

    def test_no_markdown_is_left(self):
        for week, deck in self.decks.items():
            for text in re.findall(r'#text\("((?:[^"\\]|\\.)*)"\)', deck):
                self.assertNotRegex(text, r"^\*\w|\*\*|\]\(|<!--|</?details", f"week {week}")

    def test_a_missing_section_is_named(self):
        week = next(week for week in weeks.WEEKS if week not in slides.lectures.LECTURES)
        kept = weeks.WEEKS[week]
        weeks.WEEKS[week] = weeks.Week("", [weeks.Part("02-scan", ["No such section"])])
        try:
            with self.assertRaisesRegex(SystemExit, "no section “No such section”"):
                slides.deck(week)
        finally:
            weeks.WEEKS[week] = kept

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
