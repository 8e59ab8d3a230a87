# SPDX-License-Identifier: MIT
"""Grades on this machine, a few submissions at a time. Workers die with this process, even when it is
killed."""

import collections
import ctypes
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import BinaryIO

import worker
from book import RETRIES, Book, Unit

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Running:
    unit: Unit
    attempt: int
    compiles_only: bool
    process: subprocess.Popen
    said: BinaryIO  # what it printed
    deadline: float

    def last_words(self) -> str:
        self.said.seek(0)
        return self.said.read()[-600:].decode("utf-8", "replace").strip()


class Pool:
    """`jobs` at a time. On a GPU many compile, and one is timed: it has the device for itself."""

    def __init__(self, book: Book, options) -> None:
        self.book, self.jobs = book, options.jobs
        self.seconds = 60 * options.minutes
        self.running: list[Running] = []
        self.n_failed: collections.Counter = collections.Counter()

    def baselines(self, lab: str) -> None:
        worker.ask(worker.baselines_command(self.book, lab))

    def run(self, units: list[Unit], progress) -> None:
        self.progress = progress
        gpu = self.book.settings["device"] == "gpu"
        at_once = 1 if gpu else self.jobs
        new = collections.deque(units)
        compiled: collections.deque[tuple[Unit, int]] = collections.deque()  # units and attempts
        try:
            while new or compiled or self.running:
                while compiled and sum(not one.compiles_only for one in self.running) < at_once:
                    self.start(*compiled.popleft(), compile_only=False)
                while new and len(self.running) < self.jobs:
                    unit = new.popleft()
                    self.start(unit, self.book.begin(unit), compile_only=gpu)
                for one in self.ended():
                    if one.compiles_only:
                        compiled.append((one.unit, one.attempt))  # if it failed, grading says why
                    elif self.note(one):
                        new.append(one.unit)
                self.progress.update(running=len(self.running))
                time.sleep(0.02)
        finally:
            self.stop()

    def start(self, unit: Unit, attempt: int, compile_only: bool) -> None:
        command = (worker.compile_command if compile_only else worker.grade_command)(self.book, unit, attempt)
        said = tempfile.TemporaryFile()
        how: dict = {"start_new_session": True, "preexec_fn": die_with_parent}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **how)
        deadline = time.monotonic() + self.seconds
        self.running.append(Running(unit, attempt, compile_only, process, said, deadline))

    def ended(self) -> list[Running]:
        done = []
        for one in list(self.running):
            if one.process.poll() is None:
                if time.monotonic() < one.deadline:
                    continue
                end_group(one.process)
            self.running.remove(one)
            done.append(one)
        return done

    def note(self, one: Running) -> bool:
        """Whether it has to be tried again."""
        code = one.process.returncode
        problem = ""
        if time.monotonic() >= one.deadline:
            problem = f"It was stopped after {self.seconds:.0f} s."
        elif code != 0:
            how = f"signal {-code}" if code < 0 else f"code {code}"
            problem = f"The worker ended with {how}: {one.last_words()}"
        outcome = self.book.end(one.unit, one.attempt, problem)
        one.said.close()
        if outcome == "graded":
            self.progress.update(done=1)
            return False
        self.n_failed[one.unit.key] += 1
        again = self.n_failed[one.unit.key] <= RETRIES
        self.progress.update(done=0 if again else 1, retried=1 if again else 0, infra=0 if again else 1)
        return again

    def stop(self) -> None:
        for one in self.running:
            end_group(one.process)


def end_group(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
