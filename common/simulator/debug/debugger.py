# SPDX-License-Identifier: MIT
"""The debugger's half outside of the program: starts it on the debugger's libcudart, and travels in time.

A program that is being debugged is one live process, and a snapshot: a sleeping copy of it at the first launch.
Going back means to wake a copy of the snapshot and to run it forwards. README.md has the protocol.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile

NO_WAY_BACK = "This program cannot go back: it has several threads."
# What is said of the reasons of a stop, and if it is one of n.
REASONS = {
    "breakpoint": "Breakpoint {id}.",
    "watch": "Watch {id}: {text} {change} (time {write}).",
    "finding": "Finding: {text}",
    "fault": "Fault, which ends the kernel: {text}",
    "wrong store": "This line, executed by {who}, stores the wrong value: {text} becomes {got}, "
    "expected is {expected}.",
    "no store": "Nothing is ever stored in {text}; expected is {expected}.",
    "barrier": "All threads of block {block} have arrived at the barrier.",
    "interrupt": "Interrupted.",
    "beginning": "This is where the first launch begins; there is nothing before it.",
    "thread end": "The warp ends here.",
}
SEVERAL = {
    "wrong store": " (It is the first of {n} wrong elements.)",
    "no store": " ({n} wrong elements are never stored.)",
}


def reason_text(why: dict) -> str:
    """A reason of a stop in words; "" if there is nothing to say of it."""
    change = f"was written by {why.get('who')}" + (f", now {why['to']}" if "to" in why else "")
    if "from" in why and "to" in why:
        change = f"changes from {why['from']} to {why['to']}, written by {why['who']}"
    more = SEVERAL.get(why["kind"], "") if why.get("n", 1) > 1 else ""
    return (REASONS.get(why["kind"], "") + more).format(**why, change=change)


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

    def receive(self) -> dict:
        """The next message."""
        while b"\n" not in self.buffer:
            try:
                more = self.sock.recv(65536)
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

    def __init__(self, command: list[str], libraries: str, environment: dict | None = None, cwd=None):
        self.folder = tempfile.TemporaryDirectory(prefix="lab-debug-")
        path = pathlib.Path(self.folder.name)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path / "socket"))
        self.listener.listen(64)
        # A file, not a pipe: a snapshot that runs on writes the same bytes at the same place again.
        self.output_path = path / "output"
        self.shown = 0
        # A lab's program writes here which elements of its outputs are wrong.
        self.wrong_path = path / "wrong"
        variables = dict(os.environ, **(environment or {}))
        variables["LAB_DEBUG_SOCKET"] = str(path / "socket")
        variables["LAB_DEBUG_WRONG"] = str(self.wrong_path)
        paths = filter(None, (libraries, variables.get("LD_LIBRARY_PATH")))
        variables["LD_LIBRARY_PATH"] = ":".join(paths)
        how: dict = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
        with open(self.output_path, "wb") as output:
            self.process = subprocess.Popen(command, stdout=output, env=variables, cwd=cwd, **how)
        self.live: Connection | None = None
        self.live_pid = self.process.pid
        self.snapshot: Connection | None = None
        self.breakpoints: dict[int, dict] = {}
        self.watches: dict[int, dict] = {}
        self.next_id = 1
        self.is_set_up = False
        self.stop: dict = {}
        self.last: dict | None = None
        self.writes: dict[str, dict] = {}
        self.first_time = self.known_end = self.launches = 0

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
                linked = "is it linked with the shared CUDA runtime (-cudart shared)?"
                raise Refused(f"The program ended before it used the simulator: {linked}")
        self.wait()
        if "exited" not in self.stop:
            self.first_time = self.stop["time"]
            if self.ask({"do": "snapshot"})["made"] and (accepted := self.accept(10)):
                self.snapshot = accepted[1]
        return self.stop

    def resume(self) -> None:
        """Makes a copy of the snapshot the live process."""
        if self.snapshot is None:
            raise Refused(NO_WAY_BACK if self.first_time else "No kernel was launched.")
        if self.live is not None:
            self.live.close()
        self.snapshot.send("resume")
        accepted = self.accept(10)
        if accepted is None:
            raise Ended
        self.live, self.live_pid = accepted[1], accepted[0]["pid"]
        self.is_set_up = False
        self.stop, self.writes = {}, {}
        self.stop = self.ask({"do": "where"})

    def close(self) -> None:
        for connection in (self.live, self.snapshot):
            if connection is not None:
                connection.close()
        self.live = self.snapshot = None
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

    def send(self, message: dict) -> None:
        if self.live is None or "exited" in self.stop:
            raise Refused('The program has ended. You can go back: reverse-continue, or "goto TIME".')
        self.live.send(message)

    def request(self, message: dict) -> dict:
        self.send(message)
        return self.live.receive()

    def ask(self, message: dict) -> dict:
        reply = self.request(message)
        if "error" in reply:
            raise Refused(reply["error"])
        return reply

    def set_up(self) -> dict:
        """Tells the live process of breakpoints and watches. The lines at which breakpoints are."""
        given = {"breakpoints": [*self.breakpoints.values()], "watches": [*self.watches.values()]}
        reply = self.ask({"do": "setup", **given})
        self.is_set_up = True
        return reply["lines"]

    def add(self, to: dict[int, dict], one: dict) -> int:
        """Adds a breakpoint or a watch; its number."""
        number, self.next_id, self.is_set_up = self.next_id, self.next_id + 1, False
        to[number] = {**one, "id": number}
        return number

    def add_breakpoint(self, file="", line=0, function="", condition="", **_) -> int:
        where = {"file": file or "", "line": line, "function": function or ""}
        return self.add(self.breakpoints, {**where, "condition": condition or ""})

    # --- running

    def run(self, **goal: object) -> dict:
        """Runs until an event that `goal` asks for. The stop; "last" is the last event that a collecting run
        noted."""
        if not self.is_set_up:
            self.set_up()
        self.send({"do": "go", **goal})
        return self.wait()

    def wait(self) -> dict:
        """Waits for the end of a run. Ctrl-C interrupts the program."""
        while True:
            try:
                message = self.live.receive()
            except KeyboardInterrupt:
                os.kill(self.live_pid, signal.SIGUSR1)
                continue
            except Ended:
                self.stop = {"exited": True, "time": self.known_end, "launch": self.launches}
                self.live.close()
                self.live = None
                raise
            if "launch_end" in message:
                self.known_end = max(self.known_end, message["launch_end"])
                self.launches = max(self.launches, message["launch"])
                continue
            break
        self.stop = message["stopped"] if "stopped" in message else message
        self.last = message.get("last")
        self.writes = message.get("writes") or {}
        return self.stop

    def move(self, forwards: bool, **goal: object) -> dict:
        return self.run(**goal) if forwards else self.run_back(**goal)

    def step(self, forwards: bool, thread: dict, depth: int | None, findings: bool) -> dict:
        """To the next line of this thread's warp, or the one before; not deeper in calls than `depth`."""
        if depth is None:
            return self.move(forwards, step=thread, findings=findings)
        if depth < 0:
            raise Refused("this is the kernel itself, which no function has called")
        return self.move(forwards, step={**thread, "depth": depth}, findings=findings, breakpoints=forwards)

    def goto(self, time: int, why: list | None = None, focus: dict | None = None) -> dict:
        """To the state at `time`, forwards or backwards."""
        if time < self.first_time:
            raise Refused(f"The first launch begins at time {self.first_time}; there is nothing before it.")
        if "exited" in self.stop or time < self.stop["time"]:
            self.resume()
        if self.stop["time"] < time:
            self.run(until=time)
        if why is not None and "exited" not in self.stop:
            self.stop["why"] = why
            if focus and "focus" in self.stop:
                self.stop["focus"] = focus
        return self.stop

    def run_back(self, **goal: object) -> dict:
        """To the last event before now that `goal` asks for, or to the first launch."""
        now = self.stop["time"]
        self.resume()
        if now - 1 > self.first_time:
            self.run(until=now - 1, collect_before=now, **goal)
            if found := self.last:
                focus = {k: found[k] for k in ("block", "warp", "lane")}
                return self.goto(found["time"], found["why"], focus)
        return self.goto(self.first_time, [{"kind": "beginning"}])

    def last_writes(self, places: list[dict], before: int) -> dict[int, dict]:
        """Who wrote each of these places in memory last before a time, by its position in the list. Moves the
        live process."""
        mine = self.watches
        self.watches = {k: {**place, "id": k} for k, place in enumerate(places)}
        try:
            self.resume()
            if before > self.first_time:
                self.run(until=before)
            return {int(k): write for k, write in self.writes.items()}
        finally:
            self.watches, self.is_set_up = mine, False

    def first_wrong_store(self) -> dict:
        """To the store that made an element of a lab's output wrong: of the last stores to wrong elements the
        earliest."""
        now = self.stop["time"]
        if "exited" not in self.stop:
            self.run()  # to its end
        lines = self.wrong_path.read_text().splitlines() if self.wrong_path.is_file() else []
        if not lines or lines[0] == "right":
            if self.snapshot:
                self.goto(now)
            none = "The program has not come to a result that could be wrong: only a lab's case has one, and only "
            raise Refused("The result is right." if lines else f"{none}if no kernel fails.")
        names = ("text", "address", "bytes", "expected", "got")
        elements = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
        places = [{"address": int(e["address"]), "bytes": int(e["bytes"]), "block": 0} for e in elements]
        writes = self.last_writes(places, self.stop["time"])
        missing = [e for k, e in enumerate(elements) if k not in writes]
        if missing:
            self.goto(self.first_time, [{"kind": "no store", **missing[0], "n": len(missing)}])
            return self.stop
        first = min(writes, key=lambda k: writes[k]["time"])
        where, element = writes[first], elements[first]
        focus = {"block": where["block"], "warp": where["thread"] // 32, "lane": where["thread"] % 32}
        why = {"kind": "wrong store", **element, "who": where["who"], "n": len(elements)}
        return self.goto(where["time"], [why], focus)
