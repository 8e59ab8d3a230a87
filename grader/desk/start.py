# SPDX-License-Identifier: MIT
"""What ./lab class new writes: a class.toml with a comment for every setting, and a checklist."""

import json
import pathlib

CLASS_TOML = """# What you decide about this class: ./lab class grades applies it in seconds. The instructor's guide describes every line.
title = {title}
roster = [{roster}]
timezone = "UTC"
counts = "best"           # of a student's submissions: best or latest
bonus = "separate"        # from the points; or added to them, or capped: added up to the lab's most points
slip_days = 0             # late days of every student that cost nothing
drop_lowest = 0           # labs of every student that do not count
manual = []               # tables of points that people have given: ./lab class sheet writes them

[late]
grace_minutes = 0
percent_per_day = 0       # of the points, for every day begun
most_days = 0             # later: 0 points; 0: no limit

{labs}
# [labs.LAB.late]         # below a lab: what differs there
# percent_per_day = 20

# [labs.LAB.manual]       # below a lab: the most points of the parts that a person grades
# predictions = 18

# [groups]
# red = ["id of one student", "id of another"]

# [aliases]
# "name of a submission" = "id of a student"

# [[extensions]]
# student = "id"
# lab = "scan"
# days = 3
# reason = "ill"

# [[excused]]             # this lab does not count for the student
# student = "id"
# lab = "scan"
# reason = "ill until the end of term"

# [[overrides]]
# student = "id"
# lab = "scan"
# points = 60
# reason = "talk on 12 October"

# [points.scan.blelloch]  # what stands here takes the place of labs/scan/points.hpp
# correctness = 20
"""

CHECKLIST = """# {title}: checklist

The first hour:

- [ ] `./lab doctor`, then `./lab grade {first} --solutions`: this machine works.
- [ ] Fill in `{folder}/class.toml`: the rosters, the timezone, the due dates, the rule for late submissions.
- [ ] `./lab release ../gpu-labs-students --labs {first}`: the students' edition, with the first lab.
- [ ] Push it to where students fork or download it, and tell them: `./lab grade`, `./lab submit`.
- [ ] Try it: submit the edition's unchanged file yourself, and grade it with the command below.

For each lab, after its due date:

- [ ] Export all submissions from your platform and unpack them with `unzip`, which keeps the files' times.
- [ ] `./lab grade-all week3/ --labs LAB --out {folder}`: run it again until every submission is graded.
- [ ] `./lab class grades {folder}`: assign unknown names under `[aliases]`.
- [ ] `./lab class show {folder}`: look at the refused files, the late ones, and the most common mistakes.
- [ ] Written parts: `./lab class sheet {folder} LAB --out LAB.csv`, and fill it in.
- [ ] `./lab class export {folder} …` and `./lab class feedback {folder}`.
- [ ] `./lab release ../gpu-labs-students --update --labs NEXT_LAB`.

Before you use a newer version of the course in mid-term:

- [ ] `./lab grade-all week3/ --seed SEED --out again`, with the seed of the gradebook's table `about`: the same grades?
- [ ] `./lab class grades {folder} --dry-run`: whose grade would change?
"""


def class_toml(title: str, rosters: list[str], labs: list[str]) -> str:
    quoted = json.dumps  # of a text, as TOML has it, too
    return CLASS_TOML.format(
        title=quoted(title, ensure_ascii=False),
        roster=", ".join(quoted(one, ensure_ascii=False) for one in rosters),
        labs="".join(f"# [labs.{lab}]\n# due = 2026-10-05T23:59:00\n\n" for lab in labs),
    )


def checklist(title: str, folder: pathlib.Path, labs: list[str]) -> str:
    return CHECKLIST.format(title=title, folder=folder, first=labs[0])
