# SPDX-License-Identifier: MIT
"""How far it is: a line that is redrawn on a terminal; in a log a line now and then."""

import os
import sys
import time

REDRAW, LOG = 0.2, 15.0  # seconds


class Progress:
    def __init__(self, total: int, stream=sys.stderr) -> None:
        self.total, self.stream = total, stream
        self.done = self.running = self.retried = self.infra = 0
        self.begun = time.monotonic()
        self.drawn = 0.0
        self.note = ""
        self.redraws = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def update(self, done=0, retried=0, infra=0, running: int | None = None, note: str | None = None) -> None:
        self.done += done
        self.retried += retried
        self.infra += infra
        self.running = self.running if running is None else running
        self.note = self.note if note is None else note
        now = time.monotonic()
        if now - self.drawn >= (REDRAW if self.redraws else LOG):
            self.drawn = now
            self.draw()

    def line(self) -> str:
        seconds = time.monotonic() - self.begun
        words = [f"{self.done}/{self.total} graded", f"{self.running} running"]
        words += [f"{self.retried} tried again"] if self.retried else []
        words += [f"{self.infra} not graded"] if self.infra else []
        if 0 < self.done < self.total and seconds > 5:
            left = seconds / self.done * (self.total - self.done)
            words.append(f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left")
        return ", ".join(words) + (f"  {self.note}" if self.note else "")

    def draw(self) -> None:
        line = f"grade-all: {self.line()}"
        self.stream.write(f"\r{line[:79]}\x1b[K" if self.redraws else f"{line}\n")
        self.stream.flush()

    def close(self) -> None:
        if self.redraws:
            self.stream.write("\r\x1b[K")
        self.stream.flush()
