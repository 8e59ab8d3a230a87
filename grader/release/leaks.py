# SPDX-License-Identifier: MIT
"""Whether a folder shows anything of the solutions: by content, whatever a file is called.

A secret is a line of solutions/ (any source file there), or one that a wrong or hostile submission adds, that
students are not given: neither in the skeletons that are made of the solutions, nor in the labs' headers and
CPU code, nor in the edition's demonstration, nor in the host code of common/ and grader/, nor in the small
CUDA programs and faulty kernels under common/ that solve other tasks. Blanks do not count, so a line that was
indented, joined or quoted is still found; nor does a comment behind code. Lines of fewer than LEAST
characters, such as `__syncthreads();`, say nothing. Whole functions of a skeleton that answer a task of
another lab are given.py's subject.
"""

import functools
import pathlib
import re
import sys
from collections.abc import Iterator

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "common/tools/authoring"))
from make_skeleton import skeleton

LEAST = 24
GRAM = 13  # characters that a search looks up
STEP = LEAST - GRAM + 1
# Lines that a handout teaches on purpose, as handouts/… : squeezed lines.
MEANT = {
    "handouts/00-ideas.md": {  # a loop with the grid's stride
        "conststd::uint64_tn_threads=std::uint64_t{gridDim.x}*blockDim.x;",
        "for(std::uint64_ti=std::uint64_t{blockIdx.x}*blockDim.x+threadIdx.x;i<n;",
    },
    "handouts/06-sat.md": {"if(column>=width)return;"},
}
SOURCES = (".cu", ".cuh", ".cpp", ".hpp")


def squeezed(text: str) -> str:
    return "".join(text.split())


def lines_of(text: str) -> Iterator[str]:
    """Each line twice: as it stands, and without a comment behind code."""
    for line in text.splitlines():
        if re.match(r"\s*//(@|---)", line):
            continue  # steers make_skeleton.py or make_mutant.py
        yield squeezed(line)
        code = re.sub(r"\s//.*", "", line)
        if code.strip():
            yield squeezed(code)


def text_of(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return path.read_bytes().decode("latin-1")


def given(root: pathlib.Path) -> str:
    """What is no secret, squeezed: skeletons, the labs' own headers and host code, and that of common/ and
    grader/."""
    host = [p for top in ("labs", "common", "grader") for p in sorted((root / top).rglob("*.[hc]pp"))]
    paths = [p for p in host if not {"template", "hostile", "mutants"} & {*p.relative_to(root).parts}]
    paths += [p for p in sorted((root / "grader/release/edition/labs").rglob("*")) if p.is_file()]
    for folder in ("cudart/programs", "sim/checkers/kernels"):
        paths += sorted((root / "common/simulator" / folder).glob("*.cu"))
    solutions = [p for p in sorted((root / "solutions").glob("*/*.cu")) if "//@solution" in text_of(p)]
    return squeezed("\n".join([*map(text_of, paths), *(skeleton(text_of(p)) for p in solutions)]))


class Secrets(dict):
    """{squeezed line: the file that it comes from}. Complete before the first search."""

    @functools.cached_property
    def by_gram(self) -> dict[str, list[tuple[int, str]]]:
        """{GRAM characters of lines: [(where they begin in the line, line)]}, of the first STEP positions."""
        found: dict[str, list[tuple[int, str]]] = {}
        for line in self:
            for start in range(STEP):
                found.setdefault(line[start : start + GRAM], []).append((start, line))
        return found

    def present(self, text: str) -> list[str]:
        """Those lines that stand in the squeezed text, in order."""
        by_gram, found = self.by_gram, set()
        # Every STEP-th position of the text: in a line that stands there, one of them is among its first STEP.
        for at in range(0, len(text), STEP):
            for start, line in by_gram.get(text[at : at + GRAM], ()):
                if line not in found and at >= start and text.startswith(line, at - start):
                    found.add(line)
        return [line for line in self if line in found] if found else []


def secrets(root: pathlib.Path) -> Secrets:
    found = Secrets()
    folders = {"solutions": SOURCES, "grader/mutants": (".mutant",), "grader/hostile": SOURCES}
    for folder, suffixes in folders.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in suffixes or path.parent.name == "peers":
                continue  # calls of libraries answer no task
            for line in lines_of(text_of(path)):
                if len(line) >= LEAST and not line.startswith("#include<"):  # nor does a library's header
                    found.setdefault(line, path.relative_to(root).as_posix())
    known = set(found.present(given(root)))
    return Secrets({line: file for line, file in found.items() if line not in known})


def shown(wanted: Secrets, text: str) -> list[str]:
    """The secrets that a text shows."""
    return wanted.present(squeezed(text))


def find(wanted: Secrets, out: pathlib.Path) -> list[str]:
    """["FILE: a line of SOLUTION: THE LINE"] of the files below `out`, for what secrets() gave."""
    complaints = []
    for path in sorted(out.rglob("*")):
        if not path.is_file() or ".git" in path.relative_to(out).parts:
            continue
        name = path.relative_to(out).as_posix()
        lines = [line for line in shown(wanted, text_of(path)) if line not in MEANT.get(name, ())]
        complaints += [f"{name}: a line of {wanted[line]}: {line}" for line in lines]
    return complaints
