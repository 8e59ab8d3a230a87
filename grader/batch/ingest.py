# SPDX-License-Identifier: MIT
"""From a folder of hand-ins, as a learning platform exports it, to one file a student and lab, or the reason why there is none.

A hand-in is a folder, a .zip, a .tar.gz or a bare .cu file; a student may have several. Only files that a lab allows are read:
plain ones (no link is followed, no pipe opened), of a bounded size. Whatever lies there, `ingest` returns; what is refused gets a
POLICY verdict with a message for the student, and nobody else notices.
"""
import base64
import contextlib
import json
import os
import pathlib
import select
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field

import names
from unpack import LARGEST_FILE, MOST_ENTRIES, is_wanted

DEPTH = 8
SECONDS_TO_UNPACK = 60
MOST_ARCHIVES = 4


@dataclass
class HandIn:
    """One student's, for one lab."""

    student: str
    lab: str
    source: bytes | None  # None when refused or missing
    refused: str = ""  # why
    origin: str = ""  # the file that it came from, shown
    late: bool = False


@dataclass
class Found:
    """What lies in one student's containers."""

    files: list[tuple[str, bytes]] = field(default_factory=list)  # path inside, contents
    bad_files: list[tuple[str, str]] = field(default_factory=list)  # path inside, why it is refused
    refused: list[str] = field(default_factory=list)  # whole containers
    late: bool = False
    containers: list[str] = field(default_factory=list)  # folders and archives that were looked into

    def nothing_for(self, lab: str) -> str:
        if not self.containers:
            return ""
        where = ", ".join(names.shown(name) for name in self.containers[:3])
        return (f"Nothing for this lab was found in {where}: {lab}.cu is looked for up to {DEPTH} folders deep and in archives, but not in "
                f"archives within archives.")


def read_plain(path: str) -> bytes | str:
    """The contents, or why they are refused."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "is no plain file: hand in the file itself, no link and nothing else"
        data = file.read(LARGEST_FILE + 1)
    return data if len(data) <= LARGEST_FILE else f"is larger than {LARGEST_FILE >> 10} KiB"


def kind_of(path: str) -> str:
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "link" if stat.S_ISLNK(mode) else "special"


def is_archive(name: str) -> bool:
    return name.lower().endswith(names.ARCHIVES)


class Unpacker:
    """unpack.py as a process that takes one archive after another, and is started anew when one has been its end."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def ask(self, path: str) -> dict:
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-I", str(pathlib.Path(__file__).with_name("unpack.py"))]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write(json.dumps(path).encode() + b"\n")
            self.process.stdin.flush()
            return json.loads(self.read_line(time.monotonic() + SECONDS_TO_UNPACK))
        except (OSError, ValueError):
            self.stop()
            return {"refused": "can't be unpacked"}

    def read_line(self, deadline: float) -> bytes:
        """What came until the end of the line, of the process or of the time."""
        pipe, data = self.process.stdout.fileno(), bytearray()
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(pipe, 1 << 20) if ready else b""
            if not chunk:
                break
            data += chunk
        return bytes(data)

    def stop(self) -> None:
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):  # what it did not read any more
                    pipe.close()


UNPACKER = Unpacker()


def add_archive(found: Found, path: str, inside: str) -> None:
    """In a process of its own: a library that crashes on a made-up archive costs that hand-in alone."""
    answer = UNPACKER.ask(os.path.abspath(path))
    if answer["refused"]:
        found.refused.append(f"{names.shown(inside)} {names.shown(answer['refused'])}")
        return
    for name, data in answer["files"].items():
        found.files.append((f"{inside}/{name}", base64.b64decode(data)))


def add_folder(found: Found, path: str, inside: str) -> None:
    n_entries = n_archives = 0
    todo = [(path, inside, 0)]
    while todo:
        folder, seen_as, depth = todo.pop()
        try:
            entries = sorted(os.listdir(folder))
        except OSError as error:
            found.refused.append(f"{names.shown(seen_as)} can't be read: {error.strerror}")
            continue
        for name in entries:
            n_entries += 1
            if n_entries > MOST_ENTRIES:
                found.refused.append(f"{names.shown(inside)} holds more than {MOST_ENTRIES} files")
                return
            full, seen = f"{folder}/{name}", f"{seen_as}/{name}"
            kind = kind_of(full)
            if name.startswith("._") or name == "__MACOSX":
                continue
            if kind == "folder":
                if depth < DEPTH:
                    todo.append((full, seen, depth + 1))
            elif is_wanted(name):
                add_file(found, full, seen)
            elif is_archive(name) and kind == "file":
                n_archives += 1
                if n_archives > MOST_ARCHIVES:
                    found.refused.append(f"{names.shown(inside)} holds more than {MOST_ARCHIVES} archives")
                    return
                add_archive(found, full, seen)


def add_file(found: Found, path: str, inside: str) -> None:
    data = read_plain(path) if kind_of(path) in ("file", "link") else "is no plain file: hand in the file itself"
    if kind_of(path) == "link":
        data = "is a link: hand in the file itself"
    if isinstance(data, str):
        found.bad_files.append((inside, f"{names.shown(inside)} {data}"))
    else:
        found.files.append((inside, data))


def add_entry(found: Found, path: str, name: str, owner: names.Owner) -> None:
    found.late = found.late or owner.late
    kind = kind_of(path)
    if kind == "folder" or is_archive(name):
        found.containers.append(name)
    if kind == "folder":
        add_folder(found, path, name)
    elif is_archive(name) and kind == "file":
        add_archive(found, path, name)
    elif owner.file.lower().endswith(".cu") or name.lower().endswith(".cu"):
        add_file(found, path, f"{name}/{owner.file}" if owner.file not in ("", name) else name)
        found.refused += [reason for _, reason in found.bad_files]  # whichever lab it was for
    elif kind != "file":
        found.refused.append(f"{names.shown(name)} is no plain file and no folder")


def choose(found: Found, student: str, lab: str, labs: list[str]) -> HandIn | None:
    """The file for this lab; None when the student handed in nothing for it."""

    def belongs(path: str, data: bytes) -> bool:
        named = names.lab_of(path, labs)
        return named == lab if named else names.lab_included(data, labs) == lab

    def rank(path: str) -> int:
        tail = path.replace("\\", "/")
        return 0 if tail.endswith(f"/labs/{lab}/{lab}.cu") else 1 if names.lab_of(path, labs) else 2

    for path, reason in found.bad_files:
        if names.lab_of(path, labs) == lab:
            return HandIn(student, lab, None, reason, names.shown(path), found.late)
    candidates = [(rank(path), path, data) for path, data in found.files if belongs(path, data)]
    if not candidates:
        if found.refused:
            return HandIn(student, lab, None, "; ".join(found.refused), late=found.late)
        return None
    best = min(rank for rank, _, _ in candidates)
    candidates = [one for one in candidates if one[0] == best]
    if len({data for _, _, data in candidates}) > 1:
        paths = ", ".join(sorted(names.shown(path) for _, path, _ in candidates)[:5])
        return HandIn(student, lab, None, f"There is more than one file for {lab}, and they differ: {paths}. Hand in one.",
                      late=found.late)
    _, path, data = min(candidates, key=lambda one: one[1])
    return HandIn(student, lab, data, "", names.shown(path), found.late)


def collect(folder: str) -> dict[str, Found]:
    """By student."""
    students: dict[str, Found] = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("._") or name in (".DS_Store", ".git", "__MACOSX"):
            continue
        path = f"{folder}/{name}"
        owner = names.student_of(name)
        hands_in = kind_of(path) != "file" or is_archive(name) or name.lower().endswith(".cu")
        if not hands_in:
            continue  # the platform's own lists and pages
        found = students.setdefault(owner.student, Found())
        try:
            add_entry(found, path, name, owner)
        except OSError as error:
            found.refused.append(f"{names.shown(name)} can't be read: {error.strerror}")
    return students


def ingest(folder: str, all_labs: list[str], wanted: list[str]) -> tuple[list[HandIn], list[str]]:
    """Every student's hand-in for every lab: of `wanted`, or of those that somebody handed something in for. And those labs."""
    try:
        students = collect(folder)
    finally:
        UNPACKER.stop()
    labs = wanted or [lab for lab in all_labs
                      if any(hand_in is not None and hand_in.source is not None
                             for student, found in students.items()
                             for hand_in in [choose(found, student, lab, all_labs)])]
    hand_ins = []
    for student, found in sorted(students.items()):
        for lab in labs:
            hand_in = choose(found, student, lab, all_labs)
            hand_ins.append(hand_in or HandIn(student, lab, None, "", found.nothing_for(lab), found.late))
    return hand_ins, labs
