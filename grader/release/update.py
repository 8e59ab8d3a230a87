# SPDX-License-Identifier: MIT
"""The repository of a student edition, and how it is brought up to date: as a commit; the students' work is kept.

The repository may be the edition itself, a clone or fork of it, or a copy without its history (GitHub's "Use
this template"). The new edition becomes a commit whose parent is the last edition that the repository's
history holds, and git merges it. Where both sides have changed the same lines, a person decides.
"""

import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from edition import DEMO, refuse

MARK = "Student-edition"  # begins a line of the message of a commit that holds an edition and nothing of a student's


def in_repository(out: pathlib.Path) -> Callable:
    """Runs git there; as somebody, where nobody is configured."""

    def git(*arguments: str, check: bool = True, **more: Any) -> subprocess.CompletedProcess:
        done = subprocess.run(["git", "-C", out, *who, *arguments], capture_output=True, text=True, **more)
        if check and done.returncode != 0:
            said = done.stderr.strip() or done.stdout.strip()
            refuse(f"git failed in {out}: {' '.join(arguments)}: {said}")
        return done

    who: list[str] = []
    if git("config", "user.email", check=False).returncode != 0:
        who = ["-c", "user.name=GPU labs", "-c", "user.email=course@localhost"]
    return git


def message(labs: list[str]) -> str:
    return f"GPU labs: {', '.join(labs)}\n\n{MARK}: {len(labs)} labs\n"


def make_repository(out: pathlib.Path, labs: list[str]) -> None:
    git = in_repository(out)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message", message(labs))


def edition_in(out: pathlib.Path) -> tuple[Callable, str, list[str]]:
    """Git there, the newest commit of the history that holds an edition alone (of a copy without the edition's
    history its first commit), and its labs."""
    git = in_repository(out)
    top = git("rev-parse", "--show-toplevel", check=False)
    if top.returncode != 0 or pathlib.Path(top.stdout.strip()).resolve() != out:
        refuse(f"{out} is not a git repository: make an edition with ./lab release {out}")
    if changed := git("status", "--porcelain", "--untracked-files=no").stdout.splitlines():
        head = f"{out} has changes that are not committed: commit them first:"
        refuse("\n  ".join([head, *changed[:10]]))
    marked = git("log", "--max-count=1", "--format=%H", f"--grep=^{MARK}: ").stdout.strip()
    base = marked or git("rev-list", "--max-parents=0", "HEAD").stdout.split()[-1]
    names = git("ls-tree", "-r", "--name-only", base, "labs", check=False).stdout
    labs = re.findall(r"^labs/(\w+)/lab\.hpp$", names, re.M)
    if DEMO not in labs:
        refuse(f"{out} did not begin as an edition of ./lab release: its first commit has no labs/{DEMO}")
    return git, base, labs


def committed(git: Callable, folder: pathlib.Path, base: str, labs: list[str]) -> str | None:
    """The files of `folder` as a commit after `base`; None when nothing has changed."""
    with tempfile.TemporaryDirectory() as scratch:
        own = {"env": os.environ | {"GIT_INDEX_FILE": str(pathlib.Path(scratch) / "index")}}
        there = git("rev-parse", "--absolute-git-dir").stdout.strip()
        git("-C", str(folder), f"--git-dir={there}", f"--work-tree={folder}", "add", "--all", **own)
        tree = git("write-tree", **own).stdout.strip()
    if tree == git("rev-parse", f"{base}^{{tree}}").stdout.strip():
        return None
    return git("commit-tree", tree, "-p", base, "-m", message(labs)).stdout.strip()


def update(git: Callable, out: pathlib.Path, folder: pathlib.Path, base: str, labs: list[str]) -> None:
    """Merges the edition in `folder` into the repository, or changes nothing."""
    edition = committed(git, folder, base, labs)
    if edition is None:
        print(f"{out} is up to date.")
        return
    merging = ("merge", "--quiet", "--no-edit", "-m", "Merge the course's update", edition)
    if git(*merging, check=False).returncode != 0:
        both = git("diff", "--name-only", "--diff-filter=U").stdout.split("\n")
        git("merge", "--abort", check=False)
        refuse(
            f"git could not merge the update into {out}; nothing was changed. {' '.join(filter(None, both))}\n"
            f"Merge it there, and decide what both sides have changed: git -C {out} merge {edition}"
        )
    changed = git("diff", "--name-only", base, edition).stdout.splitlines()
    print(
        f"{out} is up to date, with {', '.join(labs)}: {len(changed)} files differ from the edition before."
    )
