# SPDX-License-Identifier: MIT
"""The student edition: a list of the course's folders, copied as they are.

What only instructors may see stands in the folders and pages of LEFT_OUT. Three things are added: what stands
in edition/, such as the edition's own README; the students' files, which are made from the solutions; and a
lab that is solved (DEMO), made from the template of a new lab.
"""

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "common/tools/authoring"))
from check_course import labs_of_root
from make_skeleton import skeleton

# Folders, and files at the top.
TAKEN = """.clang-format .clangd .devcontainer .editorconfig .gitignore .vscode LICENSE common grader handouts labs lab
meson.build meson_options.txt""".split()
# What stays behind of them: answers, and what gives them away, such as kernels that solve tasks;
ANSWERS = """common/harness/template common/simulator/sim/calibration/foreign grader/hostile grader/mutants
handouts/instructor handouts/site_front.md""".split()
# what only instructors need;
INSTRUCTORS = """common/tools/authoring common/tools/site grader/batch/README.md grader/desk grader/gradescope
grader/play grader/release handouts/scripts""".split()
# the project's own tests and development (also every *_test.* but those of the labs).
TESTS = """common/harness/debugging/programs common/harness/fuzz common/harness/remote/testing
common/simulator/cudart/cub common/simulator/cudart/programs common/simulator/cudart/testing
common/simulator/debug/programs common/simulator/nccl/programs common/simulator/ptx/testdata
common/simulator/ptx/testing common/simulator/sim/testing common/tools/checks common/tools/testing
grader/batch/testing grader/page/browser grader/testing""".split()
LEFT_OUT = ANSWERS + INSTRUCTORS + TESTS
# Of the kernels that test the checkers, those that pages show; others solve tasks.
KERNELS, SHOWN = "common/simulator/sim/checkers/kernels/", ("errata.cu", "memory_model.cu", ".cuh")
TEMPLATE = HERE.parents[1] / "common/harness/template"  # of a new lab
DEMO = "demo"  # a lab that is solved: the template, with these words
WORDS = {"LAB_ID": DEMO, "LAB_TITLE": "Demonstration", "LAB_HANDOUT": "00-ideas.md"}
WORDS["author, year: the source that a reader should know"] = (
    "the course: a lab that is solved, to try commands on"
)
WORDS["Metric::launches, 1,"] = "Metric::bytes_ratio, 1.05,"  # which the slow one of its tasks misses
WORDS |= {'.section = "serial"': '.section = "coalescing"', '.section = "shared"': '.section = "barriers"'}

Files = dict[str, tuple[bytes, bool]]  # {path: (content, whether it is a program)}


def refuse(text: str) -> None:
    sys.exit(f"lab: {text}")


def labs_named(root: pathlib.Path, named: list[str]) -> list[str]:
    """These labs, in the course's order."""
    known = labs_of_root(root)
    for lab in named:
        if lab not in known:
            refuse(f'there is no lab "{lab}"; there are {", ".join(known)}')
    return [lab for lab in known if lab in named]


def files_of(root: pathlib.Path) -> list[str]:
    """What git would commit."""
    command: list = ["git", "-C", root, "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True)
    if listed.returncode != 0:
        refuse(f"what belongs to the course is not known: {listed.stderr.strip()}")
    return [name for name in listed.stdout.splitlines() if (root / name).is_file()]


def is_in(name: str, places: Iterable[str]) -> bool:
    return any(name == place or name.startswith(place + "/") for place in places)


def is_released(name: str) -> bool:
    of_tests = "_test." in name and not name.startswith("labs/")
    of_tests |= name.startswith(KERNELS) and not name.endswith(SHOWN)
    return is_in(name, TAKEN) and not is_in(name, LEFT_OUT) and not of_tests


def read(path: pathlib.Path) -> tuple[bytes, bool]:
    return path.read_bytes(), path.stat().st_mode & 0o100 != 0


def course_files(root: pathlib.Path, labs: list[str]) -> Files:
    """What students get of the course: all pages, with their pictures, and the folders of these labs. The
    students' files are made anew, because an instructor may have worked in the checkout's."""
    later = [f"labs/{lab}" for lab in labs_of_root(root) if lab not in labs]
    names = [name for name in files_of(root) if is_released(name)]
    files = {name: read(root / name) for name in names if not is_in(name, later) or name.endswith(".png")}
    for lab in labs:
        solution = root / f"solutions/{lab}/{lab}.cu"
        if solution.is_file():
            files[f"labs/{lab}/{lab}.cu"] = skeleton(solution.read_text(encoding="utf-8")).encode(), False
    return files


def edition_files(root: pathlib.Path, labs: list[str]) -> Files:
    files = course_files(root, labs)
    own = HERE / "edition"
    for path in own.rglob("*"):
        if path.is_file():  # ".in": its links lead somewhere in the edition, not from where it stands
            files[path.relative_to(own).as_posix().removesuffix(".in")] = read(path)
    for path in [*TEMPLATE.glob("lab/*"), TEMPLATE / "solution/LAB_ID.cu"]:
        text = re.sub(r"^ *//@.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
        text = re.sub("|".join(map(re.escape, WORDS)), lambda m: WORDS[m[0]], text)
        files[f"labs/{DEMO}/{path.name.replace('LAB_ID', DEMO)}"] = text.encode(), False
    return files


def write(files: Files, out: pathlib.Path) -> None:
    """Files that are equal stay as they are."""
    for name, (content, executable) in files.items():
        path = out / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        path.chmod(0o755 if executable else 0o644)
