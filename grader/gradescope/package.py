#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab gradescope: packs an autograder for Gradescope: upload OUT.zip under "Configure Autograder".

usage: ./lab gradescope OUT.zip [LAB…] [--minutes N] [--isolation LEVEL]

The archive holds Gradescope's two programs (files/setup.sh, files/run_autograder with grade_submission.py),
the labs to grade (all when none is named), the minutes, the isolation and, in course/, what grading needs of
this checkout as it is now: with your points and cases, and without solutions, which grading does not need and
nobody can then take from the container.
"""

import argparse
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "release"))
from edition import course_files, is_in, labs_named, labs_of_root, refuse

# Besides what the student edition leaves out.
LEFT_OUT = ["handouts/results", ".devcontainer", ".vscode"]
DATE = (2020, 1, 1, 0, 0, 0)  # the same content gives the same archive


def add(archive: zipfile.ZipFile, name: str, data: bytes | str, executable: bool) -> None:
    info = zipfile.ZipInfo(name, DATE)
    info.external_attr = (0o100755 if executable else 0o100644) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def pack(root, out, labs, minutes, isolation):
    files = {
        name: file
        for name, file in course_files(root, labs_of_root(root)).items()
        if not is_in(name, LEFT_OUT)
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name in ["setup.sh", "run_autograder", "grade_submission.py"]:
            add(archive, name, (HERE / "files" / name).read_bytes(), True)
        texts = {"labs": "\n".join(labs), "minutes": f"{minutes:g}", "isolation": isolation}
        for name, text in texts.items():
            add(archive, f"{name}.txt", text + "\n", False)
        for name, (data, executable) in sorted(files.items()):
            add(archive, "course/" + name, data, executable)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="./lab gradescope", description="Packs an autograder for Gradescope."
    )
    parser.add_argument("root", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("out", metavar="OUT.zip", type=pathlib.Path)
    parser.add_argument("labs", metavar="LAB", nargs="*", help="labs to grade; all when none is named")
    parser.add_argument(
        "--minutes",
        type=float,
        default=9,
        help="stop grading after so long, without a score: less than the limit that is set "
        "on Gradescope, at which it gives 0 points (default: 9, for its 10)",
    )
    parser.add_argument(
        "--isolation",
        choices=["none", "limits", "namespaces", "full"],
        default="limits",
        help="grade only with this isolation or a higher one (default: limits, which "
        "Gradescope's containers offer)",
    )
    arguments = parser.parse_args()
    if not 0.1 <= arguments.minutes <= 600:
        refuse("--minutes takes 0.1 to 600")
    labs = labs_named(arguments.root, arguments.labs) or labs_of_root(arguments.root)
    if arguments.out.suffix != ".zip":
        refuse(f"{arguments.out} should end in .zip")
    beside = arguments.out.with_name(arguments.out.name + ".tmp")
    try:
        pack(arguments.root.resolve(), beside, labs, arguments.minutes, arguments.isolation)
        beside.replace(arguments.out)
    except OSError as error:
        beside.unlink(missing_ok=True)
        refuse(f"{arguments.out} can't be written: {error.strerror}")
    print(f"{arguments.out}: {arguments.out.stat().st_size // 1024} KiB, grades {', '.join(labs)}")


if __name__ == "__main__":
    main()
