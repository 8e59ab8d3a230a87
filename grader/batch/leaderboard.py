#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A leaderboard of the bonus tasks, from a class's gradebook: a page for those who take part, under names of
their own choice.

    python3 grader/batch/leaderboard.py CLASS.graded PSEUDONYMS.csv OUT.html

PSEUDONYMS.csv has a line for each student who takes part: the name as in grades.csv, and the pseudonym.
Nobody else is on the page, no real name is, and nothing but the best speedup of a bonus task that is right. A
class can be graded again afterwards: run the command again.
"""

import argparse
import contextlib
import csv
import html
import os
import pathlib
import sqlite3
import sys

STYLE = pathlib.Path(__file__).resolve().parents[1] / "page/style.css"


class Problem(Exception):
    pass


def pseudonyms(path: pathlib.Path) -> dict[str, str]:
    """{student: pseudonym}"""
    found: dict[str, str] = {}
    with open(path, newline="", encoding="utf-8-sig") as file:
        for number, row in enumerate(csv.reader(file), 1):
            row = [cell.strip() for cell in row]
            if not any(row):
                continue
            if len(row) != 2 or not all(row):
                raise Problem(f"{path}, line {number}: expected a student and a pseudonym")
            if row[0] in found:
                raise Problem(f"{path}, line {number}: {row[0]} occurs twice")
            if row[1].casefold() in {name.casefold() for name in found.values()}:
                raise Problem(f"{path}, line {number}: two students have the pseudonym {row[1]}")
            found[row[0]] = row[1]
    return found


def standings(book: pathlib.Path, names: dict[str, str]) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """{(lab, task): [(pseudonym, speedup), …], the fastest first}; of a student, the fastest of all
    submissions counts."""
    with contextlib.closing(sqlite3.connect(f"file:{book}?mode=ro", uri=True)) as db:
        known = {row[0] for row in db.execute("SELECT student FROM students")}
        if strangers := sorted(names.keys() - known):
            raise Problem(f"The gradebook has no {', '.join(strangers)}: write names as in grades.csv.")
        rows = db.execute("""SELECT lab, task, student, max(speedup) FROM tasks JOIN submissions ON submission = id
                             WHERE bonus = 1 AND verdict = 'OK' AND speedup IS NOT NULL GROUP BY lab, task, student""").fetchall()
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for lab, task, student, speedup in rows:
        if student in names:
            found.setdefault((lab, task), []).append((names[student], speedup))
    return {one: sorted(rows, key=lambda row: (-row[1], row[0])) for one, rows in sorted(found.items())}


def page(boards: dict[tuple[str, str], list[tuple[str, float]]]) -> str:
    out = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Leaderboard</title>'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body><main><h1>Leaderboard</h1>"
    ]
    if not boards:
        out.append("<p>Nobody who takes part has solved a bonus task yet.</p>")
    for (lab, task), rows in boards.items():
        out.append(
            f"<h2>{html.escape(lab)}: <code>{html.escape(task)}</code></h2><table><thead><tr><th class=number>place</th><th>name</th>"
            f"<th class=number>speedup</th></tr></thead><tbody>"
        )
        for name, speedup in rows:
            place = 1 + sum(other > speedup for _, other in rows)
            out.append(
                f"<tr><td class=number>{place}</td><td>{html.escape(name)}</td><td class=number>{speedup:.1f}×</td></tr>"
            )
        out.append("</tbody></table>")
    return "\n".join(out) + "\n</main></body></html>\n"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="leaderboard.py", description="Writes a leaderboard of the bonus tasks under pseudonyms."
    )
    parser.add_argument("folder", metavar="CLASS.graded", type=pathlib.Path)
    parser.add_argument(
        "names",
        metavar="PSEUDONYMS.csv",
        type=pathlib.Path,
        help="lines of a student and a pseudonym; nobody else is shown",
    )
    parser.add_argument("out", metavar="OUT.html", type=pathlib.Path)
    options = parser.parse_args(argv)
    try:
        book = options.folder / "gradebook.sqlite"
        if not book.is_file():
            raise Problem(f"{book} is not there: grade the class first (./lab grade-all).")
        text = page(standings(book, pseudonyms(options.names)))
        beside = options.out.with_name(options.out.name + ".tmp")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, options.out)
    except (Problem, OSError, UnicodeDecodeError, sqlite3.Error) as problem:
        print(f"lab: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
