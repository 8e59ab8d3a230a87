#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab watch: grades a lab again whenever its file is saved, the task that was
edited first.

usage: ./lab watch LAB [TASK]    only TASK; otherwise the edited task, then all
       --page [PORT]             show the report on a page, too:
                                 http://127.0.0.1:PORT (8081)

After each save, in this order:
  1. the edited task: first its short cases with one operator and type, then all
     of it; if one is wrong, the smallest input that fails,
  2. the whole lab, unless TASK is given.
The next save ends what is still running. Ctrl-C ends it all. All is graded for
practice, on the simulator.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import watch_page

WIDTH = 80
SECONDS_BETWEEN_LOOKS = 0.05
# An editor may write a file in several steps: how long it must stay as it is to count as saved.
SECONDS_SETTLED, SECONDS_SETTLED_IF_UNFINISHED = 0.1, 1.0


def task_at(source: str, line: int, tasks: list[str]) -> str:
    """The task to which a line (from 1) belongs: the first one whose host function ends after it; the last
    one for what follows."""
    heads = [
        (number, match[1])
        for number, text in enumerate(source.splitlines(), 1)
        if (match := re.match(r"Status (\w+)\(const \w*Job", text))
    ]
    for number, name in heads:
        if name in tasks and end_of(source, number) >= line:
            return name
    return heads[-1][1] if heads and heads[-1][1] in tasks else tasks[0]


def end_of(source: str, number: int) -> int:
    """The line with the brace that closes the function which begins at line `number`."""
    lines = source.splitlines()
    return next((k for k in range(number, len(lines) + 1) if lines[k - 1] == "}"), len(lines))


def first_difference(old: str, new: str) -> int | None:
    """The number of the first line of `new` that is not as in `old`; None if there is none."""
    a, b = old.splitlines(), new.splitlines()
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return number
    return None if len(a) == len(b) else min(len(a), len(b)) + 1


def seems_unfinished(old: str, new: str) -> bool:
    """Whether `new` looks like a part of a file that is still being written in place of `old`."""

    def shape(text: str) -> tuple[int, bool]:
        return text.count("{") - text.count("}"), text.endswith("\n")

    return old.startswith(new) or shape(old) != shape(new)


class Stage:
    """One run of the grader that can be ended."""

    def __init__(self, labcli: pathlib.Path, arguments: list[str], folder: str, report: pathlib.Path) -> None:
        self.result_file = pathlib.Path(folder) / f"{time.monotonic_ns()}.json"
        self.first_file = self.result_file.with_suffix(".first.json")
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        command: list = [labcli, "grade", *arguments, "--device", "sim", "--json", str(self.result_file)]
        command += ["--html", str(report)]
        if "--task" in arguments:
            command += ["--first", str(self.first_file)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT
        )

    @staticmethod
    def result_in(file: pathlib.Path) -> dict | None:
        """The result once it is written; it may be there before the process ends."""
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def ended(self) -> bool:
        return self.process.poll() is not None

    def printed(self) -> str:
        self.output.seek(0)
        return self.output.read()

    def end(self) -> None:
        """SIGTERM lets the grader remove its folder; the processes in sandboxes end with it."""
        if not self.ended():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output.close()


class Watch:
    def __init__(self, root, labcli, lab, tasks, only_task, show=print):
        self.name = f"labs/{lab}/{lab}.cu"
        self.file = root / self.name
        self.labcli, self.lab, self.tasks, self.only_task, self.show = labcli, lab, tasks, only_task, show
        self.source = ""
        self.seen, self.seen_at = "", 0.0  # the file as it was last read, and since when it is so
        self.last: dict[str, tuple] = {}  # task: (verdict, points, max_points), of its last whole run
        self.said = ""  # last
        self.report = pathlib.Path()
        self.latencies: list[float] = []  # seconds from a save to the first answer

    def read(self) -> str | None:
        """The file's text; None while an editor is replacing it."""
        try:
            return self.file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def changed(self) -> bool:
        """Whether another file has been saved: one that is not empty and is not being written any more."""
        text = self.read()
        if text is None or text == self.source or not text.strip():
            self.seen = ""
            return False
        if text != self.seen:
            self.seen, self.seen_at = text, time.monotonic()
        wait = SECONDS_SETTLED_IF_UNFINISHED if seems_unfinished(self.source, text) else SECONDS_SETTLED
        return time.monotonic() - self.seen_at >= wait

    def report_version(self) -> int:
        """Another number for each report that the page can show; 0 if there is none yet."""
        return self.report.stat().st_mtime_ns if self.report.is_file() else 0

    def say(self, text: str) -> None:
        self.said = f"{time.strftime('%H:%M:%S')}  {text}"
        self.show(self.said)

    def on_save(self, folder: str) -> None:
        """Runs all stages for the file as it is now; returns as soon as the file changes again."""
        new = self.read()
        if new is None or not new.strip():
            return
        saved = self.seen_at if new == self.seen else time.monotonic()
        line = first_difference(self.source, new) if self.source else None
        self.source = new
        task = self.only_task or (task_at(new, line, self.tasks) if line else self.tasks[0])
        if self.run_stage(["--task", task], folder, saved, task) and not self.only_task:
            self.run_stage([], folder, saved)

    def run_stage(self, arguments: list[str], folder: str, saved: float, task: str | None = None) -> bool:
        """Grades the lab, or one task of it, whose short cases are answered first. False if the file was
        saved again or there is no result."""
        self.report = pathlib.Path(folder) / "report.html"
        stage = Stage(self.labcli, [self.lab, *arguments], folder, self.report)
        try:
            goes_on = True
            if task:
                if (first := self.wait_for(stage, stage.first_file)) is None:
                    return False
                self.latencies.append(time.monotonic() - saved)
                goes_on = self.show_quick(task, first, self.latencies[-1])
            if goes_on:
                if (result := self.wait_for(stage, stage.result_file)) is None:
                    return False
                self.show_result(result, time.monotonic() - saved)
            if self.wait_for(stage, stage.result_file, until_end=True) is None:
                return False
            self.show_smallest(stage.printed())
            return True
        finally:
            stage.end()

    def wait_for(self, stage: Stage, file: pathlib.Path, until_end: bool = False) -> dict | None:
        """The stage's result in the file; None if the student's was saved again or there is no result."""
        while True:
            if self.changed():
                self.say("saved again")
                return None
            ended = stage.ended()
            result = stage.result_in(file)
            if ended and result is None:
                printed = textwrap.indent(stage.printed().strip(), "    ")
                self.say(f"the grader ended without a result:\n{printed}")
            if ended or (result is not None and not until_end):
                return result
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def show_quick(self, task: str, result: dict, seconds: float) -> bool:
        """Shows the first answer. Returns whether it is right, or nothing is there yet."""
        found = result["labs"][0]["tasks"][0]
        verdict, message = found["verdict"], found["message"]
        what = f"right in {found['cases_run']} short cases" if verdict == "OK" else verdict
        self.say(f"{task}: {what} ({seconds:.1f} s)")
        goes_on = verdict in ("OK", "NOT_IMPLEMENTED")
        if not goes_on:
            self.show_message(message)
        return goes_on

    def show_result(self, result: dict, seconds: float) -> None:
        lab = result["labs"][0]
        for found in lab["tasks"]:
            names = ("verdict", "points", "max_points")
            now, before = tuple(found[name] for name in names), self.last.get(found["id"])
            self.last[found["id"]] = now
            if len(lab["tasks"]) > 1 and before == now:
                continue
            change = f", before: {before[0]} {before[1]}/{before[2]}" if before and before != now else ""
            self.say(f"{found['id']}: {now[0]} {now[1]}/{now[2]} ({seconds:.1f} s{change})")
            if now[0] not in ("OK", "NOT_IMPLEMENTED") and before != now:
                self.show_message(found["message"])
        if len(lab["tasks"]) > 1:
            self.say(f"{self.lab}: {lab['points']}/{lab['max_points']} points ({seconds:.1f} s)")

    def show_message(self, message: str) -> None:
        # The small input below has a command of its own.
        for line in message.split("\n  run it again:")[0].splitlines():
            # A command stays one that can be pasted.
            end = " \\" if "./lab " in line else ""
            indent: dict = {"initial_indent": "    ", "subsequent_indent": "      "}
            parts = textwrap.wrap(line, WIDTH - len(end), break_on_hyphens=False, **indent)
            self.show(f"{end}\n".join(parts or [""]))

    def show_smallest(self, printed: str) -> None:
        small = printed.find("A small input that fails")
        if small >= 0:
            # Before it stand the reason and the items.
            self.show(printed[printed.rfind("\n\n", 0, small) + 1 :].rstrip())

    def run(self) -> None:
        with tempfile.TemporaryDirectory(prefix="lab-watch-") as folder:
            self.on_save(folder)
            self.say(f"waiting for {self.name} to be saved (Ctrl-C ends)")
            while True:
                if self.changed():
                    self.on_save(folder)
                time.sleep(SECONDS_BETWEEN_LOOKS)


def main() -> None:
    root, build = pathlib.Path(os.environ["LAB_ROOT"]), pathlib.Path(os.environ["LAB_BUILD"])
    parser = argparse.ArgumentParser(
        prog="./lab watch",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("task", metavar="TASK", nargs="?")
    parser.add_argument("--page", metavar="PORT", nargs="?", type=int, const=8081)
    arguments = parser.parse_args()
    labcli = build / "grader/labcli"
    listed = subprocess.run([labcli, "list", "--json"], check=True, capture_output=True, text=True).stdout
    known = {lab["id"]: [task["id"] for task in lab["tasks"]] for lab in json.loads(listed)["labs"]}
    lab = arguments.lab.rstrip("/").rsplit("/", 1)[-1]
    if lab not in known:
        sys.exit(f'lab: There is no lab "{arguments.lab}"; the labs are {", ".join(known)}')
    if arguments.task and arguments.task not in known[lab]:
        sys.exit(f'lab: There is no task "{arguments.task}" in {lab}; its tasks are {", ".join(known[lab])}')
    watch = Watch(root, labcli, lab, known[lab], arguments.task, lambda text: print(text, flush=True))
    if not watch.file.is_file():
        sys.exit(f"lab: {watch.name} is not there")
    if arguments.page is not None:
        try:
            address = watch_page.serve(watch, arguments.page)
        except OSError as error:
            why = f"{arguments.page}: {error.strerror}"
            sys.exit(f"lab: The page can't be served on port {why}. Name another one: --page 8090")
        watch.say(f"page: {address}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        watch.run()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
