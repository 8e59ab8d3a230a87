# SPDX-License-Identifier: MIT
"""Worked examples of the handouts, computed: a module a lab, a function a table. `<!-- quote: worked LAB NAME
-->` shows one."""

import importlib
import re
import sys
from collections.abc import Iterable, Sequence

ITEMS = [3, 1, 7, 0, 4, 1, 6, 3]  # the course's eight


def worked(arguments: str, _labcli: str | None = None) -> str:
    lab, name, *rest = arguments.split()
    try:
        make = getattr(importlib.import_module(f"worked.{lab}"), name)
    except (ImportError, AttributeError):
        sys.exit(f"handouts/scripts/worked/{lab}.py has no {name}")
    return make(*rest)


def table(head: str | list, rows: Iterable, align: str = "") -> str:
    """A Markdown table. A row is a list of cells, or a text with " | " between them. `align`: a letter a column,
    r for right; the last one holds for the rest."""
    head, *rows = [line.split(" | ") if isinstance(line, str) else line for line in [head, *rows]]
    align = (align or "l").ljust(len(head), (align or "l")[-1])
    ruler = "|" + "".join("--:|" if a == "r" else "---|" for a in align)
    lines = ["| " + " | ".join(map(str, line)) + " |" for line in [head, *rows]]
    lines = [re.sub(r"\|  (?=\|)", "| ", line) for line in lines]
    return "\n".join([lines[0], ruler, *lines[1:]]) + "\n"


def row(values: Iterable) -> str:
    return " ".join(map(str, values))


def marked(now: Iterable, before: Iterable) -> str:
    """Values in a row, those in bold that were written: they differ from before."""
    return row(f"**{a}**" if a != b else a for a, b in zip(now, before))


def fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def exclusive(values: Sequence[int]) -> tuple[list[int], int]:
    """The exclusive sums, and the total."""
    sums, total = [], 0
    for value in values:
        sums.append(total)
        total += value
    return sums, total


def inclusive(values: Sequence[int]) -> list[int]:
    sums, _ = exclusive(values)
    return [s + v for s, v in zip(sums, values)]
