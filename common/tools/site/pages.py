# SPDX-License-Identifier: MIT
"""Generated pages of the course site: the commands, from the program's own help; the interfaces, from the
headers."""

import pathlib
import re
import subprocess
from collections.abc import Iterator

# What stands in which order in the interfaces' page: by title, the headers of folders; without an ending, .hpp.
INTERFACES = {
    "For labs": {"common/harness/lab": "request manifest problem operators items"},
    "For tests": {"common/harness/testing": "tried counted traced"},
    "Judging": {"common/harness/verifier": "session judge", "common/harness/lab": "compare"},
    "The simulator": {
        "common/simulator/sim": "device counters finding observation/trace",
        "common/simulator/cudart": "sim_control.h",
    },
    "Reports": {"grader/page": "page table", "grader/trace": "tables"},
}


def help_of(labcli: pathlib.Path, *command: str) -> str:
    return subprocess.run([labcli, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands(root: pathlib.Path, labcli: pathlib.Path) -> str:
    """The reference of ./lab, as the programs themselves tell it."""
    listed = re.split(r"(?im)^sub ?commands:\n", help_of(labcli), maxsplit=1)[1].splitlines()
    names = [line.split()[0] for line in listed if re.match(r"  [a-z]", line)]
    how: dict = {"capture_output": True, "text": True, "check": True}
    environment = {"PATH": "/usr/bin:/bin", "LAB_BUILD": "/nowhere"}
    own = subprocess.run([root / "lab", "help"], env=environment, **how).stdout
    out = ["# Commands", "", "What `./lab` can do, in its own words.", "", "```", own.rstrip(), "```", ""]
    for name in names:
        text = help_of(labcli, name).rstrip().replace(labcli.name + " ", "./lab ")
        out += [f"## ./lab {name}", "", "```", text, "```", ""]
    return "\n".join(out)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The comment and the declaration of everything in a header that has both, at the outermost level or in a
    class."""
    lines = text.splitlines()
    k = 0
    while k < len(lines):
        steers = re.match(r" *// (---|clang-format|NOLINT|SPDX)", lines[k])
        if steers or not re.match(r" {0,2}// ?\S", lines[k]):
            k += 1
            continue
        comment = []
        indent = len(lines[k]) - len(lines[k].lstrip())
        while k < len(lines) and re.match(rf" {{{indent}}}//", lines[k]):
            comment.append(lines[k].strip().removeprefix("//").removeprefix(" "))
            k += 1
        code = []
        depth = 0
        while k < len(lines) and re.match(r"\s*(?!//|#|namespace|\})\S", lines[k]):
            line, k = lines[k], k + 1
            code.append(line[indent:])
            depth += line.count("(") - line.count(")")
            if depth <= 0 and (line.rstrip().endswith(",") or re.search(r"[;{}],?\s*(//.*)?$", line)):
                break
        if code:
            yield " ".join(comment), "\n".join(code).rstrip().removesuffix("{").rstrip()


def interfaces(root: pathlib.Path, labs: list[str]) -> str:
    about = "From the headers' own comments; what a student's file gets is in the lab's own header."
    out = ["# Interfaces", "", about, ""]
    for title, folders in {"Labs": {f"labs/{lab}": "lab" for lab in labs}, **INTERFACES}.items():
        out += [f"## {title}", ""]
        names = [f"{folder}/{name}" for folder, names in folders.items() for name in names.split()]
        for header in (name if name.endswith(".h") else f"{name}.hpp" for name in names):
            text = (root / header).read_text(encoding="utf-8")
            top = re.match(r"(?:#pragma once\n|\s)*((?://[^\n]*\n)+)", text)
            intro = [line.removeprefix("//").strip() for line in top[1].splitlines()[1:]] if top else []
            out += [f"### {header}", "", escape(" ".join(intro)), ""]
            for comment, code in blocks(text[top.end() if top else 0 :]):
                out += ["```cpp", code, "```", "", escape(comment), ""]
    return "\n".join(out)


def escape(text: str) -> str:
    """Prose of a comment as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}<>\[\]#|])", r"\\\1", text)
