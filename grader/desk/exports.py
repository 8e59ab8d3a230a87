# SPDX-License-Identifier: MIT
"""Final grades as the tables that platforms import. Points and bonus have columns of their own; who has no grade yet has an empty cell,
never a 0.

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
from roster import NOBODY, students_of
from settings import Lab, Problem

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def columns(term: Term) -> list[tuple[str, str]]:
    """Of each lab: the column's name on the platform, and that of its bonus."""
    names = [term.settings.labs.get(lab, Lab()).column or lab for lab in term.labs]
    return [(name, f"{name} bonus") for name in names]


def points_of(term: Term, student) -> list:
    return [value for one in term.of(student) for value in (one.points, one.bonus)]


def canvas(term: Term, template: pathlib.Path) -> str:
    rows = list(csv.reader(io.StringIO(template.read_text(encoding="utf-8-sig"))))
    heads = [head.strip() for head in rows[0]] if rows else []
    if not {"Student", "SIS Login ID"} <= set(heads):
        raise Problem(f"{template} is not Canvas's gradebook: export it in Canvas (Grades, Export), then name that file with --canvas-from.")
    kept = [heads.index(name) for name in CANVAS if name in heads]
    out = [[heads[at] for at in kept] + [name for pair in columns(term) for name in pair]]
    by_key = {key: term.roster.by_id(key) for one in students_of(template) for key in one.keys}
    for row in rows[1:]:
        row += [""] * (len(heads) - len(row))
        about = [row[at] for at in kept]
        if row[heads.index("Student")].strip().casefold() == NOBODY[0]:
            maxima = [max((final.max_points or 0 for (_, lab), final in term.finals.items() if lab == wanted), default=0) for wanted in term.labs]
            out.append(about + [value for most in maxima for value in (most or 100, 0)])
            continue
        student = next((found for value in about if (found := by_key.get(value.strip().casefold()))), None)
        if student:
            out.append(about + points_of(term, student))
    text = io.StringIO()
    csv.writer(text).writerows([[cell(value) for value in row] for row in out])
    return text.getvalue()


def moodle(term: Term) -> str:
    heads = ["ID number", "Full name", "Email address", *(name for pair in columns(term) for name in pair)]
    return csv_text([heads] + [[one.id, one.name, one.email, *points_of(term, one)] for one in term.roster.students.values()])


def gradescope(term: Term) -> str:
    heads = ["First Name", "Last Name", "SID", "Email", "Section", *(name for pair in columns(term) for name in pair), "Total", "Total bonus"]
    rows = [heads]
    for one in term.roster.students.values():
        first, _, last = one.name.rpartition(" ")
        rows.append([first, last, one.id, one.email, one.section, *points_of(term, one), *total(term.of(one))])
    return csv_text(rows)


def plain(term: Term) -> str:
    return csv_text(table(term))
