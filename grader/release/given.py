# SPDX-License-Identifier: MIT
"""Given code that is an answer: which functions of a lab's skeleton solve a task of another lab.

A lab gives its students what it does not ask for, such as the sum over a block in the histogram lab, which is
a task of the reduction lab. So a lab is released when the labs whose answers it shows are closed. ANSWERS
lists these functions by hand; undeclared() compares the tokens of all given functions with what students have
to write elsewhere, and finds one that the list lacks.
"""

import pathlib
import re
import sys

import leaks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "batch"))
from source_text import TOKEN

# "lab/function": the labs whose tasks it answers.
ANSWERS = {
    "compaction/exclusive_scan": ["hierarchical_scan"],
    "radix_sort/warp_inclusive_sum": ["scan", "sat"],
    "radix_sort/block_exclusive_sum": ["scan", "compaction", "sat"],
    "radix_sort/add_sums": ["compaction", "hierarchical_scan"],
    "radix_sort/exclusive_scan": ["hierarchical_scan"],
    "histogram/block_sum": ["reduction", "scan", "compaction"],
    "histogram/sort_tile": ["radix_sort"],
    "histogram/block_exclusive_sum": ["scan", "compaction", "sat"],
    "sat/k06_clear": ["compaction"],
    "hierarchical_scan/warp_scan": ["scan", "sat"],
    "hierarchical_scan/scan_packs": ["scan", "sat"],
    "hierarchical_scan/k04_clear": ["compaction"],
    "multi_gpu/warp_scan": ["scan", "sat"],
    "multi_gpu/k01_combine": ["sat"],
    "multi_gpu/reduce_shard": ["reduction", "hierarchical_scan"],
    "multi_gpu/k03_count": ["radix_sort"],
}
# (the lab that shows, a later lab whose task it answers): why the earlier lab may show it all the same.
RECURSION = (
    "it needs a scan of any length; lab 7 states the same recursion, and asks for it on tiles of its own"
)
ON_PURPOSE = {
    ("compaction", "hierarchical_scan"): RECURSION,
    ("radix_sort", "hierarchical_scan"): RECURSION,
    ("radix_sort", "sat"): "students have written the scan of a warp and of a block in lab 2",
    ("histogram", "sat"): "students have written the scan of a warp and of a block in lab 2",
    ("sat", "compaction"): "two lines that set words to 0",
    ("hierarchical_scan", "compaction"): "two lines that set words to 0",
}
KEYWORDS = set(
    """if else for while do switch case default break continue return goto struct class template typename auto const constexpr
    static inline void bool char int unsigned signed long short float double sizeof new delete this true false nullptr namespace using
    __global__ __device__ __host__ __shared__ __syncthreads __syncwarp threadIdx blockIdx blockDim gridDim""".split()
)
GRAM = 12  # tokens
# Grams of a function that an answer contains, at least: this many, and this part of the function's.
LEAST, SHARE = 20, 0.25


def grams(text: str) -> list[tuple]:
    """Every GRAM tokens in a row; names do not count, so that an operator in place of + is all that may
    differ."""
    found = (match for match in TOKEN.finditer(text) if match.lastgroup != "skip")
    words = [
        word if (word := match.group()) in KEYWORDS or match.lastgroup == "sign" else match.lastgroup
        for match in found
    ]
    return [tuple(words[at : at + GRAM]) for at in range(len(words) - GRAM + 1)]


def functions(skeleton: str) -> dict[str, str]:
    """{name: body} of the given functions: those without a TODO."""
    pattern = r"^(?![ }#/]|namespace|struct|enum|template)[^;{}]*?\b(\w+)\((?:[^;{}])*?\)[^;{}]*\{\n(.*?)^\}"
    return {
        m[1]: m[2]
        for m in re.finditer(pattern, skeleton, re.M | re.S)
        if "TODO(student)" not in m[2] and m[1] != "run"
    }


def asked(solution: str) -> str:
    """What students write: the lines between //@solution and //@end."""
    inside, lines = False, []
    for line in solution.splitlines():
        mark = re.match(r"\s*//@(\w+)", line)
        if mark:
            inside = mark[1] in ("solution", "hint", "how", "instead") and (inside or mark[1] == "solution")
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def texts(root: pathlib.Path, labs: list[str]) -> dict[str, tuple[str, str]]:
    """{lab: (its skeleton, what it asks for)}"""
    found = {}
    for lab in labs:
        path = root / f"solutions/{lab}/{lab}.cu"
        if path.is_file() and "//@solution" in (text := leaks.text_of(path)):
            found[lab] = (leaks.skeleton(text), asked(text))
    return found


def undeclared(root: pathlib.Path, labs: list[str]) -> list[str]:
    """["lab/function: an answer of LAB"] that ANSWERS lacks, and what it lists though there is no such
    function."""
    read = texts(root, labs)
    # The example of a new lab is a kernel of one line: what looks like it answers nothing.
    example = set(grams(asked(leaks.text_of(root / "common/harness/template/solution/LAB_ID.cu"))))
    answers = {
        lab: set(grams(wanted)) - set(grams(skeleton)) - example for lab, (skeleton, wanted) in read.items()
    }
    given = {
        f"{lab}/{name}": grams(body)
        for lab, (skeleton, _) in read.items()
        for name, body in functions(skeleton).items()
    }
    complaints = []
    for name, run in given.items():
        own, function = name.split("/")
        for lab, answer in answers.items():
            n = sum(gram in answer for gram in run)
            if lab not in (own, *ANSWERS.get(name, ())) and n >= max(LEAST, SHARE * len(run)):
                what = (
                    f"the given function {function} is an answer of {lab} ({n} of {len(run)} runs of tokens)"
                )
                complaints.append(f"labs/{own}: {what}")
    gone = [name.split("/") for name in ANSWERS if name not in given]
    return complaints + [f"labs/{lab} gives no function {name}" for lab, name in gone if lab in read]


def shown_by(labs: list[str]) -> dict[str, dict[str, list[str]]]:
    """{lab: {lab whose answer it shows: [functions]}}, without what is shown on purpose."""
    found: dict = {}
    for name, answered in ANSWERS.items():
        lab, function = name.split("/")
        for other in answered if lab in labs else ():
            if (lab, other) not in ON_PURPOSE:
                found.setdefault(lab, {}).setdefault(other, []).append(function)
    return found
