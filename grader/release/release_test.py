#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab release, on this checkout.

usage: release_test.py ROOT
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
OWN = ROOT / "grader/release/edition"
sys.path.insert(0, str(ROOT / "grader/release"))
import edition
import prebuilt_tools
import release
import update

LABS = edition.labs_of_root(ROOT)


def run(*command, **environment):
    return subprocess.run(
        [sys.executable, "-B", *command], capture_output=True, text=True, env=os.environ | environment
    )


def run_release(*arguments, **environment):
    return run(ROOT / "grader/release/release.py", ROOT, *arguments, **environment)


def code_of(line):
    """What may be code in a line: before a comment, in backticks, behind the numbers of a profile. Without blanks."""
    return ["".join(part.split()) for part in re.split(r"\s{2,}|`|//", line)]


# Lines that pages teach on purpose: a loop with the grid's stride, and a mistake with a barrier.
MEANT = {"conststd::uint64_tn_threads=std::uint64_t{gridDim.x}*blockDim.x;", "if(column>=width)return;"}


def secrets():
    """Lines of code that students have to write: those of the solutions that are given nowhere."""
    solutions = [path.read_text() for path in sorted((ROOT / "solutions").glob("*/*.cu"))]
    solutions = [text for text in solutions if "//@solution" in text]
    host = [
        p for top in ("labs", "common") for p in (ROOT / top).rglob("*.[hc]pp") if "template" not in p.parts
    ]
    host += (ROOT / "labs").glob("*/given.cuh")
    kernels = [ROOT / edition.KERNELS / name for name in edition.SHOWN if name.endswith(".cu")]
    given = [
        *map(edition.skeleton, solutions),
        *(path.read_text() for path in [*host, *kernels, edition.TEMPLATE / "solution/LAB_ID.cu"]),
    ]
    known = {part for text in given for line in text.splitlines() for part in code_of(line)}
    lines = {part for text in solutions for line in text.splitlines() for part in code_of(line)[:4]}
    return {line for line in lines if len(line) >= 24} - known - MEANT


# Why kernels outside of the labs may be in an edition: none of them solves a task.
KERNELS = {
    "common/harness/bench/ceilings.cu": ("copy read", "the rate of the memory: copies and adds up words"),
    "common/harness/bench/gate.cu": ("wait_for_host note_end", "a stream waits for the host"),
    "common/harness/runner/go_kernels.cu": (
        "unmask_words digest_words",
        "hides inputs, sums up outputs by atomics",
    ),
    "common/simulator/sim/checkers/kernels/errata.cu": (
        "erratum_1_guard_with_tid erratum_2_returns_before_barrier erratum_3_partner_past_end "
        "erratum_4_scan_in_place erratum_6_down_sweep erratum_14_guard_with_unpadded_n",
        "faulty; handouts/errata.md shows them",
    ),
    "common/simulator/sim/checkers/kernels/memory_model.cu": (
        "example_1_plain_flag example_2_relaxed_flag example_3_release_and_acquire example_4_two_fences "
        "example_5_scope_of_block example_6_relaxed_ticket example_7_ticket "
        "example_8_waits_for_a_later_block example_9_waits_for_an_earlier_ticket example_10_load_and_store",
        "a flag or a ticket, and no more; handouts/memory-model.md explains them",
    ),
    "common/simulator/sim/conformance/functions/functions.cu": ("evaluate", "one mathematical function"),
    "handouts/library/groups.cu": ("warp_calls block_calls", "calls of a library that labs may not use"),
}
KERNEL = re.compile(r"__global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(|^KERNEL\((\w+)\)", re.M)


def kernels_of(text):
    return [name or by_macro for name, by_macro in KERNEL.findall(text)]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def git(self, *arguments, at=None):
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        return subprocess.run(
            ["git", "-C", at or self.repository, *who, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()


class EditionTests:
    """What holds in every edition of this very checkout."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.out = cls.repository = cls.dir / "edition"
        done = run_release(cls.out, *cls.OPTIONS)
        assert done.returncode == 0, done.stderr
        cls.names = {
            path.relative_to(cls.out).as_posix()
            for path in cls.out.rglob("*")
            if path.is_file() and ".git" not in path.relative_to(cls.out).parts
        }

    def test_instructors_files_stay_behind(self):
        for name in self.names:
            self.assertNotRegex(
                name,
                r"^(solutions|grader/(mutants|hostile|release|gradescope|desk)|handouts/(instructor|scripts))",
            )
            self.assertFalse("_test." in name and not name.startswith("labs/"), name)

    def test_labs_start_from_the_skeleton(self):
        for lab in self.LABS:
            skeleton = edition.skeleton((ROOT / f"solutions/{lab}/{lab}.cu").read_text())
            self.assertEqual((self.out / f"labs/{lab}/{lab}.cu").read_text(), skeleton)
            self.assertLessEqual({f"labs/{lab}/lab.hpp", f"labs/{lab}/{lab}_test.cpp"}, self.names)

    def test_links_lead_somewhere(self):
        done = run(ROOT / "handouts/scripts/links_test.py", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_build_misses_nothing(self):
        if not shutil.which("meson") or not shutil.which("nvcc"):
            self.skipTest("no meson or no nvcc on PATH")
        build = self.dir / "build"
        done = subprocess.run(["meson", "setup", build, self.out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        listed = subprocess.run(["meson", "introspect", "--targets", build], capture_output=True, text=True)
        runners = {target["name"] for target in json.loads(listed.stdout)}
        self.assertLessEqual({f"runner_{lab}" for lab in ["demo", *self.LABS]}, runners)

    def test_it_is_a_clean_repository_with_one_commit(self):
        self.assertEqual(EditionTests.git(self, "status", "--porcelain"), "")
        self.assertEqual(EditionTests.git(self, "rev-list", "--all", "--count"), "1")

    git = InFolder.git


class Edition(EditionTests, unittest.TestCase):
    """Of all labs."""

    LABS, OPTIONS = LABS, []

    def test_no_line_of_a_solution_stands_anywhere(self):
        secret = secrets()
        self.assertGreater(len(secret), 800)
        shown = [
            f"{name}: {line}"
            for name in self.names
            for line in (self.out / name).read_text(encoding="latin-1").splitlines()
            if not secret.isdisjoint(code_of(line))
        ]
        self.assertEqual(shown, [])

    def test_every_kernel_has_a_reason_to_be_there(self):
        found = {}
        for name in self.names:
            if name.endswith((".cu", ".cuh", ".hpp", ".cpp")) and not name.startswith("labs/"):
                kernels = kernels_of((self.out / name).read_text(encoding="utf-8"))
                found |= {name: " ".join(kernels)} if kernels else {}
        del found["common/simulator/sim/checkers/kernels/kernels.cuh"]  # the macro KERNEL
        self.assertEqual(found, {name: kernels for name, (kernels, _) in KERNELS.items()})

    def test_kernels_are_found(self):
        text = "__global__ void __launch_bounds__(256, 2)\n    a(int n) {\n__global__ void b(int n) {\n"
        self.assertEqual(kernels_of(text + "KERNEL(c) {\n"), ["a", "b", "c"])

    def test_a_line_of_a_solution_is_found(self):
        line = "s_data[tid] = op(s_data[tid], s_data[tid + stride]);  // why"
        for text in [line, f"| cell | `{line}` |", f"  41% ████   91%   173  {line}", f"hint:   {line}"]:
            self.assertIn("s_data[tid]=op(s_data[tid],s_data[tid+stride]);", code_of(text))

    def test_problem_of_the_template_compiles(self):
        parts = [self.out / part for part in ("labs", "common", "common/harness", "common/simulator")]
        flags = ["-std=c++20", "-fsyntax-only", *(f"-I{part}" for part in parts)]
        command = ["g++", *flags, self.out / "labs/demo/problem.cpp"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_kernels_of_pages_are_programs(self):
        for file, prefix in {"errata": "erratum", "memory_model": "example"}.items():
            source = (self.out / f"common/simulator/sim/checkers/kernels/{file}.cu").read_text()
            launches = re.findall(
                rf"^// LAUNCH (\d+) (\d+)(?: n (\d+))?\nKERNEL\(({prefix}_(\d+)_\w+)\)", source, re.M
            )
            table = re.findall(r"\{(\d+), (\w+), (\d+), (\d+), (\d+)\}", source)
            self.assertGreater(len(table), 4)
            self.assertEqual(
                [(number, name, grid, block, n or "4096") for grid, block, n, name, number in launches], table
            )

    def test_the_demonstration_is_solved_and_not_submitted(self):
        self.assertNotIn("TODO", (self.out / "labs/demo/demo.cu").read_text())
        fake = self.dir / "labcli"
        listed = json.dumps({"labs": [{"id": lab} for lab in ["demo", *self.LABS]]})
        fake.write_text(f"#!/bin/sh\necho '{listed}'\n")
        fake.chmod(0o755)
        code = "import sys; sys.path.insert(0, sys.argv[1]); import submit; print(*submit.labs_here(sys.argv[2], []))"
        done = run("-c", code, self.out / "grader/batch", fake)
        self.assertEqual((done.stdout.split(), done.stderr), (self.LABS, ""))

    def test_programs_stay_programs(self):
        for name in ["lab", ".github/grade.sh", "common/tools/cache/ccache"]:
            self.assertTrue((self.out / name).stat().st_mode & 0o100, name)

    def test_workflows_name_files_that_are_there(self):
        for name in [".github/workflows/grade.yml", ".gitlab-ci.yml"]:
            text = (self.out / name).read_text()
            self.assertIn(".github/grade.sh", text)
            for path in re.findall(r"(?<=[\[ '])(?:common|labs|grader)/[\w./*-]+", text):
                self.assertTrue(list(self.out.glob(path)), f"{name}: {path}")

    def test_an_edition_makes_no_editions(self):
        for command in ["release", "grade-all", "class"]:
            done = subprocess.run([self.out / "lab", command, self.dir / "x"], capture_output=True, text=True)
            self.assertIn("student edition", done.stderr)
            self.assertEqual(done.returncode, 1)


class EditionOfSomeLabs(EditionTests, unittest.TestCase):
    """The pages are all there, and the folders of these labs."""

    LABS = ["reduction", "scan", "compaction", "radix_sort"]
    OPTIONS = ["--labs", "radix_sort,compaction,scan,reduction"]

    def test_other_labs_are_held_back(self):
        folders = {name.split("/")[1] for name in self.names if re.search(r"^labs/\w+/.*(?<!\.png)$", name)}
        self.assertEqual(folders, {"demo", *self.LABS})
        self.assertIn("handouts/05-histogram.md", self.names)


class Workflow(InFolder):
    """.github/grade.sh in a repository with a ./lab that notes what it was asked."""

    def setUp(self):
        super().setUp()
        self.repository = self.dir / "repository"
        for lab in ["scan", "sat"]:
            (self.repository / f"labs/{lab}").mkdir(parents=True)
            (self.repository / f"labs/{lab}/{lab}.cu").write_text("empty")
        (self.repository / ".github").mkdir()
        shutil.copy(OWN / ".github/grade.sh", self.repository / ".github")
        (self.repository / "lab").write_text(
            '#!/bin/sh\n[ "$1" != report ] || echo points >summary.md\necho "$@" >>../asked\n'
        )
        (self.repository / "lab").chmod(0o755)
        self.git("init", "--quiet")
        self.first = self.commit("release")

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def asked(self, base="", *labs, **more):
        """What ./lab was asked to grade; None if it was not."""
        (self.dir / "asked").unlink(missing_ok=True)
        unset = ("GITHUB_STEP_SUMMARY", "ISOLATION")
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        environment = kept | {"BASE": base} | more
        done = subprocess.run(
            ["bash", self.repository / ".github/grade.sh", *labs],
            env=environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        log = (self.dir / "asked").read_text() if (self.dir / "asked").exists() else ""
        command = r"^grade (.*?) --device sim --graded --isolation (\S+) --json result\.json"
        graded = re.findall(command, log, re.M)
        self.assertEqual(not graded, "nothing to grade" in done.stdout)
        self.assertLessEqual({isolation for _, isolation in graded}, {more.get("ISOLATION", "limits")})
        return graded[0][0].split() if graded else None

    def test_without_an_answer_of_git_it_fails(self):
        """As in a container without git, or whose checkout belongs to another user."""
        shutil.rmtree(self.repository / ".git")
        done = subprocess.run(
            ["bash", self.repository / ".github/grade.sh"],
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.dir)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("nothing was graded", done.stderr)
        self.assertFalse((self.dir / "asked").exists())

    def test_grades_what_a_push_has_changed(self):
        self.assertIsNone(self.asked(self.first))
        (self.repository / "labs/scan/scan.cu").write_text("mine")
        (self.repository / "labs/sat/notes.md").write_text("of no lab's file")
        second = self.commit("scan")
        self.assertEqual(self.asked(self.first), ["scan"])
        self.assertIsNone(self.asked(second))
        (self.repository / "labs/sat/sat.cu").write_text("mine")
        self.commit("sat")
        self.assertEqual(self.asked(second), ["sat"])

    def test_without_a_push_before_all_that_was_started_counts(self):
        for lab in ["sat", "scan"]:
            (self.repository / f"labs/{lab}/{lab}.cu").write_text("mine")
            self.commit(lab)
        for base in ["", "0" * 40, "1234567"]:
            self.assertEqual(self.asked(base), ["sat", "scan"])

    def test_asks_for_the_isolation_that_is_needed(self):
        self.assertEqual(self.asked(self.first, "sat", ISOLATION="namespaces"), ["sat"])

    def test_writes_a_summary_for_github_alone(self):
        (self.repository / "labs/scan/scan.cu").write_text("mine")
        self.commit("scan")
        self.asked(self.first, GITHUB_STEP_SUMMARY=str(self.dir / "summary"))
        self.assertEqual((self.dir / "summary").read_text(), "points\n")
        self.asked(self.first)
        self.assertNotRegex((self.dir / "asked").read_text(), "(?m)^report")


class Update(InFolder):
    """--update of an edition, and of clones and copies of it that students have worked in; of a small course
    that changes."""

    def setUp(self):
        super().setUp()
        self.course = self.dir / "course"
        for lab in ["demo", *LABS]:
            (self.course / f"labs/{lab}").mkdir(parents=True)
            for name in [f"{lab}.cu", "lab.hpp", "points.hpp"]:
                (self.course / f"labs/{lab}/{name}").write_text(
                    f"// of {lab}\n" + "a line\n" * 9 + "return not_implemented(job);\n" + "more\n" * 9
                )
        (self.course / "README.md").write_text("# Labs\n")
        patched = unittest.mock.patch.object(release, "make", self.make)
        patched.start()
        self.addCleanup(patched.stop)
        self.repository = self.edition = self.dir / "edition"
        self.make(None, self.edition, ["reduction"], False)
        update.make_repository(self.edition, ["reduction"])

    def make(self, root, out, labs, with_tools):
        """In place of release.py's, which reads the whole course."""
        for path in self.course.rglob("*"):
            name = path.relative_to(self.course)
            if path.is_file() and (name.parts[0] != "labs" or name.parts[1] in ["demo", *labs]):
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, out / name)

    def update(self, out, labs="", code=0):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                release.bring_up_to_date(ROOT, out.resolve(), labs.split(), False)
        except SystemExit as stopped:
            self.assertEqual(code, 1, stopped)
            return str(stopped)
        self.assertEqual(code, 0, said.getvalue())
        return said.getvalue()

    def change(self, name, old, new, at=None, commit=False):
        path = (at or self.course) / name
        self.assertIn(old, path.read_text())
        path.write_text(path.read_text().replace(old, new, 1))
        if commit:
            self.git("commit", "--quiet", "--all", "--message", "my work", at=at)

    def students(self, copy=False):
        """A student's clone, or copy without history, with work in it."""
        repository = self.dir / "student"
        self.git("clone", "--quiet", self.edition, repository)
        if copy:
            shutil.rmtree(repository / ".git")
            self.git("init", "--quiet", "--initial-branch=main", at=repository)
            self.git("add", "--all", at=repository)
            self.git("commit", "--quiet", "--message", "Initial commit", at=repository)
        file, what = "labs/reduction/reduction.cu", "return not_implemented(job);"
        self.change(file, what, "return my_own(job);", at=repository, commit=True)
        return repository

    def test_adds_a_lab(self):
        self.assertIn("with reduction, scan", self.update(self.edition, "scan"))
        self.assertTrue((self.edition / "labs/scan/scan.cu").is_file())
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.git("rev-list", "--count", "HEAD"), "2")
        self.assertIn("up to date.", self.update(self.edition))
        self.assertEqual(self.git("rev-list", "--count", "HEAD"), "2")

    def test_work_stays_and_corrections_come(self):
        for copy in [False, True]:
            with self.subTest(copy=copy):
                student = self.students(copy)
                self.change("labs/reduction/lab.hpp", "// of", f"// Corrected {copy}.\n// of")
                self.change(
                    "labs/reduction/reduction.cu", "// of reduction", f"// of reduction. Corrected {copy}."
                )
                self.assertNotIn("both sides", self.update(student, "scan compaction"))
                text = (student / "labs/reduction/reduction.cu").read_text()
                self.assertIn("return my_own(job);", text)
                self.assertIn(f"Corrected {copy}.", text)
                self.assertIn(f"Corrected {copy}.", (student / "labs/reduction/lab.hpp").read_text())
                self.assertTrue((student / "labs/compaction/compaction.cu").is_file())
                self.change("labs/reduction/lab.hpp", "// of", "// Again.\n// of")
                self.update(student)
                self.assertIn("// Again.", (student / "labs/reduction/lab.hpp").read_text())
                self.assertIn("return my_own(job);", (student / "labs/reduction/reduction.cu").read_text())
                self.assertEqual(self.git("status", "--porcelain", at=student), "")
                shutil.rmtree(student)

    def test_a_clone_pulls_the_updated_edition(self):
        student = self.students()
        self.change("labs/reduction/lab.hpp", "// of", "// Corrected.\n// of")
        self.update(self.edition, "scan")
        # The command of the edition's README, as students type it: git has no settings, and both sides have
        # commits.
        words = re.search(r"`git (pull[^`]*)`", (OWN / "README.md.in").read_text())[1]
        here = dict.fromkeys(["HOME", "XDG_CONFIG_HOME"], str(self.dir))
        settings = here | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "false"}
        with unittest.mock.patch.dict(os.environ, settings):
            self.git(*words.split(), at=student)
        self.assertIn("// Corrected.", (student / "labs/reduction/lab.hpp").read_text())
        self.assertIn("return my_own(job);", (student / "labs/reduction/reduction.cu").read_text())
        self.assertTrue((student / "labs/scan/scan.cu").is_file())

    def test_what_both_sides_have_changed_is_left_to_a_person(self):
        student = self.students()
        self.change("README.md", "# ", "# My ", at=student, commit=True)
        self.change("README.md", "# ", "# Corrected ")
        self.change("labs/reduction/lab.hpp", "// of", "// Corrected.\n// of")
        before = self.git("rev-parse", "HEAD", at=student)
        said = self.update(student, "scan", code=1)
        self.assertRegex(said, r"nothing was changed. README\.md\n")
        self.assertEqual(self.git("rev-parse", "HEAD", at=student), before)
        self.assertEqual(self.git("status", "--porcelain", at=student), "")
        merge = re.search(r"git -C \S+ (merge \w+)", said)[1].split()
        self.assertNotEqual(subprocess.run(["git", "-C", student, *merge], capture_output=True).returncode, 0)
        self.change("README.md", "# Corrected", "# My corrected", at=student)
        self.git("commit", "--quiet", "--all", "--no-edit", at=student)
        self.assertIn("up to date.", self.update(student))
        self.assertTrue((student / "labs/scan/scan.cu").is_file())

    def test_work_that_is_not_committed_is_not_touched(self):
        student = self.students()
        self.change("labs/reduction/reduction.cu", "return my_own(job);", "return better(job);", at=student)
        self.assertIn("not committed", self.update(student, "scan", code=1))
        self.git("checkout", "--quiet", ".", at=student)
        (student / "labs/scan").mkdir()
        (student / "labs/scan/scan.cu").write_text("mine")
        self.assertIn("nothing was changed", self.update(student, "scan", code=1))
        self.assertEqual((student / "labs/scan/scan.cu").read_text(), "mine")
        self.assertEqual(self.git("log", "-1", "--format=%s", at=student), "my work")

    def test_what_is_no_edition_is_refused(self):
        self.assertIn("not a git repository", self.update(self.dir / "nothing", code=1))
        other = self.dir / "other"
        self.git("init", "--quiet", other)
        self.git("commit", "--quiet", "--allow-empty", "--message", "x", at=other)
        self.assertIn("did not begin as an edition", self.update(other, code=1))


class Refusals(InFolder):
    def refused(self, *arguments, **environment):
        done = run_release(*arguments, **environment)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_a_folder_with_something_in_it(self):
        (self.dir / "kept").write_text("mine")
        self.assertIn("is not empty", self.refused(self.dir))
        self.assertEqual([p.name for p in self.dir.iterdir()], ["kept"])

    def test_a_machine_without_git(self):
        self.assertIn("git is missing", self.refused(self.dir, PATH="/nonexistent"))
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_folder_inside_of_the_course(self):
        self.assertIn("lies inside of the course", self.refused(ROOT / "handouts/edition"))

    def test_no_lab_by_that_name(self):
        text = self.refused(self.dir / "out", "--labs", "reduktion")
        self.assertIn('there is no lab "reduktion"', text)


class Prebuilt(InFolder):
    """For which files tools are built; the build itself is tried with common/tools/testing/try_fresh.sh."""

    def tools(self, script):
        """In place of the script that builds them."""
        (self.dir / "prebuilt").mkdir()
        (self.dir / "prebuilt/make_tools.sh").write_text(script)
        for patch in [
            unittest.mock.patch.dict(os.environ, LAB_BUILD=str(self.dir / "build")),
            unittest.mock.patch.object(prebuilt_tools, "HERE", self.dir),
            unittest.mock.patch("platform.machine", lambda: "x86_64"),
        ]:
            patch.start()
            self.addCleanup(patch.stop)

    def test_they_are_built_from_the_editions_files(self):
        self.tools('mkdir "$1/prebuilt" && (cd "$2/source" && find . -type f | sort) >"$1/prebuilt/list"')
        for names in [["a/x.hpp", "b.cpp"], ["a/y.hpp", "b.cpp"]]:
            folder = self.dir / names[0].replace("/", "")
            files = {name: (name.encode(), False) for name in names}
            edition.write(files, folder)
            prebuilt_tools.add_tools(files, folder)
            self.assertEqual((folder / "prebuilt/list").read_text().split(), [f"./{name}" for name in names])

    def test_an_edition_without_its_tools_is_not_left(self):
        self.tools("echo the compiler is missing; exit 1")
        with (
            unittest.mock.patch.object(release, "edition_files", lambda *_: {"a": (b"", False)}),
            self.assertRaisesRegex(SystemExit, "the compiler is missing"),
        ):
            release.release(ROOT, self.dir / "out/edition", ["scan"], True)
        self.assertEqual(list((self.dir / "out").iterdir()), [])

    def test_other_processors_have_none(self):
        with (
            unittest.mock.patch("platform.machine", lambda: "aarch64"),
            self.assertRaisesRegex(SystemExit, "x86-64"),
        ):
            prebuilt_tools.add_tools({}, self.dir)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
