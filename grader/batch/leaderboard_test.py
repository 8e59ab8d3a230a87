#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of leaderboard.py, on a gradebook with the tables of gradebook.py."""

import contextlib
import io
import pathlib
import re
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gradebook
import leaderboard

# student, task, verdict, bonus, speedup; a submission for each
GRADES = [
    ("Ada", "look_back", "OK", 1, 12.5),
    ("Ada", "look_back", "OK", 1, 31.0),
    ("Ada", "look_back", "CRASH", 1, None),
    ("Bo", "look_back", "OK", 1, 31.0),
    ("Cy", "look_back", "OK", 1, 90.0),
    ("Di", "look_back", "WRONG_ANSWER", 1, None),
    ("Ada", "chained", "OK", 0, 99.0),
    ("Ed", "look_back", "OK", 1, 8.0),
]


class Leaderboard(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        with contextlib.closing(sqlite3.connect(self.dir / "gradebook.sqlite")) as db, db:
            db.executescript(gradebook.SCHEMA)
            for student in sorted({row[0] for row in GRADES}):
                db.execute("INSERT INTO students VALUES (?, ?)", (student, student.lower()))
            for number, (student, task, verdict, bonus, speedup) in enumerate(GRADES, 1):
                db.execute(
                    "INSERT INTO submissions VALUES (?, ?, 'scan', '', '', 0, '', '', 'graded', 0, 0, 0, '', '', 0)",
                    (number, student),
                )
                db.execute(
                    "INSERT INTO tasks VALUES (?, ?, ?, 0, 0, ?, ?, '')",
                    (number, task, verdict, bonus, speedup),
                )

    def made(self, names):
        (self.dir / "names.csv").write_text(names, encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = leaderboard.main([str(self.dir), str(self.dir / "names.csv"), str(self.dir / "out.html")])
        return code, said.getvalue(), (self.dir / "out.html").read_text(encoding="utf-8") if code == 0 else ""

    def test_shows_those_alone_who_take_part(self):
        code, said, page = self.made("Ada,Tiger\nBo,Lynx\nDi,Puma\nEd,<b>Fox\n")
        self.assertEqual((code, said), (0, ""))
        rows = re.findall(r"<td class=number>(\d+)</td><td>(.*?)</td><td class=number>(.*?)</td>", page)
        self.assertEqual(
            rows, [("1", "Lynx", "31.0×"), ("1", "Tiger", "31.0×"), ("3", "&lt;b&gt;Fox", "8.0×")]
        )
        for hidden in ["Ada", "Bo", "Cy", "90.0", "Puma", "chained", "99.0"]:
            self.assertNotIn(hidden, page)

    def test_nobody_takes_part_without_a_pseudonym(self):
        code, _, page = self.made("")
        self.assertEqual(code, 0)
        self.assertNotIn("<table>", page)

    def test_refuses_names_that_are_wrong(self):
        for names, words in [
            ("Ada\n", "line 1"),
            ("Ada,\n", "line 1"),
            ("Ada,x\nAda,y\n", "twice"),
            ("Ada,x\nBo,X\n", "two students"),
            ("Zoe,x\n", "no Zoe"),
        ]:
            code, said, _ = self.made(names)
            self.assertEqual(code, 1, names)
            self.assertIn(words, said)

    def test_refuses_a_folder_that_is_not_graded(self):
        (self.dir / "gradebook.sqlite").unlink()
        self.assertIn("grade the class first", self.made("Ada,x\n")[1])


if __name__ == "__main__":
    unittest.main()
