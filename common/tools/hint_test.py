#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab hint, on the handouts themselves.

usage: hint_test.py ROOT
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "common/tools"))
import hint

LABS = sorted(hint.handouts(ROOT))


def asked(*words):
    environment = {**os.environ, "LAB_ROOT": str(ROOT)}
    return subprocess.run([ROOT / "lab", "hint", *words], capture_output=True, text=True, env=environment)


def tasks(lab):
    """As the students' file has them."""
    return re.findall(r"case Rung::(\w+):", (ROOT / f"labs/{lab}/{lab}.cu").read_text(encoding="utf-8"))


class Hints(unittest.TestCase):
    def test_every_task_has_three_levels(self):
        for lab in LABS:
            self.assertGreater(len(tasks(lab)), 3)
            text = hint.handouts(ROOT)[lab].read_text(encoding="utf-8")
            for task in tasks(lab) if "<details>" in text else []:
                short, long = asked(lab, task), asked(lab, task, "--more")
                self.assertEqual((short.returncode, long.returncode), (0, 0), short.stderr + long.stderr)
                head = rf"\d\. {task}.*: (easy|medium|hard|very hard), about \d+ hours?\n"
                self.assertRegex(short.stdout, rf"\A{head}")
                self.assertIn("--more", short.stdout)
                self.assertGreater(len(short.stdout.splitlines()), 4)
                hinted = short.stdout[: short.stdout.index("\nPseudocode: ./lab")]
                self.assertTrue(long.stdout.startswith(hinted + "\nPseudocode:\n\n"))
                self.assertGreater(len(long.stdout[len(hinted) :].splitlines()), 8)

    def test_a_section_without_folds_is_the_hint(self):
        for lab in LABS:
            text = hint.handouts(ROOT)[lab].read_text(encoding="utf-8")
            for task in tasks(lab) if "<details>" not in text else []:
                said = asked(lab, task)
                self.assertEqual((said.returncode, said.stderr), (0, ""))
                self.assertIn("TODO(student)", said.stdout)

    def test_lines_have_80_columns_and_no_markup(self):
        for lab in LABS:
            page = hint.handouts(ROOT)[lab].read_text(encoding="utf-8")
            for task in tasks(lab):
                text = asked(lab, task, "--more").stdout
                if "<details>" not in page:  # code of the lab's file is as wide as there
                    text = re.sub(r"^  .*", "", text, flags=re.M)
                self.assertLessEqual(max(map(len, text.splitlines())), 80, task)
                self.assertNotRegex(text, r"`|\*\*|</?\w+>|\]\(")

    def test_without_a_task_all_are_listed(self):
        for lab in LABS:
            listed = asked(lab).stdout
            self.assertEqual(sorted(re.findall(r"^  (\w+)", listed, re.M)), sorted(tasks(lab)))

    def test_a_lab_without_a_handout_is_known(self):
        with tempfile.TemporaryDirectory() as folder:  # as the demonstration in the students' edition
            root = pathlib.Path(folder)
            (root / "handouts").mkdir()
            (root / "labs/demo").mkdir(parents=True)
            (root / "labs/demo/lab.hpp").touch()
            command = [sys.executable, ROOT / "common/tools/hint.py", "demo"]
            said = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "LAB_ROOT": folder}
            )
        self.assertEqual(
            (said.returncode, said.stderr),
            (1, "lab: demo has no handout, and so no hints: read labs/demo/demo.cu\n"),
        )

    def test_unknown_words_name_what_there_is(self):
        for words, there in {
            ("bogus",): "reduction, scan",
            ("scan", "bogus"): "hillis_steele, blelloch",
            ("blelloch",): "./lab hint scan blelloch",
        }.items():
            done = asked(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(there, " ".join(done.stderr.split()))

    def test_sections_end_at_the_next_heading(self):
        text = "### 1. `a`\n*Difficulty: easy. Time: about 1 hour.*\n### 2. `b` (bonus)\nx\n## Next\n*Difficulty: hard. Time: about 9 hours.*\n"
        sections = hint.tasks_of(text)
        self.assertEqual(
            [hint.effort(section) for _, section in sections.values()], [("easy", "about 1 hour"), None]
        )

    def test_markup_becomes_plain_text(self):
        self.assertEqual(
            hint.plain("**a** `b_c` *d* 2 * 3 [e](f.md)\ng\n\n```text\nif  x:\n```"),
            "a b_c d 2 * 3 e g\n\n  if  x:",
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
