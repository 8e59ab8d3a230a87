#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Slurm cluster of several nodes on this one machine, for tests: an own munged, slurmctld and a slurmd a
node, in one folder and on ports of its own. Two partitions, as a real one may have: "cpu", and "gpu" whose
nodes claim a GPU each. Debian: slurmctld slurmd slurm-client munge; root.

    slurm_loopback.py FOLDER        starts it and prints the environment to use; Ctrl-C ends it
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")


def missing():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in NEEDED if shutil.which(name, path=path) is None] + (
        [] if os.geteuid() == 0 else ["root"]
    )


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    def __init__(self, folder, nodes=4):
        self.folder, self.n_nodes = pathlib.Path(folder).resolve(), nodes
        self.processes = {}

    def environment(self):
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin",
        }

    def write_settings(self):
        host = socket.gethostname().split(".")[0]
        control, *ports = free_ports(1 + self.n_nodes)
        half = self.n_nodes // 2
        nodes = "\n".join(
            f"NodeName=node{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=1000"
            + (" Gres=gpu:1" if i >= half else "")
            for i, port in enumerate(ports)
        )
        (self.folder / "slurm.conf").write_text(
            f"""ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=15
InactiveLimit=0
KillWait=5
MessageTimeout=10
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,default_queue_depth=1000
MailProg=/bin/true
{nodes}
PartitionName=cpu Nodes=node[0-{half - 1}] Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=node[{half}-{self.n_nodes - 1}] MaxTime=INFINITE State=UP
""",
            encoding="ascii",
        )
        (self.folder / "gres.conf").write_text(
            f"NodeName=node[{half}-{self.n_nodes - 1}] Name=gpu File=/dev/null\n", encoding="ascii"
        )
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n", encoding="ascii")

    def start(self, name, *command):
        log = open(self.folder / f"{name}.out", "ab")
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        environment = {**os.environ, **self.environment()}
        self.processes[name] = subprocess.Popen(command, env=environment, start_new_session=True, **streams)

    def start_controller(self):
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))

    def __enter__(self):
        if lacking := missing():
            raise RuntimeError(
                f"A loopback cluster needs {', '.join(lacking)}: apt-get install slurmctld slurmd slurm-client munge."
            )
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in (".", "munge", "state", *(f"node{i}" for i in range(self.n_nodes))):
            (self.folder / name).mkdir(parents=True, mode=0o755)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = self.folder / "munge"
        files = [f"--{name}-file={munge}/{name}" for name in ("key", "pid", "log", "seed")]
        words = ["--foreground", "--force", f"--socket={munge}/socket", *files, "--num-threads=2"]
        self.start("munged", "munged", *words)
        self.write_settings()
        self.wait_for("munged", lambda: (munge / "socket").exists())
        self.start_controller()
        for i in range(self.n_nodes):
            self.start(f"node{i}", "slurmd", "-D", "-N", f"node{i}", "-f", str(self.folder / "slurm.conf"))
        try:
            self.wait_for(
                "all nodes",
                lambda: self.ask("sinfo", "-h", "-N", "-o", "%N %T").count(" idle") >= self.n_nodes,
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def ask(self, *command):
        environment = {**os.environ, **self.environment()}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout

    def wait_for(self, what, done, seconds=60):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not come up; see {self.folder}/*.log, *.out")
            time.sleep(0.3)

    def stop_node(self, number):
        """For good, with the work on it."""
        self.end(f"node{number}")
        for line in subprocess.run(
            ["ps", "-eo", "pid,args"], capture_output=True, text=True, check=False
        ).stdout.splitlines():
            pid, _, words = line.strip().partition(" ")
            if "slurmstepd" in words and self.owns_step(int(pid), number):
                self.kill_tree(int(pid))

    def owns_step(self, pid, number):
        """Whether this slurmstepd is of that node of this cluster."""
        try:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            files = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:
            return False
        return (
            any(str(self.folder / f"node{number}") in name for name in files)
            or f"SLURMD_NODENAME=node{number}".encode() in environment
        )

    def kill_tree(self, pid):
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        for one in [pid, *map(int, children)]:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for child in children:
            self.kill_tree(int(child))

    def kill_controller(self):
        """SIGKILL, then a new one that has what the old one saved."""
        self.end("slurmctld")
        time.sleep(3)
        self.start_controller()
        # It may not believe a node whose job it has forgotten ("Duplicate jobid"): an administrator's work.
        self.wait_for("the controller", lambda: "UP" in self.ask("scontrol", "ping"))
        time.sleep(5)
        for line in self.ask("sinfo", "-h", "-N", "-o", "%N %T").splitlines():
            if "drain" in line:
                self.ask("scontrol", "update", f"nodename={line.split()[0]}", "state=resume")

    def end(self, name):
        process = self.processes.pop(name, None)
        if process is not None:
            process.kill()
            process.wait()

    def __exit__(self, *_):
        if "slurmctld" in self.processes:
            try:
                self.ask("scancel", "--user=root")
                self.wait_for("the end", lambda: not self.ask("squeue", "-h").strip(), seconds=15)
            except (RuntimeError, subprocess.TimeoutExpired):
                pass
        for name in list(self.processes):
            self.end(name)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=4)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Cluster(options.folder, options.nodes) as cluster:
            print(f"export SLURM_CONF={cluster.environment()['SLURM_CONF']}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        pass
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
