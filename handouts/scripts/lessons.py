# SPDX-License-Identifier: MIT
"""What solutions/lessons measured on a device, or in the model (handouts/results/lessons), for charts.py."""

import json

from measured import ROOT


def newest(device: str, lesson: str) -> dict:
    """The newest file with a lesson."""
    files = sorted((ROOT / "handouts/results/lessons").glob(f"*-{device}.json"), reverse=True)
    runs = ({**json.loads(p.read_text(encoding="utf-8")), "date": p.stem[:10]} for p in files)
    return next(run for run in runs if run.get(lesson))


def both(device: str, lesson: str, *keys: str) -> tuple[dict, dict]:
    """A device's lessons, the rows of one by ("run", keys …) or, in the model, ("model", keys …)."""
    runs = {"run": newest(device, lesson), "model": newest("model", lesson)}
    of = {(which, *(row[k] for k in keys)): row for which, run in runs.items() for row in run[lesson]}
    return runs["run"], of
