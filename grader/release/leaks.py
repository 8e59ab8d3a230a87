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
import subprocess
import sys

LEAST = 24
# Lines that a handout teaches on purpose, as handouts/… : squeezed lines.
MEANT = {
    "handouts/00-ideas.md": {  # a loop with the grid's stride
        "conststd::uint64_tn_threads=std::uint64_t{gridDim.x}*blockDim.x;",
        "for(std::uint64_ti=std::uint64_t{blockIdx.x}*blockDim.x+threadIdx.x;i<n;",
    },
    "handouts/06-sat.md": {"if(column>=width)return;"},
}
SOURCES = (".cu", ".cuh", ".cpp", ".hpp")


def squeezed(text):
    return re.sub(r"\s+", "", text)


def lines_of(text):
    """Each line twice: as it stands, and without a comment behind code."""
    for line in text.splitlines():
        if re.match(r"\s*//(@|---)", line):
            continue  # steers make_skeleton.py or make_mutant.py
        yield squeezed(line)
        code = re.sub(r"\s//.*", "", line)
        if code.strip():
            yield squeezed(code)


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return path.read_bytes().decode("latin-1")


def skeleton(root, solution):
    tool = root / "common/tools/make_skeleton.py"
    return subprocess.run(
        [sys.executable, tool, solution, "/dev/stdout"], check=True, capture_output=True, text=True
    ).stdout


def given(root):
    """What is no secret, squeezed: skeletons, the labs' own headers and host code, and that of common/ and
    grader/."""
    texts = [text_of(p) for p in sorted((root / "labs").rglob("*")) if p.suffix in (".hpp", ".cpp")]
    texts += [
        text_of(p)
        for p in sorted((root / "common").rglob("*"))
        if p.suffix in (".hpp", ".cpp") and "template" not in p.parts
    ]
    texts += [
        text_of(p)
        for p in sorted((root / "grader").rglob("*"))
        if p.suffix in (".hpp", ".cpp") and not {"hostile", "mutants"} & set(p.parts)
    ]
    texts += [text_of(p) for p in sorted((root / "grader/release/edition/labs").rglob("*")) if p.is_file()]
    texts += [
        text_of(p)
        for folder in ["cudart/programs", "sim/checkers/kernels"]
        for p in sorted((root / "common/simulator" / folder).glob("*.cu"))
    ]
    for solution in sorted((root / "solutions").glob("*/*.cu")):
        if "//@solution" in text_of(solution):
            texts.append(skeleton(root, solution))
    return squeezed("\n".join(texts))


class Secrets(dict):
    """{squeezed line: the file that it comes from}. Complete before the first search."""

    @functools.cached_property
    def by_start(self):
        """{the first characters of lines: [(number of the line, line)]}."""
        found = {}
        for number, line in enumerate(self):
            found.setdefault(line[:LEAST], []).append((number, line))
        return found

    def present(self, text):
        """Those lines that stand in the squeezed text, in order."""
        there = {
            start for i in range(len(text) - LEAST + 1) if (start := text[i : i + LEAST]) in self.by_start
        }
        return [
            line
            for _, line in sorted(one for start in there for one in self.by_start[start] if one[1] in text)
        ]


def secrets(root):
    found = Secrets()
    for folder, suffixes in {
        "solutions": SOURCES,
        "grader/mutants": (".mutant",),
        "grader/hostile": SOURCES,
    }.items():
        for path in sorted((root / folder).rglob("*")):
            if (
                path.suffix not in suffixes or path.parent.name == "peers"
            ):  # calls of libraries answer no task
                continue
            for line in lines_of(text_of(path)):
                if len(line) >= LEAST and not line.startswith(
                    "#include<"
                ):  # a library's header answers no task
                    found.setdefault(line, path.relative_to(root).as_posix())
    known = set(found.present(given(root)))
    return Secrets({line: file for line, file in found.items() if line not in known})


def shown(wanted, text):
    """The secrets that a text shows."""
    return wanted.present(squeezed(text))


def find(wanted, out: pathlib.Path):
    """["FILE: a line of SOLUTION: THE LINE"] of the files below `out`, for what secrets() gave."""
    complaints = []
    for path in sorted(out.rglob("*")):
        if not path.is_file() or ".git" in path.relative_to(out).parts:
            continue
        name = path.relative_to(out).as_posix()
        lines = [line for line in shown(wanted, text_of(path)) if line not in MEANT.get(name, ())]
        complaints += [f"{name}: a line of {wanted[line]}: {line}" for line in lines]
    return complaints
