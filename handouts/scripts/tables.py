# SPDX-License-Identifier: MIT
"""Tables and code blocks of Markdown."""

import re
from collections.abc import Iterable


def table(head: str | list, rows: Iterable, align: str = "") -> str:
    """A Markdown table. A row is a list of cells, or a text with " | " between them. `align`: a letter a column,
    r for right; the last one holds for the rest."""
    head, *rows = [line.split(" | ") if isinstance(line, str) else line for line in [head, *rows]]
    align = (align or "l").ljust(len(head), (align or "l")[-1])
    ruler = "|" + "".join("--:|" if a == "r" else "---|" for a in align)
    lines = ["| " + " | ".join(map(str, line)) + " |" for line in [head, *rows]]
    lines = [re.sub(r"\|  (?=\|)", "| ", line) for line in lines]
    return "\n".join([lines[0], ruler, *lines[1:]]) + "\n"


def fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"
