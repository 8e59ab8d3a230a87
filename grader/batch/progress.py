# SPDX-License-Identifier: MIT
"""How far a batch is, as common/tools/waiting.py shows it."""

import time

from waiting import Waiting


class Progress(Waiting):
    def __init__(self, total: int) -> None:
        super().__init__("Grading")
        self.total = total
        self.done = self.running = self.retried = self.infra = 0
        self.note = ""

    def update(self, done=0, retried=0, infra=0, running: int | None = None, note: str | None = None) -> None:
        self.done += done
        self.retried += retried
        self.infra += infra
        self.running = self.running if running is None else running
        self.note = self.note if note is None else note
        words = [f"{self.done}/{self.total} graded", f"{self.running} running"]
        words += [f"{self.retried} tried again"] if self.retried else []
        words += [f"{self.infra} not graded"] if self.infra else []
        if 0 < self.done < self.total:
            left = (time.monotonic() - self.begun) / self.done * (self.total - self.done)
            words.append(f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left")
        self.detail = ", ".join(words) + (f"  {self.note}" if self.note else "")
