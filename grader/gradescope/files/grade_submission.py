#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Grades one submission on Gradescope: takes files as ./lab grade-all does, puts them in place, grades, and
writes results.json.

usage: grade_submission.py AUTOGRADER      (Gradescope's folder: source/, submission/, results/)

A lab without a usable file is graded as the skeleton, for 0 points, and the student reads why. A fault of the
machine is tried once more; then there is no results.json, and the exit code is not 0. The same when it takes
longer than source/minutes.txt says: Gradescope itself would give 0 points when its own limit is reached.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ATTEMPTS = 2


def put_in_place(source: pathlib.Path, submission: pathlib.Path, labs: list[str]) -> dict[str, str]:
    """What to tell the student of each lab, "" when all is well."""
    sys.path.insert(0, str(source / "course/grader/batch"))
    import ingest

    course = source / "course/labs"
    all_labs = sorted(path.name for path in course.iterdir() if (path / f"{path.name}.cu").is_file())
    # The course's own files, before the first submission in this container replaced them.
    kept = source / "skeletons"
    kept.mkdir(exist_ok=True)
    for lab in labs:
        if not (kept / lab).exists():
            (kept / lab).write_bytes((course / lab / f"{lab}.cu").read_bytes())
    skeletons = {lab: (kept / lab).read_text(encoding="utf-8") for lab in labs}
    said = {}
    for one in ingest.from_folder(str(submission), all_labs, labs, skeletons):
        taken = skeletons[one.lab].encode() if one.source is None else one.source
        (course / one.lab / f"{one.lab}.cu").write_bytes(taken)
        said[one.lab] = one.note if one.source is not None else one.refused or one.origin
    return said


def has_fault(path: pathlib.Path) -> bool:
    """Whether the machine was at fault; also when there is no result, or half of one."""
    try:
        result = json.loads(path.read_bytes())
        return any(task["verdict"] == "INFRA" for lab in result["labs"] for task in lab["tasks"])
    except (OSError, ValueError, KeyError, TypeError):
        return True


def run(command: list[str], folder: pathlib.Path, deadline: float) -> "int | None":
    """The exit code; None when the time is over."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def main() -> None:
    begun = time.monotonic()
    folder = pathlib.Path(sys.argv[1])
    source, results = folder / "source", folder / "results"
    results.mkdir(exist_ok=True)
    labs = (source / "labs.txt").read_text(encoding="utf-8").split()
    minutes = float((source / "minutes.txt").read_text(encoding="utf-8"))
    isolation = (source / "isolation.txt").read_text(encoding="utf-8").strip()
    said = put_in_place(source, folder / "submission", labs)
    result, graded = results / "result.json", results / "results.json"
    how = f"--device sim --graded --isolation {isolation} --jobs 1".split()  # half a CPU, 768 MB
    command = ["./lab", "grade", *labs, *how, "--json", str(result), "--gradescope", str(graded)]
    for _ in range(ATTEMPTS):
        for path in (result, graded):
            path.unlink(missing_ok=True)
        code = run(command, source / "course", begun + 60 * minutes)
        if code is None:
            graded.unlink(missing_ok=True)
            more = (
                "Give the container more of a CPU, or raise Gradescope's limit and pack again with --minutes."
            )
            sys.exit(f"Grading was stopped after {minutes:g} minutes: there is no score. {more}")
        if code == 0 and graded.exists() and not has_fault(result):
            break
    else:
        graded.unlink(missing_ok=True)
        why = f"through no fault of the submission (exit code {code})"
        sys.exit(f"Grading failed {ATTEMPTS} times {why}: there is no score.")
    out = json.loads(graded.read_text(encoding="utf-8"))
    words = "".join(f"{lab}: {text}\n" for lab, text in said.items() if text)
    if words:
        out["output"] = f"{words}\n{out.get('output', '')}"
        beside = graded.with_suffix(".tmp")
        beside.write_text(json.dumps(out, indent=2), encoding="utf-8")
        beside.replace(graded)


if __name__ == "__main__":
    main()
