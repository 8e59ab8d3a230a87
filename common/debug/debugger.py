# SPDX-License-Identifier: MIT
"""The debugger's half outside of the program: starts it on the debugger's libcudart, and travels in time.

A program that is being debugged is one live process, and snapshots: sleeping copies of it at earlier times. Going back means to wake
the nearest earlier snapshot and to run the copy forwards. README.md has the protocol.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile

SNAPSHOT_EVERY = 1 << 17  # events, at first
MOST_SNAPSHOTS = 40


class Ended(Exception):
    """The program has gone without saying so: it crashed, or was killed."""


class Refused(Exception):
    """What was asked for cannot be answered; the text says why."""


class Connection:
    def __init__(self, sock: socket.socket):
        self.sock, self.buffer = sock, b""

    def send(self, message: dict | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        try:
            self.sock.sendall(text.encode() + b"\n")
        except OSError as error:
            raise Ended from error

    def receive(self, timeout: float | None = None) -> dict | None:
        """The next message; None when none came in time."""
        self.sock.settimeout(timeout)
        while b"\n" not in self.buffer:
            try:
                more = self.sock.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise Ended from error
            if not more:
                raise Ended
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def close(self) -> None:
        self.sock.close()


class Debugger:
    """One program. `stop` describes where it is: the newest "stopped" or "exited" message."""

    def __init__(self, command: list[str], libraries: str, environment: dict[str, str] | None = None, cwd: str | None = None):
        self.folder = tempfile.TemporaryDirectory(prefix="lab-debug-")
        path = pathlib.Path(self.folder.name)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path / "socket"))
        self.listener.listen(64)
        # A file, not a pipe: a snapshot that runs on writes the same bytes at the same place again.
        self.output_path = path / "output"
        self.shown = 0
        variables = dict(os.environ, **(environment or {}))
        variables["LAB_DEBUG_SOCKET"] = str(path / "socket")
        variables["LD_LIBRARY_PATH"] = libraries + (":" + variables["LD_LIBRARY_PATH"] if variables.get("LD_LIBRARY_PATH") else "")
        with open(self.output_path, "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=variables, cwd=cwd,
                                            start_new_session=True)
        self.live: Connection | None = None
        self.live_pid = self.process.pid
        self.snapshots: list[tuple[int, Connection]] = []
        self.breakpoints: dict[int, dict] = {}
        self.watches: dict[int, dict] = {}
        self.next_id = 1
        self.is_set_up = False
        self.stop: dict = {}
        self.last: dict | None = None
        self.first_time = self.known_end = self.launches = 0
        self.travels = False
        self.snapshot_every = SNAPSHOT_EVERY

    # --- processes

    def accept(self, timeout: float | None) -> tuple[dict, Connection] | None:
        self.listener.settimeout(timeout)
        try:
            sock, _ = self.listener.accept()
        except (TimeoutError, BlockingIOError):
            return None
        connection = Connection(sock)
        hello = connection.receive()
        return hello, connection

    def begin(self) -> dict:
        """Runs to the first launch of a kernel, or to the end of a program that launches none."""
        while True:
            accepted = self.accept(0.2)
            if accepted:
                self.live = accepted[1]
                break
            if self.process.poll() is not None:
                raise Refused("The program ended before it used the simulator: is it linked with the shared CUDA runtime (-cudart shared)?")
        self.wait()
        if "exited" not in self.stop:
            self.first_time = self.stop["time"]
            self.take_snapshot()
        return self.stop

    def take_snapshot(self) -> None:
        wanted = self.ask({"do": "snapshot"})["snapshots"]
        self.travels = wanted > 0
        self.collect_snapshots(wanted)

    def collect_snapshots(self, wanted: int) -> None:
        """Accepts the connections of the snapshots that the live process has announced."""
        for _ in range(wanted):
            accepted = self.accept(10)
            if accepted is None:
                break
            self.snapshots.append((accepted[0]["snapshot"], accepted[1]))
        self.snapshots.sort(key=lambda s: s[0])
        while len(self.snapshots) > MOST_SNAPSHOTS:
            # Drop the one whose neighbours are closest, never the first.
            gaps = [(self.snapshots[k + 1][0] - self.snapshots[k - 1][0], k) for k in range(1, len(self.snapshots) - 1)]
            self.snapshots.pop(min(gaps)[1])[1].close()

    def resume(self, snapshot: tuple[int, Connection]) -> None:
        if self.live is not None:
            self.live.close()
        snapshot[1].send("resume")
        accepted = self.accept(10)
        if accepted is None:
            raise Ended
        self.live, self.live_pid = accepted[1], accepted[0]["pid"]
        self.is_set_up = False
        self.stop = {}
        self.stop = self.ask({"do": "where"})

    def close(self) -> None:
        for connection in [self.live, *(c for _, c in self.snapshots)]:
            if connection is not None:
                connection.close()
        self.live, self.snapshots = None, []
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.listener.close()
        self.folder.cleanup()

    def output(self) -> str:
        """What the program has written since the last call, each byte once however often it is executed."""
        with open(self.output_path, "rb") as file:
            file.seek(self.shown)
            new = file.read()
        self.shown += len(new)
        return new.decode(errors="replace")

    # --- questions

    def request(self, message: dict) -> dict:
        if self.live is None or "exited" in self.stop:
            raise Refused("The program has ended. You can go back: reverse-continue, or \"goto TIME\".")
        self.live.send(message)
        return self.live.receive()

    def ask(self, message: dict) -> dict:
        reply = self.request(message)
        if "error" in reply:
            raise Refused(reply["error"])
        return reply

    def set_up(self) -> dict:
        """Tells the live process of breakpoints and watches. The lines at which breakpoints are."""
        reply = self.ask({"do": "setup", "breakpoints": list(self.breakpoints.values()), "watches": list(self.watches.values())})
        self.is_set_up = True
        return reply["lines"]

    # --- running

    def run(self, **goal) -> dict:
        """Runs until an event that `goal` asks for. The stop; "last" is the last event that a collecting run noted."""
        if not self.is_set_up:
            self.set_up()
        message = {"do": "go", **goal}
        if self.travels:
            message["snapshot_every"] = self.snapshot_every
            message["snapshot_from"] = self.snapshots[-1][0] + self.snapshot_every
        self.request_go(message)
        return self.wait()

    def request_go(self, message: dict) -> None:
        if self.live is None or "exited" in self.stop:
            raise Refused("The program has ended. You can go back: reverse-continue, or \"goto TIME\".")
        self.live.send(message)

    def wait(self) -> dict:
        """Waits for the end of a run. Ctrl-C interrupts the program."""
        while True:
            try:
                message = self.live.receive(0.5)
            except KeyboardInterrupt:
                os.kill(self.live_pid, signal.SIGUSR1)
                continue
            except Ended:
                self.stop = {"exited": True, "time": self.known_end, "launch": self.launches}
                self.live.close()
                self.live = None
                raise
            if message is None:
                continue
            if "launch_end" in message:
                self.known_end, self.launches = max(self.known_end, message["launch_end"]), max(self.launches, message["launch"])
                continue
            break
        self.collect_snapshots(message.get("snapshots", 0))
        self.stop = message["stopped"] if "stopped" in message else message
        self.last = message.get("last")
        return self.stop

    def goto(self, time: int, why: list | None = None, focus: dict | None = None) -> dict:
        """To the state at `time`, forwards or backwards."""
        if time < self.first_time:
            raise Refused(f"The first launch begins at time {self.first_time}; there is nothing before it.")
        now = self.stop["time"]
        earlier = [s for s in self.snapshots if s[0] <= time]
        if "exited" in self.stop or time < now or (earlier and earlier[-1][0] > now):
            if not earlier:
                raise Refused("This program cannot go back: it has several threads.")
            self.resume(earlier[-1])
        if self.stop["time"] < time:
            self.run(until=time)
        if why is not None and "exited" not in self.stop:
            self.stop["why"] = why
            if focus and "focus" in self.stop:
                self.stop["focus"] = focus
        return self.stop

    def find_last(self, before: int, **goal) -> dict | None:
        """The last event before the time `before` that `goal` asks for. Moves the live process."""
        if not self.travels:
            raise Refused("This program cannot go back: it has several threads." if self.first_time else "No kernel was launched.")
        bound = before
        # A run may add snapshots and drop others, so the next one is chosen anew.
        while earlier := [s for s in self.snapshots if s[0] < bound - 1]:
            self.resume(earlier[-1])
            self.run(until=bound - 1, collect_before=bound, **goal)
            if self.last:
                return self.last
            bound = earlier[-1][0] + 1
        return None

    def run_back(self, **goal) -> dict:
        """To the last event before now that `goal` asks for, or to the first launch."""
        now = self.stop["time"]
        found = self.find_last(now, **goal)
        if found is None:
            return self.goto(self.first_time, [{"kind": "beginning"}])
        return self.goto(found["time"], found["why"], {k: found[k] for k in ("block", "warp", "lane")})

