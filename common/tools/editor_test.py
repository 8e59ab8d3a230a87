#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What .vscode/ starts is what is built: its programs, tests and commands, for every lab.

usage: editor_test.py ROOT BUILD
"""

import json
import os
import pathlib
import re
import sys
import unittest

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
LABS = sorted(path.parent.name for path in ROOT.glob("labs/*/lab.hpp"))


def read(name):
    """A file of VS Code's, which may have comments on lines of their own."""
    text = (ROOT / ".vscode" / name).read_text(encoding="utf-8")
    return json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))


def built(kind):
    return json.loads((BUILD / f"meson-info/intro-{kind}.json").read_text())


def for_lab(lab, word):
    """What VS Code makes of a word if a file of the lab is open."""
    word = word.replace("${workspaceFolder}/build", str(BUILD)).replace("${workspaceFolder}", str(ROOT))
    return word.replace("${fileDirnameBasename}", lab)


class Editor(unittest.TestCase):
    def setUp(self):
        self.tasks = {task["label"]: task for task in read("tasks.json")["tasks"]}
        self.launches = read("launch.json")["configurations"]
        self.in_gdb = [launch for launch in self.launches if launch["type"] == "cppdbg"]
        programs = [target for target in built("targets") if target["type"] == "executable"]
        self.programs = {file for program in programs for file in program["filename"]}

    def test_every_program_is_built(self):
        for launch in self.in_gdb:
            for lab in LABS:
                with self.subTest(launch["name"], lab=lab):
                    self.assertIn(for_lab(lab, launch["program"]), self.programs)

    def test_a_task_builds_each_program_first(self):
        for launch in self.in_gdb:
            arguments = self.tasks[launch["preLaunchTask"]]["args"]
            self.assertEqual(arguments[0], "setup")
            for lab in LABS:
                made = {str(BUILD / for_lab(lab, word)) for word in ["grader/labcli", *arguments[1:]]}
                with self.subTest(launch["name"], lab=lab):
                    self.assertIn(for_lab(lab, launch["program"]), made)
                    self.assertLessEqual(made, self.programs)

    def test_f5_starts_the_kernel_debugger(self):
        extension = ROOT / "common/tools/vscode"
        (debugger,) = json.loads((extension / "package.json").read_text())["contributes"]["debuggers"]
        adapter = extension / debugger["program"]
        self.assertTrue(os.access(adapter, os.X_OK))
        (started,) = re.findall(r'/(\.\./\S*lab)" debug --dap', adapter.read_text())
        self.assertTrue(os.path.samefile(extension / started, ROOT / "lab"))
        # What ./lab builds for it, and its adapter runs.
        self.assertIn("debugger", [target["name"] for target in built("targets")])
        self.assertIn("debug) set_up && build tools debugger", (ROOT / "lab").read_text(encoding="utf-8"))

        first = self.launches[0]  # what F5 takes until somebody chooses another one
        self.assertEqual(first["type"], debugger["type"])
        known = debugger["configurationAttributes"]["launch"]["properties"]
        self.assertLessEqual(set(first) - {"name", "type", "request"}, set(known))
        inputs = {one["id"] for one in read("launch.json")["inputs"]}
        self.assertEqual(re.findall(r"\$\{input:(\w+)\}", json.dumps(first)), ["task"])
        self.assertIn("task", inputs)
        for lab in LABS:
            self.assertEqual(for_lab(lab, first["lab"]), lab)
            self.assertTrue((ROOT / "labs" / lab / f"{lab}.cu").is_file())

    def test_every_command_and_test_exists(self):
        script, header = (ROOT / name for name in ["lab", "grader/cli/commands.hpp"])
        known = set(
            re.findall(r"^  ([a-z][a-z-]*)(?: \| [^)]*)?\)", script.read_text(encoding="utf-8"), re.M)
        )
        known |= set(re.findall(r"\badd_(\w+)", header.read_text(encoding="utf-8")))
        tests = {test["name"] for test in built("tests")}
        for label, task in self.tasks.items():
            with self.subTest(label):
                if task["type"] == "process":
                    self.assertTrue(os.access(for_lab("scan", task["command"]), os.X_OK))
                    continue
                self.assertEqual(task["command"], "./lab")
                self.assertIn(task["args"][0], known)
                if task["args"][0] == "test":
                    self.assertLessEqual({for_lab(lab, task["args"][1]) for lab in LABS}, tests)

    def test_programs_find_the_tools(self):
        for launch in self.in_gdb:
            for variable in launch["environment"]:
                for path in for_lab("scan", variable["value"]).split(":"):
                    if path.startswith(str(ROOT)) and not path.startswith(str(ROOT / ".venv")):
                        self.assertTrue(os.path.exists(path), path)


class EditorTasks(unittest.TestCase):
    """.vscode/tasks.json: what a student's editor marks."""

    def setUp(self):
        self.matchers = read("tasks.json")["problemMatcher"]

    def places(self, line):
        """(file, line, message) by each matcher that takes the line."""
        found = []
        for matcher in self.matchers:
            pattern = matcher["pattern"]
            if match := re.match(pattern["regexp"], line):
                found.append((match[pattern["file"]], match[pattern["line"]], match[pattern["message"]]))
        return found

    def test_marks_compiler_errors(self):
        error = "  labs/reduction/reduction.cu(12): error: expected a declaration"
        self.assertEqual(
            self.places(error), [("labs/reduction/reduction.cu", "12", "expected a declaration")]
        )

    def test_marks_findings_of_the_checkers(self):
        for line in [
            "  scan.cu:31 and scan.cu:33: two threads use s_data[17] without a barrier",
            "  cause: write at scan.cu:31 (thread 3 of block 0)",
            "  thread 3 of block 0 writes s_data[17] at labs/scan/scan.cu:31 without a barrier",
            "    memcheck: a read past the end (scan.cu:31)",
        ]:
            self.assertEqual([place[:2] for place in self.places(line)], [("scan.cu", "31")], line)

    def test_marks_nothing_else(self):
        for line in [
            "  run it again:  ./lab grade scan --case x",
            "  12:31 o'clock",
            "  labs/scan                  0/100",
        ]:
            self.assertEqual(self.places(line), [], line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
