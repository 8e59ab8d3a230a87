# SPDX-License-Identifier: MIT
"""What the simulator counts of a lab's rungs, as records for rows.py; the labs and the order of their rungs."""

import functools
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A column's head, by the name of a metric or of a figure in the profile.
HEADS = {
    "work": "operations",
    "work_ratio": "operations ÷ closed form",
    "moved_ratio": "bytes ÷ what must move",
    "sent_ratio": "bytes sent ÷ what must be sent",
    "instructions": "instructions per {unit}",
    "bytes_ratio": "bytes ÷ what must move",
    "bank_conflicts": "bank conflicts per {unit}",
    "barriers": "barriers per {unit}",
    "barriers_passed": "barriers",
    "atomics": "atomics per {unit}",
    "contention": "waiting lanes per {unit}",
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
    return HEADS.get(column, column.replace("_", " ")).format(unit=goals[0]["unit"] if goals else "item")


def records(lab: str, rungs: list[str], cases: list[str], labcli: str) -> Iterator[dict]:
    """Of each of these rungs (all, if there are none) in each of these cases (its own, if there are none)."""
    tasks = {task["id"] for task in labs(labcli)[lab]["tasks"]}
    for rung in ladder(lab, labcli):
        for case in cases or [None]:
            if rungs and rung not in rungs:
                continue
            one = profile(labcli, lab, rung, case)
            if not case and "_example" in one["case"]:
                continue  # it has no case of some size: nothing but the first example was profiled
            ideal = one["ideal"]
            # A kernel that counts by instructions that are none of the operator's has no operations.
            work, steps = one["work"] or None, one["steps"] or None
            ratios = {
                "work_ratio": work and work / ideal["work"],
                "moved_ratio": one["bytes"] / ideal["bytes"],
                "sent_ratio": one["metrics"].get("bytes_ratio"),  # of labs for several devices
            }
            kind = "task" if rung in tasks else "rung"
            yield one["metrics"] | one | ratios | {"work": work, "steps": steps, "name": rung, "kind": kind}
