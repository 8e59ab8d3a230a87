# SPDX-License-Identifier: MIT
"""Shows on stderr what a program is doing: on a terminal, after two seconds, one line that is redrawn; elsewhere
a line every 15 seconds.

    with Waiting("Compiling program.cu") as waiting:
        …
        waiting.detail = "3 of 7"
"""

import os
import sys
import threading
import time
from typing import TextIO

QUIET_AT_FIRST, REDRAW, BETWEEN_LINES = 2.0, 0.5, 15.0  # seconds
COLUMNS = 79


class Waiting:
    def __init__(self, what: str, stream: TextIO = sys.stderr) -> None:
        self.what, self.detail, self.stream = what, "", stream
        self.redraws = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.ended = threading.Event()
        self.painter = threading.Thread(target=self.draw_until_ended, daemon=True)

    def __enter__(self) -> "Waiting":
        self.begun = time.monotonic()
        self.painter.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.painter.join()

    def draw_until_ended(self) -> None:
        if self.ended.wait(QUIET_AT_FIRST if self.redraws else BETWEEN_LINES):
            return
        while True:
            seconds = time.monotonic() - self.begun
            line = f"lab: {self.what} ({seconds:.0f} s) {self.detail}".rstrip()[:COLUMNS]
            print(f"\r\x1b[K{line}" if self.redraws else f"{line}\n", end="", file=self.stream, flush=True)
            if self.ended.wait(REDRAW if self.redraws else BETWEEN_LINES):
                break
        if self.redraws:
            print("\r\x1b[K", end="", file=self.stream, flush=True)
