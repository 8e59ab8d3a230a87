# SPDX-License-Identifier: MIT
"""Final grades as the tables that platforms import. Points and bonus have columns of their own, unless
class.toml adds the bonus to the points; who has no grade yet, whose lab is not due yet, or who is excused has
an empty cell (in Canvas EX), never a 0.

    canvas(term, template)      `template`: Canvas's own gradebook, exported; its rows and columns of identity stay as they are
    moodle(term)                to be matched by e-mail address or ID number
    gradescope(term)            Gradescope's columns
    plain(term)                 final.csv
"""

import csv
import io
import pathlib

from gradebook import cell
from grades import Term, csv_text, table, total
from roster import NOBODY, students_of, table_of
from settings import Problem

CANVAS = ("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"  # Canvas's word


def columns(term: Term) -> list[tuple[str, str]]:
    """Of each lab: the column's name on the platform, and that of its bonus ("": the bonus is part of the
    points)."""
    names = [term.settings.lab(lab).column for lab in term.labs]
    return [(name, f"{name} bonus" if term.settings.bonus == "separate" else "") for name in names]


def heads_of(term: Term) -> list[str]:
    return [name for pair in columns(term) for name in pair if name]


def points_of(term: Term, student) -> list:
    return [
        value
        for one, (_, bonus) in zip(term.of(student), columns(term))
        for value in ((one.points, one.bonus) if bonus else (one.points,))
    ]


def canvas(term: Term, template: pathlib.Path) -> str:
    """A column for each lab, and one for its bonus where class.toml says its name (bonus_column): of a
    column that it does not know, Canvas makes an assignment. In the template, names stand in one column,
    or in two."""
    delimiter, rows = table_of(template)
    heads = [head.strip() for head in rows[0]]
    if not {"ID", "Section"} <= set(heads) or not (
        "Student" in heads or {"LastName", "FirstName"} <= set(heads)
    ):
        raise Problem(
            f"{template} is not Canvas's gradebook: export it in Canvas (Grades, Export), then name that file with --canvas-from."
        )
    kept = [heads.index(name) for name in CANVAS if name in heads]
    labs = [term.settings.lab(lab) for lab in term.labs]
    out = [
        [heads[at] for at in kept] + [name for lab in labs for name in (lab.column, lab.bonus_column) if name]
    ]
    by_key = {key: term.roster.by_id(key) for one in students_of(template) for key in one.keys}
    for row in rows[1:]:
        row += [""] * (len(heads) - len(row))
        about = [row[at] for at in kept]
        if any(cell.strip().casefold() == NOBODY[0] for cell in about):
            maxima = [
                max(
                    (final.max_points or 0 for (_, lab), final in term.finals.items() if lab == wanted),
                    default=0,
                )
                for wanted in term.labs
            ]
            out.append(
                about
                + [
                    value
                    for most, lab in zip(maxima, labs)
                    for value in (most or 100, *([0] if lab.bonus_column else []))
                ]
            )
            continue
        student = next((found for value in about if (found := by_key.get(value.strip().casefold()))), None)
        if student:
            cells = [
                (EXCUSED, EXCUSED) if one.status == "excused" else (one.points, one.bonus)
                for one in term.of(student)
            ]
            out.append(
                about
                + [
                    value
                    for cell_pair, lab in zip(cells, labs)
                    for value in cell_pair[: 1 + bool(lab.bonus_column)]
                ]
            )
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([[cell(value) for value in row] for row in out])
    return text.getvalue()


def moodle(term: Term) -> str:
    heads = ["ID number", "Full name", "Email address", *heads_of(term)]
    return csv_text(
        [heads]
        + [[one.id, one.name, one.email, *points_of(term, one)] for one in term.roster.students.values()]
    )


def gradescope(term: Term) -> str:
    heads = ["First Name", "Last Name", "SID", "Email", "Section", *heads_of(term), "Total", "Total bonus"]
    rows = [heads]
    for one in term.roster.students.values():
        rows.append(
            [one.first, one.last, one.id, one.email, one.section, *points_of(term, one), *total(term.of(one))]
        )
    return csv_text(rows)


def plain(term: Term) -> str:
    return csv_text(table(term))
