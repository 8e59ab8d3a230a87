#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the exam sheets: no sheet shows a key, and drawn questions are right.

usage: exam_test.py HANDOUTS
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(HANDOUTS / "instructor"), str(HANDOUTS / "scripts")]
import exam
from variants import VARIANTS

QUESTIONS = [
    one
    for path in sorted((HANDOUTS / "instructor").glob("[0-9][0-9]-*.md"))
    for one in exam.questions_of(path.stem)
]


def squeezed(text):
    return " ".join(text.split())


class Exam(unittest.TestCase):
    def test_every_question_has_an_answer(self):
        self.assertGreater(len(QUESTIONS), 50)
        for one in QUESTIONS:
            self.assertTrue(one.question.strip() and one.answer.strip(), one)
            self.assertNotIn("**Answer.**", one.question + one.answer)

    def test_variants_with_the_originals_numbers_are_the_originals(self):
        originals = {(one.page, one.number): one for one in QUESTIONS}
        for key, variant in VARIANTS.items():
            question, answer = variant.text(*variant.original)
            self.assertEqual(question, squeezed(originals[key].question), key)
            self.assertEqual(answer, squeezed(originals[key].answer), key)

    def test_drawn_numbers_differ_and_their_questions_hold(self):
        for key, variant in VARIANTS.items():
            drawn = {str(variant.draw(random.Random(seed))) for seed in range(40)}
            self.assertGreater(len(drawn), 4, key)
            for seed in range(200):
                self.assertEqual(len(variant.text(*variant.draw(random.Random(seed)))), 2, key)

    def make(self, *words, code=0):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, HANDOUTS / "instructor/exam.py", folder, "--typst", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            return {
                path.stem: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).iterdir()
            } or done.stderr

    def test_sheets_are_reproducible_and_hold_no_key(self):
        made = self.make("--questions", "8", "--variants", "3", "--seed", "x")
        self.assertEqual(made, self.make("--questions", "8", "--variants", "3", "--seed", "x"))
        self.assertNotEqual(made, self.make("--questions", "8", "--variants", "3", "--seed", "y"))
        self.assertEqual(sorted(made), ["key-A", "key-B", "key-C", "sheet-A", "sheet-B", "sheet-C"])
        everything = self.make("--questions", str(len(QUESTIONS)))
        for one in QUESTIONS:
            if (one.page, one.number) in VARIANTS:
                continue
            text = exam.content(one.answer).strip()
            self.assertIn(text, everything["key-A"])
            self.assertNotIn(text, everything["sheet-A"])

    def test_a_key_answers_its_own_sheet(self):
        made = self.make("--pick", "scan:1", "--variants", "2")
        for letter in "AB":
            items = re.search(r'for ".*?#raw\("([\d ]+)"\)', made[f"sheet-{letter}"]) or re.search(
                r'#raw\("([\d ]+)"\)', made[f"sheet-{letter}"]
            )
            values = [int(item) for item in items[1].split()]
            sums = [sum(values[:at]) for at in range(len(values))]
            self.assertIn(f'#raw("{" ".join(map(str, sums))}")', made[f"key-{letter}"])
        self.assertNotEqual(made["sheet-A"].replace("sheet A", ""), made["sheet-B"].replace("sheet B", ""))

    def test_unknown_questions_are_named(self):
        self.assertIn("no question scan:99", self.make("--pick", "scan:99", code=1))
        self.assertIn("no questions of scna", self.make("--labs", "scna", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
