#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Communicators of several processes: every collective, wrong uses, and processes that end.

usage: processes_test.py LIBRARY_FOLDER COLLECTIVES_PROGRAM PROCESSES_PROGRAM FAULTS_PROGRAM [--many] [-kTEST …]
"""

import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

MANY = "--many" in sys.argv
FOLDER, COLLECTIVES, PROCESSES, FAULTS = [
    argument for argument in sys.argv[1:] if not argument.startswith("-")
]
LINE = r"at \S*processes\.cu:\d+"
USAGE = "stream: cudaErrorLaunchTimeout\nlater: invalid usage\n"
REMOTE = "stream: cudaErrorLaunchTimeout\nlater: remote process exited or there was a network error\n"
# Of three ranks, the third one may call only when the others' operation has failed already.
LATE_USAGE, LATE_REMOTE = [
    text.replace("cudaErrorLaunchTimeout", "(cudaErrorLaunchTimeout|cudaSuccess)") for text in (USAGE, REMOTE)
]
FINE = "stream: cudaSuccess\nlater: no error\n"
GONE = "remote process exited or there was a network error\n"
# case: the number of processes, their devices; what stdout of each rank is (None: the process is killed),
# what all stderr together matches.
FAULTS_OF_RANKS = {
    "other_count": (
        2,
        1,
        [USAGE] * 2,
        rf"agree on the count of collective 1 .*: rank \d calls ncclAllReduce\(count \d0, float32, sum\) {LINE}, rank \d calls "
        rf"ncclAllReduce\(count \d0, float32, sum\) {LINE}",
    ),
    "missing_rank": (
        3,
        1,
        [USAGE, None, USAGE],
        rf"rank 0 waits in ncclAllReduce\(.*\) {LINE}\n.* rank 1 has made no call\n.* rank 2 waits in .* {LINE}\n$",
    ),
    "missing_rank_polled": (
        2,
        1,
        [None, "later: invalid usage\n"],
        rf"rank 1 waits in ncclAllReduce\(.*\) {LINE}",
    ),
    "both_send_first": (
        2,
        1,
        [USAGE] * 2,
        rf"rank 0 waits in ncclSend.* {LINE}\n.* rank 1 waits in ncclSend.* {LINE}",
    ),
    "refused": (
        2,
        1,
        ["call: no error\n" + USAGE, None],
        r"rank 0 waits in ncclAllReduce.*\n.*rank 1 has made no call; ncclAllReduce of rank 1 fails with "
        "invalid argument: the send buffer must hold",
    ),
    "does_not_join": (
        3,
        1,
        ["join: invalid usage\n", None, "join: invalid usage\n"],
        rf"a communicator of 3 ranks waits for rank 1, .*\n"
        rf".* rank 0 waits in ncclCommInitRank {LINE}\n.* rank 2 waits in ncclCommInitRank {LINE}",
    ),
    "killed": (
        3,
        1,
        [FINE + LATE_REMOTE + "again: " + GONE, None, FINE + LATE_REMOTE + "again: " + GONE],
        rf"the process of rank 1 has ended while other ranks wait for "
        rf"it:\n.* rank 0 waits in ncclAllReduce.* {LINE}\n.* rank 1 is not in a call; its last one was ncclAllReduce.* {LINE}\n",
    ),
    "first_killed": (
        3,
        1,
        [None] + [LATE_REMOTE + "again: " + GONE] * 2,
        r"^simulator: process \d+, which made the unique id, has ended\n"
        r"simulator: process \d+, which made the unique id, has ended\n$",
    ),
    "killed_before_joining": (
        2,
        1,
        ["join: invalid usage\n", None],
        rf"waits for rank 1, .*\n.* rank 0 waits in ncclCommInitRank {LINE}",
    ),
    "ends_early": (
        3,
        1,
        [LATE_REMOTE, "", LATE_REMOTE],
        r"the process of rank 1 has ended while other ranks wait for it:\n.* rank \d",
    ),
    "abort": (2, 1, ["abort: no error\n", "stream: cudaSuccess\nlater: " + GONE + "abort: no error\n"], "^$"),
    "same_device": (2, 2, None, r"rank \d and rank \d are both on device 0"),
    "other_size": (2, 2, None, r"one rank joins a communicator of 2 ranks, another one of 3"),
    "id_of_an_ended_process": (
        2,
        1,
        ["", "join: " + GONE],
        r"process \d+, which made the unique id, has ended, or it is on another host",
    ),
}
TWO_SUMS = "sum 10\nsum 10\nfrom the left {}\nfrom the left {}\n"
RIGHT = {
    "right": (4, 1, ["sum 10\n"] * 4),
    "several_ranks_each": (2, 2, [TWO_SUMS.format(4, 2), TWO_SUMS.format(1, 3)]),
    "two_communicators": (3, 3, ["from rank 0: 0\nfrom the last rank: 2\n"] * 3),
    "slow_rank": (2, 1, [FINE] * 2),
    "slow_start": (2, 1, [""] * 2),
    "first_rank_leaves_first": (3, 1, [FINE, FINE * 2, FINE * 2]),
    "never_destroyed": (3, 1, [FINE] * 3),
    "does_not_block": (2, 2, ["state: no error\n" + FINE] * 2),
}


def environment(**variables):
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SIM_", "SLURM_", "OMPI_"))
    }
    return kept | {"LD_LIBRARY_PATH": FOLDER} | variables


def run(program, arguments, n, devices, sleeps=(), launcher="slurm", **variables):
    """Starts n processes as srun or mpirun does, each in a thread of its own. Returns exit codes, outputs and
    errors by rank. The processes of `sleeps` are killed when all others have ended."""
    names = {
        "slurm": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
        "mpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    }[launcher]
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            subprocess.Popen(
                [program, *[a.replace("ID", f"{folder}/id") for a in arguments]],
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(
                    SIM_DEVICES=str(devices), **dict(zip(names, (str(rank), str(n), str(rank)))), **variables
                ),
            )
            for rank in range(n)
        ]
        with concurrent.futures.ThreadPoolExecutor(n) as pool:
            try:
                ends = [pool.submit(process.communicate, timeout=100) for process in processes]
                for rank, end in enumerate(ends):
                    if rank not in sleeps:
                        end.result()
            finally:
                for process in processes:
                    process.kill()
            texts = [end.result() for end in ends]
    return (
        [process.returncode for process in processes],
        [out for out, _ in texts],
        [err for _, err in texts],
    )


def run_faulty(name):
    """A case of FAULTS_OF_RANKS."""
    n, devices, outs, _ = FAULTS_OF_RANKS[name]
    killed = [rank for rank, out in enumerate(outs or []) if out is None]
    return run(PROCESSES, [name, "ID"], n, devices, sleeps=killed)


def leftovers():
    """Sockets and files that the library could leave."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
        sockets = [line for line in file if "simulated-nccl" in line]
    return sockets, sorted(name for name in os.listdir("/dev/shm") if "nccl" in name)


class Processes(unittest.TestCase):
    maxDiff = None

    def test_collectives_equal_the_reference(self):
        for n, devices, counts in [(1, 1, []), (2, 2, []), (3, 1, []), (3, 3, ["1030"])] + (
            [(4, 4, []), (8, 1, []), (8, 8, ["5", "64"])] if MANY else []
        ):
            with self.subTest(n=n, devices=devices, counts=counts):
                launcher, words = "mpi" if devices == 1 else "slurm", [str(n), "ID", *counts]
                codes, outs, errs = run(COLLECTIVES, words, n, devices, launcher=launcher)
                self.assertEqual((codes, errs), ([0] * n, [""] * n), outs)
                self.assertEqual(len(set(outs)), 1, outs)

    def test_right_uses_are_not_reported(self):
        for name, (n, devices, expected) in RIGHT.items():
            for check in ({}, {"SIM_CHECK": "1"}) if name not in ("never_destroyed", "slow_start") else ({},):
                with self.subTest(name=name, check=check):
                    codes, outs, errs = run(PROCESSES, [name, "ID"], n, devices, **check)
                    self.assertEqual((codes, outs), ([0] * n, expected), errs)
                    self.assertEqual(errs, ["simulator: checked: nothing found\n" if check else ""] * n)

    def test_wrong_uses_and_ends_are_reported_with_rank_and_line(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # most of them wait
            results = dict(zip(FAULTS_OF_RANKS, pool.map(run_faulty, FAULTS_OF_RANKS)))
        for name, (_n, _, expected, err) in FAULTS_OF_RANKS.items():
            with self.subTest(name=name):
                codes, outs, errs = results[name]
                for rank, out in enumerate(expected or []):
                    self.assertEqual(codes[rank], -signal.SIGKILL if out is None else 0, (outs, errs))
                    if out is not None:
                        self.assertRegex(outs[rank], f"^{out}$", errs)
                self.assertRegex("".join(errs), err)

    def test_other_job_of_the_program_does_not_delay_reports(self):
        def job(name, folder):
            """Two processes in a session of their own, which a shell begins."""
            ranks = "".join(
                f"SLURM_PROCID={rank} SLURM_NTASKS=2 SLURM_LOCALID={rank} {PROCESSES} {name} {folder}/{name} & "
                for rank in range(2)
            )
            command, variables = ["bash", "-c", ranks + "wait"], environment(SIM_DEVICES="1")
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
            return subprocess.Popen(command, env=variables, start_new_session=True, **streams)

        with (
            tempfile.TemporaryDirectory() as folder,
            job("busy", folder) as other,
            job("does_not_join", folder) as waiting,
        ):
            try:
                self.assertRegex(waiting.stderr.readline(), "2 ranks waits for rank 1,")
                self.assertIsNone(other.poll())
            finally:
                for process in (other, waiting):
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)

    def test_all_processes_have_the_finding(self):
        codes, _, errs = run(PROCESSES, ["other_count", "ID"], 2, 1, SIM_CHECK="1", SIM_VERBOSE="1")
        self.assertEqual(codes, [86, 86], errs)
        for err in errs:
            self.assertRegex(err, r"error: nccl-mismatch \(execution\)[^$]*do not agree on the count")

    def test_time_is_modelled_as_in_one_process(self):
        (_,), (one,), _ = run(FAULTS, ["times"], 1, 2)
        expected = [int(us) for us in re.findall(r"bytes: (\d+) us", one)][::2]
        for _ in range(3):
            _, outs, errs = run(PROCESSES, ["times", "ID"], 2, 2)
            for out in outs:
                times = [int(us) for us in re.findall(r"bytes: (\d+) us", out)]
                self.assertEqual(len(times), 2, errs)
                # In one process, one thread submits the work of both devices.
                for got, want in zip(times, expected):
                    self.assertLessEqual(abs(got - want), 5)

    def test_nothing_is_left(self):
        run(PROCESSES, ["first_killed", "ID"], 3, 1)
        run(PROCESSES, ["killed", "ID"], 3, 1)
        mine = [line for line in leftovers()[0] if line]
        # Other tests may run at the same time, so only sockets without a process count.
        for line in mine:
            process = re.search(r"simulated-nccl-(\d+)-", line)
            self.assertTrue(process and os.path.exists(f"/proc/{process[1]}"), line)
        self.assertEqual(leftovers()[1], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(argument for argument in sys.argv[1:] if argument.startswith("-k"))])
