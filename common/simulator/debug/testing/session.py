# SPDX-License-Identifier: MIT
"""A terminal of the debugger on a program, for tests."""

import io

from debugger import Debugger
from terminal import Terminal


class Session:
    """A command gives what it prints."""

    def __init__(self, libraries: str, program: str, *arguments: str):
        self.debugger = Debugger([program, *arguments], libraries, {"SIM_MODE": "checks", "SIM_QUIET": "1"})
        self.debugger.begin()
        self.terminal = Terminal(self.debugger, io.StringIO())
        self.terminal.show_stop()
        self.first = self.take()

    def take(self) -> str:
        text = self.terminal.out.getvalue()
        self.terminal.out.seek(0)
        self.terminal.out.truncate()
        return text

    def do(self, command: str) -> str:
        self.terminal.command(command)
        text = self.take()
        assert all(len(line) <= 80 for line in text.splitlines()), text
        return text

    def flat(self, command: str) -> str:
        """As do(), in one line."""
        return " ".join(self.do(command).split())

    def state(self) -> tuple[int, str]:
        reply = self.debugger.ask({"do": "state"})
        return reply["time"], reply["state"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.debugger.close()
