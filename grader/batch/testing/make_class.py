#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes up a class that hands in one lab: right, wrong, hostile and broken files, in every kind of container
and under every kind of name, and what the gradebook must say of each.

    make_class.py ROOT FOLDER --students 300 --different 120 > expected.json

expected.json: {"lab": …, "students": {student: {"status": …, "tasks": {task: verdict}, "about": …}}}. Where
the expectations come from: the reference solution's rungs, the headers of grader/mutants/ and
grader/hostile/, and what is obvious (an empty file). The same arguments give the same class.
"""

import argparse
import io
import json
import os
import pathlib
import random
import re
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))
sys.path.insert(0, str(HERE.parents[3] / "common/tools/authoring"))

import make_mutant
import names

LAB = "reduction"
NAMES = [  # of which some number of students each have a variation
    *(
        "ada lovelace|Grace Hopper|Łukasz Żółć|李小龍|محمد الخوارزمي|O'Neill; rm -rf ~|"
        "<script>alert(1)<!--|"
        "\x1b[31mred\x1b[0m|=1+1|-rf|..name|tab\there|line\nbreak|back\\slash|\u202eesrever|e\u0301 nfd|"
        'é nfc|%s%n{}|$(reboot)|quote"quote|emoji 🦆|CON|plain'
    ).split("|"),
    "a" * 120,
    os.fsdecode(b"latin \xe9"),
]


def tasks_of(root):
    text = make_mutant.source_of(root / "solutions" / LAB / f"{LAB}.cu", root)
    source = re.sub(r"^\s*//@.*\n", "", text, flags=re.M)
    # A mutant answers one task; a student says of the others that they are not done.
    source = source.replace(
        "default: return Status::unsupported;", "default: return Status::not_implemented;"
    )
    table = re.search(
        r"Task kTasks\[\] = \{(.*?)^\};",
        (root / "labs" / LAB / "points.hpp").read_text(encoding="utf-8"),
        re.M | re.S,
    )
    return in_one_file(source, [root / "solutions"]), re.findall(r'\.id = "(\w+)"', table.group(1))


def in_one_file(text, folders, seen=None):
    """A submission is one file: what it includes of these folders is put in its place."""
    seen = set() if seen is None else seen

    def place(match):
        path = next((folder / match[1] for folder in folders if (folder / match[1]).is_file()), None)
        if path is None:
            return match[0]
        if path in seen:
            return ""
        seen.add(path)
        return in_one_file(
            re.sub(r"^#pragma once\n", "", path.read_text(encoding="utf-8"), flags=re.M),
            [path.parent, *folders],
            seen,
        )

    return re.sub(r'^#include "([^"]+)"\n', place, text, flags=re.M)


def only(task, tasks, verdict):
    return {one: verdict if one == task else "NOT_IMPLEMENTED" for one in tasks}


def right(root, source, tasks):
    for task in tasks:
        yield (
            make_mutant.only_task(source, task, task),
            {"status": "graded", "tasks": only(task, tasks, "OK"), "about": f"right: {task}"},
        )


def mutants(root, source, tasks):
    for path in sorted((root / "grader/mutants" / LAB).glob("*.mutant")):
        header, changes = make_mutant.parse(path.read_text(encoding="utf-8"), path.name)
        task = header["task"][0]
        if task in tasks:
            text = make_mutant.only_task(make_mutant.apply(source, changes, path.name), task, path.name)
            verdicts = only(task, tasks, header["verdict"][0])
            yield text, {"status": "graded", "tasks": verdicts, "about": f"mutant {path.stem}"}


def hostile(root, source, tasks):
    folder = root / "grader/hostile" / LAB
    for path in sorted(folder.glob("*.cu")):
        text = path.read_text(encoding="utf-8")
        expected = dict(re.findall(r"^// expect: (\w+) (\w+)", text, re.M))
        if re.search(r"^// (?:needs|isolation): ", text, re.M):
            continue
        if re.search(r"^// screen: ", text, re.M):
            expected = dict.fromkeys(tasks, "POLICY")
        text = in_one_file(text, [folder])
        if "TIME_LIMIT" in expected.values():
            continue  # they take minutes; one of our own stands for them
        verdicts = {task: verdict for task, verdict in expected.items() if task in tasks}
        yield text, {"status": "graded", "tasks": verdicts, "about": f"hostile {path.stem}"}


def broken(root, source, tasks):
    error = {"status": "graded", "tasks": dict.fromkeys(tasks, "COMPILE_ERROR")}
    skeleton = (root / "labs" / LAB / f"{LAB}.cu").read_text(encoding="utf-8")
    for about, text in {
        "empty": "",
        "syntax": skeleton.replace("namespace course", "nmaespace course", 1),
        "junk": "\x00\x01\x7fELF" * 50,
        "includes a secret": '#include "/etc/shadow"\n' + skeleton,
        "includes itself": f'#include "{LAB}.cu"\n' + skeleton,
        "includes the solution": f'#include "../../solutions/{LAB}/{LAB}.cu"\n',
        "no run": f'#include "{LAB}/lab.hpp"\n',
        "assembler": 'asm(".incbin \\"/etc/shadow\\"");\n' + skeleton,
        "error with escapes": "#error \x1b[31m<script>\n",
    }.items():
        yield text, {**error, "about": about}
    yield (
        skeleton,
        {"status": "graded", "tasks": dict.fromkeys(tasks, "NOT_IMPLEMENTED"), "about": "the skeleton"},
    )


def never_ends(source, tasks):
    """A kernel that never ends, and no trick."""
    task = tasks[0]
    text = make_mutant.only_task(source, task, task)
    at = text.index("{\n", text.index("__global__ void k01")) + 2
    text = text[:at] + "  for (volatile unsigned spin = 0; n > 0; ++spin) {\n  }\n" + text[at:]
    return text, {"status": "graded", "tasks": only(task, tasks, "TIME_LIMIT"), "about": "never ends"}


# --- Containers ---


def zipped(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(entries, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in entries:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if not isinstance(name, tarfile.TarInfo):
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


EXTRAS = [
    ("meson.build", b"error('hi')"),
    ("notes.txt", b"please pass"),
    ("labs/reduction/lab.hpp", b"#define private public\n"),
]


def pack(folder, number, name, data):
    """Puts a submission there; the student as ingest must see it."""
    kind = number % 10
    cu = f"{LAB}.cu"
    if kind == 0:
        put(f"{folder}/{name}/{cu}", data)
    elif kind == 1:
        put(f"{folder}/{name}/lab/labs/{LAB}/{cu}", data)
        for extra, text in EXTRAS:
            put(f"{folder}/{name}/lab/{extra}", text)
    elif kind == 2:
        put(f"{folder}/{name}.zip", zipped([(f"labs/{LAB}/{cu}", data), *EXTRAS]))
    elif kind == 3:
        put(f"{folder}/{name}.tar.gz", tarred([(f"./{cu}", data), ("__MACOSX/._reduction.cu", b"\0")]))
    elif kind == 4:
        put(f"{folder}/{name}_{number}_assignsubmission_file/{cu}", data)
        return names.shown(f"{name}_{number}")
    elif kind == 5:
        put(
            f"{folder}/{name}_{number}_assignsubmission_file_/hand in.zip",
            zipped([(f"x/y/{cu}", data), ("__MACOSX/x/._reduction.cu", b"\0")]),
        )
        return names.shown(f"{name}_{number}")
    elif kind == 6 and "_" not in name:
        put(f"{folder}/{name}_{number}_99{number}_{LAB}-1.cu", data)
        return names.shown(f"{name}_{number}")
    elif kind == 7 and "_" not in name:
        put(f"{folder}/{name}_LATE_{number}_99{number}_{LAB} (2).cu", data)
        return names.shown(f"{name}_{number}")
    elif kind == 8:
        put(f"{folder}/{name}/windows.zip", zipped([(f"labs\\{LAB}\\{cu}", data)]))
    else:
        put(f"{folder}/{name}.tgz", tarred([(f"{name[:20].strip('./-') or 'x'}/{cu}", data)]))
    return names.shown(name)


def make_class(root, folder, students, different, seed=1, slow=True):
    random_ = random.Random(seed)
    source, tasks = tasks_of(root)
    rights, wrongs = list(right(root, source, tasks)), list(mutants(root, source, tasks))
    hostiles, brokens = list(hostile(root, source, tasks)), list(broken(root, source, tasks))
    random_.shuffle(wrongs)
    random_.shuffle(hostiles)
    random_.shuffle(brokens)
    kinds = [rights, wrongs, hostiles, brokens]
    chosen = [never_ends(source, tasks)] if slow else []
    base = [one for row in zip(*[kind * (different // len(kind) + 1) for kind in kinds]) for one in row]
    seen = set()
    for text, expected in base:
        if len(chosen) >= different:
            break
        if text in seen and text:  # the same again in words of one's own
            text += f"\n// {random_.randrange(1 << 30):x}\n"
        if text not in seen:
            seen.add(text)
            chosen.append((text, expected))
    os.makedirs(folder)
    out = {}
    for number in range(students):
        text, expected = chosen[number % len(chosen)]
        name = NAMES[number % len(NAMES)] + ("" if number < len(NAMES) else f" {number // len(NAMES)}")
        student = pack(folder, number, name, text.encode("utf-8"))
        assert student not in out, student
        out[student] = expected
    return {"lab": LAB, "different": len(chosen), "students": out}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder")
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--different", type=int, default=120)
    options = parser.parse_args()
    json.dump(
        make_class(options.root, options.folder, options.students, options.different), sys.stdout, indent=1
    )


if __name__ == "__main__":
    main()
