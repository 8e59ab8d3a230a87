#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills what the texts quote: lines of a command's output, faulty kernels, wrong submissions, counts,
measured results, worked examples.

    handouts/scripts/quotes.py --labcli build/grader/labcli handouts/00-ideas.md
    handouts/scripts/quotes.py --check ...       # changes nothing; exit code 1 when one has drifted (by more than line numbers)

Between `<!-- quote: KIND ARGUMENTS -->` and `<!-- end quote -->` stands, by KIND:

    table COMMAND            what `labcli COMMAND --markdown` prints
    output COMMAND /REGEX/   the lines of `labcli COMMAND` in which REGEX occurs, each once; without /REGEX/ all of them
    kernel NAME              a kernel of errata.cu or memory_model.cu (common/simulator/sim/checkers/kernels/) and its launch
    finding NAME             what the checkers must report of it, and the line
    faulty LAB/NAME          the function of a wrong submission, for an exam
    mended LAB/NAME          what is right instead, and the verdict
    function LAB NAME        a function of a solution
    code FILE SECTION        a section of an example, from `// --- SECTION` to the next mark
    comment FILE RUNG        what the solution's comment says above a rung
    counted, cases …          counters of a lab's rungs, the limits and cases that tasks have: counted.py
    weeks all                the weeks of the course: instructor/weeks.py
    limits all               what a student's process may take: limits.py
    roof, ceilings, tops …   what the published run measured: measured.py
    networks, levels …       what the lessons measured: lessons.py
    registers LAB KERNELS    registers of kernels, from ptxas: registers.py
    scaling NAME             modelled times of many GPUs: scaling.py
    chart NAME               a chart with its caption and numbers: charts.py
    worked LAB NAME          a worked example: worked/
    session, adapter …       a wrong submission in the debugger: sessions.py

--only KIND: those quotations alone.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("handouts/scripts", "handouts/instructor", "common/tools/authoring", "common/tools/checks")
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
import charts
import counted
import lessons
import limits
import make_mutant
import measured
import registers
import scaling
import sessions
import weeks
import worked
import wrap_markdown
from worked import fenced

BLOCK = re.compile(r"(<!-- quote: (\w+) (.*?) -->\n)(.*?)(<!-- end quote -->)", re.S)


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


def table(command: str, labcli: str) -> str:
    return printed(labcli, *command.split(), "--markdown").rstrip() + "\n"


def output(arguments: str, labcli: str) -> str:
    command, _, pattern = arguments.partition(" /")
    lines = [
        line
        for line in printed(labcli, *command.split()).splitlines()
        if re.search(pattern.removesuffix("/"), line)
    ]
    lines = list(dict.fromkeys(lines))  # the head of a table is wanted once
    if not any(lines):
        sys.exit(f"labcli {command} prints no line like {pattern}")
    return fenced(f"$ ./lab {command}\n" + "\n".join(lines))


PROGRAMS = {"erratum": "errata", "example": "memory_model"}  # by the first word of a kernel's name


def program_of(name: str) -> str:
    return f"common/simulator/sim/checkers/kernels/{PROGRAMS[name.partition('_')[0]]}.cu"


def marked_kernel(name: str) -> tuple[str, ...]:
    """What the checkers must report of a kernel, its launch, and its lines, with their marks."""
    text = (ROOT / program_of(name)).read_text(encoding="utf-8")
    found = re.search(
        rf"^// EXPECT ([\w-]+)\n// LAUNCH ([^\n]*)\n(KERNEL\({name}\) {{\n.*?^}})", text, re.M | re.S
    )
    if found is None:
        sys.exit(f"{program_of(name)} has no kernel {name}")
    return found.groups()


MARK = re.compile(r" *// (?:FAULT OTHER|FAULT|OTHER)$", re.M)


def kernel(name: str, _labcli: str) -> str:
    _, launch, code = marked_kernel(name)
    blocks, threads, *n = launch.split()
    how = f"{blocks} block{'s' * (blocks != '1')} of {threads} threads"
    how += f" and n = {n[1]}" if len(n) > 1 else ""
    short = re.match(r"[a-z]+_\d+", name)[0]  # the rest of the name tells what is wrong
    more = ", int* scratch" * ("scratch" in code) + ", unsigned* counter" * ("counter" in code)
    code = code.replace(f"KERNEL({name})", f"__global__ void {short}(const int* in, int* out{more}, int n)")
    code = MARK.sub("", code.replace("  UNUSED;\n", ""))
    run = f"`./lab sanitize {program_of(name)} {short.partition('_')[2]}`"
    return f"{fenced(code, 'cuda')}\nThe kernel is launched with {how}. To run it, type {run}.\n"


def finding(name: str, _labcli: str) -> str:
    kind, _, code = marked_kernel(name)
    lines = [MARK.sub("", line).strip() for line in code.splitlines() if MARK.search(line)]
    if kind == "nothing":
        return "The checkers report nothing for the launch above.\n"
    return (
        f"The checkers report `{kind}` for the launch above, and show {'this line' if len(lines) == 1 else 'these lines'}:\n\n"
        + fenced("\n".join(lines), "cuda")
    )


def diff_of(changes: Iterable[tuple[str, str, str]]) -> str:
    diff = []
    for function, old, new in changes:
        diff += [f"@@ {function} @@", *(f"-{line}" for line in old.splitlines())]
        diff += [f"+{line}" for line in new.splitlines()]
    return fenced("\n".join(diff), "diff")


def without_comments(code: str) -> str:
    """A function as a student would write it: the comments would give the answer away."""
    code = re.sub(r"^\s*//.*\n", "", code, flags=re.M)
    code = re.sub(r" *//.*$", "", code, flags=re.M)
    return re.sub(r"\n\s*\n(?= *\})", "\n", code)  # where a statement is missing


def faulty(name: str, _labcli: str) -> str:
    _, changes, source = make_mutant.changed(ROOT, name)
    start, end = make_mutant.function_range(source, changes[0][0], name)
    return fenced(without_comments(source[start:end]), "cuda")


def mended(name: str, _labcli: str) -> str:
    header, changes, _ = make_mutant.changed(ROOT, name)
    found = f", found by the checker `{header['checker'][0]}`" if "checker" in header else ""
    return (
        diff_of((function, wrong, right) for function, right, wrong in changes)
        + "\nThe course grades both versions: with the line that begins with `+` the task "
        f"`{header['task'][0]}` gets full marks, with the other one the verdict is {header['verdict'][0]}{found}.\n"
    )


def function(arguments: str, _labcli: str) -> str:
    lab, name = arguments.split()
    source = (ROOT / f"solutions/{lab}/{lab}.cu").read_text(encoding="utf-8")
    source = re.sub(r"^\s*//@.*\n", "", source, flags=re.M)
    start, end = make_mutant.function_range(source, name, lab)
    return fenced(source[start:end], "cuda")


def code(arguments: str, _labcli: str) -> str:
    name, _, section = arguments.partition(" ")
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.search(rf"^// --- {re.escape(section)}\n(.*?)(?=^// --- )", text, re.M | re.S)
    if found is None:
        sys.exit(f"{name} has no section {section}")
    return fenced(found[1], "cuda")


def comment(arguments: str, _labcli: str) -> str:
    name, rung = arguments.split()
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(f"// --- Rung {rung}:")), None)
    if first is None:
        sys.exit(f"{name} has no rung {rung}")
    said = []
    for line in lines[first:]:
        if not line.startswith("//"):
            break
        said.append(line.removeprefix("//").removeprefix(" "))
    return fenced("\n".join(said), "text")


OWN = (table, output, kernel, finding, code, comment, faulty, function, mended, worked.worked)
MODULES = (charts, counted, lessons, limits, measured, registers, scaling, sessions, weeks)
KINDS = {f.__name__: f for f in [*OWN, *(f for module in MODULES for f in module.KINDS)]}


def filled(text: str, labcli: str, wanted: Callable[[str, str], bool] = lambda kind, arguments: True) -> str:
    """A text with its quotations, those that are wanted."""
    return BLOCK.sub(
        lambda m: (
            m[1] + wrap_markdown.wrapped(KINDS[m[2]](m[3], labcli)) + m[5] if wanted(m[2], m[3]) else m[0]
        ),
        text,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Fills what the texts quote.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--only", choices=KINDS, metavar="KIND", help="leave other kinds alone")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    drifted = []
    for path in arguments.texts:
        text = path.read_text(encoding="utf-8")
        if text.count("<!-- quote:") != len(BLOCK.findall(text)):
            sys.exit(f"{path}: a quotation has no end")
        wanted = filled(text, arguments.labcli, lambda kind, _: arguments.only in (None, kind))
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
