#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab completion: in real shells, with the built command line.

usage: completion_test.py ROOT BUILD
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ENVIRONMENT = {**os.environ, "LAB_ROOT": str(ROOT), "LAB_BUILD": str(BUILD)}


def script(shell):
    return subprocess.run(
        [ROOT / "lab", "completion", shell], check=True, capture_output=True, text=True, env=ENVIRONMENT
    ).stdout


def completed(shell, *words):
    """What the shell offers for the last of `words`."""
    line = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _lab_complete; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    if shell == "zsh":  # as bashcompinit calls it
        asked = f"emulate -L bash; setopt ksharrays; {asked}"
    done = subprocess.run(
        [shell, "-c", script(shell) + "\n" + asked], capture_output=True, text=True, cwd=ROOT
    )
    # zsh's compgen leaves it to what comes after it to drop what does not begin with the word.
    return (
        sorted(word for word in done.stdout.split() if word.startswith(words[-1]))
        if done.returncode == 0
        else done.stderr
    )


class Completion(unittest.TestCase):
    shell = "bash"

    def test_commands_of_labcli_and_of_the_script(self):
        offered = completed(self.shell, "./lab", "")
        for name in ["grade", "report", "trace", "doctor", "test", "completion", "release", "tidy"]:
            self.assertIn(name, offered)
        for hidden in ["describe", "probe-gpu", "help"]:
            self.assertNotIn(hidden, offered)
        self.assertEqual(completed(self.shell, "./lab", "gra"), ["grade", "grade-all", "gradescope"])

    def test_labs_options_and_what_they_take(self):
        self.assertEqual(completed(self.shell, "./lab", "grade", "red"), ["reduction"])
        self.assertIn("--solutions", completed(self.shell, "./lab", "grade", "--"))
        self.assertEqual(completed(self.shell, "./lab", "grade", "--solutions", "red"), ["reduction"])
        self.assertEqual(completed(self.shell, "./lab", "grade", "--device", ""), ["auto", "gpu", "sim"])

    def test_tasks_of_the_lab_that_is_named(self):
        self.assertEqual(completed(self.shell, "./lab", "grade", "reduction", "--task", "sh"), ["shuffle"])
        self.assertEqual(completed(self.shell, "./lab", "trace", "reduction", "sh"), ["shuffle"])
        self.assertNotIn("README.md", completed(self.shell, "./lab", "grade", "--task", ""))

    def test_what_class_takes(self):
        self.assertEqual(
            completed(self.shell, "./lab", "class", ""),
            ["export", "feedback", "grades", "new", "show"],
        )
        self.assertEqual(completed(self.shell, "./lab", "class", "ex"), ["export"])
        self.assertIn("--dry-run", completed(self.shell, "./lab", "class", "grades", "term", "--"))
        self.assertEqual(completed(self.shell, "./lab", "class", "new", "--roster", "READ"), ["README.md"])

    def test_files_where_an_option_takes_any(self):
        self.assertEqual(completed(self.shell, "./lab", "report", "--html", "READ"), ["README.md"])


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class InZsh(Completion):
    shell = "zsh"


class Usage(unittest.TestCase):
    def test_names_the_shells(self):
        done = subprocess.run(
            [ROOT / "lab", "completion", "fish"], capture_output=True, text=True, env=ENVIRONMENT
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("bash|zsh", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
