#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the gradebook exactly what make_class.py expects?    compare_class.py EXPECTED.JSON GRADEBOOK.SQLITE"""

import json
import pathlib
import sqlite3
import sys


def differences(expected: dict, gradebook: pathlib.Path) -> list[str]:
    db = sqlite3.connect(f"file:{gradebook}?mode=ro", uri=True)
    rows = {
        student: (number, status, points)
        for number, student, status, points in db.execute("SELECT id, student, status, points FROM latest")
    }
    tasks: dict = {}
    for number, task, verdict, points in db.execute("SELECT submission, task, verdict, points FROM tasks"):
        tasks.setdefault(number, {})[task] = (verdict, points)
    db.close()
    wrong = [
        f"{student}: in the gradebook, but in no submission"
        for student in rows.keys() - expected["students"].keys()
    ]
    for student, one in expected["students"].items():
        about = f"{student} ({one['about']})"
        if student not in rows:
            wrong.append(f"{about}: not in the gradebook")
            continue
        number, status, points = rows[student]
        if status != one["status"]:
            wrong.append(f"{about}: {status}, expected {one['status']}")
        for task, verdict in one["tasks"].items():
            got, task_points = tasks.get(number, {}).get(task, ("nothing", 0))
            if got != verdict or (task_points > 0) != (verdict == "OK"):
                wrong.append(f"{about}, {task}: {got} with {task_points} points, expected {verdict}")
        if "OK" not in one["tasks"].values() and points and set(one["tasks"]) == set(tasks.get(number, {})):
            wrong.append(f"{about}: {points} points for nothing right")
    return wrong


def grades(gradebook: pathlib.Path) -> list[tuple]:
    """Everything that a grade consists of, without times and attempts."""
    db = sqlite3.connect(f"file:{gradebook}?mode=ro", uri=True)
    of_labs = "SELECT student, lab, sha256, status, points, max_points, bonus_points, message FROM latest"
    of_tasks = "SELECT student, lab, task, verdict, t.points, t.max_points, bonus, t.message, speedup"
    of_tasks += " FROM latest JOIN tasks t ON submission = id"
    rows = [*db.execute(f"{of_labs} ORDER BY 1, 2"), *db.execute(f"{of_tasks} ORDER BY 1, 2, 3")]
    db.close()
    return rows


if __name__ == "__main__":
    found = differences(
        json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), pathlib.Path(sys.argv[2])
    )
    print("\n".join(found) or "as expected")
    sys.exit(1 if found else 0)
