# SPDX-License-Identifier: MIT
"""What stored evidence is worth by a table of points that may have changed since. labcli has the rules
(grader/grading/scoring/rescore.hpp); one process of it answers for all results.

    scorer = Scorer(labcli, catalogue)                      `catalogue`: what labcli list --json prints
    scorer.rescored(result["labs"][0])                      results themselves are not changed
    scorer.tasks[lab][task]["max_points"]
"""

import atexit
import functools
import json
import subprocess


class Scorer:
    def __init__(self, labcli: str, catalogue: dict) -> None:
        self.labcli = labcli
        self.table = {"catalogue": catalogue}
        self.process: subprocess.Popen[str] | None = None

    @functools.cached_property
    def tasks(self) -> dict[str, dict[str, dict]]:
        """By lab and task: max_points and bonus, as of a result without any points."""
        found = {}
        for lab in self.table["catalogue"]["labs"]:
            if tasks := [{"id": one["id"], "verdict": "NOT_IMPLEMENTED"} for one in lab.get("tasks", [])]:
                answer = self._ask({"id": lab["id"], "tasks": tasks})
                found[lab["id"]] = {task["id"]: task for task in answer["tasks"]}
        return found

    def rescored(self, lab: dict) -> dict:
        """Tasks that the table does not know keep their points."""
        return self._ask(lab) if lab["id"] in self.tasks else lab

    def _ask(self, lab: dict) -> dict:
        if self.process is None:
            pipes: dict = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
            self.process = subprocess.Popen([self.labcli, "batch-rescore"], **pipes)
            atexit.register(self.close)
            self._send(self.table)
        self._send(lab)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.labcli} batch-rescore ended with {self.process.wait()}")
        return json.loads(answer)

    def _send(self, document: dict) -> None:
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()
            self.process = None


def not_measured(lab: dict) -> list[str]:
    """Goals that new points ask for and stored evidence cannot answer: they need a new run."""
    return [
        f"{task['id']}: {goal['metric']}"
        for task in lab["tasks"]
        for goal in task.get("goals", [])
        if goal.get("note") == "not measured"
    ]
