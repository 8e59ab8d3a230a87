# SPDX-License-Identifier: MIT
"""What a student's process may take, read from the code that bounds it; for quotes.py:

limits all      a table of them
"""

import pathlib
import re
import sys

from worked import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is bounded, where its constant stands, and its unit in bytes; 0 for what is not bytes.
SANDBOX = "grader/sandbox/sandbox.hpp"
LIMITS = [
    (
        "the processor time of a case",
        "grader/compile/session_runner.hpp",
        r"kSecondsPerCase = (\d+);",
        0,
        "s",
    ),
    (
        "what a case may print",
        "common/harness/verifier/live_runner.cpp",
        r"kOutputLimit = ([^;]+);",
        20,
        "MiB",
    ),
    ("a file that it writes, in a `/tmp` of its own", SANDBOX, r"file_bytes = ([^;]+);", 20, "MiB"),
    ("memory", SANDBOX, r"memory_bytes = ([^;]+);", 30, "GiB"),
    ("threads and processes", SANDBOX, r"threads = (\d+);", 0, ""),
    ("your file", "grader/compile/build.hpp", r"kMaxSource = ([^;]+);", 20, "MiB"),
]


def constant(path: str, pattern: str) -> int:
    """A number, or a shift of two as C++ writes it: std::uint64_t{64} << 20, 4u << 20."""
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"))
    value = found and re.fullmatch(r"(?:std::uint64_t\{)?(\d+)[uU]?\}?(?: << (\d+))?", found[1])
    if not value:
        sys.exit(f"{path} has no constant like {pattern}")
    return int(value[1]) << int(value[2] or 0)


def limits(_arguments: str, _labcli: str) -> str:
    rows = [
        [what, f"{constant(path, pattern) >> shift} {unit}".strip()]
        for what, path, pattern, shift, unit in LIMITS
    ]
    return table(["limit", ""], rows, "lr")


KINDS = (limits,)
