# SPDX-License-Identifier: MIT
"""Gradescope's own export ("Download Submissions"): folders submission_ID, and submission_metadata.yml, which says
whose they are and when they were received:

    submission_123:
      :submitters:
      - :name: Ada Lovelace
        :sid: '1001'
        :email: ada@uni.example
      :created_at: 2026-10-05 20:04:06.123456000 -07:00

Ruby writes it, always in this layout, and lists what else it knows of a submission deeper or behind. Gradescope
does not document the file; programs that read it agree on these names.
"""

import datetime
import json
import pathlib
import re

NAME = "submission_metadata.yml"
LINE = re.compile(r"(?P<indent> *(?:- )?):?(?P<key>[\w.@-]+): ?(?P<value>.*)")
TIME = re.compile(r"(\d+-\d+-\d+)[T ](\d+:\d+:\d+)(?:\.\d+)? ?(Z|UTC|[-+]\d\d:?\d\d)")


def root_of(folder: pathlib.Path) -> pathlib.Path:
    """The archive holds everything in one folder, assignment_ID_export. A list that lies in a student's own folder
    says nothing."""
    inside = [path for path in folder.iterdir() if path.name[0] != "."] if folder.is_dir() else []
    is_export = [
        (path / NAME).is_file() and re.fullmatch(r"assignment_\d+_export", path.name) for path in inside
    ]
    return inside[0] if len(inside) == 1 and all(is_export) else folder


def text_of(value: str) -> str:
    if value.startswith("'"):
        return value[1:-1].replace("''", "'")
    return json.loads(value) if value.startswith('"') else value


def time_of(value: str) -> float:
    if (found := TIME.fullmatch(text_of(value))) is None:
        return 0.0
    date, clock, zone = found.groups()
    text = f"{date} {clock} {zone.replace('UTC', 'Z')}"
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z").timestamp()


def read(folder: str) -> dict[str, tuple[list[str], float]]:
    """By folder: the students (by SID, else e-mail address, else name), and the time. Nothing of another export."""
    path = pathlib.Path(folder) / NAME
    people: dict[str, list[dict]] = {}
    times: dict[str, float] = {}
    name = section = ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if (found := LINE.fullmatch(line.rstrip())) is None:
            continue
        indent, key, value = found.groups()
        if not indent:
            name, section = key, ""
        elif indent == "  ":
            section = key
            if key == "created_at":
                times[name] = time_of(value)
        elif section == "submitters" and indent in ("  - ", "    "):
            if indent == "  - ":
                people.setdefault(name, []).append({})
            people[name][-1][key] = text_of(value)
    ids = {
        name: [next((one[key] for key in ("sid", "email", "name") if one.get(key)), name) for one in found]
        for name, found in people.items()
    }
    return {
        name: (found, times.get(name, 0.0)) for name, found in ids.items() if (path.parent / name).is_dir()
    }
