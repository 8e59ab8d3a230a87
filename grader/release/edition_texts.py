# SPDX-License-Identifier: MIT
"""The texts of a student edition: without the instructors' parts, without what a quotation gives away, and
without links to what is not there."""

import math
import os
import pathlib
import re
from collections.abc import Iterable

import hint
import leaks
from edition_files import files_of

LINK = re.compile(r"\[([^\]\n]*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def without_instructors_parts(text: str) -> str:
    return re.sub(r"^<!-- instructors -->\n.*?^<!-- end instructors -->\n", "", text, flags=re.S | re.M)


QUOTE = re.compile(r"^<!-- quote: (\w+) .*? -->\n(.*?)^<!-- end quote -->\n", re.S | re.M)
PROFILED = re.compile(r"^([ \d.%█▏▎▍▌▋▊▉]*\d+)  \S.*$")  # a line's costs, its number, its code


def without_secrets(wanted: leaks.Secrets, name: str, text: str) -> str:
    """Quotations as plain text. Outputs of the solutions are recordings, no commands, and their lines of code
    are not shown."""

    def shown(match: re.Match) -> str:
        kind, quoted = match.groups()
        recorded = r"recorded from the reference solution: \1\2"
        quoted = re.sub(r"^\$ \./lab (.*?) --solutions(.*)$", recorded, quoted, flags=re.M)
        if not leaks.shown(wanted, quoted):
            return quoted
        if kind == "output":
            lines = [
                PROFILED.sub(r"\1  (code not shown)", line) if leaks.shown(wanted, line) else line
                for line in quoted.splitlines()
            ]
            return "\n".join(lines) + "\n"
        return quoted  # refused by the search at the end

    text = QUOTE.sub(shown, text)
    if re.search(r"^<!-- quote: ", text, re.M):
        raise SystemExit(f"lab: {name}: a quotation has no end")
    return text


# A rung's part of a solution, and in it the comments that explain it.
RUNG = re.compile(r"^// --- ((?:Rungs? \d|Task \").*\n(?s:.*?))(?=^// --- |\Z)", re.M)
EXPLAINS = re.compile(r"^// (?:Changed|Why|Predicted|Measured|Drawback)\b.*\n(?://(?!@).*\n)*", re.M)


def explanations(root: pathlib.Path, labs: list[str]) -> str:
    """The solutions' comments on their rungs, without the code, folded."""
    page = ""
    for lab, (number, name) in titles(root, labs).items():
        rungs, named = [], {}
        header = (root / f"labs/{lab}/lab.hpp").read_text(encoding="utf-8")
        known = re.search(r"^enum class Rung\b.*?^\}", header, re.S | re.M)[0]
        sources = (root / "solutions" / lab).glob("*.cu*")
        for source in sorted(sources, key=lambda path: path.suffix == ".cuh"):
            for part in RUNG.findall(source.read_text(encoding="utf-8")):
                first = re.match(r".*\n(?://.*\n)*", part)[0]
                comments = "// " + first + "".join(EXPLAINS.findall(part[len(first) :]))
                lines = [line for line in comments.splitlines() if not line.startswith("//@")]
                comment = "\n".join(line.removeprefix("//").removeprefix(" ") for line in lines).strip()
                rungs.append((natural(part), comment))
                functions = re.findall(r"\b(?:Status |k\d\d_)(\w+)\(", part)
                functions = [one for one in functions if re.search(rf"^ *{one},", known, re.M)]
                named[comment] = functions[0] if functions else ""
        if rungs:
            page += f'\n<a id="{lab}"></a>\n## Lab {number}: {name}\n'
        for _, comment in sorted(rungs):
            rung, task = re.match(r'(Rungs? \w+(?: and \w+)?|Task)(?:(?:, task)? "(\w+)")?', comment).groups()
            called = task or (named[comment] if rung.startswith("Rung ") else "")
            summary = rung + (f": <code>{called}</code>" if called else "")
            page += f"\n<details><summary>{summary}</summary>\n\n```text\n{comment}\n```\n\n</details>\n"
    return page


def natural(title: str) -> tuple[float, str]:
    number = re.match(r"Rungs? (\d+)(\w?)", title)
    return (int(number[1]), number[2]) if number else (math.inf, title)


SENTENCE_END = re.compile(r"((?:(?<=[.!?])|(?<=[.!?]\)))\s+(?=[A-Z0-9`*\[(]))")


def with_folders(names: Iterable[str]) -> set[str]:
    return {
        os.path.normpath(one) for name in names for one in (name, *map(str, pathlib.PurePath(name).parents))
    }


class References:
    """What a page may speak of: files of the edition. A sentence, a list's item or a table's row that speaks
    of others is left out."""

    def __init__(self, root: pathlib.Path, present: Iterable[str], labs: list[str]):
        self.present, self.labs, self.tracked = with_folders(present), labs, with_folders(files_of(root))

    def dead(self, text: str, page: pathlib.PurePosixPath) -> list[str]:
        links = [link for _, link, _ in LINK.findall(text) if ":" not in link]
        dead = [link for link in links if os.path.normpath(page.parent / link) not in self.present]
        return [path for path in re.findall(r"`([\w./-]+)`", text) if not self.there(path)] + dead

    def there(self, path: str) -> bool:
        if path.startswith("/"):
            return True  # of no checkout
        path = os.path.normpath(path)
        if re.match(r"(build/)?(solutions|grader/(mutants|hostile))\b", path):
            return False
        return path in self.present or path not in self.tracked

    def mended(self, text: str, page: pathlib.PurePosixPath) -> str:
        for lab in self.labs:  # the rungs' explanations stand on a page of their own
            text = text.replace(f"`solutions/{lab}/{lab}.cu`", f"[rungs.md](rungs.md#{lab})")
        text = re.sub(r"\s\(`(?:build/)?solutions/[^)]*`\)", "", text)
        parts = re.split(r"(^ *```.*?^ *```$|\n{2,}|\n(?= *(?:[-|] ?|\d+\. )))", text, flags=re.S | re.M)
        kept: list[str] = []
        for part in parts:
            left = part if part.lstrip().startswith("```") else self.living(part, page)
            if part and not left and kept and not kept[-1].strip():
                kept.pop()  # what stood between it and the part before
            kept.append(left)
        return "".join(kept).rstrip() + "\n"

    def living(self, part: str, page: pathlib.PurePosixPath) -> str:
        if not self.dead(part, page):
            return part
        if part.startswith("|"):
            return ""
        pieces = SENTENCE_END.split(part) + [""]
        kept = [pieces[i] + pieces[i + 1] for i in range(0, len(pieces), 2) if not self.dead(pieces[i], page)]
        return "".join(kept).rstrip()


def titles(root: pathlib.Path, labs: list[str]) -> dict[str, tuple[str, ...]]:
    """{lab: ("1", "Reduction")}, from the handouts' first lines and in their order."""
    pages = {
        lab: page.read_text(encoding="utf-8") for lab, page in hint.handouts(root).items() if lab in labs
    }
    heads = {lab: re.match(r"# (?:Lab )?(\d+)[:.] (.*)", text) for lab, text in pages.items()}
    return {lab: head.groups() for lab, head in heads.items() if head}


def labs_table(root: pathlib.Path, labs: list[str]) -> str:
    """| 1 Reduction | `file` | handout |"""
    rows = ["| lab | file | handout |", "|---|---|---|"]
    for lab, (number, name) in titles(root, labs).items():
        page = f"{int(number):02}-{lab.replace('_', '-')}"
        rows.append(f"| {number} {name} | `labs/{lab}/{lab}.cu` | [{page}](handouts/{page}.md) |")
    return "\n".join(rows)
