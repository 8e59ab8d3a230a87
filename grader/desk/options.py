# SPDX-License-Identifier: MIT
"""What ./lab class takes. Needs nothing but Python: completion of the shell reads it, too
(common/tools/completion.py)."""

import argparse
import pathlib

EPILOG = """
CLASS is the folder that ./lab grade-all wrote (its --out).

Examples:
  ./lab class new term.graded --roster canvas.csv   writes term.graded/class.toml: fill in due dates there
  ./lab class grades term.graded                    final grades, in seconds; who moved since the last time, and why
  ./lab class show term.graded --html class.html    how the class is doing, also while it is being graded
  ./lab class export term.graded --moodle grades.csv
  ./lab class feedback term.graded --out feedback   a folder for each student, and what to send to whom
  ./lab class sources term.graded --out sources     one folder for each student: for JPlag, MOSS, compare50
"""


def parser_of() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./lab class",
        description="Final grades, tables for platforms, feedback, and how the class is doing.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=about, description=about)
        sub.add_argument("folder", metavar="CLASS", type=pathlib.Path)
        return sub

    new = command("new", "Start a class.toml")
    new.add_argument(
        "--roster",
        nargs="+",
        metavar="FILE",
        type=pathlib.Path,
        default=[],
        help="tables of Canvas, Moodle, Gradescope, or plain ones",
    )
    command("grades", "Final grades from stored results; who moved, and why")
    export = command("export", "Tables that platforms import")
    export.add_argument("--canvas", metavar="FILE", type=pathlib.Path)
    export.add_argument(
        "--canvas-from",
        metavar="FILE",
        type=pathlib.Path,
        help="Canvas's exported gradebook, whose rows --canvas fills in",
    )
    for name in ("moodle", "gradescope", "csv"):
        export.add_argument(f"--{name}", metavar="FILE", type=pathlib.Path)
    made = command("feedback", "A folder for each student, and what to send to whom")
    made.add_argument("--out", metavar="FOLDER", type=pathlib.Path, help="default: CLASS/feedback")
    show = command("show", "How the class is doing")
    show.add_argument("--html", metavar="FILE", type=pathlib.Path, help="as a page")
    show.add_argument(
        "--similarity",
        metavar="FILE",
        type=pathlib.Path,
        help="show the pairs that grade-all --similarity has found",
    )
    sources = command("sources", "Everybody's last submission, one folder for each lab and student")
    sources.add_argument("--out", metavar="FOLDER", type=pathlib.Path, required=True)
    return parser
