# SPDX-License-Identifier: MIT
"""What the simulator counts of a lab's rungs, and the limits that its tasks have, for quotes.py:

counted LAB COLUMNS        a row for each rung, from `labcli profile`; COLUMNS: names of HEADS
cases LAB RUNG,... COLUMN CASE=WORDS ...    one figure of some rungs on several cases; in WORDS _ stands for a blank
goals LAB TASK             what of the task is counted, and its limits
tried LAB                  on which cases the tasks are counted and timed
effort all                 the tasks of all labs, with their points, difficulty and hours, as the handouts have them
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

from worked import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A column's head, by the name of a metric or of a figure in the profile.
HEADS = {
    "work": "operations",
    "steps": "steps",
    "bytes": "bytes",
    "work_ratio": "operations ÷ closed form",
    "moved_ratio": "bytes ÷ what must move",
    "sent_ratio": "bytes sent ÷ what must be sent",
    "instructions": "instructions per {unit}",
    "bytes_ratio": "bytes ÷ what must move",
    "active_lanes": "active lanes",
    "bank_conflicts": "bank conflicts per {unit}",
    "launches": "launches",
    "barriers": "barriers per {unit}",
    "barriers_passed": "barriers",
    "atomics": "atomics per {unit}",
    "contention": "waiting lanes per {unit}",
    "messages": "messages",
}


@functools.lru_cache
def catalogue(labcli: str) -> dict:
    listed = subprocess.run([labcli, "list", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(listed)


def labs(labcli: str) -> dict:
    return {lab["id"]: lab for lab in catalogue(labcli)["labs"]}


def ladder(lab: str, labcli: str) -> list[str]:
    """The lab's rungs: the solution's files, read from the top, are the ladder from the bottom."""
    folder = ROOT / "solutions" / lab
    text = "".join(
        p.read_text(encoding="utf-8") for p in [folder / f"{lab}.cu", *sorted(folder.glob("*.cuh"))]
    )
    ids = [r["id"] for r in labs(labcli)[lab]["tasks"] + labs(labcli)[lab]["further_rungs"]]

    def place(name: str) -> tuple[int, int]:
        # Some are called by another one's function, with an argument of their own.
        called = re.search(rf"\bRung::{name}: return (\w+)<", text)
        names = [name, called[1]] if called else [name]
        own = next(filter(None, (re.search(rf"^Status {one}\(", text, re.M) for one in names)), None)
        return (own or re.search(rf"\bRung::{name}\b", text)).start(), ids.index(name)

    return sorted(ids, key=place)


@functools.lru_cache
def profile(labcli: str, lab: str, rung: str, case: str | None = None) -> dict:
    command = [labcli, "profile", lab, rung, "--solutions", "--json", *(["--case", case] if case else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    complaints = re.sub(r"^lab: \d+ s  .*\n", "", done.stderr, flags=re.M)  # without what shows how far it is
    if done.returncode != 0 or complaints:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def head(column: str, lab: dict) -> str:
    goals = [goal for task in lab["tasks"] for goal in task["efficiency"] if goal["metric"] == column]
    return HEADS[column].format(unit=goals[0]["unit"] if goals else "item")


def figure(profiled: dict, column: str) -> str:
    # Of labs for several devices, the metric is of the bytes sent.
    value = profiled.get(column, profiled["metrics"].get("bytes_ratio" if column == "sent_ratio" else column))
    if column in ("work_ratio", "moved_ratio"):
        counts = "work" if column == "work_ratio" else "bytes"
        value = profiled[counts] / profiled["ideal"][counts]
    if value is None or (value == 0 and column in ("work", "steps", "work_ratio")):
        return ""  # the kernel counts by instructions that are none of the operator's
    if column == "active_lanes":
        return f"{100 * value:.0f} %"
    if column in ("work", "steps", "bytes", "launches", "messages", "barriers_passed"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def counted(arguments: str, labcli: str) -> str:
    lab, *columns = arguments.split()
    rungs = ladder(lab, labcli)
    labs_tasks = {task["id"] for task in labs(labcli)[lab]["tasks"]}
    profiles = [profile(labcli, lab, rung) for rung in rungs]  # one at a time: each uses all cores
    # Rungs that have no case of some size, of which nothing but the first example was profiled, are left out.
    rungs, profiles = zip(*((r, p) for r, p in zip(rungs, profiles) if "_example" not in p["case"]))
    cases = [p["case"] for p in profiles]
    usual = max(cases, key=cases.count)
    others = any(case != usual for case in cases)
    rows = []
    for rung, p in zip(rungs, profiles):
        case = [f"`{p['case']}`" if p["case"] != usual else ""] if others else []
        rows.append([f"`{rung}`" + " ★" * (rung in labs_tasks), *case, *(figure(p, c) for c in columns)])
    heads = [
        "rung",
        *(["case, if different"] if others else []),
        *(head(c, labs(labcli)[lab]) for c in columns),
    ]
    align = "ll" + "r" if others else "lr"
    return (
        "<details><summary>Counts of the solutions on the simulator (predict them before you look)</summary>\n\n"
        f"Case `{usual}`. A star marks your tasks. [Points](#points) defines the columns.\n\n{table(heads, rows, align)}\n</details>\n"
    )


def cases(arguments: str, labcli: str) -> str:
    lab, tasks, column, *pairs = arguments.split()
    named = [one.split("=") for one in pairs]
    rows = [
        [f"`{task}`", *(figure(profile(labcli, lab, task, case), column) for case, _ in named)]
        for task in tasks.split(",")
    ]
    return table(
        [head(column, labs(labcli)[lab]), *(words.replace("_", " ") for _, words in named)], rows, "lr"
    )


def goals(arguments: str, labcli: str) -> str:
    lab, name = arguments.split()
    task = next((t for t in labs(labcli)[lab]["tasks"] if t["id"] == name), None)
    if task is None:
        sys.exit(f"{lab} has no task {name}")
    limits = []
    for goal in task["efficiency"]:
        at_least = catalogue(labcli)["metrics"][goal["metric"]]["at_least"]
        bound = "at least" if at_least else "at most"
        name = f"`{goal['metric']}`" + (f" per {goal['unit']}" if goal["unit"] else "")
        limits.append(f"{name} {bound} {goal['limit']:g}" if goal["limit"] else f"no {name}")
    tiers = [f"{tier['speedup']:g}" for tier in task["speedup"]]
    said = [f"Limits of the [counters](#points): {', '.join(limits)}."] if limits else []
    if tiers:
        against = {"one_thread": "one CPU thread", "all_cores": "all CPU cores"}[task["baseline"]]
        said.append(
            f"Speedup goals: {' and '.join(filter(None, [', '.join(tiers[:-1]), tiers[-1]]))} times as fast as {against}."
        )
    return " ".join(said) + "\n"


def tried(lab: str, labcli: str) -> str:
    alike: dict = {}  # tasks by their cases
    for task in labs(labcli)[lab]["tasks"]:
        counted_on = task["counted_on"] if task["efficiency"] else []
        timed_on = task["timed_on"] if task["speedup"] else []
        alike.setdefault((tuple(counted_on), tuple(timed_on)), []).append(f"`{task['id']}`")
    rows = [
        [", ".join(tasks), *("<br>".join(f"`{c}`" for c in column) for column in on)]
        for on, tasks in alike.items()
    ]
    return table(["task", "counted on", "timed on"], rows)


def effort(_all: str, labcli: str) -> str:
    sys.path.insert(0, str(ROOT / "common/tools"))
    import hint

    rows: list = []
    hours = 0
    for lab, page in hint.handouts(ROOT).items():
        known, one = hint.tasks_of(page.read_text(encoding="utf-8")), labs(labcli)[lab]
        name, of_lab = one["title"], 0
        for task in one["tasks"]:
            difficulty, time = hint.effort(known[task["id"]][1]) or ("", "")
            bonus = bool(task.get("bonus"))
            of_lab += 0 if bonus else sum(map(int, re.findall(r"\d+", time)))
            shown = f"`{task['id']}`{' (bonus)' if bonus else ''}"
            rows.append([name, shown, difficulty, time, task["max_points"]])
            name = ""
        if of_lab:
            points = sum(task["max_points"] for task in one["tasks"] if not task.get("bonus"))
            rows.append(f" | *without the bonus* |  | *about {of_lab} hours* | *{points}*")
        hours += of_lab
    rows.append(f"**all labs** |  |  | **about {hours} hours** | ")
    return table("lab | task | difficulty | time | points", rows, "llllr")


KINDS = (counted, cases, goals, tried, effort)
