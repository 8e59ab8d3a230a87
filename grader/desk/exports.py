# SPDX-License-Identifier: MIT
"""Final grades as the tables that platforms import. Points and bonus have columns of their own, unless
class.toml adds the bonus to the points; who has no grade yet, whose lab is not due yet, or who is excused has
an empty cell (in Canvas EX), never a 0.

    canvas(term, template)      `template`: Canvas's own gradebook, exported; its rows and columns of identity stay
    moodle(term)                to be matched by e-mail address or ID number
    gradescope(term)            Gradescope's columns
    plain(term)                 final.csv
"""

import pathlib
from collections.abc import Iterable

from gradebook import csv_text
from grades import Term, table, total
from roster import NOBODY, Student, students_of, table_of
from settings import Problem

CANVAS = ("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"  # Canvas's word


def columns(term: Term) -> list[tuple[str, str]]:
    """Of each lab: the column's name on the platform, and that of its bonus ("": the bonus is part of the
    points)."""
    names = [term.settings.lab(lab).column + term.partial[lab] for lab in term.labs]
    return [(name, f"{name} bonus" if term.settings.bonus == "separate" else "") for name in names]


def heads_of(term: Term) -> list[str]:
    return [name for pair in columns(term) for name in pair if name]


def points_of(term: Term, student: Student) -> list:
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
    if not {"ID", "Section"} <= {*heads} or not (
        {"Student"} <= {*heads} or {"LastName", "FirstName"} <= {*heads}
    ):
        raise Problem(
            f"{template} is not Canvas's gradebook: export it in Canvas (Grades, Export), then name that file "
            "with --canvas-from."
        )
    kept = [heads.index(name) for name in CANVAS if name in heads]
    labs = [term.settings.lab(lab) for lab in term.labs]

    def in_columns(pairs: Iterable[tuple]) -> list:
        """Of each lab: its points and, where it has a column for it, its bonus."""
        return [value for pair, lab in zip(pairs, labs) for value in pair[: 1 + bool(lab.bonus_column)]]

    out: list[list] = [
        [heads[at] for at in kept]
        + in_columns(
            (lab.column + term.partial[name], lab.bonus_column) for name, lab in zip(term.labs, labs)
        )
    ]
    by_key = {key: term.roster.by_id(key) for one in students_of(template) for key in one.keys}
    for row in rows[1:]:
        row += [""] * (len(heads) - len(row))
        about = [row[at] for at in kept]
        keys = [value.strip().casefold() for value in about]
        if NOBODY[0] in keys:
            of_labs = (
                [one.max_points or 0 for (_, of), one in term.finals.items() if of == lab]
                for lab in term.labs
            )
            out.append(about + in_columns((max(most, default=0) or 100, 0) for most in of_labs))
        elif student := next((by_key[key] for key in keys if by_key.get(key)), None):
            finals = term.of(student)
            cells = ((EXCUSED,) * 2 if one.status == "excused" else (one.points, one.bonus) for one in finals)
            out.append(about + in_columns(cells))
    return csv_text(out, delimiter)


def moodle(term: Term) -> str:
    heads = ["ID number", "Full name", "Email address", *heads_of(term)]
    students = term.roster.students.values()
    return csv_text([heads, *([one.id, one.name, one.email, *points_of(term, one)] for one in students)])


def gradescope(term: Term) -> str:
    heads = ["First Name", "Last Name", "SID", "Email", "Section", *heads_of(term), "Total", "Total bonus"]
    rows: list[list] = [heads]
    for one in term.roster.students.values():
        about = [one.first, one.last, one.id, one.email, one.section]
        rows.append([*about, *points_of(term, one), *total(term.of(one))])
    return csv_text(rows)


def plain(term: Term) -> str:
    return csv_text(table(term))
