#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Communicators of processes that a real launcher starts, one rank a process: Slurm's srun, on a loopback
cluster of its own (common/tools/testing/slurm_loopback.py), Open MPI's mpirun.openmpi, or MPICH's
mpiexec.hydra. processes_test.py tries more cases, with processes that it starts itself.

usage: launchers_test.py LIBRARY_FOLDER COLLECTIVES_PROGRAM PROCESSES_PROGRAM {srun|mpirun.openmpi|mpiexec.hydra}

Exit code 77 (skipped) if the launcher is not installed.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "common/tools/testing"))
import slurm_loopback

LINE = r"at \S*processes\.cu:\d+"
PACKAGES = {
    "srun": "slurmctld slurmd slurm-client munge",
    "mpirun.openmpi": "openmpi-bin",
    "mpiexec.hydra": "mpich",
}
WAITS = r"rank {} waits in {}.* " + LINE


class Ended:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def reported(self):
        """The simulator's lines. The launcher may print lines of its own on stderr."""
        return [line for line in self.err.splitlines() if line.startswith("simulator:")]


class Launcher:
    """Starts n processes of a program, as a user does."""

    def __init__(self, words, environment):
        self.words, self.environment = words, environment

    def run(self, n, program, *arguments, until=None, **variables):
        """`until`: the launcher is stopped when its outputs have this many lines, because a rank waits for
        ever."""
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            arguments = [a.replace("ID", f"{folder}/id") for a in arguments]
            command, variables = (
                [*self.words, "-n", str(n), program, *arguments],
                self.environment | variables,
            )
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            with subprocess.Popen(command, text=True, env=variables, **streams) as process:
                out, err = [], []
                readers = [
                    threading.Thread(target=lines.extend, args=[pipe])
                    for lines, pipe in ((out, process.stdout), (err, process.stderr))
                ]
                for reader in readers:
                    reader.start()
                while (
                    process.poll() is None
                    and time.monotonic() < begun + 60
                    and (until is None or len(out) < until)
                ):
                    time.sleep(0.05)
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                for reader in readers:
                    reader.join(30)
            return Ended(process.returncode, "".join(sorted(out)), "".join(err))


@contextlib.contextmanager
def launcher_named(name, library_folder):
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("SIM_", "SLURM_", "OMPI_", "PMI"))
    }
    environment = kept | {"LD_LIBRARY_PATH": library_folder, "SIM_DEVICES": "1"}
    lacking = ([] if shutil.which(name) else [name]) + (slurm_loopback.missing() if name == "srun" else [])
    if lacking:
        print(f"skipped: lacks {', '.join(lacking)} (Debian: {PACKAGES[name]})")
        sys.exit(77)
    if name == "mpirun.openmpi":
        # isolated: all ranks are on this machine, so that no ssh is needed.
        words = [name, "--mca", "plm", "isolated", "--oversubscribe"]
        yield Launcher(words + (["--allow-run-as-root"] if os.geteuid() == 0 else []), environment)
    if name == "mpiexec.hydra":
        yield Launcher([name], environment)
    if name != "srun":
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        slurm_loopback.Cluster(folder + "/cluster", nodes=2) as cluster,
    ):
        yield Launcher(
            ["srun", "--nodes=1", "--overcommit", "--partition=cpu"], environment | cluster.environment()
        )


class Launched(unittest.TestCase):
    maxDiff = None

    def test_collectives_equal_the_reference(self):
        for n in (1, 2, 3, 4, 8):
            with self.subTest(n=n):
                ended = LAUNCHER.run(n, COLLECTIVES, str(n), "ID")
                self.assertEqual((ended.code, ended.reported()), (0, []), (ended.out, ended.err))
                self.assertRegex(ended.out, rf"^(\d+ cases on {n} devices\n)\1{{{n - 1}}}$")

    def test_rank_comes_from_the_innermost_launcher(self):
        # In a batch script of Slurm, the processes of mpirun also have the variables of the script.
        outer = {"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_LOCALID": "0"} if NAME != "srun" else {}
        ended = LAUNCHER.run(3, PROCESSES, "right", "ID", **outer)
        self.assertEqual((ended.code, ended.out, ended.reported()), (0, "sum 6\n" * 3, []), ended.err)

    def test_slow_process_is_waited_for(self):
        ended = LAUNCHER.run(2, PROCESSES, "slow_start", "ID")
        self.assertEqual((ended.code, ended.out, ended.reported()), (0, "", []), ended.err)

    def test_waits_in_vain_end_with_a_report(self):
        for name, call, lines in [
            ("missing_rank", "ncclAllReduce", 4),
            ("does_not_join", "ncclCommInitRank", 2),
        ]:
            with self.subTest(name=name):
                ended = LAUNCHER.run(3, PROCESSES, name, "ID", until=lines)
                for rank in (0, 2):
                    self.assertRegex(ended.err, WAITS.format(rank, call))
                self.assertRegex(
                    ended.err,
                    "rank 1 has made no call" if name == "missing_rank" else "3 ranks waits for rank 1,",
                )


if __name__ == "__main__":
    FOLDER, COLLECTIVES, PROCESSES, NAME = sys.argv[1:]
    with launcher_named(NAME, FOLDER) as LAUNCHER:
        tried = unittest.main(argv=sys.argv[:1], exit=False)
    sys.exit(not tried.result.wasSuccessful())
