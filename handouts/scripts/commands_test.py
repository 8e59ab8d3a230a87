#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every ./lab command that a text shows, so that none asks for what the tools do not have.

usage: commands_test.py LABCLI

A command of labcli is run as it stands, on the solutions (students' files are empty) and on the simulator,
where that is quick; the others are parsed to the end: their options must exist. Commands of
the `lab` script itself must be in its list.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "handouts/scripts"))
import links_test as links

LABCLI = pathlib.Path(sys.argv[1]).resolve()
# What the lab script does itself, from its own list.
SCRIPT = set(re.findall(r"^  ([a-z][a-z |-]*)\)\s", (ROOT / "lab").read_text(encoding="utf-8"), re.M))
SCRIPT = {word.strip() for words in SCRIPT for word in words.split("|")}
QUICK = {"trace", "profile", "list", "points"}  # the rest may take minutes, or a GPU
LABS = sorted(p.parent.name for p in ROOT.glob("labs/*/lab.hpp"))


def commands(text):
    """Each ./lab command of a text: in code, up to a comment or two spaces."""
    for code in re.findall(r"^ *```[^\n]*\n(.*?)^ *```|`([^`\n]+)`", text, re.M | re.S):
        for line in (code[0] or code[1]).splitlines():
            found = re.match(r"\s*(?:\$ |[0-9]> )?(?:[A-Z_]+=\S+ )*\./lab ([a-z][a-z-]*)( [^#|>…\n]*)?", line)
            if found:
                words = re.split(r"\s{2,}| && ", found[2] or "")[0].split()
                yield found[1], words


def texts():
    return sorted(
        {
            (name, tuple(words), str(page.relative_to(ROOT)))
            for page in links.texts(ROOT)
            for name, words in commands(page.read_text(encoding="utf-8"))
        }
    )


def stands_for_something(word):
    """LAB, FILE, DIR … in a synopsis, or a name with a hole in it."""
    return bool(re.search(r"[A-Z]{2,}|[\[\]<>*…\"']", word))


class Commands(unittest.TestCase):
    def test_exist_and_work(self):
        found = texts()
        self.assertGreater(len(found), 30)
        ran = set()
        listed = subprocess.run([LABCLI, "--help"], capture_output=True, text=True).stdout
        for name, words, page in found:
            with self.subTest(page=page, command=f"./lab {name} {' '.join(words)}"):
                if name in SCRIPT:
                    continue
                self.assertRegex(listed, rf"(?m)^  {name} ", "there is no such command")
                options = subprocess.run([LABCLI, name, "--help"], capture_output=True, text=True).stdout
                for word in words:
                    if word.startswith("--"):
                        self.assertIn(word.split("=")[0], options, "there is no such option")
                if any(stands_for_something(word) for word in words) or not words or words[0] not in LABS:
                    continue
                if name not in QUICK or (name, words) in ran:
                    continue
                ran.add((name, words))
                with tempfile.TemporaryDirectory() as folder:
                    solutions = (
                        [] if "--solutions" in words or name in ("list", "points") else ["--solutions"]
                    )
                    command = [LABCLI, name, *words, *solutions]
                    done = subprocess.run(
                        command, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL
                    )
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(ran), 8)

    def test_are_found_in_texts(self):
        text = "`./lab trace scan blelloch --step`\n```console\n$ ./lab grade scan    # all\n  LAB_SANDBOX=limits ./lab check scan   what\n```\n./lab not this"
        expected = [("check", ["scan"]), ("grade", ["scan"]), ("trace", ["scan", "blelloch", "--step"])]
        self.assertEqual(sorted(commands(text)), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
