# SPDX-License-Identifier: MIT
"""Points that a person gives: for written answers, a talk or style. class.toml says what a lab's parts are
worth ([labs.LAB.manual]) and which tables have the points; `./lab class sheet` writes a table to fill in.

    points = read(settings, roster)     {(student's id, lab): {part: points}}, {…: [comments]}, warnings
"""

import pathlib
import re

from roster import Roster, Student, rows_of
from settings import NO_PART, Problem, Settings, meant

RUBRIC = pathlib.Path(__file__).resolve().parents[2] / "handouts/instructor/rubric.md"


def sheet(settings: Settings, students: list[Student], lab: str) -> list[list]:
    """The table to fill in: an empty cell is not graded yet."""
    if not (parts := settings.lab(lab).manual):
        raise Problem(
            f"{lab} has no parts that a person grades: name them in class.toml, as in "
            f"[labs.{lab}.manual] and below it predictions = 18"
        )
    return [
        ["student", "name", "lab", *parts, "comment"],
        *(
            [one.id, one.name, lab, *[""] * len(parts), ""]
            for one in sorted(students, key=lambda one: one.id)
        ),
    ]


def criteria(parts: dict[str, float]) -> str:
    """What a lab's parts are worth, and the sections of the rubric whose headings have their names; without
    any, the whole rubric."""
    worth = "\n".join(f"- {part}: 0 to {most:g} points" for part, most in parts.items())
    rubric = RUBRIC.read_text(encoding="utf-8")
    sections = re.split(r"^(?=## )", rubric, flags=re.M)[1:]
    stems = [part.casefold().rstrip("s") for part in parts]
    about = [one for one in sections if any(stem in one.partition("\n")[0].casefold() for stem in stems)]
    return f"{worth}\n\n{''.join(about) or rubric}"


def read(
    settings: Settings, roster: Roster
) -> tuple[dict[tuple[str, str], dict[str, float]], dict[tuple[str, str], list[str]], list[str]]:
    points: dict[tuple[str, str], dict[str, float]] = {}
    comments: dict[tuple[str, str], list[str]] = {}
    warnings = []
    for path in settings.manual:
        for row in rows_of(path):
            lab, who = row.get("lab", ""), row.get("student", "")
            student = roster.by_id(who)
            if not (parts := {part.casefold(): part for part in settings.lab(lab).manual}):
                raise Problem(f'{path}: [labs.{lab}.manual] is not in class.toml, and the table has "{lab}".')
            if student is None:
                warnings.append(f"{path}: {who} is not in the roster.")
                continue
            key = student.id, lab
            for head, cell in row.items():
                if head not in (*parts, *NO_PART):
                    others = [part.casefold() for one in settings.labs.values() for part in one.manual]
                    if head in others and not cell:
                        continue  # another lab's part
                    raise Problem(f'{path}: the column "{head}" is not a part of {lab}. {meant(head, parts)}')
                if head in parts and cell:
                    part = parts[head]
                    value = number(path, who, part, cell, settings.lab(lab).manual[part])
                    if points.setdefault(key, {}).setdefault(part, value) != value:
                        raise Problem(f"{path}: {who} has two different numbers of points for {lab}, {part}.")
            if row.get("comment"):
                comments.setdefault(key, []).append(row["comment"])
    return points, comments, warnings


def number(path: pathlib.Path, who: str, part: str, cell: str, most: float) -> float:
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        raise Problem(f'{path}: {who}, {part}: "{cell}" is not a number.') from None
    if not 0 <= value <= most:
        raise Problem(f"{path}: {who}, {part}: {cell} is not from 0 to {most:g}.")
    return value
