#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a changed copy of a solution: a plausible mistake, or another right way. Tests of the grader run these.

    common/lab/tools/make_mutant.py solutions/reduction/reduction.cu grader/mutants/reduction/x.mutant x.cu

A mutant is a text file. First its header, `// key: value` lines, for the suite that runs it:

    // about: one sentence: what was done wrong, or differently
    // task: sequential            the manifest's task that changes; the only one that the copy still answers
    // verdict: WRONG_ANSWER       what the grader must say; OK for another right way, which must get full marks
    // checker: racecheck          who must prove the cause; left out where nobody can
    // says: race                  words that the message must contain; may be repeated

then changes, each exact text of the solution and what stands there instead. `in` names the function that it is in, by
its name; left out, the text must occur once in the whole file.

    //--- in k03_sequential
    //--- replace
        __syncthreads();
    //--- with
    //--- end
"""
import pathlib
import re
import sys

KEYS = {"about", "task", "verdict", "checker", "says"}


class MutantError(Exception):
    pass


def parse(text, name):
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
                raise MutantError(f"{where}: unknown key {field.group(1)}; known are {', '.join(sorted(KEYS))}")
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


def function_range(source, function, name):
    """From the line that the function's definition begins on to its closing brace in column 0."""
    found = list(re.finditer(rf"^[^\s/#].*\b{function}\((?:[^;{{}}]|\n)*\)[^;{{}}]*\{{$", source, re.M))
    if len(found) != 1:
        raise MutantError(f"{name}: {len(found)} functions {function} in the solution")
    end = source.index("\n}\n", found[0].start()) + 3
    return found[0].start(), end


def apply(source, changes, name):
    # The steering lines of make_skeleton.py are no code.
    source = re.sub(r"^\s*//@.*\n", "", source, flags=re.M)
    for function, old, new in changes:
        start, end = function_range(source, function, name) if function else (0, len(source))
        if (count := source.count(old, start, end)) != 1:
            raise MutantError(f"{name}: this occurs {count} times in {function or 'the solution'}:\n{old}")
        at = source.index(old, start, end)
        source = source[:at] + new + source[at + len(old) :]
    return source


def only_task(source, task, name):
    """Leaves one rung in the file's dispatch: the others need not be compiled."""
    kept = re.compile(rf"^\s*case Rung::(?!{task}:).*\n", re.M)
    reduced = kept.sub("", source)
    if f"case Rung::{task}:" not in reduced:
        raise MutantError(f"{name}: the solution answers no task {task}")
    return reduced


def main():
    if len(sys.argv) != 4:
        sys.exit("make_mutant.py SOLUTION MUTANT OUTPUT")
    solution, mutant, output = map(pathlib.Path, sys.argv[1:])
    try:
        header, changes = parse(mutant.read_text(encoding="utf-8"), mutant.name)
        source = apply(solution.read_text(encoding="utf-8"), changes, mutant.name)
        output.write_text(only_task(source, header["task"][0], mutant.name), encoding="utf-8")
    except MutantError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
