#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab hint: prints the help that a lab's handout has for a task, in two levels: a hint, and the pseudocode.

usage: ./lab hint LAB                  the lab's tasks, with their difficulty and the hours that they take
       ./lab hint LAB TASK             a hint
       ./lab hint LAB TASK --more      the hint and the pseudocode

The handout is the one source: a task's section has a line "*Difficulty: …. Time: ….*" and two folded parts,
"Hint for TASK" and "Pseudocode for TASK". A section without these is the hint itself.
"""

import argparse
import os
import pathlib
import re
import signal
import sys
import textwrap

WIDTH = 80


def refuse(text: str) -> None:
    sys.exit("\n".join(textwrap.wrap(f"lab: {text}", WIDTH)))


def handouts(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """{lab: its page}"""
    found = {
        page.stem[3:].replace("-", "_"): page for page in sorted((root / "handouts").glob("[0-9][0-9]-*.md"))
    }
    return {lab: page for lab, page in found.items() if (root / "labs" / lab / "lab.hpp").is_file()}


def tasks_of(text: str) -> dict[str, tuple[str, str]]:
    """{task: (title, section)} of a handout, in its order."""
    sections = re.findall(r"^### (\d+\. `(\w+)`[^\n]*)\n(.*?)(?=^#{2,3} |\Z)", text, re.S | re.M)
    return {task: (title.replace("`", ""), section) for title, task, section in sections}


def effort(section: str) -> "tuple | None":
    """("easy", "about 2 hours"), or None where the handout has no help for the task."""
    found = re.search(r"^\*Difficulty: (.+?)\. Time: (.+?)\.\*$", section, re.M)
    return found.groups() if found else None


def folded(section: str, kind: str, task: str) -> "str | None":
    pattern = rf"^<details><summary>{kind} for <code>{task}</code></summary>\n(.*?)^</details>$"
    found = re.search(pattern, section, re.S | re.M)
    return found[1].strip() if found else None


def plain(markdown: str) -> str:
    """Markdown as text of 80 columns; code stays as it stands."""
    markdown = re.sub(r"<!--.*?-->|<a id=.*?></a>", "", markdown)
    parts = []
    for part in re.split(r"(^```.*?^```$)", markdown, flags=re.S | re.M):
        if part.startswith("```"):
            parts.append("\n".join("  " + line if line else "" for line in part.splitlines()[1:-1]))
            continue
        for paragraph in re.split(r"\n{2,}", part.strip()):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
            marks = r"`([^`]*)`|\*\*(.+?)\*\*|(?<!\w)\*(\w[^*]*?)\*(?!\w)"
            words = re.sub(marks, lambda m: m[1] or m[2] or m[3], words)
            if words:
                whole: dict = {"break_long_words": False, "break_on_hyphens": False}
                parts.append(textwrap.fill(" ".join(words.split()), WIDTH, **whole))
    return "\n\n".join(parts)


def overview(page: pathlib.Path, tasks: dict) -> str:
    width = max(map(len, tasks))
    rows = [
        f"  {task:{width}}  {', '.join(effort(section) or ())}".rstrip()
        for task, (_, section) in tasks.items()
    ]
    return f"Tasks of handouts/{page.name}:\n" + "\n".join(rows)


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a message
    parser = argparse.ArgumentParser(
        prog="./lab hint", description="Prints the help that a lab's handout has for a task."
    )
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument(
        "task", metavar="TASK", nargs="?", help="without it: all tasks, with difficulty and time"
    )
    parser.add_argument("--more", action="store_true", help="the pseudocode, too")
    arguments = parser.parse_args()
    root = pathlib.Path(os.environ["LAB_ROOT"])
    pages = handouts(root)
    if arguments.lab not in pages:
        if re.fullmatch(r"\w+", arguments.lab) and (root / "labs" / arguments.lab / "lab.hpp").is_file():
            file = f"labs/{arguments.lab}/{arguments.lab}.cu"
            refuse(f"{arguments.lab} has no handout, and so no hints: read {file}")
        for lab, page in pages.items():
            if arguments.lab in tasks_of(page.read_text(encoding="utf-8")):
                refuse(f"{arguments.lab} is a task of {lab}: ./lab hint {lab} {arguments.lab}")
        refuse(f'there is no lab "{arguments.lab}"; there are {", ".join(pages)}')
    page = pages[arguments.lab]
    tasks = tasks_of(page.read_text(encoding="utf-8"))
    if arguments.task is None:
        print(overview(page, tasks))
        return
    if arguments.task not in tasks:
        refuse(f'{arguments.lab} has no task "{arguments.task}"; it has {", ".join(tasks)}')
    title, section = tasks[arguments.task]
    hint, pseudocode = (folded(section, kind, arguments.task) for kind in ("Hint", "Pseudocode"))
    if not (effort(section) and hint and pseudocode):
        print(f"{title}\n\n{plain(section)}")
        return
    print(f"{title}: {', '.join(effort(section))}\n\n{plain(hint)}")
    if arguments.more:
        print(f"\nPseudocode:\n\n{plain(pseudocode)}")
    else:
        print(f"\nPseudocode: ./lab hint {arguments.lab} {arguments.task} --more")


if __name__ == "__main__":
    main()
