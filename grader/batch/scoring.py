# SPDX-License-Identifier: MIT
"""What stored evidence is worth: points from verdicts, counters and speedups, by a table of points that may
have changed since.

The rules are those of grader/grading/score.hpp. Results are not changed; `rescored` returns what they are
worth now.

    table = table_of(catalogue)                             `catalogue`: what labcli list --json prints
    change(table, settings.points, catalogue["metrics"])    class.toml's [points.LAB.TASK]
    rescored(result["labs"][0], table)
"""

from dataclasses import dataclass, replace

ROUNDING = 1e-9
JUDGED = ("OK", "SUSPECT")  # verdicts with points


@dataclass(frozen=True)
class Goal:
    metric: str
    limit: float
    points: int
    at_least: bool = False  # the limit is a lower one


@dataclass(frozen=True)
class Tier:
    speedup: float
    points: int


@dataclass(frozen=True)
class TaskPoints:
    correctness: int
    goals: tuple[Goal, ...] = ()
    tiers: tuple[Tier, ...] = ()
    baseline: str = "one_thread"
    bonus: bool = False

    @property
    def max_points(self) -> int:
        return self.correctness + sum(one.points for one in (*self.goals, *self.tiers))


Table = dict[str, dict[str, TaskPoints]]  # by lab and task


def table_of(catalogue: dict) -> Table:
    return {
        lab["id"]: {
            task["id"]: TaskPoints(
                task["correctness_points"],
                tuple(
                    Goal(**one, at_least=catalogue["metrics"][one["metric"]]["at_least"])
                    for one in task["efficiency"]
                ),
                tuple(Tier(one["speedup"], one["points"]) for one in task["speedup"]),
                task["baseline"],
                task["bonus"],
            )
            for task in lab.get("tasks", [])
        }
        for lab in catalogue["labs"]
    }


def changed(points: TaskPoints, wish: dict, metrics: dict) -> TaskPoints:
    """`wish`: a checked [points.LAB.TASK] (settings.py). A metric that it has takes the place of the same
    one; tiers, of all tiers."""
    goals = {goal.metric: goal for goal in points.goals}
    goals |= {
        metric: Goal(metric, one["limit"], one["points"], metrics[metric]["at_least"])
        for metric, one in wish.get("efficiency", {}).items()
    }
    tiers = tuple(Tier(*one) for one in wish["speedup"]) if "speedup" in wish else points.tiers
    return replace(
        points,
        correctness=wish.get("correctness", points.correctness),
        goals=tuple(goals.values()),
        tiers=tiers,
    )


def change(table: Table, wishes: dict, metrics: dict) -> Table:
    return {
        lab: {
            task: changed(points, wishes.get(lab, {}).get(task, {}), metrics)
            for task, points in tasks.items()
        }
        for lab, tasks in table.items()
    }


def meets(goal: Goal, measured: float) -> bool:
    return measured >= goal.limit - ROUNDING if goal.at_least else measured <= goal.limit + ROUNDING


def rescored_task(task: dict, points: TaskPoints) -> dict:
    judged = task["verdict"] in JUDGED
    # A goal may have been measured without being asked for, and a wrong task has no measurements that count.
    goals = []
    for goal in points.goals:
        measured = task.get("metrics", {}).get(goal.metric)
        earned = goal.points if judged and measured is not None and meets(goal, measured) else 0
        goals.append(
            {
                "metric": goal.metric,
                "at_least": goal.at_least,
                "limit": goal.limit,
                "measured": measured if judged else None,
                "points": earned,
                "max_points": goal.points,
                "note": "not measured" if judged and measured is None else "",
            }
        )
    speedup = (task.get("timing") or {}).get(f"speedup_{points.baseline}", task.get("speedup")) or None
    paid = task["verdict"] == "OK" and speedup is not None
    tiers = [
        {
            "speedup": tier.speedup,
            "points": tier.points if paid and speedup >= tier.speedup else 0,
            "max_points": tier.points,
        }
        for tier in points.tiers
    ]
    correctness = points.correctness if judged else 0
    out = {
        **task,
        "points": correctness + sum(one["points"] for one in (*goals, *tiers)),
        "max_points": points.max_points,
        "correctness": {"points": correctness, "max_points": points.correctness},
        "goals": goals,
        "tiers": tiers,
        "speedup": speedup,
        "bonus": points.bonus,
    }
    if task["verdict"] == "OK":
        out["message"] = lost_points(out)
    return out


def lost_points(task: dict) -> str:
    """The message of a right task, as grader/grading/score.cpp words it."""
    lines = []
    for goal in task["goals"]:
        if goal["points"] == goal["max_points"]:
            continue
        lost = goal["max_points"]
        asked = f"{'at least' if goal['at_least'] else 'at most'} {goal['limit']:.4g} is asked for"
        lines.append(
            f"{goal['metric']}: {goal['note']} ({lost} points lost)."
            if goal["measured"] is None
            else f"{goal['metric']} is {goal['measured']:.4g}, {asked} ({lost} point{'' if lost == 1 else 's'} lost)."
        )
    for tier in task["tiers"]:
        if tier["points"] < tier["max_points"]:
            lines.append(
                f"speedup was not measured ({tier['max_points']} points lost)."
                if task["speedup"] is None
                else f"speedup is {task['speedup']:.3g}, {tier['speedup']:.4g} is asked for ({tier['max_points']} points lost)."
            )
    return "\n".join(lines)


def rescored(lab: dict, table: Table) -> dict:
    """`lab`: one of a result's labs. Tasks that the table does not know keep their points."""
    known = table.get(lab["id"], {})
    tasks = [rescored_task(task, known[task["id"]]) if task["id"] in known else task for task in lab["tasks"]]
    if not known:
        return lab
    sums = {
        name: sum(task[what] for task in tasks if bool(task.get("bonus")) == bonus)
        for name, what, bonus in (
            ("points", "points", False),
            ("max_points", "max_points", False),
            ("bonus_points", "points", True),
            ("max_bonus_points", "max_points", True),
        )
    }
    return {**lab, **sums, "tasks": tasks}


def not_measured(lab: dict) -> list[str]:
    """Goals that new points ask for and stored evidence cannot answer: they need a new run."""
    return [
        f"{task['id']}: {goal['metric']}"
        for task in lab["tasks"]
        for goal in task.get("goals", [])
        if goal.get("note") == "not measured"
    ]
