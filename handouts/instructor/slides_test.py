#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the plans and sources of the slides: every week, task and figure of the handouts is there, and every
lecture has all its parts.

usage: slides_test.py HANDOUTS
"""

import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(HANDOUTS / "instructor"), str(HANDOUTS / "scripts")]
import charts
import figures
import slides
import weeks

KEYS = {*slides.KINDS, *"title words notes part first last calls mutant around answer".split()}
PAGES = {part.page for week in weeks.WEEKS.values() for part in week.parts}


class Slides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = {week: slides.plan_of(week) for week in weeks.WEEKS}
        cls.decks = {week: slides.deck(week) for week in weeks.WEEKS}

    def deck_of(self, slide):
        return slides.shown({"title": "A title", "words": "", **slide})

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
        self.assertEqual({week: h for week, h in hours.items() if h > weeks.MAX_HOURS}, {})
        self.assertEqual({week: plan.hours for week, plan in weeks.WEEKS.items()}, hours)

    def test_the_syllabus_has_the_hours_of_the_pages(self):
        syllabus = (HANDOUTS / "instructor/syllabus.md").read_text(encoding="utf-8")
        listed = re.findall(
            r"^\|[^|]*\| `(\w+)`(?: \(bonus\))? \| ([^|]+) \| ([^|]+) \| \d+ \|$", syllabus, re.M
        )
        stated = []
        for page in sorted(PAGES - {"00-ideas"}):
            for task, (_, section) in slides.hint.tasks_of(
                (HANDOUTS / f"{page}.md").read_text("utf-8")
            ).items():
                stated += [(task, *effort)] if (effort := slides.hint.effort(section)) else []
        self.assertEqual(listed, stated)

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
        shown = {slide["picture"] for plan in self.plans.values() for slide in plan if "picture" in slide}
        # Charts of results may be left to the page.
        drawn = {path.stem for path in (HANDOUTS / "figures").glob("*.svg")} - set(figures.charts.CHARTS)
        self.assertEqual(drawn - shown, set())

    def test_slides_have_few_words_and_notes(self):
        for week, plan in self.plans.items():
            for slide in plan:
                name = f"week {week}, “{slide['title']}”"
                self.assertLessEqual(len(slide["words"].split()), slides.MAX_WORDS, name)
                self.assertTrue(slide["notes"], name)
                self.assertLessEqual(set(slide), KEYS, name)
            self.assertEqual([s["title"] for s in plan if s["title"] not in slides.notes(week)], [])

    def test_every_lecture_has_all_parts(self):
        for week, plan in self.plans.items():
            found = {
                "a problem": "words" in plan[0] or "question" in plan[0],
                "a picture": any("picture" in slide for slide in plan),
                "code with explanations": any("calls" in slide for slide in plan),
                "a prediction": any("question" in slide for slide in plan),
                "a chart": any(slide.get("picture") in charts.CHARTS for slide in plan),
                "the grader's words": any("says" in slide for slide in plan),
                "a mistake to find": any(slide["title"].startswith("Find the mistake") for slide in plan),
            }
            self.assertEqual([part for part, is_there in found.items() if not is_there], [], week)

    def test_a_slide_shows_what_the_course_has(self):
        said = slides.says({"says": "reduction/missing_barrier", "answer": "reads\ns_data"})
        self.assertIn("reads s_data", said)
        self.assertIn("-     __syncthreads();", said)
        right = {"title": "", "code": "reduction/k01_neighboured", "calls": [["__syncthreads", "waits"]]}
        self.assertIn("__syncthreads();  ①", slides.code(right))
        self.assertNotIn("__syncthreads();  ①", self.deck_of({**right, "calls": []}))
        wrong = self.deck_of({"code": "scan/k03_hillis_steele", "mutant": "scan/in_place"})
        self.assertIn("s_data[0][tid - offset]", wrong)

    def test_answers_are_in_the_notes_alone(self):
        asked = {"title": "", "question": "00-ideas-deeper/1", "words": "", "notes": ""}
        self.assertIn("What is its intensity?", self.deck_of(asked))
        self.assertNotIn("0.375", self.deck_of(asked))
        self.assertIn("0.375", slides.notes(1))
        self.assertIn("offset < n", slides.erratum({"title": "", "erratum": 15})[1])

    def test_letters_that_are_too_small_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "needs a smaller part"):
            self.deck_of({"picture": "reduction-lanes"})
        self.assertIn("image(bytes", self.deck_of({"picture": "reduction-lanes", "part": [0, 206]}))

    def test_what_is_missing_is_named(self):
        for slide, words in [
            ({"code": "reduction/k01_neighboured", "calls": [["nowhere", ""]]}, "is like nowhere"),
            ({"code": "reduction/k01_neighboured", "first": "nowhere"}, "is like nowhere"),
            ({"example": "02-scan/No such section/1"}, "no section “No such section”"),
            ({"example": "00-ideas-deeper/Steps and work/9"}, "has 2 examples"),
            ({"question": "no_lab/1"}, "no handout of no_lab"),
        ]:
            with self.assertRaisesRegex(SystemExit, words):
                self.deck_of(slide)

    def test_every_lab_asks_for_predictions(self):
        asked = {s["question"].split("/")[0] for plan in self.plans.values() for s in plan if "question" in s}
        labs = {page[3:].replace("-", "_") for page in PAGES - {"00-ideas"}}
        self.assertEqual(asked - {"00-ideas-deeper"}, labs)

    def test_no_markdown_is_left(self):
        for week, deck in self.decks.items():
            for text in re.findall(r'#text\("((?:[^"\\]|\\.)*)"\)', deck):
                self.assertNotRegex(text, r"^\*\w|\*\*|\]\(|<!--|</?details", f"week {week}")

    def test_typst_accepts_them(self):
        try:
            import typst
        except ImportError:
            self.skipTest("no package typst")
        with tempfile.TemporaryDirectory() as folder:
            for week, deck in self.decks.items():
                for source in (deck, slides.notes(week)):
                    target = pathlib.Path(folder) / f"{week}.pdf"
                    typst.compile(source.encode(), output=target, root=slides.ROOT)
                    self.assertTrue(target.read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
