# SPDX-License-Identifier: MIT
"""Grades on a cluster: each round hands what has no result yet to Slurm as two job arrays, one that compiles
and one that runs, task by task after it. Slurm is not asked what is done: that is in the book. It may
lose jobs, nodes and its controller; what has left the queue without a result is handed in again.

All nodes must see the checkout, the build folder and the class's folder at the same paths.
"""

import hashlib
import json
import os
import pathlib
import re
import secrets
import shlex
import subprocess
import sys
import time
from collections import Counter

import worker
from book import RETRIES, Book, Problem, Unit

LARGEST_ARRAY = 1000  # Slurm's own default bound is 1001
POLL = 1.0  # seconds
ASK = 4.0  # between questions to the controller
MAX_LOST = 20  # times that the cluster may lose one submission
TASK = pathlib.Path(__file__).with_name("slurm_task.py")
# Complaints about what will not mend itself.
FOR_GOOD = (
    "invalid (partition|generic resource|account|option|feature|qos)|unrecognized option|unable to open"
    "|requested node configuration"
)


class Unreachable(Exception):
    pass


def slurm(command: list[str]) -> str:
    how: dict = {"capture_output": True, "text": True, "errors": "replace", "stdin": subprocess.DEVNULL}
    try:
        done = subprocess.run(command, timeout=60, check=False, **how)
    except FileNotFoundError:
        needs = "--slurm needs Slurm's client programs (Debian: slurm-client)"
        raise Problem(f"There is no {command[0]} here: {needs}.") from None
    except subprocess.TimeoutExpired:
        raise Unreachable(f"{command[0]} does not answer") from None
    if done.returncode != 0:
        said = done.stderr.strip() or f"{command[0]} ended with code {done.returncode}"
        if re.search(FOR_GOOD, said, re.I):
            raise Problem(f"Slurm refuses the jobs: {said}\n  Mend --slurm-compile or --slurm-time.")
        raise Unreachable(said.splitlines()[-1])
    return done.stdout


class Round:
    def __init__(self, units: list[tuple[Unit, int]], names: list[str]) -> None:
        self.open = {unit.key: (unit, attempt) for unit, attempt in units}
        self.names = names
        self.n_absent = 0  # answers in a row that the queue does not have it


class Slurm:
    def __init__(self, book: Book, options) -> None:
        self.book, self.minutes = book, options.minutes
        self.to_compile = shlex.split(options.slurm_compile)
        default = "--gres=gpu:1 --exclusive" if book.settings["device"] == "gpu" else ""
        self.to_time = shlex.split(default if options.slurm_time is None else options.slurm_time)
        self.folder = book.folder / "work"
        # The class's folder is part of the names of jobs: they are found again after a kill.
        self.name = f"lab-{hashlib.sha256(str(book.folder).encode()).hexdigest()[:12]}"
        self.cancel_left_overs()

    # --- Talking to Slurm ---

    def queue(self) -> set[str]:
        """Names of this class's jobs that wait or run."""
        names = slurm(["squeue", "--noheader", f"--user={os.getuid()}", "--format=%j"]).split()
        return {name for name in names if name.startswith(self.name)}

    def cancel_left_overs(self) -> None:
        """Cancels the jobs of a killed run. What they have finished stands; the rest is begun again."""
        if jobs := ",".join(self.patiently(self.queue)):
            self.patiently(lambda: slurm(["scancel", "--quiet", f"--name={jobs}"]))

    def patiently(self, ask):
        """The answer; waits for a controller that is away."""
        while True:
            try:
                return ask()
            except Unreachable as reason:
                print(f"grade-all: waiting for Slurm: {reason}", file=sys.stderr, flush=True)
                time.sleep(ASK)

    def submit(self, name: str, options: list[str], n_tasks: int, stage: str, after: str = "") -> str:
        folder = self.folder / name.rsplit("-", 1)[0]
        command = [
            "sbatch",
            "--parsable",
            f"--job-name={name}",
            f"--array=0-{n_tasks - 1}",
            "--no-requeue",
            f"--chdir={folder}",
            f"--output={folder}/{stage}-%a.out",
            f"--time={max(1, round(self.minutes))}",
            "--open-mode=append",
            *options,
        ]
        if after:
            command += [f"--dependency=aftercorr:{after}", "--kill-on-invalid-dep=yes"]
        task = shlex.join([sys.executable, str(TASK), str(folder / "tasks.json"), stage])
        return slurm([*command, f"--wrap=exec {task}"]).strip().split(";")[0]

    def hand_over(self, tasks: list[dict]) -> list[str]:
        """The names of the arrays. Raises Unreachable when it is not known whether Slurm has them."""
        name = f"{self.name}-{secrets.token_hex(6)}"
        folder = self.folder / name
        folder.mkdir()
        (folder / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
        names = [f"{name}-c", f"{name}-g"]
        compiles = ""
        if "compile" in tasks[0]:
            compiles = self.submit(names[0], self.to_compile, len(tasks), "compile")
        self.submit(names[1], self.to_time, len(tasks), "grade", compiles)
        return names

    def queued(self) -> set[str] | None:
        """None when nobody answers."""
        try:
            return self.queue()
        except Unreachable:
            return None

    # --- The work ---

    def baselines(self, lab: str) -> None:
        path = self.book.baselines(lab)
        task = {"grade": worker.baselines_command(self.book, lab)}
        for _ in range(MAX_LOST):
            names = self.patiently(lambda: self.hand_over([task]))
            absent = 0
            while not path.exists() and absent < 2:
                time.sleep(POLL)
                queued = self.queued()
                absent = 0 if queued is None or queued & set(names) else absent + 1
            if path.exists():
                return
        raise Problem(
            f"The CPU baselines of {lab} could not be timed on the cluster: see {self.folder}/*/grade-0.out."
        )

    def run(self, units: list[Unit], progress) -> None:
        waiting = list(units)
        rounds: list[Round] = []
        failed: Counter = Counter()
        lost: Counter = Counter()
        asked = 0.0
        while waiting or rounds:
            while waiting:
                batch, waiting = waiting[:LARGEST_ARRAY], waiting[LARGEST_ARRAY:]
                begun = [(unit, self.book.begin(unit)) for unit in batch]
                tasks = [
                    {
                        "compile": worker.compile_command(self.book, unit, attempt),
                        "grade": worker.grade_command(self.book, unit, attempt),
                    }
                    for unit, attempt in begun
                ]
                try:
                    rounds.append(Round(begun, self.hand_over(tasks)))
                except Unreachable as reason:
                    for unit, attempt in begun:
                        self.book.end(unit, attempt, f"It could not be handed to Slurm: {reason}")
                    waiting += batch
                    progress.update(note=f"waiting for Slurm: {reason}")
                    time.sleep(ASK)
            time.sleep(POLL)
            queued: set[str] | None = None
            if time.monotonic() - asked > ASK:
                queued = self.queued()
                asked = time.monotonic()
                progress.update(note="" if queued is not None else "Slurm's controller does not answer")
            for one in list(rounds):
                if queued is not None:
                    one.n_absent = 0 if queued & set(one.names) else one.n_absent + 1
                for unit, attempt in list(one.open.values()):
                    there = self.book.result_path(unit, attempt).exists()
                    if not there and one.n_absent < 2:
                        continue
                    del one.open[unit.key]
                    if self.book.end(unit, attempt, "The cluster lost it.") == "graded":
                        progress.update(done=1)
                        continue
                    counter, most = (failed, RETRIES) if there else (lost, MAX_LOST)
                    counter[unit.key] += 1
                    again = counter[unit.key] <= most
                    waiting += [unit] if again else []
                    progress.update(retried=int(again), infra=int(not again))
                if not one.open:
                    rounds.remove(one)
            progress.update(running=sum(len(one.open) for one in rounds))
