# SPDX-License-Identifier: MIT
# What ./lab grade-all takes; --help ends with this text:
"""
A submission is a folder, a git repository, a .zip, a .tar.gz or a .cu file
with its student's name, as Moodle, Canvas and Gradescope export them. Run the
same command again after a stop, a crash, a full disk or new submissions: only
what is new, changed or was the machine's fault is graded. Exit code 0:
everybody has a grade; 1: somebody has none (see the list), or it could not run.

Examples:
  ./lab grade-all submissions/
  ./lab grade-all submissions/ --labs reduction scan
  ./lab grade-all repositories/ --labs scan --ref main --out term.graded
  ./lab grade-all submissions/ --slurm --device gpu \\
    --slurm-time='--partition=gpu --gres=gpu:1 --exclusive'
"""

import argparse
import os
from collections.abc import Callable

LEVELS = ["none", "limits", "namespaces", "full"]


def seed_of(text: str) -> str:
    try:
        return hex(int.from_bytes(int(text, 0).to_bytes(8, "little"), "little"))
    except (ValueError, OverflowError):
        wanted = "give a number of up to 64 bits, 12345 or 0x1b2c"
        raise argparse.ArgumentTypeError(f'"{text}" is not a seed: {wanted}.') from None


def choose_what(add: Callable) -> None:
    add("folder", metavar="DIR", help="the submissions")
    add("--out", metavar="FOLDER", help="where grades go; default: DIR.graded beside DIR")
    some: dict = {"nargs": "+", "default": []}
    add("--labs", metavar="LAB", help="only these; default: all that somebody handed in", **some)
    ref = "branch or tag of repositories; of a branch the newest commit before the deadline"
    add("--ref", default="", help=ref)
    times = "the times of submission are right (files), or nothing is known of them (none)"
    add("--times", choices=["files", "none"], help=times)
    add("--task", help="only this task; such grades are partial")
    add("--device", choices=["sim", "gpu"], help="where kernels run; default: sim")
    add("--seed", type=seed_of, help="of the class; fresh and secret when not given")


def choose_how(add: Callable) -> None:
    jobs = "submissions at a time on this machine (default: its cores)"
    add("--jobs", type=int, default=os.cpu_count() or 2, help=jobs)
    nodes = "let Slurm's nodes do it; all see this checkout, its build folder and --out"
    add("--slurm", action="store_true", help=nodes)
    compiling = "of sbatch, for compiling: --partition=cpu --cpus-per-task=1"
    add("--slurm-compile", default="", metavar="OPTIONS", help=compiling)
    running = "of sbatch, for running; default with --device gpu: --gres=gpu:1 --exclusive"
    add("--slurm-time", metavar="OPTIONS", help=running)
    add("--minutes", type=float, default=30, help="that one submission may take (default: 30)")
    add("--isolation", choices=LEVELS, default="full", help="that is needed (default: full)")


def arguments(argv: list[str]) -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    about = "Grades a whole class."
    parser = argparse.ArgumentParser("./lab grade-all", None, about, __doc__, formatter_class=form)
    for choose in (choose_what, choose_how):
        choose(parser.add_argument)
    options = parser.parse_args(argv)
    if not 1 <= options.jobs <= 1024:
        parser.error("--jobs takes 1 to 1024")
    return options
