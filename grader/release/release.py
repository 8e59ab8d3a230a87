#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab release: writes the student edition (edition.py) into a new folder, as a repository with one commit,
or brings one up to date (update.py)."""

import argparse
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common/tools"))
import prebuilt_tools
import update
from edition import edition_files, labs_named, labs_of_root, refuse, write
from waiting import Waiting


def make(root: pathlib.Path, out: pathlib.Path, labs: list[str], with_tools: bool) -> None:
    with Waiting(f"Writing {out}"):
        files = edition_files(root, labs)
        write(files, out)
    if with_tools:
        prebuilt_tools.add_tools(files, out)


def release(root: pathlib.Path, out: pathlib.Path, labs: list[str], with_tools: bool) -> None:
    """Nothing is left where the edition can't be made."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
            folder = pathlib.Path(scratch) / out.name
            make(root, folder, labs, with_tools)
            update.make_repository(folder, labs)
            folder.rename(out)
    except OSError as error:
        refuse(f"{error.filename or out} can't be written: {error.strerror}")
    print(f"The student edition is in {out}. Try it: cd {out} && ./lab grade")


def bring_up_to_date(root: pathlib.Path, out: pathlib.Path, more: list[str], with_tools: bool) -> None:
    git, base, had = update.edition_in(out)
    labs = [lab for lab in labs_of_root(root) if lab in had or lab in more]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "edition"
        make(root, folder, labs, with_tools)
        update.update(git, out, folder, base, labs)


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
        "--labs", metavar="LAB,…", default="", help="only these labs (not all); with --update: these, too"
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="brings the edition in DIR, or a student's repository, up to date as a commit; students' work is kept",
    )
    parser.add_argument(
        "--prebuilt", action="store_true", help="with tools for x86-64, so that students build none"
    )
    arguments = parser.parse_args()
    root, out = arguments.root.resolve(), arguments.dir.resolve()
    labs = labs_named(root, [word for word in arguments.labs.split(",") if word])
    if not shutil.which("git"):
        refuse("git is missing: install it")
    if arguments.update:
        return bring_up_to_date(root, out, labs, arguments.prebuilt)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        either = "name a folder that does not exist yet, or take --update to bring an edition up to date"
        refuse(f"{out} is not empty: {either}")
    if root == out or root in out.parents:
        refuse(f"{out} lies inside of the course: name a folder elsewhere")
    release(root, out, labs or labs_of_root(root), arguments.prebuilt)


if __name__ == "__main__":
    main()
