#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab gradescope, on this checkout.

usage: package_test.py ROOT
"""

import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "grader/release"))
import edition


def pack(*arguments):
    command = [sys.executable, "-B", ROOT / "grader/gradescope/package.py", ROOT, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


class Gradescope(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def test_the_package_holds_what_grading_needs_and_no_solution(self):
        out = self.dir / "autograder.zip"
        done = pack(out, "scan", "sat")
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(out) as archive:
            archive.extractall(self.dir / "source")
            names = archive.namelist()
            self.assertEqual(archive.read("labs.txt"), b"scan\nsat\n")
            self.assertEqual(archive.read("minutes.txt"), b"9\n")
            self.assertEqual(archive.read("isolation.txt"), b"limits\n")
            for program in ["setup.sh", "run_autograder", "grade_submission.py", "course/lab"]:
                self.assertTrue(archive.getinfo(program).external_attr >> 16 & 0o100, program)
        # What the build asks for, whether it is built or not.
        for name in (
            "grader/batch/ingest.py grader/batch/source_text.py labs/scan/problem.cpp "
            "labs/scan/scan_test.cpp handouts/02-scan.md"
        ).split():
            self.assertIn("course/" + name, names)
        self.assertFalse([name for name in names if "solutions/" in name or "mutants/" in name])
        for name in names:  # all else is as in the student edition
            self.assertTrue(edition.is_released(name.removeprefix("course/")) or "/" not in name, name)

    def test_the_same_course_gives_the_same_package(self):
        for name in ["a.zip", "b.zip"]:
            self.assertEqual(pack(self.dir / name).returncode, 0)
        self.assertEqual((self.dir / "a.zip").read_bytes(), (self.dir / "b.zip").read_bytes())

    def test_refuses_what_is_no_lab_and_no_archive(self):
        self.assertIn('no lab "bogus"', pack(self.dir / "a.zip", "bogus").stderr)
        self.assertIn(".zip", pack(self.dir / "a.tar").stderr)
        self.assertIn("can't be written", pack(self.dir / "none/a.zip").stderr)
        self.assertEqual(list(self.dir.iterdir()), [])

    FAKE_LAB = """#!/usr/bin/env python3
import json, pathlib, sys, time
option = dict(zip(sys.argv, sys.argv[1:]))
log = pathlib.Path("../../asked")
n_before = len(log.read_text().splitlines()) if log.exists() else 0
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + chr(10))
text = pathlib.Path("labs/scan/scan.cu").read_text(errors="replace")
time.sleep(60 if text == "hang" else 0)
fault = text.startswith("infra") and n_before < int(text.split()[1])
result = {"labs": [{"id": "scan", "title": "Scan", "tasks": [{"id": "one", "verdict": "INFRA" if fault else "OK"}]}]}
pathlib.Path(option["--json"]).write_text(json.dumps(result))
pathlib.Path(option["--gradescope"]).write_text(json.dumps({"score": 90, "output": "Graded.", "tests": []}))
sys.exit(fault)
"""

    def grade_on_gradescope(self, labs, files, minutes="9"):
        """run_autograder, with a ./lab that notes what it was asked; its exit code, results.json and what
        lies in the labs then."""
        source, submission = self.dir / "source", self.dir / "submission"
        shutil.rmtree(self.dir, ignore_errors=True)
        for name in ["scan", "sat", "histogram"]:
            (source / "course/labs" / name).mkdir(parents=True)
            (source / f"course/labs/{name}/{name}.cu").write_text("empty")
        shutil.copytree(ROOT / "grader/gradescope/files", source, dirs_exist_ok=True)
        for name in ["gradescope_export", "ingest", "names", "repository", "source_text", "unpack"]:
            (source / "course/grader/batch").mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / f"grader/batch/{name}.py", source / "course/grader/batch")
        (source / "labs.txt").write_text("\n".join(labs) + "\n")
        (source / "minutes.txt").write_text(minutes)
        (source / "isolation.txt").write_text("namespaces\n")
        (source / "course/lab").write_text(self.FAKE_LAB)
        (source / "course/lab").chmod(0o755)
        for name, data in files.items():
            path = submission / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(data, pathlib.Path):
                path.symlink_to(data)
            else:
                path.write_bytes(data.encode() if isinstance(data, str) else data)
        submission.mkdir(exist_ok=True)
        command = ["bash", source / "run_autograder"]
        done = subprocess.run(
            command, env={**os.environ, "AUTOGRADER": str(self.dir)}, capture_output=True, text=True
        )
        results = self.dir / "results/results.json"
        placed = {path.stem: path.read_text() for path in source.glob("course/labs/*/*.cu")}
        return done, json.loads(results.read_text()) if results.exists() else None, placed

    def test_a_submission_is_put_in_place_and_nothing_else_is_taken(self):
        files = {"labs/scan/scan.cu": "mine", "labs/scan/lab.hpp": "mine", "sat.cu": "flat"}
        files["histogram.cu"] = pathlib.Path("/etc/passwd")
        done, results, placed = self.grade_on_gradescope(["scan", "sat", "histogram"], files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(placed, {"scan": "mine", "sat": "flat", "histogram": "empty"})
        self.assertFalse((self.dir / "source/course/labs/scan/lab.hpp").exists())
        # As ./lab grade-all does: otherwise a case would be judged with fewer checks.
        self.assertIn(
            "grade scan sat histogram --device sim --graded --isolation namespaces",
            (self.dir / "asked").read_text(),
        )
        self.assertIn("histogram: submission/histogram.cu is a link", results["output"])

    def test_takes_what_grade_all_takes_and_says_why_not(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("labs/scan/scan.cu", "zipped")
        for files, taken, said in [
            ({"all.zip": packed.getvalue()}, "zipped", ""),
            ({}, "empty", "it is empty"),
            ({"scan.rar": b"Rar!\x1a\x07\x00"}, "empty", "RAR archive"),
            ({"scan.cu": "empty // mine"}, "empty // mine", "not changed"),
        ]:
            with self.subTest(files=files):
                done, results, placed = self.grade_on_gradescope(["scan"], files)
                self.assertEqual((done.returncode, placed["scan"]), (0, taken), done.stderr)
                self.assertEqual(results["score"], 90)
                self.assertIn(said, results["output"])
                self.assertEqual("scan: " in results["output"], said != "")

    def test_a_fault_of_the_machine_gives_no_score_and_an_exit_code(self):
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "infra 1"})
        self.assertEqual((done.returncode, results["score"]), (0, 90), "tried once more")
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "infra 2"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(results)
        self.assertIn("there is no score", done.stderr)

    def test_what_takes_too_long_gets_no_score_either(self):
        """Gradescope gives 0 points at its own limit, so this one must come first."""
        begun = time.monotonic()
        done, results, _ = self.grade_on_gradescope(["scan"], {"scan.cu": "hang"}, minutes="0.05")
        self.assertLess(time.monotonic() - begun, 30)
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(results)
        self.assertIn("stopped after 0.05 minutes", done.stderr)
        self.assertIn("--minutes takes", pack(self.dir / "a.zip", "--minutes", "0").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
