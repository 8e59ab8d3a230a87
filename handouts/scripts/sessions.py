# SPDX-License-Identifier: MIT
"""Quotes sessions with ./lab debug: what a terminal shows, and the messages of an editor.

    session FILE LAB TASK: COMMAND; COMMAND …     a terminal's text, which begins at the first wrong store
    adapter FILE LAB TASK: REQUEST; REQUEST …     messages of the Debug Adapter Protocol: "evaluate half", "stepBack"

FILE stands where a student's file of the lab would. Each call compiles it and runs it in the debugger.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from worked import fenced

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 110  # columns of a quoted message


class Course:
    """A checkout in which a lab's file is another one; all else is linked. `steps`: what the arguments of a
    quotation ask for."""

    def __init__(self, arguments: str) -> None:
        head, _, steps = arguments.partition(":")
        name, self.lab, self.task = head.split()
        self.steps = [step.strip() for step in steps.split(";")]
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        for part in ("common", "solutions"):
            (root / part).symlink_to(ROOT / part)
        for file in ROOT.glob("labs/*/*"):
            link = root / file.relative_to(ROOT)
            link.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix != ".cu":
                link.symlink_to(file)
        (root / f"labs/{self.lab}/{self.lab}.cu").write_text(
            (ROOT / name).read_text(encoding="utf-8"), encoding="utf-8"
        )

    def debug(self, build: pathlib.Path, arguments: list, **how: Any) -> subprocess.CompletedProcess:
        environment = {**os.environ, "LAB_ROOT": self.folder.name, "LAB_BUILD": str(build)}
        command = [sys.executable, ROOT / "common/harness/debugging/debug.py", *arguments]
        return subprocess.run(command, capture_output=True, env=environment, **how)

    def __enter__(self) -> "Course":
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()


def build_of(labcli: str) -> pathlib.Path:
    return pathlib.Path(labcli).resolve().parent.parent


def session(arguments: str, labcli: str) -> str:
    with Course(arguments) as course:
        script = pathlib.Path(course.folder.name) / "commands"
        script.write_text("".join(step + "\n" for step in course.steps))
        words = [course.lab, course.task, "--wrong"]
        done = course.debug(build_of(labcli), [*words, "--commands", script], text=True)
    if done.returncode != 0:
        sys.exit(f"./lab debug {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return fenced(f"$ ./lab debug {' '.join(words)}\n{done.stdout}")


def message(value: dict) -> bytes:
    body = json.dumps(value).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def messages(data: bytes) -> Iterator[dict]:
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])
        yield json.loads(rest[:length])
        data = rest[length:]


def adapter(arguments: str, labcli: str) -> str:
    with Course(arguments) as course:
        requests = [
            ("initialize", {"adapterID": "lab-kernel"}),
            ("launch", {"lab": course.lab, "task": course.task, "stopAtWrongStore": True}),
            ("configurationDone", {}),
        ]
        for step in course.steps:
            word, _, rest = step.partition(" ")
            requests.append((word, {"expression": rest} if word == "evaluate" else {"threadId": 1}))
        asked = [
            {"seq": k, "type": "request", "command": word, "arguments": given}
            for k, (word, given) in enumerate(requests, 1)
        ]
        done = course.debug(build_of(labcli), ["--dap"], input=b"".join(map(message, asked)))
        lines = []
        for answer in messages(done.stdout):
            if answer["type"] == "response":
                one = asked[answer["request_seq"] - 1]
                lines.append(f"editor → {one['command']} {json.dumps(one['arguments'])}")
                what = answer.get("body") if answer["success"] else answer["message"]
                lines.append("       ← done" if what is None else f"       ← {json.dumps(what)}")
            elif answer["event"] in ("stopped", "output"):
                lines.append(f"       ← event {answer['event']}: {json.dumps(answer['body'])}")
        lines = [line.replace(course.folder.name + "/", "") for line in lines]
        lines = [line if len(line) <= WIDTH else line[: WIDTH - 2] + " …" for line in lines]
    if not any("stopped" in line for line in lines):
        sys.exit(f"the debug adapter stopped nowhere:\n{done.stderr.decode()}")
    return fenced("\n".join(lines))


KINDS = (session, adapter)
