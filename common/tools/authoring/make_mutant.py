#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes changed copies of a solution: plausible mistakes, or other right ways. Tests of the grader run
these.

    common/tools/authoring/make_mutant.py OUTPUT.cu OUTPUT.cpp solutions/reduction/reduction.cu
    grader/mutants/reduction/x.mutant ...
    common/tools/authoring/make_mutant.py --check REPOSITORY     # can every mutant be made of its solution?

Several copies become one program, since the headers take most of the time to compile. Each copy is a file of
its own beside OUTPUT.cu (mutant_reduction_x.cu, where error messages point to) with a namespace of its own;
OUTPUT.cu includes them all; OUTPUT.cpp has the lab's `run`, which calls the copy that the program is named
after: run as mutant_reduction_x, it answers as x.

A mutant is a text file. First its header, `// key: value` lines, for the suite that runs it:

    // about: one sentence: what was done wrong, or differently
    // task: sequential            the manifest's task that changes; the only one that the copy still answers
    // verdict: WRONG_ANSWER       what the grader must say; OK for another right way, which must get full marks
    // checker: racecheck          who must prove the cause; left out where nobody can
    // says: race                  words that the message must contain; may be repeated
    // misses: scan instructions   a task and a goal that another right way does not meet; may be repeated
    // reason: racecheck:…         the reasons that are true for it (grader/testing/submission.hpp); no other may be
    //                             shown

then changes, each exact text of the solution and what stands there instead. `in` names the function that it
is in, by its name; left out, the text must occur once in the whole file.

    //--- in k02_sequential
    //--- replace
        __syncthreads();
    //--- with
    //--- end
"""

import pathlib
import re
import sys

KEYS = {"about", "task", "verdict", "checker", "says", "reason", "misses"}


class MutantError(Exception):
    pass


def parse(text: str, name: str) -> tuple[dict[str, list[str]], list[tuple]]:
    """The header as {key: [values]} and the changes as (function or None, old, new)."""
    header, changes = {}, []
    function, part, old, new = None, None, [], []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        mark = re.match(r"//--- (\w+) ?(.*)$", line)
        if mark:
            kind = mark.group(1)
            if kind == "in" and part is None:
                function = mark.group(2)
            elif kind == "replace" and part is None:
                part, old, new = "old", [], []
            elif kind == "with" and part == "old":
                part = "new"
            elif kind == "end" and part == "new":
                changes.append((function, "\n".join(old), "\n".join(new)))
                function, part = None, None
            else:
                raise MutantError(f"{where}: //--- {kind} is out of place here")
        elif part == "old":
            old.append(line)
        elif part == "new":
            new.append(line)
        elif field := re.match(r"// (\w+): (.*)$", line):
            if field.group(1) not in KEYS:
                raise MutantError(
                    f"{where}: unknown key {field.group(1)}; known are {', '.join(sorted(KEYS))}"
                )
            header.setdefault(field.group(1), []).append(field.group(2).strip())
        elif line.strip() and not line.startswith("// SPDX"):
            raise MutantError(f"{where}: neither header nor change: {line}")
    if part is not None:
        raise MutantError(f"{name}: a change has no //--- end")
    for key in ("about", "task", "verdict"):
        if len(header.get(key, [])) != 1:
            raise MutantError(f"{name}: needs one line `// {key}: …`")
    if not changes:
        raise MutantError(f"{name}: changes nothing")
    return header, changes


def function_range(source: str, function: str, name: str) -> tuple[int, int]:
    """From the line that the function's definition begins on to its closing brace in column 0."""
    found = list(re.finditer(rf"^[^\s/#].*\b{function}\((?:[^;{{}}]|\n)*\)[^;{{}}]*\{{$", source, re.M))
    if len(found) != 1:
        raise MutantError(f"{name}: {len(found)} functions {function} in the solution")
    end = source.index("\n}\n", found[0].start()) + 3
    return found[0].start(), end


def source_of(file: pathlib.Path, root: pathlib.Path) -> str:
    """A lab's file, in which what the lab gives is written out: a copy may change that, too."""

    def given(include: re.Match) -> str:
        return (root / "labs" / include[1]).read_text(encoding="utf-8")

    text = file.read_text(encoding="utf-8")
    return re.sub(r'^#include "(\w+/given\.cuh)"\n', given, text, flags=re.M)


def apply(source: str, changes: list[tuple], name: str) -> str:
    # The steering lines of make_skeleton.py are no code.
    source = re.sub(r"^\s*//@.*\n", "", source, flags=re.M)
    for function, old, new in changes:
        start, end = function_range(source, function, name) if function else (0, len(source))
        if (count := source.count(old, start, end)) != 1:
            raise MutantError(f"{name}: this occurs {count} times in {function or 'the solution'}:\n{old}")
        at = source.index(old, start, end)
        source = source[:at] + new + source[at + len(old) :]
    return source


def changed(root: pathlib.Path, name: str) -> tuple[dict[str, list[str]], list[tuple], str]:
    """LAB/MUTANT of the checkout: its header, its changes, and the solution with the changes."""
    lab = name.partition("/")[0]
    header, changes = parse((root / f"grader/mutants/{name}.mutant").read_text(encoding="utf-8"), name)
    return header, changes, apply(source_of(root / f"solutions/{lab}/{lab}.cu", root), changes, name)


def only_task(source: str, task: str, name: str) -> str:
    """Leaves one rung in the file's dispatch: the others need not be compiled."""
    kept = re.compile(rf"^\s*case Rung::(?!{task}:).*\n", re.M)
    reduced = kept.sub("", source)
    if f"case Rung::{task}:" not in reduced:
        raise MutantError(f"{name}: the solution answers no task {task}")
    return reduced


def in_namespace(source: str, mutant: str, name: "str | pathlib.Path") -> tuple[str, str]:
    """The copy in a namespace of its own, inside the lab's; with the lab's name."""
    opened = re.compile(r"^namespace course::(\w+) \{$", re.M)
    labs = set(opened.findall(source))
    if len(labs) != 1:
        raise MutantError(f"{name}: the solution opens {len(labs)} namespaces course::LAB, not one")
    (lab,) = labs
    return lab, opened.sub(f"namespace course::{lab}::{mutant} {{", source)


CHOOSER = """// Made by make_mutant.py: the copy that this program is named after answers.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <errno.h>

#include "lab/request.hpp"

{declarations}

namespace course::{lab} {{
lab::Status run(const lab::Request& request) {{
  const char* name = program_invocation_short_name;
{choices}
  std::fprintf(stderr, "%s: none of the copies in this program\\n", name);
  std::abort();
}}
}}  // namespace course::{lab}
"""


def chooser(lab: str, mutants: list[str]) -> str:
    declared = "namespace course::{0}::m_{1} {{\nlab::Status run(const lab::Request&);\n}}"
    chosen = '  if (std::strcmp(name, "mutant_{0}_{1}") == 0) return m_{1}::run(request);'
    declarations, choices = (
        "\n".join(text.format(lab, one) for one in mutants) for text in (declared, chosen)
    )
    return CHOOSER.format(lab=lab, declarations=declarations, choices=choices)


def copy_of(solution: str, mutant: pathlib.Path) -> tuple[str, str]:
    """The lab's name and the text of one copy."""
    header, changes = parse(mutant.read_text(encoding="utf-8"), mutant.name)
    source = only_task(apply(solution, changes, mutant.name), header["task"][0], mutant.name)
    return in_namespace(source, "m_" + mutant.stem, mutant.name)


def check(root: pathlib.Path) -> None:
    wrong = []
    for mutant in sorted(root.glob("grader/mutants/*/*.mutant")):
        lab = mutant.parent.name
        try:
            copy_of(source_of(root / f"solutions/{lab}/{lab}.cu", root), mutant)
        except MutantError as error:
            wrong.append(f"{lab}: {error}")
    sys.exit("\n".join(wrong) or 0)


def main() -> None:
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        check(pathlib.Path(sys.argv[2]))
    if len(sys.argv) < 5:
        sys.exit("make_mutant.py OUTPUT.cu OUTPUT.cpp SOLUTION MUTANT ...")
    cuda, choice, solution, *mutants = map(pathlib.Path, sys.argv[1:])
    text = source_of(solution, solution.parents[2])
    names = []
    try:
        for mutant in mutants:
            lab, source = copy_of(text, mutant)
            (cuda.parent / f"mutant_{lab}_{mutant.stem}.cu").write_text(source, encoding="utf-8")
            names.append(mutant.stem)
        cuda.write_text("".join(f'#include "mutant_{lab}_{name}.cu"\n' for name in names), encoding="utf-8")
        choice.write_text(chooser(lab, names), encoding="utf-8")
    except MutantError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
