#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the scripts in this folder. Python's unittest, one test per behaviour."""

import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import run_tests
import waiting

sys.path += [str(pathlib.Path(__file__).with_name(folder)) for folder in ("checks", "testing")]
import check_includes
import lines
import systems_table

ROOT = pathlib.Path(__file__).resolve().parents[2]


class IncludeRules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name in (
            "common/base/a.hpp common/harness/lab/a.hpp common/simulator/ptx/a.hpp "
            "common/simulator/sim/a.hpp common/simulator/cudart/a.hpp "
            "common/simulator/cudart/sim_control.h labs/registry.hpp labs/reduction/lab.hpp "
            "labs/scan/lab.hpp solutions/reduction/a.hpp solutions/device/tile.cuh grader/a.hpp"
        ).split():
            self.write(name, "")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def complaints(self, name: str, included: str) -> list[str]:
        return check_includes.wrong_includes(self.root, self.write(name, f'// top\n#include "{included}"\n'))

    def test_takes_what_the_architecture_allows(self):
        allowed = {
            "common/harness/lab/b.cpp": "base/a.hpp cudart/sim_control.h",
            "common/simulator/sim/b.cpp": "ptx/a.hpp",
            "common/simulator/cudart/b.cpp": "sim/a.hpp",
            "labs/reduction/reduction.cu": "reduction/lab.hpp",
            "labs/reduction/problem.cpp": "lab/a.hpp",
            "solutions/reduction/reduction.cu": "reduction/lab.hpp device/tile.cuh",
            "grader/mutants/reduction/m.cu": "reduction/lab.hpp device/tile.cuh",
            "grader/main.cpp": "registry.hpp sim/a.hpp fmt/format.h",
        }
        for name, included in [(name, one) for name, all_ in allowed.items() for one in all_.split()]:
            with self.subTest(name=name, included=included):
                self.assertEqual(self.complaints(name, included), [])

    def test_names_what_it_forbids(self):
        for name, included, target in [
            ("common/base/b.hpp", "lab/a.hpp", "common/harness/lab/a.hpp"),
            ("common/harness/lab/b.cpp", "ptx/a.hpp", "common/simulator/ptx/a.hpp"),
            ("common/simulator/ptx/b.cpp", "sim/a.hpp", "common/simulator/sim/a.hpp"),
            ("common/simulator/sim/b.cpp", "cudart/a.hpp", "common/simulator/cudart/a.hpp"),
            ("common/simulator/sim/b.cpp", "../../grader/a.hpp", "grader/a.hpp"),
            ("labs/reduction/reduction.cu", "sim/a.hpp", "common/simulator/sim/a.hpp"),
            ("labs/reduction/reduction.cu", "scan/lab.hpp", "labs/scan/lab.hpp"),
            ("labs/reduction/reduction.cu", "../../solutions/reduction/a.hpp", "solutions/reduction/a.hpp"),
            ("labs/reduction/reduction.cu", "device/tile.cuh", "solutions/device/tile.cuh"),
            ("solutions/device/b.cuh", "reduction/lab.hpp", "labs/reduction/lab.hpp"),
            ("solutions/reduction/reduction.cu", "scan/lab.hpp", "labs/scan/lab.hpp"),
            ("grader/mutants/reduction/m.cu", "grader/a.hpp", "grader/a.hpp"),
            ("grader/main.cpp", "solutions/reduction/a.hpp", "solutions/reduction/a.hpp"),
        ]:
            with self.subTest(name=name, included=included):
                complaints = self.complaints(name, included)
                self.assertEqual(len(complaints), 1)
                self.assertTrue(complaints[0].startswith(f"{name}:2: includes {target};"), complaints[0])

    def test_rooms_are_included_downwards_alone(self):
        for target in (
            "common/simulator/sim/types.hpp common/simulator/sim/device.hpp "
            "common/simulator/sim/memory/a.hpp common/simulator/sim/decode/a.hpp "
            "common/simulator/cudart/runtime/memory/a.hpp common/simulator/cudart/runtime/host/a.hpp "
            "grader/grading/planning/a.hpp grader/grading/scoring/a.hpp"
        ).split():
            self.write(target, "")
        for name, included, ok in [
            ("common/simulator/sim/machine/b.cpp", "sim/memory/a.hpp", True),
            ("common/simulator/sim/machine/b_test.cpp", "sim/decode/a.hpp", True),
            ("common/simulator/sim/device.cpp", "sim/decode/a.hpp", True),
            ("common/simulator/sim/machine/b.cpp", "sim/decode/a.hpp", False),
            ("common/simulator/sim/memory/b.hpp", "sim/device.hpp", False),
            ("common/simulator/sim/types.hpp", "sim/memory/a.hpp", False),
            ("common/simulator/sim/novel/b.hpp", "sim/memory/a.hpp", False),
            # Rooms of a room; in the runtime only the headers are layered.
            ("grader/grading/scoring/b.cpp", "grading/planning/a.hpp", True),
            ("grader/grading/planning/b.cpp", "grading/scoring/a.hpp", False),
            ("grader/grading/planning/b_test.cpp", "grading/scoring/a.hpp", True),
            ("common/simulator/cudart/runtime/host/b.hpp", "cudart/runtime/memory/a.hpp", True),
            ("common/simulator/cudart/runtime/memory/b.hpp", "cudart/runtime/host/a.hpp", False),
            ("common/simulator/cudart/runtime/memory/b.cpp", "cudart/runtime/host/a.hpp", True),
        ]:
            with self.subTest(name=name, included=included):
                self.assertEqual(self.complaints(name, included) == [], ok)

    def test_angle_brackets_and_macros_are_no_way_round(self):
        path = self.write("common/base/b.hpp", "#include <lab/a.hpp>\n# include HEADER\n")
        self.assertEqual(len(check_includes.wrong_includes(self.root, path)), 2)

    def test_imports_follow_the_rules_of_their_folders(self):
        for name in ("common/simulator/own.py", "common/tools/waiting.py", "grader/batch/book.py"):
            self.write(name, "import own\n" if "own" in name else "import json\n")
        self.write("handouts/a.py", "def f():\n    from waiting import wait\n")
        self.write("grader/b.py", "import waiting, book\n")
        self.assertEqual(check_includes.wrong_imports(self.root), [])
        self.write("common/simulator/c.py", "import json\nimport waiting\n")
        self.write("labs/d.py", "def f():\n    import book\n")
        self.assertEqual(
            check_includes.wrong_imports(self.root),
            [
                "common/simulator/c.py:2: imports waiting of common/tools",
                "labs/d.py:2: imports book of grader/batch",
            ],
        )

    def test_an_unknown_folder_needs_a_rule(self):
        path = self.write("common/new/b.hpp", "")
        self.assertIn("no rule", check_includes.wrong_includes(self.root, path)[0])


class TestWorkflows(unittest.TestCase):
    def test_actions_are_current_and_pinned_by_digest(self):
        oldest = {
            "actions/checkout": 5,
            "actions/cache": 5,
            "actions/upload-artifact": 6,
        }  # that run on Node 24
        found = set()
        root = pathlib.Path(__file__).resolve().parents[2]
        for folder in (".github/workflows", "grader/release/edition/.github/workflows"):
            for path in sorted((root / folder).glob("*.yml")):
                for line in re.findall(r"uses: *(.*)", path.read_text(encoding="utf-8")):
                    self.assertRegex(line, r"^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", path)
                    name, major = re.match(r"([\w/-]+)@.* # v(\d+)", line).groups()
                    self.assertGreaterEqual(int(major), oldest[name], path)
                    found.add(line)
        self.assertEqual(len(found), len(oldest), "one version of each")


class TestCount(unittest.TestCase):
    def count(self, cases: str, googletests=()) -> tuple[int, int, int]:
        counts = run_tests.count(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", set(googletests))
        return counts["passed"], counts["failed"], counts["skipped"]

    def test_counts_googletest_cases(self):
        cases = (
            '<testcase name="a" status="run"/>'
            '<testcase name="b" status="run"><failure message="no"/></testcase>'
            '<testcase name="c" status="run"><skipped message="no GPU"/></testcase>'
            '<testcase name="DISABLED_d" status="notrun"/>'
        )
        self.assertEqual(self.count(cases), (1, 1, 1))

    def test_counts_programs_that_are_no_googletest(self):
        cases = '<testcase name="p / a"/><testcase name="p / b"><failure/></testcase><testcase name="p / c"><skipped/></testcase>'
        self.assertEqual(self.count(cases), (1, 1, 1))

    def test_a_googletest_program_without_report_failed(self):
        self.assertEqual(self.count('<testcase name="p:s / a"/><testcase name="p / b"/>', {"a"}), (1, 1, 0))


class TestTargets(unittest.TestCase):
    def test_short_suite_needs_no_targets_of_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "meson-info").mkdir()
            targets = [{"id": name, "filename": [f"{build}/grader/{name}"]} for name in ("a", "b", "c")]
            tests = [
                {"name": "one", "suite": ["gpu-labs:grader"], "depends": ["a"]},
                {"name": "two", "suite": ["gpu-labs:grader", "gpu-labs:all-only"], "depends": ["a", "b"]},
                {"name": "three", "suite": ["gpu-labs:short-only"], "depends": ["c"]},
            ]
            (build / "meson-info/intro-targets.json").write_text(json.dumps(targets))
            (build / "meson-info/intro-tests.json").write_text(json.dumps(tests))
            self.assertEqual(run_tests.targets_of(build, set(), {"all-only"}), ["grader/a", "grader/c"])
            self.assertEqual(run_tests.targets_of(build, {"all-only"}, set()), ["grader/a", "grader/b"])
            self.assertEqual(
                run_tests.targets_of(build, {"short-only", "grader"}, {"all-only"}), ["grader/a", "grader/c"]
            )

    def test_other_arguments_are_up_to_meson(self):
        chosen = run_tests.suites_chosen
        self.assertEqual(chosen(["--suite", "sim", "--no-suite", "fuzz"]), ({"sim"}, {"fuzz"}))
        for arguments in (["ptx"], ["--suite", "sim", "ptx"], ["--suite", "sim", "-v"]):
            self.assertIsNone(chosen(arguments))


class Headers(unittest.TestCase):
    def test_files_that_join_include_the_header_of_newer_fmt(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        users = [
            path
            for folder in ["common", "grader", "labs", "solutions"]
            for path in (root / folder).rglob("*.[ch]pp")
        ]
        texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in users}
        users = {name: text for name, text in texts.items() if "fmt::join(" in text}
        self.assertGreater(len(users), 0)
        self.assertEqual([name for name, text in users.items() if "#include <fmt/ranges.h>" not in text], [])


class CompilerCache(unittest.TestCase):
    def test_shares_joined_sources_between_checkouts(self):
        tools = pathlib.Path(__file__).resolve().parent
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "another one"):
                root = pathlib.Path(folder).resolve() / name
                build = root / "build"
                joined = build / "x.p/x-unity0.cpp"
                (root / "common/tools").mkdir(parents=True)
                shutil.copytree(tools / "cache", root / "common/tools/cache")
                (root / "common/x.cpp").write_text("int x;\n")
                joined.parent.mkdir(parents=True)
                joined.write_text(f"#include<{build}/../common/x.cpp>\n")
                os.utime(joined, (1, 1))
                (root / "ccache").write_text('#!/bin/sh\nexec "$@"\n')
                (root / "ccache").chmod(0o755)
                environment = {**os.environ, "PATH": f"{root}:{os.environ['PATH']}"}
                ccache = root / "common/tools/cache/ccache"
                command = [ccache, "g++", "-g", "-S", joined.relative_to(build), "-o", "-"]
                done = subprocess.run(
                    command, cwd=build, env=environment, capture_output=True, text=True, check=True
                )
                self.assertIn("./../common/x.cpp", done.stdout)
                self.assertNotIn(folder, done.stdout)
                copy = joined.with_name("x-unity0.relative.cpp")
                self.assertEqual(
                    copy.stat().st_mtime, 1
                )  # a newer one would be compiled at every call of ninja
                seen.append((copy.read_text(), done.stdout))
        self.assertEqual(seen[0], seen[1])

    def test_cuda_objects_are_never_shared_between_checkouts(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        build = pathlib.Path(os.environ.get("LAB_BUILD", root / "build"))
        if not (build / "compile_commands.json").is_file():
            self.skipTest("there is no build")
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        cuda = [one["command"] for one in commands if one["file"].endswith(".cu")]
        self.assertGreater(len(cuda), 0)
        self.assertEqual([command for command in cuda if f"-DLAB_CHECKOUT={root}" not in command], [])


class SystemsTable(unittest.TestCase):
    def test_a_score_is_that_of_the_tasks_without_bonus(self):
        output = "  One launch (bonus)               OK                  20/20      206x     206x\n"
        output += "  solutions/reduction                                100/100  bonus 20/20\n\nSpeedup: modelled kernel time\n"
        self.assertEqual(systems_table.score(output), "100/100")
        self.assertEqual(systems_table.score("lab: refused\n"), "FAILED")


class Shown(unittest.TestCase):
    """waiting.py, with shorter times."""

    def shown(self, seconds, redraws):
        stream = io.StringIO()
        stream.isatty = lambda: redraws
        with unittest.mock.patch.multiple(waiting, QUIET_AT_FIRST=0.1, REDRAW=0.02, BETWEEN_LINES=0.2):
            with (
                unittest.mock.patch.dict(os.environ, {"TERM": "xterm"}),
                waiting.Waiting("Compiling a.cu", stream) as shown,
            ):
                shown.detail = "1 of 2"
                time.sleep(seconds)
        return stream.getvalue()

    def test_short_work_shows_nothing(self):
        for redraws in [True, False]:
            self.assertEqual(self.shown(0, redraws), "")

    def test_long_work_shows_how_far_it_is(self):
        self.assertRegex(self.shown(0.5, False), r"\A(lab: Compiling a.cu \(\d+ s\) 1 of 2\n)+\Z")
        self.assertRegex(
            self.shown(0.5, True), r"\A(\r\x1b\[Klab: Compiling a.cu \(\d+ s\) 1 of 2)+\r\x1b\[K\Z"
        )


class Help(unittest.TestCase):
    def test_lab_test_explains_itself_before_anything_is_built(self):
        for words in [["-h"], ["--help"], ["reduction", "--help"], ["--all", "--help"]]:
            command, environment = ["bash", ROOT / "lab", "test", *words], {"LAB_BUILD": "/nonexistent"}
            environment = os.environ | environment
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            self.assertIn("./lab test --all", done.stdout)
            self.assertIn("--gtest_filter", done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def lines_of(self, *command):
        environment = os.environ | {"COLUMNS": "80", "LAB_ROOT": str(ROOT), "LAB_BUILD": "/nonexistent"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        self.assertTrue(done.stdout.strip(), command)
        return done.stdout.splitlines()

    def test_every_help_fits_a_terminal(self):
        commands = [["bash", ROOT / "lab", "help"]]
        for command in ["setup", "play", "site", "format", "tidy", "hint"]:
            commands.append(["bash", ROOT / "lab", command, "--help"])
        programs = (
            "common/tools/watch.py common/harness/debugging/debug.py grader/batch/submit.py "
            "grader/batch/grade_all.py grader/desk/desk.py"
        )
        of_a_root = "common/tools/authoring/new_lab.py grader/release/release.py grader/gradescope/package.py"
        for before, names in [([], programs), ([ROOT], of_a_root)]:
            for program in names.split():
                if (ROOT / program).is_file():
                    commands.append([sys.executable, ROOT / program, *before, "--help"])
        for command in commands:
            for line in self.lines_of(*command):
                self.assertLessEqual(len(line), 80, command)

    def test_lab_test_knows_when_the_students_file_is_meant(self):
        with tempfile.TemporaryDirectory() as root:
            for folder in ["labs/scan", "solutions"]:
                pathlib.Path(root, folder).mkdir(parents=True)
            pathlib.Path(root, "labs/scan/scan.cu").touch()
            script = """eval "$(sed -n '/^tests_own_file()/,/^}/p' "$SCRIPT")"; tests_own_file "$@" """

            def own(*words):
                return (
                    subprocess.run(
                        ["bash", "-c", script, "lab", *words],
                        env={**os.environ, "LAB_ROOT": root, "SCRIPT": str(ROOT / "lab")},
                        check=False,
                    ).returncode
                    == 0
                )

            self.assertTrue(own("scan", "--mine"))
            self.assertTrue(own("scan", "--gtest_filter=blelloch.*"))
            for words in [[], ["scan"], ["--all"], ["lexer", "--mine"], ["scan", "-v"]]:
                self.assertFalse(own(*words), words)
            pathlib.Path(root, "solutions").rmdir()  # as in the student edition
            self.assertTrue(own("scan"))
            self.assertFalse(own("lexer"))


class Lines(unittest.TestCase):
    def test_counts_what_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                "common/base/a.hpp": "// why\n\nint a();  // what\n/* more\n*/\nint b();\n",
                "common/base/a_test.cpp": "int c();\n",
                "common/harness/lab/a.cpp": "int d();\n",
                "grader/batch/a.py": '"""What\n\nit does."""\n\n# why\nx = 1\n',
                "grader/desk/a.py": 'def f():\n    """What."""\n    return """\n  2\n"""\n\n\ny = """\n3\n"""\n',
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            subprocess.run(["git", "init", "-q", root], check=True)
            subprocess.run(["git", "-C", root, "add", "."], check=True)
            found = {room: dict(counter) for room, counter in lines.count(root).items()}
        wanted = {"common/base": {"C++": 2}, "common/harness/lab": {"C++": 1}, "tests": {"C++": 1}}
        wanted |= {"grader/batch": {"Python": 1}, "grader/desk": {"Python": 7}}
        self.assertEqual(found, wanted)

    def test_every_room_is_within_its_budget(self):
        self.assertEqual(lines.over_budget(lines.count(), lines.budget()), [])


if __name__ == "__main__":
    unittest.main()
