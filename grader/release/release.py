#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab release: writes the student edition into a folder: what is needed to build, grade and learn, and no solution.

usage: ./lab release DIR [--no-git]

DIR must not exist, or be empty. What stays behind is listed in LEFT_OUT; the files of edition/ are added or stand in the place
of the course's own. Then every file is compared with the solutions, line by line (leaks.py): when one holds a line of theirs, its
place is named and DIR is removed again. Without --no-git DIR becomes a repository with one commit.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

import leaks

HERE = pathlib.Path(__file__).resolve().parent
EDITION = HERE / "edition"
# Patterns of paths ("*" also stands for "/"); KEPT are exceptions.
LEFT_OUT = [
    # answers, and what gives them away
    "solutions/*", "grader/mutants/*", "grader/hostile/*", "handouts/kill-matrix.md", "handouts/top-rungs.md", "common/template/*",
    # what only instructors need
    "grader/release/*", "grader/gradescope/*", "grader/batch/*.py", "grader/batch/testing/*", "handouts/instructor-guide.md", "common/tools/new_lab.py", "common/tools/check_course.py",
    "common/tools/check_includes.py", "common/tools/make_*.py", "handouts/quotes.py", "handouts/counted.py", "handouts/limits.py", "handouts/measured.py", "handouts/worked/*", "handouts/figures.py", "common/tools/site/*", "grader/page/browser/*",
    # the project's own tests and development
    "*_test.*", "grader/testing/*", "common/sim/testing/*", "common/sim/checkers/kernels/*", "common/cudart/programs/*", "common/cudart/cub/*",
    "common/ptx/testdata/*", "common/fuzz/*", "*/fuzz_*", "labs/sat/app/make_images.py", "common/tools/fresh_debian.sh",
    "common/tools/try_*.sh", "common/tools/lint.sh", ".ci/*", ".github/*", ".clang-tidy", "*/.clang-tidy", "README.md", "CONTRIBUTING.md",
]  # fmt: skip
KEPT = ["labs/*/*_test.cpp"] + [f"grader/batch/{name}.py" for name in ["submit", "ingest", "names", "source_text", "unpack"]]  # ./lab submit
LINK = re.compile(r"\[([^\]\n]*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def refuse(text):
    sys.exit(f"lab: {text}")


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def git(root, *arguments):
    """What git prints; None where it fails or there is none."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def files_of(root):
    """What git would commit; of a copy without history, everything that is no product."""
    if listed := git(root, "ls-files", "-co", "--exclude-standard"):
        return [name for name in listed.splitlines() if (root / name).is_file()]
    skipped = {".git", ".venv", ".deps", "__pycache__"}
    return [
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and not any(p in skipped or p.startswith("build") for p in path.relative_to(root).parts[:-1])
    ]


def without_dead_links(text, page, present):
    """Markdown whose links to files that stay behind are plain text. `present`: the paths of the edition, folders included."""

    def plain(match):
        target = match.group(2)
        if ":" in target:
            return match.group(0)
        where = os.path.normpath(page.parent / target)
        return match.group(0) if where in present else match.group(1)

    return LINK.sub(plain, text)


def without_instructors_parts(text):
    return re.sub(r"^<!-- instructors -->\n.*?^<!-- end instructors -->\n", "", text, flags=re.S | re.M)


QUOTE = re.compile(r"^<!-- quote: (\w+) (.*?) -->\n(.*?)^<!-- end quote -->\n", re.S | re.M)


def without_telling_quotes(text, wanted):
    """Quotations that show lines of the solutions (a profile's source lines, changes of a solution) become a hint."""

    def kept(match):
        kind, arguments, quoted = match.groups()
        if not leaks.shown(wanted, quoted):
            return match.group(0)
        command = re.sub(r" (--solutions|/.*)", "", arguments)
        if kind == "output":
            return f"*(Your own kernel shows this: `./lab {command}`.)*\n"
        return "*(This change of the solution is in your instructor's edition.)*\n"

    return QUOTE.sub(kept, text)


def labs_table(root, labs):
    """| 1 Reduction | `file` | handout |, from the handouts' first lines."""
    rows = ["| lab | file | handout |", "|---|---|---|"]
    for page in sorted((root / "handouts").glob("[0-9][0-9]-*.md")):
        title = re.match(r"# Lab (\d+): (.*)", page.read_text(encoding="utf-8"))
        lab = page.stem[3:].replace("-", "_")
        if title and lab in labs:
            rows.append(f"| {title[1]} {title[2]} | `labs/{lab}/{lab}.cu` | [{page.stem}](handouts/{page.name}) |")
    return "\n".join(rows)


def released_files(root):
    return [n for n in files_of(root) if not matches(n, LEFT_OUT) or matches(n, KEPT)]


def write_edition(root, out, wanted):
    names = released_files(root)
    # ".in": its links lead somewhere in the edition, not from where it stands.
    added = {path.relative_to(EDITION).as_posix().removesuffix(".in"): path for path in EDITION.rglob("*") if path.is_file()}
    sources = {name: root / name for name in names} | added
    present = {os.path.normpath(parent) for name in sources for parent in [name, *pathlib.PurePosixPath(name).parents]}
    labs = sorted(path.name for path in (root / "labs").iterdir() if (path / "lab.hpp").is_file())
    for name, source in sources.items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            text = without_instructors_parts(source.read_text(encoding="utf-8")).replace("@LABS@", labs_table(root, labs))
            text = without_telling_quotes(text, wanted)
            target.write_text(without_dead_links(text, pathlib.PurePosixPath(name), present), encoding="utf-8")
            shutil.copymode(source, target)
        else:
            shutil.copy(source, target)
    for lab in labs:
        start_afresh(root, out, lab)


def start_afresh(root, out, lab):
    """The students' file as it is generated: an instructor may have worked in the checkout's."""
    solution, skeleton = root / f"solutions/{lab}/{lab}.cu", out / f"labs/{lab}/{lab}.cu"
    if solution.is_file():
        subprocess.run([sys.executable, root / "common/tools/make_skeleton.py", solution, skeleton], check=True)


def make_repository(out):
    def do(*arguments):
        subprocess.run(["git", "-C", out, *arguments], check=True, stdout=subprocess.DEVNULL)

    do("init", "--quiet", "--initial-branch=main")
    do("add", "--all")
    who = [] if git(out, "config", "user.email") else ["-c", "user.name=GPU labs", "-c", "user.email=course@localhost"]
    do(*who, "commit", "--quiet", "--message", "GPU labs: student edition")


def main():
    parser = argparse.ArgumentParser(
        prog="./lab release", description="Writes the student edition: no solutions, no wrong or hostile submissions, its own README."
    )
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("dir", metavar="DIR", type=pathlib.Path, help="a folder that does not exist yet, or is empty")
    parser.add_argument("--no-git", action="store_true", help="a plain folder, no repository")
    arguments = parser.parse_args()
    root, out = arguments.root.resolve(), arguments.dir.resolve()
    if not (root / "solutions").is_dir():
        refuse("this is a student edition already: there are no solutions to leave out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        refuse(f"{out} is not empty: name a folder that does not exist yet")
    if root == out or root in out.parents and git(root, "check-ignore", out) is None:
        refuse(f"{out} lies inside of the course: name a folder elsewhere")
    if not arguments.no_git and not shutil.which("git"):
        refuse("git is missing: install it, or take --no-git")
    existed = out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        wanted = leaks.secrets(root)
        write_edition(root, out, wanted)
    except OSError as error:
        refuse(f"{error.filename or out} can't be written: {error.strerror}")
    found = leaks.find(wanted, out)
    if found:
        shutil.rmtree(out)
        if existed:
            out.mkdir()
        refuse("the edition would show lines of the solutions; nothing was written:\n  " + "\n  ".join(found[:20]))
    if not arguments.no_git:
        make_repository(out)
    print(f"The student edition is in {out}. Try it: cd {out} && ./lab grade")


if __name__ == "__main__":
    main()
