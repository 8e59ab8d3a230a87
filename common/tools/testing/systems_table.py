#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What try_fresh.sh has just run in TREE, as a row of the table in README.md of this folder.

usage: systems_table.py TREE COURSE --suite NAME […]
"""

import argparse
import datetime
import pathlib
import re
import subprocess

NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid"}


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"


def score(output: str) -> str:
    """The points in the last line of a score table, without those for bonus tasks."""
    found = re.findall(r"^ +\S+ +(\d+/\d+)", "\n".join(output.splitlines()[-12:]), re.MULTILINE)
    return found[-1] if found else "FAILED"


def describe(options: argparse.Namespace) -> None:
    tree, course = pathlib.Path(options.tree), pathlib.Path(options.tree + options.course)

    def there(*command: str) -> str:
        done = subprocess.run(["chroot", tree, *command], capture_output=True, text=True, check=False)
        return (done.stdout.strip().splitlines() or ["none"])[-1]

    def settings(path: pathlib.Path) -> str:
        return path.read_text(encoding="utf-8") if path.exists() else ""

    output = settings(tree / "output-0")
    native = settings(course / "build/lab-native.ini")
    prebuilt = settings(course / "build/prebuilt/toolchain.txt")  # with tools of the edition
    stamp = settings(course / ("build/prebuilt/.lab-stamp" if prebuilt else "build/.lab-stamp"))
    cuda = re.search(r"^STAMP_CUDA=(.*)$", stamp, re.MULTILINE)
    cxx = re.search(r"'-ccbin', '(.*?)'|^cxx (.*)$", prebuilt or native, re.MULTILINE)
    clang = (
        f"clang {there(options.cxx, '-dumpversion')} and " if cxx and "clang" in (options.cxx or "") else ""
    )
    if options.refused:
        result = "refused" if options.refused in output else "NOT REFUSED"
    else:
        result = score(output)

    def cpu_time(number: int) -> str:
        used = settings(tree / f"cpu-{number}")
        return (
            minutes(sum(map(float, used.split()))) + (" (compiler cache)" if options.cached else "")
            if used
            else "-"
        )

    at = options.course + ("" if options.course == "/course" else " ")
    row = {
        "system": NAMES[options.suite]
        + (", without root" if options.user else "")
        + (f", in `{at.strip()}`" if at.endswith(" ") else ""),
        "machine": there("uname", "-m"),
        "g++": clang + there(cxx[1] or cxx[2], "-dumpfullversion")
        if cxx
        else (options.cxx or "").removeprefix("g++-") or there("g++", "-dumpfullversion"),
        "CUDA": cuda[1] if cuda else options.cuda or "none",
        "Meson": "none: prebuilt tools"
        if prebuilt
        else there(options.course + "/.venv/bin/meson", "--version"),
        "Python": there("python3", "-c", "import platform; print(platform.python_version())"),
        "first command": result,
        "its CPU time": cpu_time(0),
        "second command": (settings(tree / "output-1").splitlines() or ["-"])[-1],
        "CPU time of that": cpu_time(1),
        "date": str(datetime.date.today()),
    }
    print("|", " | ".join(row.values()), "|")
    logs = "".join(settings(course / f"build/{name}") for name in ["lab-setup.log", "lab-build.log"])
    warnings = sorted(set(re.findall(r"^.*warning[:#].*$", logs, re.MULTILINE)))
    print(f"{len(warnings)} warnings", *warnings[:20], sep="\n  ")
    for folder in ["build", ".venv", ".deps"]:
        if (course / folder).exists():
            print(
                f"{folder}:",
                subprocess.run(
                    ["du", "-sh", course / folder], capture_output=True, text=True, check=True
                ).stdout.split()[0],
            )
    archives = sum(path.stat().st_size for path in (tree / "var/cache/apt/archives").glob("*.deb"))
    print(f"downloaded: {archives / 1e6:.0f} MB of packages, beside the wheels")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ["tree", "course"]:
        parser.add_argument(name)
    parser.add_argument("--suite", required=True, choices=NAMES)
    for name in ["--cxx", "--cuda", "--meson", "--refused"]:
        parser.add_argument(name)
    for name in ["--cached", "--user"]:
        parser.add_argument(name, action="store_true")
    describe(parser.parse_args())


if __name__ == "__main__":
    main()
