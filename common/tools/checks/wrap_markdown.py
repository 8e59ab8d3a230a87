#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wraps the prose of Markdown files at 110 columns. ./lab format calls it.

    common/tools/checks/wrap_markdown.py FILE…            # rewraps paragraphs and list items
    common/tools/checks/wrap_markdown.py --check FILE…    # changes nothing; exit code 1 if a line of prose is too long

Left alone: code blocks, tables, headings, HTML and comments. Inline code and links are not broken, and no line
begins with a sign that would start a list, a heading or a quotation.
"""

import argparse
import pathlib
import re
import sys

WIDTH = 110
ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])( +)")
# What stays together: inline code, links and pictures with words in their text, tags with attributes.
WHOLE = re.compile(r"`[^`]+`|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^()]*(?:\([^()]*\)[^()]*)*\)|<[a-z!/][^<>]*>")
# Words that would change their meaning at the start of a line.
STARTS = re.compile(r"([-*+]|\d+[.)]|#+|[=>|~:].*|<.*|-+|=+|\*\*\*|___)$")


def words_of(text: str) -> list[str]:
    """The words of a paragraph; a space inside of what stays together is part of a word."""
    kept = WHOLE.sub(lambda m: re.sub(r"[ \t\n]+", "\0", m[0]), text)
    words: list[str] = []
    for word in re.split(r"[ \t\n]+", kept.strip(" \t\n")):
        if words and STARTS.match(word):
            words[-1] += "\0" + word
        else:
            words.append(word)
    return [word.replace("\0", " ") for word in words]


def wrapped_paragraph(lines: list[str], first: str, indent: str, width: int) -> list[str]:
    """The lines of a paragraph that begins with `first`; further lines begin with `indent`."""
    out, line = [], first
    empty = True
    for word in words_of(" ".join(lines)):
        if not empty and len(line) + 1 + len(word) > width:
            out.append(line)
            line, empty = indent, True
        line += word if empty else f" {word}"
        empty = False
    return [*out, line]


def is_plain(line: str) -> bool:
    """Whether a line can be a part of a paragraph."""
    return bool(line.strip()) and not re.match(
        r"\s*(\||#{1,6} |<(?!http)|```|~~~|>|\$\$|(---|\*\*\*|===)\s*$|!\[[^\]]*\]\([^)]*\)$)", line
    )


def wrapped(text: str, width: int = WIDTH) -> str:
    """A Markdown text with its prose wrapped."""
    lines, out, k = text.split("\n"), [], 0
    while k < len(lines):
        line = lines[k]
        last = None
        if fence := re.match(r"\s*(```+|~~~+)", line):
            last = [j for j in range(k + 1, len(lines)) if lines[j].strip().startswith(fence[1])]
        elif line.lstrip().startswith("<!--"):
            last = [j for j in range(k, len(lines)) if "-->" in lines[j]]
        if last is not None:
            end = last[0] + 1 if last else len(lines)
            out += lines[k:end]
            k = end
            continue
        item = ITEM.match(line)
        in_code = re.match(r" {4,}|\t", line) and not item and (not out or not out[-1].strip())
        in_list = in_code and any(ITEM.match(before) for before in out[-12:])
        if not is_plain(line) or (in_code and not in_list):
            out.append(line)
            k += 1
            continue
        first = item[0] if item else re.match(r"\s*", line)[0]
        indent = " " * len(first)
        body = [line[len(first) :]]
        last = k + 1  # type: ignore[assignment]
        while last < len(lines) and is_plain(lines[last]) and not ITEM.match(lines[last]):
            if lines[last - 1].endswith("  ") or lines[last - 1].endswith("\\"):
                break  # a line break that is meant
            body.append(lines[last])
            last += 1  # type: ignore[assignment]
        if body[-1].endswith("  ") or body[-1].endswith("\\"):
            out += lines[k:last]
        else:
            out += wrapped_paragraph(body, first, indent, width)
        k = last
    return "\n".join(out)


def too_long(text: str) -> list[str]:
    """Lines of prose that are too long although they could be wrapped."""
    shorter = wrapped(text).split("\n")
    return [line for line in text.split("\n") if len(line) > WIDTH and line not in shorter]


def main() -> None:
    parser = argparse.ArgumentParser(description="Wraps the prose of Markdown files at 110 columns.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("texts", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    found = []
    for path in arguments.texts:
        text = path.read_text(encoding="utf-8")
        found += [f"{path}: {line}" for line in too_long(text)]
        if not arguments.check and (new := wrapped(text)) != text:
            path.write_text(new, encoding="utf-8")
    if found and arguments.check:
        sys.exit("\n".join(found) + "\nThese lines are longer than 110 columns. Run ./lab format.")


if __name__ == "__main__":
    main()
