#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of wrap_markdown.py, and whether the project's own prose is wrapped.

usage: wrap_markdown_test.py ROOT
"""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import wrap_markdown

ROOT = pathlib.Path(sys.argv[1]).resolve()
LONG = "word " * 40


def texts(*patterns):
    command = ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *(patterns or ["*.md"])]
    listed = subprocess.run(command, capture_output=True, text=True) if shutil.which("git") else None
    if listed is None or listed.returncode != 0:
        return []
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


class WrapMarkdown(unittest.TestCase):
    def test_prose_of_the_project_is_wrapped(self):
        found = [
            f"{p.relative_to(ROOT)}: {x}"
            for p in texts()
            for x in wrap_markdown.too_long(p.read_text("utf-8"))
        ]
        self.assertEqual(found, [], "\n" + "\n".join(found) + "\nRun ./lab format.")

    def test_comments_of_the_project_are_wrapped(self):
        found = [
            f"{path.relative_to(ROOT)}:{number}"
            for path in texts("*.cpp", "*.hpp", "*.h", "*.cu", "*.cuh")
            for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
            if len(line) > wrap_markdown.WIDTH and line.lstrip().startswith("//")
        ]
        self.assertEqual(found, [])

    def test_wrapping_twice_changes_nothing(self):
        for path in texts():
            once = wrap_markdown.wrapped(path.read_text("utf-8"))
            self.assertEqual(wrap_markdown.wrapped(once), once, path)

    def test_paragraphs_are_joined_and_wrapped(self):
        lines = wrap_markdown.wrapped(f"One\ntwo.\n{LONG}\n\nNext.\n").split("\n")
        self.assertTrue(lines[0].startswith("One two. word"))
        self.assertLessEqual(max(map(len, lines)), 110)
        self.assertEqual(lines[-3:], ["", "Next.", ""])

    def test_items_keep_their_indentation(self):
        lines = wrap_markdown.wrapped(f"1. {LONG}\n   - {LONG}\n2. b\n").split("\n")
        self.assertTrue(lines[1].startswith("   word"))
        self.assertTrue(lines[2].startswith("   - word") or lines[3].startswith("   - word"))
        self.assertEqual(lines[-2], "2. b")

    def test_what_is_no_prose_is_left_alone(self):
        for text in [
            f"| {LONG} |\n|---|\n",
            f"```\n{LONG}\n{LONG}\n```\n",
            f"# {LONG}\n",
            f"<!-- {LONG}\n{LONG} -->\n",
            "<details><summary>a</summary>\n\nb\n\n</details>\n",
            f"    {LONG}\n",
        ]:
            self.assertEqual(wrap_markdown.wrapped(text), text)

    def test_code_links_and_signs_are_not_broken(self):
        text = (
            ("abcdefgh " * 11)
            + "`a + b + c d e f` and a [link of several words](x.md#y) "
            + ("n + 1 - 2 " * 20)
        )
        lines = wrap_markdown.wrapped(text).split("\n")
        self.assertTrue(any("`a + b + c d e f`" in line for line in lines))
        self.assertTrue(any("[link of several words](x.md#y)" in line for line in lines))
        self.assertFalse([line for line in lines if line.startswith(("+", "-", "#", "1. "))])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
