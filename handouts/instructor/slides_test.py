#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the plans and sources of the slides: every week, task and figure of the handouts is there, and every
lecture has all its parts.

usage: slides_test.py HANDOUTS LABCLI
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

slides.LABCLI = pathlib.Path(sys.argv[2])
KEYS = {*slides.KINDS, *"title words notes part first last calls mutant around answer steps lines".split()}
PAGES = {part.page for week in weeks.WEEKS.values() for part in week.parts}


class Slides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = {week: slides.plan_of(week) for week in weeks.WEEKS}
        cls.decks = {week: slides.deck(week) for week in weeks.WEEKS}

    def deck_of(self, slide):
        return "".join(slides.shown({"title": "A title", "words": "", **slide}))

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
        self.assertEqual({week: h for week, h in hours.items() if h > weeks.MAX_HOURS}, {})
        self.assertEqual({week: plan.hours for week, plan in weeks.WEEKS.items()}, hours)

    def stated(self, page):
        """The tasks of a page, each as (task, " (bonus)" or "", difficulty, time, points)."""
        text = (HANDOUTS / f"{page}.md").read_text(encoding="utf-8")
        points = dict(re.findall(r"^\| `(\w+)` .* \| (\d+) \|$", text, re.M))
        for task, (title, section) in slides.hint.tasks_of(text).items():
            if effort := slides.hint.effort(section):
                yield task, " (bonus)" * ("(bonus)" in title or page == "08-multi-gpu"), *effort, points[task]

    def test_the_syllabus_has_the_hours_and_points_of_the_pages(self):
        syllabus = (HANDOUTS / "instructor/syllabus.md").read_text(encoding="utf-8")
        listed = re.findall(
            r"^\|[^|]*\| `(\w+)`( \(bonus\))? \| ([^|]+) \| ([^|]+) \| (\d+) \|$", syllabus, re.M
        )
        stated = [task for page in sorted(PAGES - {"00-ideas"}) for task in self.stated(page)]
        self.assertEqual(listed, stated)

    def test_points_follow_hours(self):
        for page in sorted(PAGES - {"00-ideas", "08-multi-gpu"}):
            core = [
                (task, int(re.search(r"\d+", time)[0]), int(points))
                for task, bonus, _, time, points in self.stated(page)
                if not bonus
            ]
            an_hour = 100 / sum(hours for _, hours, _ in core)
            self.assertLessEqual(sum(hours for _, hours, _ in core), 15, page)
            for task, hours, points in core:
                self.assertTrue(0.75 * an_hour <= points / hours <= 1.33 * an_hour, f"{page}: {task}")

    def test_the_core_takes_at_most_ninety_hours(self):
        pages = ["00-first-steps", *sorted(PAGES - {"08-multi-gpu"})]
        words = sum(len((HANDOUTS / f"{page}.md").read_text("utf-8").split()) for page in pages)
        reading = words / 100 / 60  # 100 words a minute
        self.assertLessEqual(sum(weeks.hours(week) for week in range(1, 15)) + reading, 90)

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
        shown = {s.get("picture", s.get("trace")) for plan in self.plans.values() for s in plan}
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
                "a picture": any("picture" in slide or "trace" in slide for slide in plan),
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
        self.assertIn("-   __syncthreads();", said)
        right = {"title": "", "code": "reduction/k01_neighboured", "calls": [["__syncthreads", "waits"]]}
        self.assertIn("__syncthreads();  ①", slides.code(right))
        self.assertIn("lit((3, ), raw(", slides.code(right | {"first": "s_data\\[tid\\] = gid"}))
        self.assertNotIn("__syncthreads();  ①", self.deck_of({**right, "calls": []}))
        wrong = self.deck_of({"code": "scan/k02_hillis_steele", "mutant": "scan/in_place"})
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

    def test_a_trace_is_built_up_beside_the_lines_that_made_it(self):
        plan = {"title": "Up", "words": "", "trace": "scan-up-sweep"}
        built = slides.shown(plan)
        self.assertEqual(
            [re.search(r'slide\("(.*?)"', one)[1] for one in built], [f"Up ({k}/4)" for k in (1, 2, 3, 4)]
        )
        stored = [re.findall(r'value new\\">(\d+)<', one) for one in built]
        self.assertEqual(stored, [[*"31704163"], [*"4759"], ["11", "14"], ["25"]])
        for one in built:
            hot, text = re.search(r'lit\(\((.*?)\), raw\(block: true, lang: "cpp", "(.*?)"\)', one).groups()
            lines = text.split("\\n")
            self.assertRegex(" ".join(lines[int(k) - 1] for k in re.findall(r"\d+", hot)), r"s_data\[k\] = ")
        after = slides.trace(plan | {"trace": "scan-down-sweep", "steps": [6], "lines": {"6": r"d_out\["}})
        self.assertRegex(after[0], r"lit\(\(\d.*d_out\[")

    def test_a_drawing_with_steps_is_built_up(self):
        built = slides.shown({"title": "", "words": "", "picture": "reduction-tournament"})
        steps = [one.count('<g class=\\"step\\"') for one in built]
        self.assertEqual(steps, [1, 2, 3, 4])

    def test_a_part_of_a_figure_has_no_severed_elements(self):
        body = self.deck_of({"picture": "banks", "part": [212, 471]})
        places = [float(y) for y in re.findall(r'<rect [^>]*? y=\\"([\d.]+)', body)]
        self.assertGreater(len(places), 30)
        self.assertGreaterEqual(min(places), 212)

    def test_long_lines_are_broken_where_the_language_allows(self):
        for line, parts in [
            (
                "if (tid < stride) s_data[tid] = op(s_data[tid], s_data[tid + stride]);",
                ["if (tid < stride)", "    s_data"],
            ),
            (
                f"call({', '.join(f'argument_{k}' for k in range(9))});",
                ["call(argument_0, ", "    argument_"],
            ),
            (
                f"  const unsigned a = {' + '.join(['a_long_name'] * 8)};",
                ["  const unsigned a = a_long", "      + a_l"],
            ),
            (
                "x[i] = (a_long_condition && another_condition) ? a_long_value : another_long_value;",
                ["x[i]", "    "],
            ),
        ]:
            made = slides.broken(line)
            self.assertEqual("".join("".join(made).split()), "".join(line.split()))
            self.assertEqual([len(part) for part in made if len(part) > slides.WIDTH], [])
            for part, begin in zip(made, parts):
                self.assertTrue(part.startswith(begin.rstrip()), made)
        self.assertEqual(slides.broken("a" * 66), ["a" * 66])

    def test_each_line_of_a_change_has_its_sign(self):
        lines = [
            line
            for block in re.findall(r'lang: "diff", "(.*?)"\)', self.decks[8])
            for line in block.split(r"\n")
        ]
        cut = [line for line in lines if "c += kBlock)" in line]
        self.assertGreaterEqual(len(cut), 2)
        self.assertEqual([line for line in cut if line[0] not in "+-"], [])
        self.assertLessEqual(max(map(len, lines)), slides.WIDTH)

    def test_what_is_no_code_has_no_colours_of_code(self):
        for lines, language in ((["keys 3 1 7", "digit 0 0 1"], "text"), (["x = 3;"], "cpp")):
            self.assertIn(f'lang: "{language}"', slides.raw(lines))
        self.assertIn("work  18 deep", slides.raw(["$ ./lab profile", "work       18 deep"]))

    def test_a_prediction_begins_as_a_sentence_does(self):
        for page, task in (("reduction", "neighboured"), ("sat", "transpose")):
            self.assertRegex(slides.question({"question": f"{page}/{task}"})[0], r'#text\("[A-Z]')

    def test_an_arrow_that_leaves_a_part_is_left_out(self):
        body = self.deck_of({"picture": "radix-keys", "part": [0, 268]})
        ends = [float(y) for y in re.findall(r'class=\\"arrow[^>]*?L[\d.]+ ([\d.]+)', body)]
        self.assertLessEqual(max(ends), 268)
        self.assertGreaterEqual(len(ends), 16)

    def test_code_that_does_not_fit_is_refused(self):
        typst = self.typst()
        lines = slides.raw([f"f({k});" for k in range(30)])
        source = slides.HEAD.format(title='""', topics="") + slides.slide_of(
            "Long", "", f"fitted({lines}, [])"
        )
        with self.assertRaisesRegex(Exception, "Long does not fit at 18 pt"):
            typst.compile(source.encode(), root=slides.ROOT)

    def typst(self):
        try:
            import typst
        except ImportError:
            self.skipTest("no package typst")
        return typst

    def test_typst_accepts_them(self):
        typst = self.typst()
        with tempfile.TemporaryDirectory() as folder:
            for week, deck in self.decks.items():
                for source in (slides.notes(week), deck):
                    target = pathlib.Path(folder) / f"{week}.pdf"
                    typst.compile(source.encode(), output=target, root=slides.ROOT)
                    self.assertTrue(target.read_bytes().startswith(b"%PDF"))
                self.check_letters(week, target)

    def check_letters(self, week, path):
        """Every text of the slides is within the margins and has at least 18 pt, and code at all steps the same."""
        try:
            import pymupdf
        except ImportError:
            self.skipTest("no package pymupdf")
        code_rows, sizes = 0, {}
        for page in pymupdf.open(path):
            rows: dict = {}
            lines = [line for block in page.get_text("dict")["blocks"] for line in block.get("lines", ())]
            spans = [span for line in lines for span in line["spans"]]
            for span in (span for span in spans if span["text"].strip()):
                words, (left, top, right, bottom) = span["text"], span["bbox"]
                right -= (len(words) - len(words.rstrip())) * span["size"] / 3  # spaces may hang over
                where = f"week {week}, page {page.number + 1}: {words}"
                foot = 474 if words == str(page.number + 1) else 446
                self.assertTrue(27 <= left and right <= page.rect.width - 27, where)
                self.assertTrue(20 <= top and bottom <= foot + 8, where)
                self.assertGreaterEqual(round(span["size"], 1), 18, where)
                rows.setdefault(round(bottom), []).append(span)
            for row in rows.values():
                text = [span for span in row if span["text"].strip(slides.MARKS + " ")]
                # A line of code begins at the margin, and no other letters are in it.
                at_margin = min(span["bbox"][0] for span in row) < 29
                if text and at_margin and all("Mono" in s["font"] for s in text):
                    code_rows += 1
                    size = round(min(s["size"] for s in text))
                    step = re.match(r"(.*) \(\d/\d\)$", spans[0]["text"])
                    self.assertEqual(
                        sizes.setdefault(step[1], size) if step else size, size, spans[0]["text"]
                    )
        self.assertGreater(code_rows, 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
