#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of new_lab.py and check_course.py: on copies of this checkout's sources, from which something is
taken away.

usage: course_test.py ROOT LABCLI [TEST…]      the checkout's labs may be incomplete: only what a change adds counts
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, LABCLI = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(ROOT / "common/tools/authoring"))
import check_course

CATALOGUE = json.loads(
    subprocess.run([LABCLI, "list", "--json"], check=True, capture_output=True, text=True).stdout
)
LABS = [lab["id"] for lab in CATALOGUE["labs"]]
NEW = "eighth" + "_lab" * sum(lab.startswith("eighth") for lab in LABS)


class Copy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for part in "labs solutions handouts grader/mutants common/tools common/harness/template".split():
            shutil.copytree(ROOT / part, self.root / part)
        for name in ["meson.build", "README.md"]:
            shutil.copy(ROOT / name, self.root)
        self.before = self.complaints()

    def tearDown(self):
        self.folder.cleanup()

    def complaints(self, catalogue=CATALOGUE):
        return list(check_course.complaints(self.root, catalogue))

    def added(self):
        """What is missing now and was not before."""
        return [complaint for complaint in self.complaints() if complaint not in self.before]


class Completeness(Copy):
    def test_the_list_of_labs_is_read(self):
        self.assertEqual(check_course.labs_of_root(self.root), LABS)

    def test_names_a_lab_that_a_readme_does_not_list(self):
        for name in ["README.md", "handouts/README.md"]:
            path = self.root / name
            text = path.read_text(encoding="utf-8")
            for lab in CATALOGUE["labs"]:
                page = lab["tasks"][0]["section"].split("#")[0].removeprefix("handouts/")
                path.write_text(
                    "".join(line for line in text.splitlines(True) if page not in line), encoding="utf-8"
                )
                self.assertEqual(self.added(), [f"{lab['id']}: {name} has no row with {page}"])
            path.write_text(text, encoding="utf-8")

    def test_names_each_handout_that_is_taken_away(self):
        for lab in CATALOGUE["labs"]:
            path = lab["tasks"][0]["section"].split("#")[0]
            (self.root / path).unlink()
            self.assertIn(f"{lab['id']}: {path} is missing", self.complaints())

    def test_names_rungs_that_change_places(self):
        for lab in CATALOGUE["labs"]:
            ids = [rung["id"] for rung in lab["tasks"] + lab["further_rungs"]]
            if len(ids) < 2:
                continue
            path = self.root / f"labs/{lab['id']}/lab.hpp"
            kept = path.read_text(encoding="utf-8")
            start = kept.index("enum class Rung")
            swapped = re.sub(
                rf"\b{ids[0]}\b(.*?)\b{ids[1]}\b", rf"{ids[1]}\1{ids[0]}", kept[start:], count=1, flags=re.S
            )
            path.write_text(kept[:start] + swapped, encoding="utf-8")
            self.assertTrue(
                any(c.startswith(f"{lab['id']}: Rung in lab.hpp lists") for c in self.complaints()), lab["id"]
            )
            path.write_text(kept, encoding="utf-8")

    def test_names_a_lab_whose_mutants_are_taken_away(self):
        for lab in LABS:
            shutil.rmtree(self.root / "grader/mutants" / lab)
            told = [c for c in self.added() if c.startswith(f"{lab}:")]
            self.assertEqual(len(told), 2)
            self.assertIn("0 wrong submissions", told[0])

    def test_names_a_mutant_that_nobody_runs(self):
        (self.root / f"grader/mutants/{LABS[0]}/forgotten.mutant").write_text("// verdict: OK\n")
        self.assertEqual(len(self.added()), 1)
        self.assertIn("does not list forgotten", self.added()[0])

    def test_names_a_section_that_a_task_points_to_in_vain(self):
        lab = CATALOGUE["labs"][0]
        path, anchor = lab["tasks"][0]["section"].split("#")
        text = (self.root / path).read_text(encoding="utf-8")
        (self.root / path).write_text(text.replace(f'<a id="{anchor}"></a>', ""), encoding="utf-8")
        self.assertIn(f"has no section {anchor}", self.added()[0])


class NewLab(Copy):
    def new(self, *arguments):
        command = [sys.executable, self.root / "common/tools/authoring/new_lab.py", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_is_one_line_in_the_list_and_lacks_but_its_own_content(self):
        before = (self.root / "meson.build").read_text().splitlines()
        done = self.new(NEW, "--title", "An eighth lab")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = (self.root / "meson.build").read_text().splitlines()
        self.assertEqual([line for line in after if line not in before], [f"  '{NEW}',"])
        self.assertEqual(check_course.labs_of_root(self.root), [*LABS, NEW])
        self.assertEqual(self.added(), [f"{NEW}: the registry does not have it"])  # until it is built
        lacks = [complaint for complaint in self.complaints(self.built()) if complaint not in self.before]
        self.assertEqual(lacks, [f"{NEW}: grader/mutants/{NEW} has 1 wrong submissions, 3 are the least"])
        for complaint in lacks:
            self.assertIn(complaint, done.stdout)
        for path in self.root.rglob(f"*{NEW}*/**/*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(encoding="utf-8"), "LAB_(ID|TITLE|HANDOUT|NUMBER)")

    def built(self):
        """What the registry has when the new lab is built."""
        (page,) = (self.root / "handouts").glob("*-" + NEW.replace("_", "-") + ".md")
        place = page.relative_to(self.root)
        tasks = [{"id": task, "section": f"{place}#{task}"} for task in ("serial", "shared")]
        new = {"id": NEW, "max_points": 100, "tasks": tasks, "further_rungs": []}
        return {"labs": [*CATALOGUE["labs"], new]}

    def test_stands_in_both_readmes(self):
        self.assertEqual(self.new(NEW, "--title", "An eighth lab").returncode, 0)
        page = next((self.root / "handouts").glob("*-" + NEW.replace("_", "-") + ".md"))
        number = int(page.name[:2])
        self.assertIn(
            f"| {number} An eighth lab | `labs/{NEW}/{NEW}.cu` | [{page.stem}](handouts/{page.name}) |\n\n",
            (self.root / "README.md").read_text(encoding="utf-8"),
        )
        rows = (self.root / "handouts/README.md").read_text(encoding="utf-8").splitlines()
        self.assertEqual(
            [f"[Lab {number}: An eighth lab]({page.name})" in row for row in rows].count(True), 1
        )

    def test_the_course_with_it_gives_a_plain_list_and_no_tracebacks(self):
        self.assertEqual(self.new(NEW).returncode, 0)
        labcli = self.root / "labcli"
        labcli.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(self.built())}\nEND\n")
        labcli.chmod(0o755)
        command = [sys.executable, self.root / "common/tools/authoring/check_course.py", self.root, labcli]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(done.stdout.splitlines(), self.complaints(self.built()))
        tests = [
            "Completeness",
            "NewLab.test_is_one_line_in_the_list_and_lacks_but_its_own_content",
            "NewLab.test_overwrites_nothing",
        ]
        done = subprocess.run(
            [sys.executable, __file__, self.root, labcli, *tests], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_includes_are_sorted_whatever_its_name(self):
        self.assertEqual(self.new("zebra").returncode, 0)
        for path in [*self.root.rglob("zebra/*.cpp"), *self.root.rglob("zebra/*.cu")]:
            for block in re.findall(r'(?:^#include ".*\n)+', path.read_text(encoding="utf-8"), re.M):
                self.assertEqual(block.splitlines(), sorted(block.splitlines()), path.name)

    def test_names_that_would_break_the_build_are_refused(self):
        header = self.root / "common/simulator/sim/device.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        if not header.exists():
            header.write_text("namespace course::sim {}\n")
        before = (self.root / "meson.build").read_text()
        refused = dict.fromkeys(["class", "int", "std", "errno"], "no namespace")
        refused |= {"sim": "namespace of the course", "demo": "student edition's demonstration"}
        for name, why in (refused | {"labs": "parts_of_labs"}).items():
            done = self.new(name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)
        self.assertEqual((self.root / "meson.build").read_text(), before)

    def remove(self, *arguments):
        command = [sys.executable, self.root / "common/tools/authoring/remove_lab.py", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def contents(self):
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def test_a_removed_lab_leaves_nothing_behind(self):
        before = self.contents()
        self.assertEqual(self.new(NEW, "--title", "An | lab").returncode, 0)
        done = self.remove(NEW)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--yes", done.stderr)
        self.assertIn(f"labs/{NEW}", done.stderr)
        self.assertTrue((self.root / "labs" / NEW).exists(), "nothing is removed without --yes")
        done = self.remove(NEW, "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.contents(), before)

    def test_a_removed_lab_of_the_course_is_named_where_others_mention_it(self):
        done = self.remove(LABS[0], "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(check_course.labs_of_root(self.root), LABS[1:])
        self.assertIn("These files mention it", done.stdout)
        stem = LABS[0].replace("_", "-")
        self.assertEqual([p.name for p in self.root.rglob(f"[0-9][0-9]-{stem}*.md")], [])
        self.assertIn("handouts/", done.stdout)

    def test_only_labs_are_removed(self):
        for name, part in (
            ("reductoin", "Did you mean reduction?"),
            ("../x", "There is no lab"),
            ("device", "There is no"),
        ):
            done = self.remove(name, "--yes")
            self.assertEqual(done.returncode, 1)
            self.assertIn(part, done.stderr)

    def test_overwrites_nothing(self):
        done = self.new(LABS[0])
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"labs/{LABS[0]} is there already", done.stderr)

    def test_refuses_what_can_be_no_name(self):
        for name in ["Eighth", "8th", "a-b", "../x", "a b", ""]:
            with self.subTest(name=name):
                self.assertEqual(self.new(name).returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
