#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills what the texts quote: a command's output, rows of results, lines of a file.

    handouts/scripts/quotes.py --labcli build/grader/labcli handouts/00-ideas.md
    handouts/scripts/quotes.py --check ...   # changes nothing; exit code 1 when one has drifted (not: by line numbers)

Between `<!-- quote: KIND … -->` and `<!-- end quote -->` stands, by KIND:

    output COMMAND /REGEX/       what `./lab COMMAND` prints: the lines in which REGEX occurs, each once; without
                                 /REGEX/ all of them. A COMMAND that ends with --markdown prints Markdown itself
    rows SOURCE FILTERS: QUERY   a table of results: rows.py
    lines FILE /FIRST/ /AFTER/   the lines of FILE from the one in which a match of FIRST ends to the one before AFTER
    chart NAME                   a chart with its caption and numbers: charts.py

--only REGEX: those quotations alone whose kind and arguments match.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("handouts/scripts", "common/tools/checks")]
import charts
import rows
import wrap_markdown
from tables import fenced

BLOCK = re.compile(r"(<!-- quote: ((\w+) (.*?)) -->\n)(.*?)(<!-- end quote -->)", re.S)
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".py": "python"}


def without_places(text: str) -> str:
    """Line numbers of sources go their own ways: a quotation with another one has not drifted."""
    text = re.sub(r"\b(line|time|\w+\.cu:)\s*\d+", r"\1#", text)
    return re.sub(r"\s+\d+  (?=[A-Za-z_}(])", " # ", text)


def printed(labcli: str, *command: str) -> str:
    # A line of code stands in one piece.
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run([labcli, *command], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"labcli {' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def output(arguments: str, labcli: str) -> str:
    command, _, pattern = arguments.partition(" /")
    text = printed(labcli, *command.split())
    if command.endswith(" --markdown"):
        return text.rstrip() + "\n"
    lines = [line for line in text.splitlines() if re.search(pattern.removesuffix("/"), line)]
    lines = list(dict.fromkeys(lines))  # the head of a table is wanted once
    if not any(lines):
        sys.exit(f"labcli {command} prints no line like {pattern}")
    return fenced(f"$ ./lab {command}\n" + "\n".join(lines))


def lines(arguments: str, _labcli: str) -> str:
    name, first, after = re.fullmatch(r"(\S+) /(.*)/ /(.*)/", arguments).groups()
    text = (ROOT / name).read_text(encoding="utf-8")
    start = re.search(first, text, re.M)
    end = start and re.compile(after, re.M).search(text, text.find("\n", start.end()) + 1)
    if not end:
        sys.exit(f"{name} has no lines from /{first}/ to /{after}/")
    begin, stop = (text.rfind("\n", 0, k) + 1 for k in (start.end(), end.start()))
    code = re.sub(r"^ *//@.*\n", "", text[begin:stop], flags=re.M)  # without what steers make_skeleton.py
    return fenced(code, LANGUAGES.get(pathlib.Path(name).suffix, ""))


KINDS = {f.__name__: f for f in (output, lines, rows.rows, *charts.KINDS)}


def filled(text: str, labcli: str, wanted: Callable[[str, str], bool] = lambda kind, arguments: True) -> str:
    """A text with its quotations, those that are wanted."""
    return BLOCK.sub(
        lambda m: (
            m[1] + wrap_markdown.wrapped(KINDS[m[3]](m[4], labcli)) + m[6] if wanted(m[3], m[4]) else m[0]
        ),
        text,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Fills what the texts quote.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--only", default="", metavar="REGEX", help="leave other quotations alone")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    drifted = []
    for path in arguments.texts:
        text = path.read_text(encoding="utf-8")
        if text.count("<!-- quote:") != len(BLOCK.findall(text)):
            sys.exit(f"{path}: a quotation has no end")
        wanted = filled(
            text, arguments.labcli, lambda kind, rest: bool(re.search(arguments.only, f"{kind} {rest}"))
        )
        if wanted == text or (arguments.check and without_places(wanted) == without_places(text)):
            continue
        if arguments.check:
            drifted.append(path)
        else:
            path.write_text(wanted, encoding="utf-8")
    if drifted:
        paths = " ".join(map(str, drifted))
        sys.exit(
            f"Quotations are out of date. Run\n  handouts/scripts/quotes.py --labcli {arguments.labcli} {paths}"
        )


if __name__ == "__main__":
    main()
