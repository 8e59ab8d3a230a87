# SPDX-License-Identifier: MIT
"""The weeks of the course, with their topics and tasks: the tables of the instructor's guide."""

import pathlib
import re
import sys
from typing import NamedTuple

HANDOUTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HANDOUTS.parent / "common/tools"))
import hint

MAX_HOURS = 12  # of a week's tasks, without the bonus


class Part(NamedTuple):
    """What comes from one handout."""

    page: str
    tasks: list


class Week(NamedTuple):
    topics: str
    parts: list
    also: str  # what students do besides the tasks
    hours: int


def page_of(part: Part) -> str:
    return (HANDOUTS / f"{part.page}.md").read_text(encoding="utf-8")


def week_of(texts: str, tasks: str, hours: str, topics: str) -> Week:
    """Of a row of the table. A task belongs to the first page, from that of the task before it on, that has it."""
    parts = [Part(page, []) for page in re.findall(r"\]\(\.\./([\w-]+)\.md\)", texts)]
    listed, _, also = tasks.partition("; ") if tasks.startswith("`") else ("", "", tasks)
    k = 0
    for task in re.findall(r"`(\w+)`", listed):
        k = next((i for i in range(k, len(parts)) if task in hint.tasks_of(page_of(parts[i]))), k)
        parts[k].tasks.append(task)
    return Week(topics, parts, also, int(hours or 0))


def planned() -> dict[int, Week]:
    text = (HANDOUTS / "instructor/guide.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| week \| text \| tasks .*\n.*\n((?:\|.*\n)+)", text, re.M)).splitlines()
    cells = ([cell.strip() for cell in row[1:-1].split("|")] for row in rows)
    return {int(number): week_of(*more) for number, *more in cells}


WEEKS = planned()


def hours(week: int) -> int:
    """Of a week's tasks without the bonus, as the handouts have them."""
    found = 0
    for part in WEEKS[week].parts:
        known = hint.tasks_of(page_of(part))
        for task in part.tasks:
            title, section = known[task]
            if "(bonus)" not in title:
                found += sum(map(int, re.findall(r"\d+", hint.effort(section)[1])))
    return found
