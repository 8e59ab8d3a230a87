#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands in for labcli where a test is about everything around it. A submission says what becomes of it:

    // points 70      graded          // infra N    the first N attempts have a fault of the machine
    // fills          needs 60 MB of disk
    // hang           never ends      // die        the worker dies      // slow    takes its time

With FAKE_CATALOGUE the labs are that file's.
"""

import itertools
import json
import os
import pathlib
import re
import signal
import sys
import time

words = sys.argv[1:]
labs = [word for word in words[1:2] if not word.startswith("-")]
option = {name: value for name, value in itertools.pairwise(words) if name.startswith("--")}
seed = option.get("--seed", "0x0")


def write(path, text):
    beside = f"{path}.{os.getpid()}.tmp"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        time.sleep(0.002)  # long enough for a kill in between
        file.write(text[len(text) // 2 :])
    os.replace(beside, path)


if words[0] == "batch-harness":
    me, path = os.path.abspath(__file__), os.environ["PATH"]
    lab = {"compile": f"export PATH='{path}'\n{{source}}", "link": "{runner}"}
    lab |= {"linked": [], "headers": [], "asked": {}}
    known = ["reduction", "scan"]
    judging: dict[str, list[str]] = {one: [] for one in known}
    if "FAKE_CATALOGUE" in os.environ:
        catalogue = pathlib.Path(os.environ["FAKE_CATALOGUE"])
        known = [one["id"] for one in json.loads(catalogue.read_text(encoding="utf-8"))["labs"]]
        judging = {one: [str(file) for file in catalogue.parent.glob(f"cases-{one}")] for one in known}
    harness = {"labs": dict.fromkeys(known, lab), "judging": judging, "programs": [me]}
    harness |= dict.fromkeys(("root", "build"), os.path.dirname(me))
    harness |= {"toolchain": os.environ.get("FAKE_TOOLCHAIN", ""), "commit": ""}
    harness |= {"isolation": "full", "isolation_missing": [], "device_problem": ""}
    write(option["--out"], json.dumps(harness))
elif words[0] == "batch-rescore":  # scoring is never faked
    os.execv(os.environ["LABCLI"], [os.environ["LABCLI"], *words])
elif words[0] == "list" and "FAKE_CATALOGUE" in os.environ:
    print(pathlib.Path(os.environ["FAKE_CATALOGUE"]).read_text(encoding="utf-8"))
elif words[0] == "report":
    result = json.loads(pathlib.Path(words[1]).read_text(encoding="utf-8"))
    write(option["--html"], f"<!doctype html><title>{result['labs'][0]['points']} points</title>")
elif words[0] == "list":
    print(json.dumps({"labs": [{"id": "reduction"}, {"id": "scan"}]}))
elif words[0] == "grade":
    graded = []
    for lab in [word for word in words[1:] if word in ("reduction", "scan")]:
        text = pathlib.Path(os.environ["LAB_ROOT"], "labs", lab, f"{lab}.cu").read_text(encoding="utf-8")
        task = {"id": "one", "bonus": False, "verdict": "NOT_IMPLEMENTED" if "TODO" in text else "OK"}
        other = {
            "id": "two",
            "bonus": False,
            "verdict": "WRONG_ANSWER" if "wrong" in text else task["verdict"],
        }
        graded.append({"id": lab, "points": 5, "max_points": 100, "tasks": [task, other]})
        for one in graded[-1]["tasks"]:
            print(lab, one["id"], one["verdict"])
    write(option["--json"], json.dumps({"labs": graded}))
elif words[0] == "batch-baselines":
    write(option["--out"], "{}")
else:
    text = pathlib.Path(option["--source"]).read_text(encoding="utf-8", errors="replace")
    said = dict(re.findall(r"^// (points|infra|hang|die|slow|fills)\b ?(\d*)", text, re.M))
    attempt = int(pathlib.Path(option["--out"]).stem) if "--out" in option else 0
    stage = "compile" if "--compile-only" in words else "grade"

    def note(what):
        if "FAKE_LOG" in os.environ:
            with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
                log.write(f"{what} {stage}\n")

    note("begin")
    time.sleep(0.3 if "slow" in said else 0.01)
    if "hang" in said:
        time.sleep(1000)
    if "die" in said:
        os.kill(os.getpid(), signal.SIGSEGV)
    os.makedirs(option["--work"], exist_ok=True)
    if "fills" in said:
        write(option["--work"] + "/large", "x" * 60_000_000)
    for page in ("--html", "--student-html"):
        if page in option:
            pathlib.Path(option[page]).write_text("<!doctype html><title>report</title>", encoding="utf-8")
    if "--compile-only" not in words:
        fault = attempt <= int(said.get("infra") or 0)
        points = 0 if fault else int(said.get("points") or 0)
        task = {"id": "one", "title": "One", "points": points, "max_points": 100}
        task |= {"bonus": False, "speedup": None}
        task["verdict"] = "INFRA" if fault else "OK" if points else "WRONG_ANSWER"
        lab = {"id": labs[0], "points": points, "max_points": 100, "bonus_points": 0}
        edition = {"seed": None, "labs": [{**lab, "tasks": [{**task, "message": "rerun"}]}]}
        write(option["--student-json"], json.dumps(edition))
        whole = {"labs": [{**lab, "tasks": [{**task, "message": f"rerun with --seed {seed}"}]}], "seed": seed}
        write(option["--out"], json.dumps({**whole, "device": "fake", "isolation": "full"}))
    note("end")
