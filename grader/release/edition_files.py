# SPDX-License-Identifier: MIT
"""Which files of the course are in a student edition."""

import fnmatch
import pathlib
import shutil
import subprocess

# What an edition may hold: patterns of paths ("*" also stands for "/"). Folders in which everything is for
# students are named as a whole; of all others each file is named, so a new one stays behind.
ALLOWED = [
    ".clang-format",
    ".clangd",
    ".devcontainer/*",
    ".editorconfig",
    ".gitignore",
    ".vscode/*",
    "LICENSE",
    "lab",
    "meson.build",
    "meson_options.txt",
    "common/harness/debugging/debug.py",
    "common/simulator/cudart/abi/*",
    "common/simulator/cusan",
    "common/simulator/debug/*.py",
    "common/simulator/sim/calibration/*",
    "common/simulator/sim/conformance/functions/h100.tsv",
    "common/tools/cache/ccache",
    "common/tools/setup/requirements*.txt",
    "common/tools/vscode/*",
    "grader/page/embed.py",
    "handouts/figures/*.svg",
    "handouts/results/*",
    "labs/sat/app/images/*",
    "handouts/*.md",
]
ALLOWED += [
    f"{room}/*.{kind}" for room in ("common", "grader", "labs") for kind in ("cpp", "hpp", "h", "cu", "cuh")
]
ALLOWED += [
    f"{room}/*{kind}" for room in ("common", "grader", "labs", "handouts") for kind in ("meson.build", ".md")
]
ALLOWED += [
    "handouts/library/*",
    "common/*.inc",
    "grader/*.in",
    "labs/*.in",
    "grader/page/*.css",
    "grader/page/*.js",
]
SCRIPTS = """compile_program.sh completion.py hint.py run_tests.py sanitize.sh waiting.py watch.py watch_page.py
setup/doctor.sh setup/host_isa.sh setup/prebuilt.sh setup/probe.sh setup/setup.sh setup/step.sh setup/toolkit.sh"""
ALLOWED += [f"common/tools/{name}" for name in SCRIPTS.split()]
ALLOWED += [
    f"grader/batch/{name}.py" for name in ("submit", "ingest", "names", "source_text", "unpack")
]  # ./lab submit
# Of these, what stays behind; KEPT are exceptions.
LEFT_OUT = [
    # answers, and what gives them away
    "grader/mutants/*",
    "grader/hostile/*",
    "handouts/site_front.md",
    "handouts/top-rungs.md",
    "common/harness/template/*",
    # what only instructors need
    "grader/batch/README.md",
    "grader/release/*",
    "grader/gradescope/*",
    "grader/desk/*",
    "grader/play/*",
    "handouts/instructor-guide.md",
    "handouts/instructor/*",
    "handouts/scripts/*",
    "common/tools/site/*",
    "grader/page/browser/*",
    # the project's own tests and development
    "*_test.*",
    "grader/testing/*",
    "common/simulator/sim/testing/*",
    "common/simulator/ptx/testing/*",
    "common/simulator/cudart/testing/*",
    "common/simulator/sim/checkers/kernels/*",
    "common/simulator/cudart/programs/*",
    "common/simulator/cudart/cub/*",
    "common/simulator/nccl/programs/*",
    "common/simulator/nccl/abi_values.cpp",
    "common/harness/remote/testing/*",
    "common/harness/debugging/programs/*",
    "common/simulator/debug/programs/*",
    "common/simulator/ptx/testdata/*",
    "common/harness/fuzz/*",
    "*/fuzz_*",
]
KEPT = ["labs/*/*_test.cpp"]
KEPT += [
    f"common/simulator/sim/checkers/kernels/{name}"
    for name in ["errata.cu", "memory_model.cu", "kernels.cuh", "program.cuh"]
]  # to be run with ./lab sanitize


def matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def git(root: pathlib.Path, *arguments: str | pathlib.Path) -> str | None:
    """What git prints; None where it fails or there is none."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def files_of(root: pathlib.Path) -> list[str]:
    """What git would commit; of a copy without history, everything that is no product."""
    if listed := git(root, "ls-files", "-co", "--exclude-standard"):
        return [name for name in listed.splitlines() if (root / name).is_file()]
    skipped = {".git", ".venv", ".deps", "__pycache__"}
    return [
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file()
        and not any(p in skipped or p.startswith("build") for p in path.relative_to(root).parts[:-1])
    ]


def is_released(name: str) -> bool:
    return matches(name, ALLOWED) and (not matches(name, LEFT_OUT) or matches(name, KEPT))


def released_files(root: pathlib.Path) -> list[str]:
    return [name for name in files_of(root) if is_released(name)]
