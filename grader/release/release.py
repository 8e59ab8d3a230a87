#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab release: writes the student edition into a folder: what is needed to build, grade and learn, and no
solution.

usage: ./lab release DIR [--labs LAB,…] [--closed LAB,…] [--no-git] [--prebuilt]
       ./lab release --update DIR [--labs LAB,…] [--closed LAB,…]      (update.py)

DIR must not exist, or be empty. With --labs the edition has only those labs; a lab whose given code answers a
task of another lab (given.py) has to wait until that one is --closed. An edition holds what
edition_files.py names; the files of edition/ are added or stand in the place of the course's own. Then every
file is compared with the solutions, line by line (leaks.py): when one holds a line of theirs, its place is
named and DIR is removed again. Without --no-git DIR becomes a repository with one commit. With --prebuilt the edition
holds its tools (prebuilt/make_tools.sh).
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import given
import leaks

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "common/tools"
sys.path += [str(TOOLS), str(TOOLS / "authoring")]
import check_course
from edition_files import files_of, git, released_files
from edition_texts import References, explanations, labs_table, without_instructors_parts, without_secrets
from waiting import Waiting

HERE = pathlib.Path(__file__).resolve().parent
EDITION = HERE / "edition"
RECORD = ".edition.json"  # in an edition: its labs, and those that were closed when it was made


def refuse(text: str) -> None:
    sys.exit(f"lab: {text}")


labs_of = check_course.labs_of_root  # THE list, in the course's order


def of_a_lab(name: str, lab: str) -> bool:
    """Whether a file belongs to this lab alone."""
    page = rf"handouts/\d\d-{lab.replace('_', '-')}\.md"
    return name.startswith(f"labs/{lab}/") or re.fullmatch(page, name) is not None


def write_edition(
    root: pathlib.Path, out: pathlib.Path, wanted: leaks.Secrets, labs: list[str], closed: list[str]
) -> None:
    held_back = set(labs_of(root)) - set(labs)
    names = [name for name in released_files(root) if not any(of_a_lab(name, lab) for lab in held_back)]
    # ".in": its links lead somewhere in the edition, not from where it stands.
    added = {
        path.relative_to(EDITION).as_posix().removesuffix(".in"): path
        for path in EDITION.rglob("*")
        if path.is_file()
    }
    sources = {name: root / name for name in names} | added
    references = References(root, sources, labs)
    table, rungs = labs_table(root, labs), explanations(root, labs)
    for name, source in sources.items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            text = without_instructors_parts(source.read_text(encoding="utf-8"))
            text = text.replace("@LABS@", table).replace("@RUNGS@", rungs)
            text = without_secrets(wanted, name, text)
            target.write_text(references.mended(text, pathlib.PurePosixPath(name)), encoding="utf-8")
            shutil.copymode(source, target)
        else:
            shutil.copy(source, target)
    for name in ("problem.cpp", "LAB_ID_test.cpp"):  # the demonstration's are those of a new lab
        text = (root / "common/harness/template/lab" / name).read_text(encoding="utf-8")
        target = out / "labs/demo" / name.replace("LAB_ID", "demo")
        target.write_text(text.replace("LAB_ID", "demo"), encoding="utf-8")
    for lab in labs:
        start_afresh(root, out, lab)
    listed = "".join(f"  '{lab}',\n" for lab in ["demo", *labs])
    replace_in(out / "meson.build", r"(?<=^labs = \[\n).*?(?=^\])", listed)
    if held_back:
        pages_of = "|".join(lab.replace("_", "-") for lab in held_back)
        replace_in(out / "handouts/meson.build", rf"^ *'(instructor/)?\d\d-({pages_of})\.md',\n", "")
        pages = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.md"))
        for figure in (out / "handouts/figures").glob("*"):
            if figure.name not in pages:
                figure.unlink()
    (out / RECORD).write_text(json.dumps({"labs": labs, "closed": closed}) + "\n", encoding="utf-8")


def replace_in(file: pathlib.Path, pattern: str, text: str) -> None:
    old = file.read_text(encoding="utf-8")
    file.write_text(re.sub(pattern, text, old, flags=re.S | re.M), encoding="utf-8")


def start_afresh(root: pathlib.Path, out: pathlib.Path, lab: str) -> None:
    """Generates the students' file, because an instructor may have worked in the checkout's."""
    solution = root / f"solutions/{lab}/{lab}.cu"
    if solution.is_file():
        (out / f"labs/{lab}/{lab}.cu").write_text(leaks.skeleton(leaks.text_of(solution)), encoding="utf-8")


def in_repository(out: pathlib.Path) -> Callable:
    """Runs git there; as somebody, where nobody is configured."""
    somebody = ["-c", "user.name=GPU labs", "-c", "user.email=course@localhost"]
    who = [] if git(out, "config", "user.email") else somebody

    def do(*arguments: str, check: bool = True, **more: Any) -> subprocess.CompletedProcess:
        done = subprocess.run(["git", "-C", out, *who, *arguments], capture_output=True, text=True, **more)
        if check and done.returncode != 0:
            said = done.stderr.strip() or done.stdout.strip()
            refuse(f"git failed in {out}: {' '.join(arguments)}: {said}")
        return done

    return do


def message(labs: list[str]) -> str:
    return f"GPU labs: {', '.join(labs)}\n\n{MARK}: {len(labs)} labs\n"


MARK = "Student-edition"  # begins a line of the message of a commit that holds an edition and nothing of a student's


def make_repository(out: pathlib.Path, labs: list[str]) -> None:
    do = in_repository(out)
    do("init", "--quiet", "--initial-branch=main")
    do("add", "--all")
    do("commit", "--quiet", "--message", message(labs))


def chosen(root: pathlib.Path, words: str) -> list[str]:
    """The labs of "a,b", in the course's order."""
    known = labs_of(root)
    named = [word for word in words.split(",") if word]
    for lab in named:
        if lab not in known:
            refuse(f'there is no lab "{lab}"; there are {", ".join(known)}')
    return [lab for lab in known if lab in named]


def shown_answers(labs: list[str], closed: list[str]) -> list[str]:
    """What the given code of these labs shows of labs that are not closed, a line each."""
    shown = given.shown_by(labs)
    return [
        f"{lab} gives {', '.join(functions)}: an answer of {other}"
        for lab in labs
        for other, functions in shown.get(lab, {}).items()
        if other not in closed
    ]


def check_given_code(root: pathlib.Path, labs: list[str], closed: list[str]) -> None:
    """Refuses labs that would show answers of others."""
    if complaints := given.undeclared(root, labs_of(root)):
        what = "given code answers tasks of other labs; change it, or list it in grader/release/given.py"
        refuse("\n  ".join([f"{what}:", *complaints]))
    if early := shown_answers(labs, closed):
        others = ",".join(sorted({line.rsplit(" ", 1)[1] for line in early}, key=labs_of(root).index))
        shown = "\n  ".join(["given code would show answers of labs that are not closed:", *early])
        later = f"Release these labs later, or, if nobody submits the others any more, add --closed {others}"
        refuse(f"{shown}\n{later}")


def mirror(folder: pathlib.Path, copy: pathlib.Path) -> None:
    """Makes `copy` equal to the folder, but for what git or a build puts there. Files that are equal stay as they are."""
    names = set(files_of(folder))
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        if path.relative_to(copy).as_posix() not in names:
            path.unlink()
    for name in names:
        target = copy / name
        if not target.is_file() or target.read_bytes() != (folder / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, target)


PROCESSORS = {"x86_64": "x86-64", "aarch64": "arm64"}  # uname's name: ours


def tools_in(folder: pathlib.Path) -> str:
    """Which tools it has, in words."""
    there, lacking = [], ""
    for arch, name in PROCESSORS.items():
        path = folder / f"prebuilt/{arch}.tar.gz"
        if path.exists():
            there.append(f"{name} ({path.stat().st_size / 1e6:.1f} MB)")
        else:
            lacking += f"\nNone for {name}: such machines build them. If you need them, install\n"
            lacking += f"g++-{arch.replace('_', '-')}-linux-gnu and run this again."
    return f"Prebuilt tools: for {' and '.join(there)}, on Linux with glibc 2.31 or later.{lacking}"


def add_tools(folder: pathlib.Path, *processors: str) -> None:
    """Builds the tools of what lies in this folder, and puts them into its prebuilt/. Called by ./lab after
    set-up. What is built stays in the build folder, so that a later call compiles only what has changed."""
    work = pathlib.Path(os.environ["LAB_BUILD"]) / "tools-of-editions"
    mirror(folder, work / "source")
    log = work / "log.txt"
    with Waiting("Building the tools for every Linux (minutes)") as waiting, log.open("w+") as output:
        command: list = ["bash", HERE / "prebuilt/make_tools.sh", folder, work, *processors]
        building = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while building.poll() is None:
            time.sleep(1)
            waiting.detail = (log.read_text(errors="replace").splitlines() or [""])[-1]
    if building.returncode != 0:
        last = log.read_text(errors="replace").splitlines()[-5:]
        refuse("\n  ".join(["the tools could not be built:", *last]) + f"\nAll of it: {log}")
    if not processors:
        print(tools_in(folder))


def made_in(
    root: pathlib.Path, out: pathlib.Path, labs: list[str], closed: list[str], with_tools: bool = False
) -> list[str]:
    """The edition in the folder, which is empty again when it would show a solution."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with Waiting(f"Writing {out}"):
            wanted = leaks.secrets(root)
            write_edition(root, out, wanted, labs, closed)
    except OSError as error:
        refuse(f"{error.filename or out} can't be written: {error.strerror}")
    with Waiting(f"Searching {out} for lines of the solutions"):
        found = leaks.find(wanted, out)
    done = False
    try:
        if with_tools and not found:
            add_tools(out)
        done = not found
    finally:
        if not done:
            for path in out.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="./lab release",
        description="Writes the student edition: no solutions, no wrong or hostile submissions, its own README.",
    )
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "dir",
        metavar="DIR",
        type=pathlib.Path,
        help="a folder that does not exist yet, or is empty; with --update an edition",
    )
    parser.add_argument(
        "--labs", metavar="LAB,…", help="only these labs (default: all); with --update: these, too"
    )
    parser.add_argument(
        "--closed",
        metavar="LAB,…",
        default="",
        help="labs whose answers may be shown, because nobody submits them any more or the course does not use them",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="brings the edition in DIR, or a student's repository, up to date as a commit; students' work is kept",
    )
    parser.add_argument(
        "--prebuilt",
        action="store_true",
        help="with tools that run on every Linux with glibc 2.31 or later, so that students need not build them",
    )
    parser.add_argument("--no-git", action="store_true", help="a plain folder, no repository")
    arguments = parser.parse_args()
    root, out = arguments.root.resolve(), arguments.dir.resolve()
    if not (root / "solutions").is_dir():
        refuse("this is a student edition already: there are no solutions to leave out")
    labs = None if arguments.labs is None else chosen(root, arguments.labs)
    closed = chosen(root, arguments.closed)
    if labs == []:
        refuse(f"--labs names no lab; there are {', '.join(labs_of(root))}")
    has_git = shutil.which("git") is not None
    if arguments.update:
        if not has_git:
            refuse("git is missing: install it")
        import update

        return update.update(root, out, labs or [], closed, arguments.prebuilt)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        either = "name a folder that does not exist yet, or take --update to bring an edition up to date"
        refuse(f"{out} is not empty: {either}")
    if root == out or (root in out.parents and not (has_git and git(root, "check-ignore", out) is not None)):
        refuse(f"{out} lies inside of the course: name a folder elsewhere")
    if not arguments.no_git and not has_git:
        refuse("git is missing: install it, or take --no-git")
    everything = labs is None
    labs = labs or labs_of(root)
    # An edition of the whole course is for a course in which all labs are open at once: it says what it
    # shows.
    check_given_code(root, labs, labs if everything else closed)
    existed = out.exists()
    if found := made_in(root, out, labs, closed, arguments.prebuilt):
        if not existed:
            out.rmdir()
        refuse(
            "\n  ".join(["the edition would show lines of the solutions; nothing was written:", *found[:20]])
        )
    if not arguments.no_git:
        make_repository(out, labs)
    if everything and (shown := shown_answers(labs, closed)):
        one_by_one = "To release one lab after the other, use --labs and --update."
        print(f"{len(shown)} times, given code of a lab answers a task of another lab. {one_by_one}")
    print(f"The student edition is in {out}. Try it: cd {out} && ./lab grade")


if __name__ == "__main__":
    main()
