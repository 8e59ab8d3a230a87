#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The made-up term of term_test.py, this time through ./lab grade-all: every submission is a file, every
export is graded, by a stand-in for the grader. grade-all is killed five times, its disk runs full, a case is
added in mid-term. The final grades equal the table computed by hand.

    graded_term_test.py [--students N] [--slurm]        as root; exit code 77 (skipped) where something is missing
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
BATCH = HERE.parent / "batch"
SHARED = HERE.parents[1] / "common/tools/testing"
sys.path[:0] = [str(HERE), str(HERE / "testing"), str(BATCH), str(SHARED)]

import book
import make_term
import slurm_loopback
import submissions

KILLS = 5
LEFT = 30_000  # bytes: the results of a few submissions


def cpu_seconds():
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class Run:
    def __init__(self, root, options):
        self.root, self.options = root, options
        self.out = root / "term"
        self.out.mkdir()
        self.mount("size=2g")
        self.term = submissions.SubmittedTerm(self.out, options.students)
        build = root / "build/grader"
        build.mkdir(parents=True)
        shutil.copy(BATCH / "testing/fake_labcli.py", build / "labcli")
        os.chmod(build / "labcli", 0o755)
        (root / "catalogue.json").write_text(json.dumps(self.term.table), encoding="utf-8")
        self.environment = {
            **os.environ,
            "LAB_BUILD": str(build.parent),
            "LAB_ROOT": str(root),
            "FAKE_CATALOGUE": str(root / "catalogue.json"),
        }
        self.how = (
            ["--slurm", "--slurm-compile=--partition=cpu", "--slurm-time=--partition=gpu"]
            if options.slurm
            else ["--jobs", "4"]
        )
        self.failures = 0

    def mount(self, how):
        subprocess.run(["mount", "-t", "tmpfs", "-o", how, "none", str(self.out)], check=True)

    def check(self, what, right, said=""):
        print(f"{'ok' if right else 'FAILED'}: {what}", flush=True)
        if not right:
            print(said, flush=True)
        self.failures += not right

    def command(self, lab):
        return [
            sys.executable,
            str(BATCH / "grade_all.py"),
            str(self.root / lab),
            "--labs",
            lab,
            "--out",
            str(self.out),
            "--seed",
            "0x5eed",
            *self.how,
        ]

    def grade(self, lab):
        done = subprocess.run(
            self.command(lab), env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            self.check(f"{lab} is graded", False, done.stdout + done.stderr)
        return done

    def n_ended(self):
        path = self.out / book.NAME
        return len(list(self.sql("SELECT 1 FROM attempts WHERE outcome <> ''"))) if path.exists() else 0

    def sql(self, text):
        db = sqlite3.connect(self.out / book.NAME, timeout=60)
        try:
            return db.execute(text).fetchall()
        except sqlite3.OperationalError:  # the tables are not there yet
            return []
        finally:
            db.close()

    def kill(self, lab, more):
        """When `more` attempts have ended."""
        goal = self.n_ended() + more
        run = subprocess.Popen(
            self.command(lab), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while run.poll() is None and self.n_ended() < goal:
            time.sleep(0.02)
        ended = run.poll() is not None
        run.kill()
        run.wait()
        self.check(f"killed within {lab}, after {self.n_ended()} attempts", not ended)

    def fill_the_disk(self, lab):
        self.mount(f"remount,size={shutil.disk_usage(self.out).used + book.MIN_FREE + LEFT}")
        done = self.grade(lab)
        self.check(
            f"a full disk stops within {lab}",
            done.returncode == 1 and "disk" in done.stderr.splitlines()[-1],
            done.stdout + done.stderr,
        )
        self.mount("remount,size=2g")

    def check_grades(self, what):
        begun, used = time.monotonic(), cpu_seconds()
        done = subprocess.run(
            [sys.executable, str(HERE / "desk.py"), "grades", str(self.out)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        took = f"{time.monotonic() - begun:.1f} s, {cpu_seconds() - used:.1f} s of processor"
        found = make_term.finals(self.out) if done.returncode == 0 else {}
        expected = self.term.expected(self.table)
        wrong = (
            []
            if sum(map(len, found.values())) == len(expected)
            else [done.stderr or f"{sum(map(len, found.values()))} grades"]
        )
        for (student, lab), right in expected.items():
            got = found.get(student, {}).get(lab, {})
            exact = tuple(
                None if got.get(name) is None else Fraction(str(got[name])) for name in ("points", "bonus")
            )
            if (*exact, got.get("status")) != right:
                wrong.append(f"{student}, {lab}: {got}, expected {right}")
        self.check(
            f"{what}: {len(expected)} final grades equal those by hand ({took})",
            not wrong,
            "\n".join(wrong[:10]),
        )

    def run(self):
        self.table = self.term.table
        n = sum(len(entries) for _, entries in self.term.exports)
        print(
            f"{len(self.term.students)} students, {n} submissions in {len(self.term.exports)} exports",
            flush=True,
        )
        random_ = random.Random(5)
        first = {lab: at for at, (lab, _) in reversed(list(enumerate(self.term.exports)))}
        killed = [first[lab] for lab in make_term.LABS][:KILLS]
        for at, (lab, entries) in enumerate(self.term.exports):
            self.term.export(self.root / lab, lab, entries)
            if at in killed:
                self.kill(lab, random_.randrange(1, len(entries) // 2))
            if at == first["compaction"]:
                self.fill_the_disk(lab)
            self.grade(lab)
        (self.root / f"cases-{make_term.NEW_CASE_LAB}").write_text("one more\n", encoding="utf-8")
        self.grade(make_term.NEW_CASE_LAB)
        self.check("the book is whole", self.sql("PRAGMA integrity_check") == [("ok",)])
        self.check_grades("after the term")
        self.table = make_term.catalogue(tier=11, limit=1.3, plain=45)
        (self.root / "catalogue.json").write_text(json.dumps(self.table), encoding="utf-8")
        self.check_grades("after a change of points")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--slurm", action="store_true")
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        print("skipped: needs root, to mount a small disk")
        return 77
    if options.slurm and (missing := slurm_loopback.missing()):
        print("skipped: lacks", *missing)
        return 77
    if "TERM_MOUNTS" not in os.environ:  # mounts of its own, which end with it
        os.environ["TERM_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, "-B", __file__, *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="term-") as folder:
        run = Run(pathlib.Path(folder), options)
        try:
            if not options.slurm:
                return run.run()
            with slurm_loopback.Cluster(run.root / "cluster") as cluster:
                run.environment.update(cluster.environment())
                return run.run()
        finally:
            subprocess.run(["umount", "--lazy", str(run.out)], check=True)


if __name__ == "__main__":
    sys.exit(main())
