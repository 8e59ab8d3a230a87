# SPDX-License-Identifier: MIT
"""From a folder of submissions, as a learning platform exports it or as git collects it, to one file a student
and lab, or the reason why there is none.

A submission is a folder, a repository, a .zip, a .tar.gz or a bare .cu file; a student may have several. Only
files that a lab allows are read: plain ones (no link is followed, no pipe opened), of a bounded size. Whatever
lies there, `ingest` returns; what is refused gets a POLICY verdict with a message for the student, and no other
student is affected. Every student with an entry in the folder (lists of the platform and files of the system are
none) gets a Submission for each of the labs. If there is no usable file, it contains the reason.
"""

import base64
import json
import math
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import gradescope_export
import names
import repository
import unpack
from source_text import code_of, text_of
from unpack import LARGEST_FILE, MAX_ENTRIES, MAX_FILES, is_wanted

DEPTH = 8
SECONDS_TO_UNPACK = 60
MAX_ARCHIVES = 4
SAME_TIME = 2.0  # seconds: a zip counts in steps of two
MAX_OTHERS = 20  # that are listed
MISNAMED = 3  # the rank of files that a student has given a wrong ending, and of all behind it
# Folders of files that no student wrote.
MACHINE_MADE = tuple(".git .venv venv .deps .cache __pycache__ node_modules __MACOSX".split())
HIDDEN = (".DS_Store", ".git", "__MACOSX", "Thumbs.db", "desktop.ini")

Limits = Callable[[str, str], list[float]]  # of a student and a lab: deadlines.py


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
    submitted: float = 0.0  # when the platform received the file; 0 when nothing was submitted


@dataclass
class Entry:
    """What a platform lists as one submission: a folder or file in the folder of all submissions."""

    path: str
    name: str
    file: str = ""  # the name that a bare file had
    late: bool = False
    submitted: float = 0.0  # by the platform's own list; else the times of files count


@dataclass
class File:
    path: str  # inside, shown to people
    data: bytes
    # When the platform received it, or the archive that it was in: times from within an archive are the
    # student's own. Of a repository: of the commit.
    time: float
    entry: int  # number of the entry that it came from


@dataclass
class Found:
    """What lies in one student's entries."""

    time: float = 0.0  # of the newest file
    files: list[File] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # paths of what is no .cu file
    too_deep: bool = False  # whether there are folders that were not searched
    passed_over: list[str] = field(default_factory=list)  # folders of builds and environments
    bad_files: list[tuple[str, str]] = field(default_factory=list)  # path inside, why it is refused
    refused: list[str] = field(default_factory=list)  # whole entries
    late: bool = False
    entries: list[str] = field(default_factory=list)

    def add(self, path: str, data: bytes, when: float) -> None:
        self.files.append(File(path, data, when, len(self.entries)))
        self.time = max(self.time, when)

    def nothing_for(self, lab: str, labs: list[str]) -> str:
        def some(what: list[str]) -> str:
            more = f" and {len(what) - 5} more" if len(what) > 5 else ""
            return ", ".join(names.shown(name) for name in what[:5]) + more

        full = [one for one in self.files if one.data.strip()]
        of_no_lab = [one.path for one in full if lab_of_file(one, labs) is None]
        archives = [path for path in self.others if is_archive(path)]
        found = [
            (
                [path for path in of_no_lab if names.is_kernel(path)],
                f'{{}}: not named {lab}.cu, and "{lab}/lab.hpp" is not included',
            ),
            ([one.path for one in self.files if not one.data.strip()], "{}: the file is empty"),
            (archives, "{}: an archive in this place is not opened"),
            ([""] * self.too_deep, f"folders deeper than {DEPTH} are not searched"),
            (
                [
                    path
                    for path in (*of_no_lab, *self.others)
                    if path not in archives and not names.is_kernel(path)
                ],
                "not a .cu file: {}",
            ),
            ([one.path for one in full if lab_of_file(one, labs) not in (None, lab)], "of another lab: {}"),
        ]
        reasons = [why.format(some(what)) for what, why in found if what]
        reasons += [why for _, why in self.bad_files[:5]]
        if self.passed_over:
            reasons.append(f"folders of builds and environments are not searched: {some(self.passed_over)}")
        why = "; ".join(reasons or ["it is empty"])
        where = ", ".join(names.shown(name) for name in self.entries[:3])
        return f"Nothing for this lab was found in {where} ({why}). Submit {lab}.cu."


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


def lab_of_file(file: File, labs: list[str]) -> str | None:
    included = names.lab_included(text_of(file.data)[0].encode("utf-8", "replace"), labs)
    return names.lab_of(file.path, labs) or included


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
    command = [sys.executable, "-B", unpack.__file__, path]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_UNPACK, check=False)
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
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
    when = os.lstat(path).st_mtime
    found.time = max(found.time, when)
    answer = unpacked(path)
    if answer["refused"]:
        found.refused.append(f"{names.shown(inside)} {names.shown(answer['refused'])}")
        return
    for name, data in answer["files"].items():
        found.add(f"{inside}/{name}", base64.b64decode(data), when)
    found.others += [f"{inside}/{name}" for name in answer["others"]]


def add_folder(found: Found, path: str, inside: str) -> None:
    n_entries = n_archives = n_files = n_misnamed = 0
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
            n_misnamed += is_wanted(name) and not names.is_kernel(name)
            if name.startswith("._"):
                continue
            if kind == "folder":
                if depth < DEPTH:
                    todo.append((full, seen, depth + 1))
                else:
                    found.too_deep = True
            elif is_wanted(name) and (names.is_kernel(name) or n_misnamed <= MAX_FILES):
                n_files += names.is_kernel(name)
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


def add_repository(found: Found, one: repository.Repository, inside: str, ref: str, before: float) -> None:
    if (commit := one.commit(ref, before)) is None:
        what = f'has no branch or tag "{ref}"' if ref else "has no commit"
        found.refused.append(f"{names.shown(inside)} {what}")
        return
    sha, found.time = commit[0], max(found.time, commit[1])
    there = one.files(sha)
    listed = [file for file in there if is_wanted(file.path)]
    others = [f"{inside}/{file.path}" for file in there if not is_wanted(file.path)]
    found.others += sorted(others, key=lambda path: not is_archive(path))[:MAX_OTHERS]
    plain = []
    for file in sorted(listed, key=lambda file: not names.is_kernel(file.path))[:MAX_FILES]:
        seen = f"{inside}@{sha[:10]}/{file.path}"
        if not file.is_plain or file.size > LARGEST_FILE:
            why = (
                f"is larger than {LARGEST_FILE >> 10} KiB"
                if file.is_plain
                else "is a link: submit the file itself"
            )
            found.bad_files.append((seen, f"{names.shown(seen)} {why}"))
        else:
            plain.append(file)
    for file, data in zip(plain, one.contents(plain)):
        found.add(f"{inside}@{sha[:10]}/{file.path}", data, commit[1])


def add_file(found: Found, path: str, inside: str) -> None:
    when, kind = os.lstat(path).st_mtime, kind_of(path)
    found.time = max(found.time, when)
    if kind == "file":
        data = read_plain(path)
    else:
        data = f"is {'a link' if kind == 'link' else 'not a regular file'}: submit the file itself"
    if not isinstance(data, str):
        found.add(inside, data, when)
    elif names.is_kernel(inside):
        found.bad_files.append((inside, f"{names.shown(inside)} {data}"))


def add_entry(found: Found, entry: Entry, ref: str, before: float) -> None:
    found.late = found.late or entry.late
    kind, name, n_bad = kind_of(entry.path), entry.name, len(found.bad_files)
    if kind == "folder":
        with repository.opened(entry.path) as one:
            if one is None:
                add_folder(found, entry.path, name)
            else:
                add_repository(found, one, name, ref, before)
    elif is_archive(name) and kind == "file":
        add_archive(found, entry.path, name)
    elif is_wanted(entry.file) or is_wanted(name):
        add_file(found, entry.path, f"{name}/{entry.file}" if entry.file not in ("", name) else name)
        found.refused += [reason for _, reason in found.bad_files[n_bad:]]  # whichever lab it was for
    elif kind != "file":
        found.refused.append(f"{names.shown(name)} is neither a regular file nor a folder")
    else:
        found.others.append(name)
    if entry.submitted:
        found.time = entry.submitted
        own = len(found.entries)
        found.files = [replace(one, time=entry.submitted) if one.entry == own else one for one in found.files]
    found.entries.append(name)


def look_into(entries: list[Entry], ref: str, before: float) -> Found:
    found = Found()
    for entry in entries:
        try:
            add_entry(found, entry, ref, before)
        except OSError as error:
            found.refused.append(f"{names.shown(entry.name)} can't be read: {error.strerror}")
    found.files = [one for one in found.files if one.time <= before]
    return found


def choose(found: Found, student: str, lab: str, labs: list[str], skeletons: Skeletons) -> Submission:
    """The file for this lab, or the reason why there is none. Of files that differ the newest counts."""

    def rank(file: File) -> int:
        tail = "/" + file.path.replace("\\", "/")
        if not names.is_kernel(tail):
            return MISNAMED if names.stem_of(tail) == lab else MISNAMED + 1
        return 0 if tail.endswith(f"/labs/{lab}/{lab}.cu") else 1 if names.lab_of(tail, labs) else 2

    def refused(reason: str, origin: str = "") -> Submission:
        return Submission(student, lab, None, reason, names.shown(origin), found.late, submitted=found.time)

    for path, reason in found.bad_files:
        if names.lab_of(path, labs) == lab:
            return refused(reason, path)
    of_lab = [file for file in found.files if lab_of_file(file, labs) == lab]
    for is_better in (
        lambda one: not skeletons.is_unchanged(lab, one.data),
        lambda one: one.data.strip(),
        lambda one: rank(one) < MISNAMED,
    ):
        of_lab = [one for one in of_lab if is_better(one)] or of_lab
    best = {file.entry: rank(file) for file in sorted(of_lab, key=rank, reverse=True)}
    of_lab = [one for one in of_lab if rank(one) == best[one.entry]]
    if not of_lab and found.refused:
        return refused("; ".join(found.refused))
    if not of_lab:
        return Submission(student, lab, None, "", found.nothing_for(lab, labs), found.late)
    newest = max(file.time for file in of_lab)
    late = [file for file in of_lab if file.time >= newest - SAME_TIME]
    if len({file.data for file in late}) > 1:
        where = ", ".join(sorted(names.shown(file.path) for file in late)[:5])
        return refused(f"There is more than one file for {lab}, and they differ: {where}. Hand in one.")
    file = min(late, key=lambda file: file.path)
    shown = names.shown(file.path)
    if encoding := text_of(file.data)[1]:
        why = f"{shown} is {encoding} text, which compilers do not read: save it as UTF-8."
        return refused(why, file.path)
    if not file.data.strip():
        return refused(f"{shown} is empty: save it in your editor, then submit it again.", file.path)
    older = ", ".join(names.shown(one.path) for one in of_lab if one.data != file.data)
    notes = [
        (older, f"{shown} counts: it is newer than {older}."),
        (rank(file) >= MISNAMED, f"{shown} was graded, but its name should be {lab}.cu."),
        (sum(map(is_archive, file.path.split("/"))) > 1, f"{shown} was in an archive within an archive."),
        (found.refused, f"Not used: {'; '.join(found.refused)}."),
    ]
    note = " ".join(text for applies, text in notes if applies)
    if skeletons.is_unchanged(lab, file.data):
        note = "The file was not changed: it is the lab's skeleton."
    return Submission(student, lab, file.data, "", shown, found.late, note, file.time)


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


def collect(folder: str) -> dict[str, list[Entry]]:
    """The entries of each student. A group's submission is an entry of each of its members, if the platform says
    who they are."""
    listed = gradescope_export.read(folder)
    owners = {
        name: names.student_of(name, kind_of(f"{folder}/{name}") != "folder")
        for name in entries_of(folder)
        if not is_list(folder, name) and name not in listed
    }
    students: dict[str, list[Entry]] = {}
    for name, (people, submitted) in listed.items():
        for student in people:
            entry = Entry(f"{folder}/{name}", name, submitted=submitted)
            students.setdefault(student, []).append(entry)
    known = {owner.student for owner in owners.values()}
    for name, owner in owners.items():
        # "ada (1).zip" is another copy of ada.zip; where there is no ada, names with numbers are students or
        # groups of their own.
        plain = names.without_number(owner.student)
        student = plain if owner.file == name and plain in known else owner.student
        students.setdefault(student, []).append(Entry(f"{folder}/{name}", name, owner.file, owner.late))
    return students


def from_folder(
    folder: str, all_labs: list[str], wanted: list[str], skeletons: dict[str, str]
) -> list[Submission]:
    """What one student has put into a folder, for each lab of `wanted`."""
    found = Found()
    add_folder(found, folder, "submission")
    found.entries.append("the submission")
    return [choose(found, "", lab, all_labs, Skeletons(skeletons)) for lab in wanted]


def ingest(
    folder: str,
    all_labs: list[str],
    wanted: list[str],
    skeletons: dict[str, str] | None = None,
    ref: str = "",
    limits: Limits = lambda student, lab: [],
) -> tuple[list[Submission], list[str]]:
    """Returns every student's submission for each of some labs, and these labs: `wanted`, else those whose
    skeleton somebody has changed, else those with a usable file, else all, so that everybody gets the
    reason. `ref`: the branch or tag of repositories. Of several versions (commits, numbered copies), the newest
    before the first of the limits counts for which there is one; what a fork began with is none."""
    students = collect(folder)
    known = Skeletons(skeletons or {})
    chosen = {}
    for student, entries in students.items():
        looked: dict[float, Found] = {}
        for lab in wanted or all_labs:
            for before in (*limits(student, lab), math.inf):
                if before not in looked:
                    looked[before] = look_into(entries, ref, before)
                one = chosen[student, lab] = choose(looked[before], student, lab, all_labs, known)
                if one.source is not None and not known.is_unchanged(lab, one.source):
                    break
    usable = [one for one in chosen.values() if one.source is not None]
    changed = {one.lab for one in usable if not known.is_unchanged(one.lab, one.source)}
    changed = changed or {one.lab for one in usable}
    labs = wanted or [lab for lab in all_labs if lab in changed] or all_labs
    return [chosen[student, lab] for student in sorted(students) for lab in labs], labs
