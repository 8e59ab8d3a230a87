#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Removes labs from a copy of this checkout's sources, one at a time, adds one in their place, and configures
what is left.

usage: remove_test.py ROOT BUILD [LAB…]      the labs to remove, each from a copy of its own; default: all
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(ROOT / "common/tools/authoring"))
import check_course

LABS = check_course.labs_of_root(ROOT)
NEW = "eighth" + "_lab" * sum(lab.startswith("eighth") for lab in LABS)


def run(*command) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def meson() -> list[str]:
    found = shutil.which("meson")
    return [found] if found else [sys.executable, "-m", "mesonbuild.mesonmain"]


def configured(root: pathlib.Path, build: pathlib.Path) -> set[str]:
    """The names of a course's targets and tests."""
    native = BUILD / "lab-native.ini"
    options = ["--native-file", native] if native.is_file() else []
    run(*meson(), "setup", *options, build, root)
    names = set()
    for kind in ("targets", "tests"):
        listed = json.loads((build / f"meson-info/intro-{kind}.json").read_text(encoding="utf-8"))
        names |= {one["name"] for one in listed}
    return names


class Removal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "course"
        for part in ("common", "grader", "handouts", "labs", "solutions"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("meson.build", "meson_options.txt", "README.md"):
            shutil.copy(ROOT / name, self.root)

    def tearDown(self):
        self.folder.cleanup()

    def tool(self, name: str, *arguments: str) -> str:
        return run(sys.executable, self.root / f"common/tools/authoring/{name}.py", self.root, *arguments)

    def test_what_is_left_configures(self):
        for lab in sys.argv[3:] or LABS:
            with self.subTest(lab=lab):
                self.tool("remove_lab", lab, "--yes")
                self.tool("new_lab", NEW)
                left = [one for one in LABS if one != lab] + [NEW]
                self.assertEqual(check_course.labs_of_root(self.root), left)
                names = configured(self.root, self.root.parent / "build")
                runners = {name.removeprefix("runner_") for name in names if name.startswith("runner_")}
                self.assertEqual(runners & {*LABS, NEW}, set(left))
                folders = ("labs", "solutions", "grader/mutants", "grader/hostile")
                for place in [*(f"{folder}/{lab}" for folder in folders), f"solutions/peers/{lab}.cu"]:
                    self.assertFalse((self.root / place).exists(), place)
            self.tearDown()
            self.setUp()


unittest.main(argv=sys.argv[:1])
