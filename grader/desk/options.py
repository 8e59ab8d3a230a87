# SPDX-License-Identifier: MIT
"""What ./lab class takes. Needs nothing but Python: completion of the shell reads it, too
(common/tools/completion.py)."""

import argparse
import math
import pathlib

EPILOG = """
CLASS is the folder that ./lab grade-all wrote (its --out).

Examples:
  ./lab class new term.graded --roster canvas.csv
      writes term.graded/class.toml: fill in due dates there
  ./lab class grades term.graded
      final grades, in seconds; who moved since the last time, and why
  ./lab class show term.graded --html class.html
      how the class is doing, also while it is being graded
  ./lab class export term.graded --moodle grades.csv
  ./lab class feedback term.graded --out feedback
      a folder for each student, and what to send to whom
  ./lab class student term.graded s001
      one student's term
  ./lab class request term.graded --student s001 --lab scan \\
    --by "Ada Lovelace" --say "Task 2 is right on my GPU"
  ./lab class request term.graded 1 --say "Yes, on every GPU" --points 85
  ./lab class sheet term.graded scan --out scan.csv
      for points that a person gives
  ./lab class sources term.graded --out sources
      one folder for each student: for Dolos or JPlag
"""


def points(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of points")
    return value


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

    def file(
        sub: argparse.ArgumentParser, option: str, about: str | None = None, metavar="FILE", **how
    ) -> None:
        sub.add_argument(option, metavar=metavar, type=pathlib.Path, help=about, **how)

    new = command("new", "Start a class.toml")
    rosters = "tables of Canvas, Moodle, Gradescope, or plain ones"
    file(new, "--roster", rosters, nargs="+", default=[])
    made = command("grades", "Final grades from stored results; who moved, and why")
    made.add_argument("--dry-run", action="store_true", help="say who would move, and write nothing")
    export = command("export", "Tables that platforms import")
    file(export, "--canvas")
    file(export, "--canvas-from", "Canvas's exported gradebook, whose rows --canvas fills in")
    for name in ("moodle", "gradescope", "csv"):
        file(export, f"--{name}")
    made = command("feedback", "A folder for each student, and what to send to whom")
    file(made, "--out", "default: CLASS/feedback", "FOLDER")
    show = command("show", "How the class is doing")
    file(show, "--html", "as a page")
    one = command("student", "All about one student, over the whole term")
    one.add_argument("student", metavar="STUDENT", help="id, e-mail address or name")
    file(one, "--html", "as a page")
    request = command("request", "Requests for a regrade: lists them, adds one, answers one")
    request.add_argument("number", metavar="NUMBER", type=int, nargs="?", help="of a request")
    request.add_argument("--all", action="store_true", help="list closed ones, too")
    request.add_argument("--student", metavar="ID", help="whose request it is")
    request.add_argument("--lab", metavar="LAB")
    request.add_argument("--say", metavar="TEXT", help="the reason, or an answer")
    request.add_argument(
        "--by", metavar="NAME", default="instructor", help="who says it (default: instructor)"
    )
    request.add_argument("--points", metavar="N", type=points, help="the lab is worth these now; closes it")
    request.add_argument("--close", action="store_true", help="the grade stays as it is")
    sheet = command("sheet", "A table for the points that a person gives")
    sheet.add_argument("lab", metavar="LAB")
    file(sheet, "--out", required=True)
    sources = command("sources", "Everybody's last submission, one folder for each lab and student")
    file(sources, "--out", None, "FOLDER", required=True)
    return parser
