# SPDX-License-Identifier: MIT
"""./lab release --update: brings a repository that began as a student edition up to date, as a commit; the
students' work is kept.

The repository may be the edition itself, a clone or fork of it, or a copy without its history (GitHub's "Use
this template"). The new edition becomes a commit whose parent is the last edition that the repository's
history holds, and is merged. Where both a student and the course have changed the same lines, the student's
file stays as it is and is named.
"""

import json
import os
import pathlib
import re
import tempfile
from collections.abc import Callable

import release


def base_of(do: Callable, out: pathlib.Path) -> tuple[str, dict]:
    """The newest commit of the history that holds an edition alone; of a copy without the edition's history
    its first commit."""
    marked = do("log", "--max-count=1", "--format=%H", f"--grep=^{release.MARK}: ").stdout.strip()
    base = marked or do("rev-list", "--max-parents=0", "HEAD").stdout.split()[-1]
    recorded = do("show", f"{base}:{release.RECORD}", check=False)
    if recorded.returncode != 0:
        release.refuse(
            f"{out} did not begin as an edition of ./lab release: its first commit has no {release.RECORD}"
        )
    return base, json.loads(recorded.stdout)


def committed(do: Callable, out: pathlib.Path, folder: pathlib.Path, base: str, labs: list) -> str | None:
    """The files of `folder` as a commit after `base`; None when nothing has changed."""
    with tempfile.TemporaryDirectory() as scratch:
        own = {"env": os.environ | {"GIT_INDEX_FILE": str(pathlib.Path(scratch) / "index")}}
        there = do("rev-parse", "--absolute-git-dir").stdout.strip()
        do("-C", str(folder), f"--git-dir={there}", f"--work-tree={folder}", "add", "--all", **own)
        tree = do("write-tree", **own).stdout.strip()
    if tree == do("rev-parse", f"{base}^{{tree}}").stdout.strip():
        return None
    return do("commit-tree", tree, "-p", base, "-m", release.message(labs)).stdout.strip()


def merge(do: Callable, edition: str) -> list[str] | None:
    """Files in which both have changed the same lines: they stay as the students have them."""
    message = ("--no-edit", "-m", "Merge the course's update")
    if do("merge", "--quiet", *message, edition, check=False).returncode == 0:
        return []
    unmerged = do("ls-files", "--unmerged", "-z").stdout.split("\0")
    stages: dict = {}
    for line in filter(None, unmerged):
        about, name = line.split("\t", 1)
        stages.setdefault(name, set()).add(about.split()[2])
    if not stages:  # nothing was merged at all
        do("merge", "--abort", check=False)
        return None
    for name, there in stages.items():
        if "2" in there:
            do("checkout", "--ours", "--", name)
            do("add", "--", name)
        else:
            do("rm", "--quiet", "--cached", "--", name)
            do("clean", "--force", "--quiet", "--", name)
    do("commit", "--quiet", "--no-edit")
    return sorted(stages)


def complete_list(do: Callable, out: pathlib.Path, labs: list[str]) -> list[str]:
    """Adds the labs that the list in a meson.build which the students have changed lacks: without it, nobody
    could build them."""
    path = out / "meson.build"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.search(r"^labs *= *\[([^\]]*?)\s*\]", text, re.M)
    if found is None:
        return labs
    lacking = [lab for lab in labs if lab not in re.findall(r"['\"](\w+)['\"]", found[1])]
    if lacking:
        has_comma = re.sub(r"#.*", "", found[1]).rstrip()[-1:] in ("", ",")
        comma = "" if has_comma else "\n  ," if "#" in found[1] else ","  # not into a comment
        added = "".join(f"\n  '{lab}'," for lab in lacking)
        listed = f"labs = [{found[1]}{comma}{added}\n]"
        path.write_text(text[: found.start()] + listed + text[found.end() :], encoding="utf-8")
        message = f"Add {', '.join(lacking)} to the list of labs"
        do("commit", "--quiet", "--message", message, "--", "meson.build")
    return []


def update(root: pathlib.Path, out: pathlib.Path, more: list, closed: list, with_tools: bool = False) -> None:
    do = release.in_repository(out)
    top = do("rev-parse", "--show-toplevel", check=False)
    if top.returncode != 0 or pathlib.Path(top.stdout.strip()).resolve() != out:
        release.refuse(f"{out} is not a git repository: make an edition with ./lab release {out}")
    if changed := do("status", "--porcelain", "--untracked-files=no").stdout.splitlines():
        head = f"{out} has changes that are not committed: commit them first:"
        release.refuse("\n  ".join([head, *changed[:10]]))
    base, record = base_of(do, out)
    known = release.labs_of(root)
    labs = [lab for lab in known if lab in record["labs"] or lab in more]
    closed = [lab for lab in known if lab in record["closed"] or lab in closed]
    release.check_given_code(root, labs, known if set(record["labs"]) == set(known) else closed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "edition"
        if found := release.made_in(root, folder, labs, closed, with_tools):
            head = "the edition would show lines of the solutions; nothing was changed:"
            release.refuse("\n  ".join([head, *found[:20]]))
        edition = committed(do, out, folder, base, labs)
    if edition is None:
        print(f"{out} is up to date.")
        return
    kept = merge(do, edition)
    if kept is None:
        release.refuse(
            f"git could not merge the update into {out}; nothing was changed. See: git -C {out} merge {edition}"
        )
    unlisted = complete_list(do, out, labs)
    changed = do("diff", "--name-only", base, edition).stdout.splitlines()
    added = [lab for lab in labs if lab not in record["labs"]]
    news = f"new: {', '.join(added)}; " if added else ""
    print(f"{out} is up to date: {news}{len(changed)} files differ from the edition before.")
    for name in kept:
        change = f"git diff {base[:12]} {edition[:12]} -- {name}"
        print(
            f"  {name}: both sides changed the same lines. It stays as it was; the course's change: {change}"
        )
    if unlisted:
        must = f"it must name {', '.join(unlisted)}, or they are not built"
        print(f"  meson.build has no list of labs any more (labs = [ … ]): {must}.")
