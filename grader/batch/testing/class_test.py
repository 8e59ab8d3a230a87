#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A made-up class graded for real, on the simulator: exactly the expected gradebook, also after kills, and
through Slurm.

    class_test.py --students 12 --different 8 --kills 1
    class_test.py --students 300 --different 120 --kills 5 --slurm --disturb      the whole thing: half an hour on two cores

Exit code 77 (skipped) when this machine can't shut student code in fully.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2] / "common/tools/testing")]

import compare_class
import make_class
from book import Book

SEED = "0x5eed"
TEXT: dict = {"stdout": subprocess.PIPE, "text": True, "errors": "replace"}


class Test:
    def __init__(self, options):
        self.options = options
        self.root = HERE.parents[2]
        build = pathlib.Path(os.environ.get("LAB_BUILD") or self.root / "build").resolve()
        self.environment = {**os.environ, "LAB_ROOT": str(self.root), "LAB_BUILD": str(build)}
        self.folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="class-")).resolve()
        self.folder.mkdir(exist_ok=True)
        self.failures = 0

    def check(self, what, problems):
        print(f"{what}: {'ok' if not problems else 'FAILED'}", flush=True)
        for problem in problems[:20]:
            print(f"  {problem}", flush=True)
        self.failures += bool(problems)

    def command(self, out, *more):
        options = ["--out", self.folder / out, "--seed", SEED, "--jobs", self.options.jobs, *more]
        words = [sys.executable, HERE.parent / "grade_all.py", self.folder / "class", *options]
        return [str(word) for word in words]

    def start(self, out, *more, **streams):
        return subprocess.Popen(self.command(out, *more), env=self.environment, **streams)

    def grade(self, out, *more):
        begun = time.monotonic()
        run = self.start(out, *more, **TEXT)
        said, _ = run.communicate()
        print(f"{out}: {said.splitlines()[0] if said else 'no summary'}", flush=True)
        after = f"exit code {run.returncode} after {time.monotonic() - begun:.0f} s"
        return [after] if run.returncode else []

    def n_ended(self, out):
        path = self.folder / out / "gradebook.sqlite"
        if not path.exists():
            return 0
        db = sqlite3.connect(path, timeout=60)
        try:
            return db.execute("SELECT count(*) FROM attempts WHERE outcome <> ''").fetchone()[0]
        except sqlite3.OperationalError:  # the tables are not there yet
            return 0
        finally:
            db.close()

    def kill(self, out, at, *more):
        """Starts, and kills when that many attempts have ended."""
        run = self.start(out, *more, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None and self.n_ended(out) < at:
            time.sleep(0.05)
        but = ", but it had ended" if run.poll() is not None else ""
        run.kill()
        run.wait()
        print(f"{out}: killed after {self.n_ended(out)} attempts{but}", flush=True)

    def same(self, what, out, other):
        a, b = (compare_class.grades(self.folder / one / "gradebook.sqlite") for one in (out, other))
        problems = [f"{one}\n  {two}" for one, two in zip(a, b) if one != two]
        self.check(what, problems + [f"{len(a)} rows, {len(b)} rows"] * (len(a) != len(b)))

    def same_times_in(self, out):
        """The CPU's times are measured, so they differ between runs: takes those of the first one."""
        (self.folder / out / "results").mkdir(parents=True, exist_ok=True)
        for path in (self.folder / "calm/results").glob("*.json"):
            shutil.copy(path, self.folder / out / "results")

    def points_follow_from_evidence(self, out):
        """What rescoring makes of real results is what the grader made of them, messages and all."""
        book = Book(self.folder / out)
        book.labcli = f"{self.environment['LAB_BUILD']}/grader/labcli"
        book.use_points()
        paths = (self.folder / out / "results").glob("*/[0-9]*.json")
        labs = [json.loads(path.read_bytes())["labs"][0] for path in paths if path.stem.isdigit()]
        differ = [f"{lab['id']}: {lab['points']} points" for lab in labs if book.scorer.rescored(lab) != lab]
        what = f"the points of {len(labs)} results follow from their evidence"
        self.check(what, differ if labs else ["no results"])

    def expect(self, what, expected, out):
        self.check(what, compare_class.differences(expected, self.folder / out / "gradebook.sqlite"))

    def skip_unless_able(self):
        command = [f"{self.environment['LAB_BUILD']}/grader/labcli", "isolation"]
        said = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        ).stdout
        lacking = [] if said.startswith("full") else ["isolation: " + said]
        if self.options.slurm:
            import slurm_loopback

            lacking += slurm_loopback.missing()
        if lacking:
            print("skipped: lacks", *lacking)
            sys.exit(77)

    def run(self):
        options = self.options
        self.skip_unless_able()
        made = self.folder / "class"
        if made.exists():
            expected = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        else:
            expected = make_class.make_class(
                self.root, str(made), options.students, options.different, slow=options.students >= 100
            )
            (self.folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
        n = expected["different"]
        if "calm" in options.parts:
            self.check("graded unattended", self.grade("calm"))
            self.expect("exactly the expected gradebook", expected, "calm")
            self.points_follow_from_evidence("calm")
        if "killed" in options.parts and options.kills:
            random_ = random.Random(11)
            self.same_times_in("killed")
            for at in sorted(random_.sample(range(1, n), options.kills)):
                self.kill("killed", at)
            self.check("goes on after the kills", self.grade("killed"))
            self.expect(f"exactly the expected gradebook after {options.kills} kills", expected, "killed")
            self.same("the same gradebook as without kills", "killed", "calm")
        if options.slurm:
            import slurm_loopback

            self.same_times_in("slurm")
            with slurm_loopback.Cluster(self.folder / "cluster", nodes=4) as cluster:
                self.environment.update(cluster.environment())
                gpu = "--slurm-time=--partition=gpu --gres=gpu:1"
                run = self.start("slurm", "--slurm", "--slurm-compile=--partition=cpu", gpu, **TEXT)
                if options.disturb:
                    self.disturb(cluster, run, n)
                said, _ = run.communicate()
                print(f"slurm: {said.splitlines()[0] if said else 'no summary'}", flush=True)
                self.check("graded by Slurm", [] if run.returncode == 0 else [f"exit code {run.returncode}"])
            self.expect("exactly the expected gradebook through Slurm", expected, "slurm")
            self.same("the same gradebook as on one machine", "slurm", "calm")
        if not options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        return 1 if self.failures else 0

    def disturb(self, cluster, run, n):
        """A node stops for good, the controller is killed and started again: in the middle of the work."""
        for at, what, act in [
            (n // 4, "a node stopped", lambda: cluster.stop_node(3)),
            (n // 2, "the controller killed", cluster.kill_controller),
        ]:
            # Slurm 22.05 may keep a dead node's GPU as used until its controller starts anew: so not only by
            # the count.
            begun, seen = time.monotonic(), -1
            while run.poll() is None and self.n_ended("slurm") < at and time.monotonic() - begun < 90:
                if self.n_ended("slurm") != seen:
                    begun, seen = time.monotonic(), self.n_ended("slurm")
                time.sleep(0.2)
            if run.poll() is None:
                act()
                print(f"slurm: {what} after {self.n_ended('slurm')} attempts", flush=True)
            else:
                self.check(f"{what}", ["the work was over before"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--different", type=int, default=8)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument(
        "--disturb", action="store_true", help="stop a node for good, and kill Slurm's controller"
    )
    parser.add_argument(
        "--parts", nargs="*", default=["calm", "killed"], help="to leave some out, with --keep"
    )
    parser.add_argument("--keep", help="a folder to work in, and to leave")
    return Test(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
