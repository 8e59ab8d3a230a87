# SPDX-License-Identifier: MIT
"""What ./lab class takes."""

import argparse
import pathlib

EPILOG = """
CLASS is the folder that ./lab grade-all wrote (its --out).

Examples:
  ./lab class new term.graded --roster canvas.csv
      writes term.graded/class.toml: fill in due dates there
  ./lab class grades term.graded
      final grades, in seconds; who moved since the last time
  ./lab class show term.graded
      how the class is doing, also while it is being graded
  ./lab class export term.graded --moodle grades.csv
  ./lab class export term.graded --canvas to.csv --canvas-from canvas.csv
  ./lab class feedback term.graded --out feedback
      a folder for each student, and what to send to whom
"""


def parser_of() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./lab class",
        description="Final grades, tables for platforms, feedback, and how the class is doing.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str, **files: str) -> argparse.ArgumentParser:
        """`files`: the options that take a file or a folder."""
        sub = commands.add_parser(name, help=about, description=about)
        sub.add_argument("folder", metavar="CLASS", type=pathlib.Path)
        for option, text in files.items():
            sub.add_argument(f"--{option.replace('_', '-')}", metavar="FILE", type=pathlib.Path, help=text)
        return sub

    new = command("new", "Start a class.toml")
    rosters = "tables of Canvas, Moodle, Gradescope, or plain ones"
    new.add_argument("--roster", metavar="FILE", type=pathlib.Path, nargs="+", default=[], help=rosters)
    graded = command("grades", "Final grades from stored results; who moved")
    graded.add_argument("--dry-run", action="store_true", help="say who would move, and write nothing")
    export = command(
        "export",
        "Tables that platforms import",
        canvas="for Canvas; needs --canvas-from",
        canvas_from="Canvas's exported gradebook, whose rows --canvas fills in",
        moodle="for Moodle",
        gradescope="with Gradescope's columns",
        csv="final.csv",
    )
    feedback = command(
        "feedback", "A folder for each student, and what to send to whom", out="default: CLASS/feedback"
    )
    for sub in (graded, export, feedback):
        sub.add_argument(
            "--partial", action="store_true", help="also of a class of one task (grade-all --task)"
        )
    command("show", "How the class is doing")
    return parser
