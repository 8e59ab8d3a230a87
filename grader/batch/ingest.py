# SPDX-License-Identifier: MIT
"""From a folder of submissions, as a learning platform exports it, to one file a student and lab, or the reason
why there is none.

A submission is a folder, a .zip, a .tar.gz or a bare .cu file; a student may have several. Only files that a lab
allows are read: plain ones (no link is followed, no pipe opened), of a bounded size. Whatever lies there,
`ingest` returns; what is refused gets a POLICY verdict with a message for the student, and no other student
is affected. Every entry of the folder, except the platform's own lists, gives a row. If an entry has no
usable file, the row contains the reason.
"""

import base64
import json
import os
import select
import signal
import stat
import time
from dataclasses import dataclass, field

import names
import unpack
from source_text import code_of, text_of
from unpack import LARGEST_FILE, MAX_ENTRIES, MAX_FILES, is_wanted

DEPTH = 8
SECONDS_TO_UNPACK = 60
MAX_ARCHIVES = 4
SAME_TIME = 2.0  # seconds: a zip counts in steps of two
MAX_OTHERS = 20  # that are listed
# Folders of files that no student wrote.
MACHINE_MADE = tuple(".git .venv venv .deps .cache __pycache__ node_modules __MACOSX".split())
HIDDEN = (".DS_Store", ".git", "__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass
class Submission:
    """One student's, for one lab."""

    student: str
    lab: str
    source: bytes | None  # None when refused or missing
    refused: str = ""  # why
    origin: str = ""  # the file that it came from, shown
    late: bool = False
    note: str = ""  # what the student and the instructor should know of a file that was taken
    submitted: float = 0.0  # when the platform received it, by the times of the files in the folder; 0 when nothing was submitted


@dataclass
class Found:
    """What lies in one student's containers."""

    copy: int = 0  # the number of a copy: 1 of "ada (1).zip"
    time: float = 0.0  # of the newest file
    received: float = 0.0  # of the newest file or archive in the folder of all submissions: no time from within an archive, which students choose
    files: list[tuple[str, bytes]] = field(default_factory=list)  # path inside, contents
    times: dict[str, float] = field(default_factory=dict)  # of the files that are in no archive
    others: list[str] = field(default_factory=list)  # paths of what is no .cu file
    too_deep: bool = False  # whether there are folders that were not searched
    passed_over: list[str] = field(default_factory=list)  # folders of builds and environments
    bad_files: list[tuple[str, str]] = field(default_factory=list)  # path inside, why it is refused
    refused: list[str] = field(default_factory=list)  # whole containers
    late: bool = False
    containers: list[str] = field(default_factory=list)  # folders and archives that were looked into

    def where(self) -> str:
        return ", ".join(names.shown(name) for name in self.containers[:3])

    def nothing_for(self, lab: str, labs: list[str]) -> str:
        def some(what: list[str]) -> str:
            more = f" and {len(what) - 5} more" if len(what) > 5 else ""
            return ", ".join(names.shown(name) for name in what[:5]) + more

        empty = [path for path, data in self.files if not data.strip()]
        labs_of = [(path, lab_of_file(path, data, labs)) for path, data in self.files if data.strip()]
        of_no_lab = [path for path, of in labs_of if of is None]
        of_others = [path for path, of in labs_of if of not in (None, lab)]
        archives = [path for path in self.others if is_archive(path)]
        others = [path for path in self.others if not is_archive(path)]
        found = [
            (of_no_lab, f'{{}}: not named {lab}.cu, and "{lab}/lab.hpp" is not included'),
            (empty, "{}: the file is empty"),
            (archives, "{}: an archive within an archive is not opened"),
            ([""] * self.too_deep, f"folders deeper than {DEPTH} are not searched"),
            (others, "not a .cu file: {}"),
            (of_others, "of another lab: {}"),
        ]
        reasons = [why.format(some(what)) for what, why in found if what]
        reasons += [why for _, why in self.bad_files[:5]]
        if self.passed_over:
            reasons.append(f"folders of builds and environments are not searched: {some(self.passed_over)}")
        why = "; ".join(reasons or ["it is empty"])
        return f"Nothing for this lab was found in {self.where()} ({why}). Submit {lab}.cu."


def read_plain(path: str) -> bytes | str:
    """The contents, or why they are refused."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "is not a regular file: submit the file itself, no link"
        data = file.read(LARGEST_FILE + 1)
    return data if len(data) <= LARGEST_FILE else f"is larger than {LARGEST_FILE >> 10} KiB"


def lab_of_file(path: str, data: bytes, labs: list[str]) -> str | None:
    return names.lab_of(path, labs) or names.lab_included(text_of(data)[0].encode("utf-8", "replace"), labs)


def kind_of(path: str) -> str:
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "link" if stat.S_ISLNK(mode) else "special"


def is_archive(name: str) -> bool:
    return name.lower().endswith(names.ARCHIVES)


def unpacked(path: str) -> dict:
    """What unpack.answer says, in a process of its own: an archive that crashes or stops the library costs
    nobody else anything."""
    receiving, sending = os.pipe()
    if (process := os.fork()) == 0:
        try:
            unpack.limit_this_process()
            with open(sending, "wb") as pipe:
                pipe.write(json.dumps(unpack.answer(path)).encode())
        finally:
            os._exit(0)
    os.close(sending)
    deadline, data = time.monotonic() + SECONDS_TO_UNPACK, bytearray()
    try:
        while select.select([receiving], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if not (chunk := os.read(receiving, 1 << 20)):
                return json.loads(data)
            data += chunk
    except ValueError:
        pass
    finally:
        os.close(receiving)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return {"refused": "can't be unpacked"}


class Skeletons:
    """What students start from, by lab."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.codes = {lab: code_of(text) for lab, text in texts.items()}
        self.known: dict[tuple[str, bytes], bool] = {}

    def is_unchanged(self, lab: str, data: bytes) -> bool:
        if lab not in self.codes:
            return False
        if (lab, data) not in self.known:
            self.known[lab, data] = code_of(text_of(data)[0]) == self.codes[lab]
        return self.known[lab, data]


def add_archive(found: Found, path: str, inside: str) -> None:
    found.received = max(found.received, os.lstat(path).st_mtime)
    answer = unpacked(path)
    if answer["refused"]:
        found.refused.append(f"{names.shown(inside)} {names.shown(answer['refused'])}")
        return
    for name, data in answer["files"].items():
        found.files.append((f"{inside}/{name}", base64.b64decode(data)))
    found.others += [f"{inside}/{name}" for name in answer["others"]]
    found.time = max(found.time, answer["time"])


def add_folder(found: Found, path: str, inside: str) -> None:
    n_entries = n_archives = n_files = 0
    todo = [(path, inside, 0)]
    while todo:
        folder, seen_as, depth = todo.pop()
        try:
            entries = sorted(os.listdir(folder))
        except OSError as error:
            found.refused.append(f"{names.shown(seen_as)} can't be read: {error.strerror}")
            continue
        if "build.ninja" in entries and depth > 0:
            found.passed_over.append(seen_as)  # what a build made
            continue
        for name in entries:
            if name in MACHINE_MADE:
                found.passed_over.append(f"{seen_as}/{name}")
                continue
            n_entries += 1
            if n_entries > MAX_ENTRIES:
                found.refused.append(f"{names.shown(inside)} holds more than {MAX_ENTRIES} files")
                return
            full, seen = f"{folder}/{name}", f"{seen_as}/{name}"
            kind = kind_of(full)
            if name.startswith("._"):
                continue
            if kind == "folder":
                if depth < DEPTH:
                    todo.append((full, seen, depth + 1))
                else:
                    found.too_deep = True
            elif is_wanted(name):
                n_files += 1
                if n_files > MAX_FILES:
                    found.refused.append(f"{names.shown(inside)} holds more than {MAX_FILES} .cu files")
                    return
                add_file(found, full, seen)
            elif is_archive(name) and kind == "file":
                n_archives += 1
                if n_archives <= MAX_ARCHIVES:
                    add_archive(found, full, seen)
                elif n_archives == MAX_ARCHIVES + 1:
                    found.refused.append(
                        f"{names.shown(inside)} holds more than {MAX_ARCHIVES} archives; the others are not opened"
                    )
            elif len(found.others) < MAX_OTHERS:
                found.others.append(seen)


def add_file(found: Found, path: str, inside: str) -> None:
    about, kind = os.lstat(path), kind_of(path)
    found.received = max(found.received, about.st_mtime)
    if kind == "file":
        data = read_plain(path)
    else:
        data = f"is {'a link' if kind == 'link' else 'not a regular file'}: submit the file itself"
    if isinstance(data, str):
        found.bad_files.append((inside, f"{names.shown(inside)} {data}"))
    else:
        found.files.append((inside, data))
        found.times[inside] = about.st_mtime
        found.time = max(found.time, about.st_mtime)


def add_entry(found: Found, path: str, name: str, owner: names.Owner) -> None:
    found.late = found.late or owner.late
    kind = kind_of(path)
    found.containers.append(name)
    if kind == "folder":
        add_folder(found, path, name)
    elif is_archive(name) and kind == "file":
        add_archive(found, path, name)
    elif owner.file.lower().endswith(".cu") or name.lower().endswith(".cu"):
        add_file(found, path, f"{name}/{owner.file}" if owner.file not in ("", name) else name)
        found.refused += [reason for _, reason in found.bad_files]  # whichever lab it was for
    elif kind != "file":
        found.refused.append(f"{names.shown(name)} is neither a regular file nor a folder")
    else:
        found.others.append(name)


def choose_from(
    found: Found, student: str, lab: str, labs: list[str], skeletons: Skeletons
) -> Submission | None:
    """The file for this lab of one version; None when there is none."""

    def rank(path: str) -> int:
        tail = path.replace("\\", "/")
        return 0 if tail.endswith(f"/labs/{lab}/{lab}.cu") else 1 if names.lab_of(path, labs) else 2

    def refused(reason: str, origin: str = "") -> Submission:
        return Submission(student, lab, None, reason, names.shown(origin), found.late)

    for path, reason in found.bad_files:
        if names.lab_of(path, labs) == lab:
            return refused(reason, path)
    candidates = [
        (rank(path), path, data) for path, data in found.files if lab_of_file(path, data, labs) == lab
    ]
    candidates = [one for one in candidates if not skeletons.is_unchanged(lab, one[2])] or candidates
    candidates = [one for one in candidates if one[2].strip()] or candidates
    if not candidates:
        return refused("; ".join(found.refused)) if found.refused else None
    best = min(rank for rank, _, _ in candidates)
    candidates = [one for one in candidates if one[0] == best]
    candidates, note = newest_of(found, candidates)
    if len({data for _, _, data in candidates}) > 1:
        return refused(they_differ(lab, [names.shown(path) for _, path, _ in candidates]))
    _, path, data = min(candidates, key=lambda one: one[1])
    shown = names.shown(path)
    if encoding := text_of(data)[1]:
        return refused(f"{shown} is {encoding} text, which compilers do not read: save it as UTF-8.", path)
    if not data.strip():
        return refused(f"{shown} is empty: save it in your editor, then submit it again.", path)
    if skeletons.is_unchanged(lab, data):
        note = "The file was not changed: it is the lab's skeleton."
    return Submission(student, lab, data, "", shown, found.late, note)


def they_differ(lab: str, files: list[str]) -> str:
    where = ", ".join(sorted(files)[:5])
    return f"There is more than one file for {lab}, and they differ: {where}. Hand in one."


Candidates = list[tuple[int, str, bytes]]  # of a lab's files: rank, path inside, contents


def newest_of(found: Found, candidates: Candidates) -> tuple[Candidates, str]:
    """Of files that differ, those that the platform received last, if all have a time; and what to say of
    it."""
    times = [found.times.get(path) for _, path, _ in candidates]
    if None in times or len({data for *_, data in candidates}) == 1:
        return candidates, ""
    newest = max(times)
    late = [one for one, time in zip(candidates, times) if time >= newest - SAME_TIME]
    if len(late) == len(candidates):
        return candidates, ""
    older = ", ".join(names.shown(one[1]) for one in candidates if one not in late)
    return late, f"{names.shown(late[0][1])} counts: it is newer than {older}."


def choose(
    versions: list[Found], student: str, lab: str, labs: list[str], skeletons: Skeletons
) -> Submission:
    """The file for this lab, or the reason why there is none. Of several copies of a submission the newest
    with such a file counts."""
    chosen = [(found, choose_from(found, student, lab, labs, skeletons)) for found in versions]
    for found, one in chosen:
        if one is not None:
            one.submitted = found.received
    usable = [(found, one) for found, one in chosen if one is not None and one.source is not None]
    refused = [one for _, one in chosen if one is not None and one.source is None]
    if len(refused) == 1 and not usable:
        return refused[0]
    if not usable:
        if refused:
            why, late = "; ".join(one.refused for one in refused), any(one.late for one in refused)
            submitted = max(one.submitted for one in refused)
            return Submission(student, lab, None, why, late=late, submitted=submitted)
        reasons = " ".join(found.nothing_for(lab, labs) for found in versions)
        return Submission(student, lab, None, "", reasons, any(found.late for found in versions))
    usable = [(found, one) for found, one in usable if not skeletons.is_unchanged(lab, one.source)] or usable
    newest = max(found.time for found, _ in usable)
    best, submission = max(
        usable, key=lambda pair: (pair[0].time >= newest - SAME_TIME, pair[0].copy, pair[0].time)
    )
    older = [found for found, one in usable if one.source != submission.source]
    if any(found.time >= newest - SAME_TIME and found.copy == best.copy for found in older):
        why = they_differ(lab, [one.origin for _, one in usable])
        return Submission(student, lab, None, why, late=submission.late, submitted=submission.submitted)
    notes = [submission.note] if submission.note else []
    if older:
        others = ", ".join(found.where() for found in older[:3])
        notes.append(f"{best.where()} counts: it is newer than {others}.")
    notes += [f"Not used: {one.refused}" for one in refused]
    submission.note = " ".join(notes)
    return submission


def entries_of(folder: str) -> list[str]:
    return [name for name in sorted(os.listdir(folder)) if not name.startswith("._") and name not in HIDDEN]


def is_list(folder: str, name: str) -> bool:
    """Whether it is the platform's own; a file of that kind whose name says that a student submitted it is
    not."""
    return (
        kind_of(f"{folder}/{name}") == "file"
        and name.lower().endswith(names.LISTS)
        and names.student_of(name, True).file == name
    )


def ignored(folder: str) -> list[str]:
    """The entries that are no student's."""
    return [name for name in entries_of(folder) if is_list(folder, name)]


def collect(folder: str) -> dict[str, list[Found]]:
    """By student, the versions of what was submitted. What a platform lists as one student's is one version,
    whatever its parts."""
    owners = {
        name: names.student_of(name, kind_of(f"{folder}/{name}") != "folder")
        for name in entries_of(folder)
        if not is_list(folder, name)
    }
    students: dict[str, list[Found]] = {}
    known = {owner.student for owner in owners.values()}
    for name, owner in owners.items():
        # "ada (1).zip" is another copy of ada.zip; where there is no ada, names with numbers are students or
        # groups of their own.
        plain, copy = names.copy_of(owner.student)
        if copy and owner.file == name and plain in known:
            versions = students.setdefault(plain, [])
        else:
            versions, copy = students.setdefault(owner.student, []), 0
        if owner.file == name or not versions:
            versions.append(Found(copy))
        found = versions[-1]
        try:
            add_entry(found, f"{folder}/{name}", name, owner)
        except OSError as error:
            found.refused.append(f"{names.shown(name)} can't be read: {error.strerror}")
    return students


def from_folder(
    folder: str, all_labs: list[str], wanted: list[str], skeletons: dict[str, str]
) -> list[Submission]:
    """What one student has put into a folder, for each lab of `wanted`."""
    found = Found(containers=["the submission"])
    add_folder(found, folder, "submission")
    return [choose([found], "", lab, all_labs, Skeletons(skeletons)) for lab in wanted]


def ingest(
    folder: str, all_labs: list[str], wanted: list[str], skeletons: dict[str, str] | None = None
) -> tuple[list[Submission], list[str]]:
    """Returns every student's submission for each of some labs, and these labs: `wanted`, else those whose
    skeleton somebody has changed, else those with a usable file, else all, so that everybody gets the
    reason."""
    students = collect(folder)
    known = Skeletons(skeletons or {})
    chosen = {
        (student, lab): choose(versions, student, lab, all_labs, known)
        for student, versions in students.items()
        for lab in wanted or all_labs
    }
    usable = [one for one in chosen.values() if one.source is not None]
    changed = {one.lab for one in usable if not known.is_unchanged(one.lab, one.source)}
    changed = changed or {one.lab for one in usable}
    labs = wanted or [lab for lab in all_labs if lab in changed] or all_labs
    return [chosen[student, lab] for student in sorted(students) for lab in labs], labs
