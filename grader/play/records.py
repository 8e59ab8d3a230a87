#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recorded program (recorder.cpp) launches, as requests to the player.

records.py PLAYER RECORD      # writes which tasks are wrong with such small blocks, and to which length right
"""

import json
import math
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (\w+)\(", re.M)
FUNCTION = re.compile(r"^(?:\.visible |\.weak )?\.func\b[^;{]*\{", re.M)
LONGEST = 64  # items
TRIED = (6, 7, 13, 16, 29, 32, 61, LONGEST)
OVERFLOWS = re.compile(r"(sum|product|mean|_left)_f(32|64)$")  # with the largest items, in some orders
LARGEST = 64  # threads in a block that is looked at


def definitions(ptx: str, pattern: re.Pattern) -> Iterator[tuple[re.Match, int, int]]:
    """The functions whose first line matches: the match, and where the text of each begins and ends."""
    for found in pattern.finditer(ptx):
        depth = 0
        for brace in re.finditer("[{}]", ptx[found.start() :]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                yield found, found.start(), found.start() + brace.end() + 1
                break


def split(ptx: str) -> tuple[str, dict[str, str]]:
    """What all kernels share, and the text of each by its name."""
    entries, rest, end = {}, [], 0
    for found, start, after in definitions(ptx, ENTRY):
        rest.append(ptx[end:start])
        end = after
        entries[found[1]] = re.sub(r"\$L__BB\d+_", "$L__BB_", ptx[start:end])
    rest.append(ptx[end:])
    return re.sub(r"\n{3,}", "\n\n", "".join(rest)), entries


def parts_of(head: str) -> Iterator[str]:
    """Its functions and, of the rest, the lines."""
    end = 0
    for _, start, after in definitions(head, FUNCTION):
        yield from head[end:start].splitlines(keepends=True)
        yield head[start:after]
        end = after
    yield from head[end:].splitlines(keepends=True)


def run(player: pathlib.Path, requests: Iterable[dict]) -> list[dict]:
    """The player's answers to requests."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([player], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_small(request: dict) -> bool:
    return all(math.prod(one["block"]) <= LARGEST for one in request["work"] if "block" in one)


def is_right(answer: dict) -> bool:
    wrong = answer.get("error") or answer.get("fault") or answer.get("findings")
    return not wrong and answer["right"]


class Program:
    """A record: one lab's copies with one block size."""

    def __init__(self, path: pathlib.Path, size: str) -> None:
        record = json.loads(path.read_text(encoding="utf-8"))
        self.lab = record["lab"]
        self.size, self.works = size, record["works"]
        self.items = {
            variant: [name for name in names if name != "extremes" or not OVERFLOWS.search(variant)]
            for variant, names in record["items"].items()
        }
        prefix = f"mutant_{self.lab}_"
        self.copies = {name.removeprefix(prefix): tasks for name, tasks in record["copies"].items()}
        # A copy's namespace in mangled names; the longest first, since one may contain another.
        marks = {f"{len(name) + 2}m_{name}": name for name in self.copies}
        self.marks: Sequence[str] = sorted(marks, key=len, reverse=True)
        ptx = record["ptx"].replace(f"{path.parent}/", "").replace(f"{ROOT}/", "")
        ptx = re.sub(rf"\b{path.stem}_(\w+)\.cu", rf"{self.lab}.cu", ptx)
        head, entries = split(ptx)
        self.heads, self.entries = {}, {name: {} for name in self.copies}
        parts = list(parts_of(head))
        owners = [{marks[m] for m in self.marks if m in part} for part in parts]
        for copy in self.copies:
            own = [part for part, owner in zip(parts, owners, strict=True) if owner <= {copy}]
            self.heads[copy] = self.unmarked("".join(own))
        for name, text in entries.items():
            found = next((m for m in self.marks if m in name), None)
            for copy in [marks[found]] if found else self.copies:
                self.entries[copy][self.unmarked(name)] = self.unmarked(text)
        self.sources = {
            name: (path.parent / f"{path.stem}_{name}.cu").read_text(encoding="utf-8") for name in self.copies
        }

    def unmarked(self, text: str) -> str:
        """All copies' kernels have the same names afterwards."""
        for mark in self.marks:
            text = text.replace(mark, "6m_play")
        return text

    def work(self, number: int) -> list[dict]:
        return json.loads(self.unmarked(json.dumps(self.works[number])))

    def ptx(self, copy: str, work: list[dict]) -> str:
        kernels = dict.fromkeys(w["kernel"] for w in work if "kernel" in w)
        return self.heads[copy] + "".join(self.entries[copy][k] for k in kernels)

    def request(self, copy, task, variant, n, items="random", seed=1, schedule=0):
        work = self.work(dict(map(tuple, self.copies[copy][task][variant]))[n])
        what = {"lab": self.lab, "task": task, "variant": variant, "n": n}
        how = {"items": items, "seed": seed, "schedule": schedule}
        return {**what, **how, "ptx": self.ptx(copy, work), "work": work}

    def limits(self, player: pathlib.Path) -> dict[str, int]:
        """The tasks and operators of which not all lengths are right with such small blocks, and the longest
        tried before the first wrong one (-1: none). A kernel may need larger ones; the course's own solution
        is wrong then. Some are wrong if what remains after 16-byte vectors has more items than the block has
        threads."""
        asked = [
            (task, variant, n)
            for task, variants in self.copies["solution"].items()
            for variant, recorded in variants.items()
            for n in TRIED
            if n in dict(recorded)
        ]
        requests = [self.request("solution", *which) for which in asked]
        answers = iter(run(player, filter(is_small, requests)))
        limits: dict[str, int] = {}
        for (task, variant, n), request in zip(asked, requests, strict=True):
            if not (is_small(request) and is_right(next(answers))):
                limits.setdefault(f"{task} {variant}", max((k for k in TRIED if k < n), default=-1))
        return limits

    def limit(self, limits: dict[str, int]) -> None:
        for tasks in self.copies.values():
            for task in list(tasks):
                most = {variant: limits.get(f"{task} {variant}", LONGEST) for variant in tasks[task]}
                cut = {v: [one for one in ls if one[0] <= most[v]] for v, ls in tasks[task].items()}
                tasks[task] = {v: ls for v, ls in cut.items() if ls}
                if not tasks[task]:
                    del tasks[task]
        self.copies = {name: tasks for name, tasks in self.copies.items() if tasks}


if __name__ == "__main__":
    player_path, record = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    print(json.dumps(Program(record, record.stem.rsplit("_", 1)[1]).limits(player_path)))
