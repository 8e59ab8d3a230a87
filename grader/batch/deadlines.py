# SPDX-License-Identifier: MIT
"""The deadlines of class.toml for each student, and whether the times of submission can be right."""

import datetime
import math
from collections.abc import Iterable

from ingest import Submission
from roster import Roster, Student
from settings import Settings

DAY = 24 * 3600
WINDOW = 3600.0  # seconds: of submissions that are late by about the same amount
FEWEST = 3  # that say something about a class
DOUBT = """{n} of {all} submissions of {lab} are late by about the same amount ({hours:.0f} hours). That is what
"git clone", an export without times (as Canvas's) and a program that unpacks without them look like. Nothing was
recorded. --times none takes no notice of the files' times: then nobody is late but whom the platform calls late.
--times files says that the times are right."""


class Deadlines:
    def __init__(self, settings: Settings, roster: Roster) -> None:
        self.settings, self.roster = settings, roster
        self.extensions = [(roster.by_id(one.student) or one.student, one) for one in settings.extensions]

    def due(self, student: Student | str, lab: str) -> tuple[datetime.datetime | None, str]:
        """With the latest extension that somebody has, and its reason."""
        due, why = self.settings.lab(lab).due, ""
        start = due
        for who, one in self.extensions:
            if who == student and one.lab in ("", lab):
                extended = one.due or (start and start + datetime.timedelta(days=one.days))
                if extended and (due is None or extended > due):
                    due, why = extended, f"extension to {extended:%Y-%m-%d %H:%M}"
                    why += f" ({one.reason})" if one.reason else ""
        return due, why

    def limits(self, submission: str, lab: str) -> list[float]:
        """Until when something is in time, and until when it may still earn points; of a lab without a due date
        nothing. `submission`: the name of its owner on the platform."""
        due, _ = self.due(self.roster.find(submission) or submission, lab)
        if due is None:
            return []
        rules = self.settings.lab(lab)
        slip_days = min(self.settings.slip_days, math.inf if rules.slip_days is None else rules.slip_days)
        in_time = due.timestamp() + 60 * rules.late.grace_minutes
        most_days = rules.late.most_days + slip_days if rules.late.most_days else math.inf
        return [in_time, in_time + DAY * most_days]

    def doubt(self, submissions: Iterable[Submission]) -> str:
        """Why the times of submission seem to be wrong; "" if they don't."""
        late: dict[str, list[float]] = {}
        for one in submissions:
            if one.submitted and (limits := self.limits(one.student, one.lab)):
                late.setdefault(one.lab, []).append(one.submitted - limits[0])
        for lab, found in late.items():
            behind = sorted(seconds for seconds in found if seconds > 0)
            for at, first in enumerate(behind):
                n = sum(seconds <= first + WINDOW for seconds in behind[at:])
                if n >= FEWEST and 3 * n > len(found):
                    return DOUBT.format(n=n, all=len(found), lab=lab, hours=first / 3600)
        return ""
