# SPDX-License-Identifier: MIT
"""Generated pages of the course site: the commands, from the program's own help; the interfaces, from the
headers."""

import re
import subprocess

# What stands in which order in the interfaces' page: title, headers.
INTERFACES = [
    (
        "For labs",
        [
            "common/harness/lab/request.hpp",
            "common/harness/lab/manifest.hpp",
            "common/harness/lab/problem.hpp",
            "common/harness/lab/operators.hpp",
            "common/harness/lab/items.hpp",
        ],
    ),
    (
        "For tests",
        [
            "common/harness/testing/tried.hpp",
            "common/harness/testing/counted.hpp",
            "common/harness/testing/traced.hpp",
        ],
    ),
    (
        "Judging",
        [
            "common/harness/verifier/session.hpp",
            "common/harness/verifier/judge.hpp",
            "common/harness/lab/compare.hpp",
        ],
    ),
    (
        "The simulator",
        [
            "common/simulator/sim/device.hpp",
            "common/simulator/sim/counters.hpp",
            "common/simulator/sim/finding.hpp",
            "common/simulator/sim/observation/trace.hpp",
            "common/simulator/cudart/sim_control.h",
        ],
    ),
    (
        "Reports",
        ["grader/page/page.hpp", "grader/page/table.hpp", "grader/page/chart.hpp", "grader/trace/tables.hpp"],
    ),
]


def help_of(labcli, *command):
    return subprocess.run([labcli, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands(root, labcli):
    """The reference of ./lab, as the programs themselves tell it."""
    whole = help_of(labcli)
    names = [
        line.split()[0]
        for line in re.split(r"(?im)^sub ?commands:\n", whole, maxsplit=1)[1].splitlines()
        if re.match(r"  [a-z]", line)
    ]
    listed = subprocess.run(
        [root / "lab", "help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "LAB_BUILD": "/nowhere"},
    ).stdout
    out = ["# Commands", "", "What `./lab` can do, in its own words.", "", "```", listed.rstrip(), "```", ""]
    for name in names:
        out += [
            f"## ./lab {name}",
            "",
            "```",
            help_of(labcli, name).rstrip().replace(labcli.name + " ", "./lab "),
            "```",
            "",
        ]
    return "\n".join(out)


def blocks(text):
    """The comment and the declaration of everything in a header that has both, at the outermost level or in a
    class."""
    lines = text.splitlines()
    k = 0
    while k < len(lines):
        if not re.match(r" {0,2}// ?\S", lines[k]) or re.match(
            r" *// (---|clang-format|NOLINT|SPDX)", lines[k]
        ):
            k += 1
            continue
        comment = []
        indent = len(lines[k]) - len(lines[k].lstrip())
        while k < len(lines) and re.match(rf" {{{indent}}}//", lines[k]):
            comment.append(lines[k].strip().removeprefix("//").removeprefix(" "))
            k += 1
        code = []
        depth = 0
        while (
            k < len(lines)
            and lines[k].strip()
            and not lines[k].strip().startswith(("//", "#", "namespace", "}"))
        ):
            code.append(lines[k][indent:])
            depth += lines[k].count("(") - lines[k].count(")")
            ends = depth <= 0 and (
                lines[k].rstrip().endswith((";", "{", "}", ",")) or re.search(r"[;{}],?\s*(//.*)?$", lines[k])
            )
            k += 1
            if ends:
                break
        if code:
            yield " ".join(comment), "\n".join(code).rstrip().removesuffix("{").rstrip()


def interfaces(root, labs):
    out = [
        "# Interfaces",
        "",
        "From the headers' own comments; what a student's file gets is in the lab's own header.",
        "",
    ]
    groups = [("Labs", [f"labs/{lab}/lab.hpp" for lab in labs]), *INTERFACES]
    for title, headers in groups:
        out += [f"## {title}", ""]
        for header in headers:
            text = (root / header).read_text(encoding="utf-8")
            top = re.match(r"(?:#pragma once\n|\s)*((?://[^\n]*\n)+)", text)
            intro = [line.removeprefix("//").strip() for line in top[1].splitlines()[1:]] if top else []
            out += [f"### {header}", "", escape(" ".join(intro)), ""]
            for comment, code in blocks(text[top.end() if top else 0 :]):
                out += ["```cpp", code, "```", "", escape(comment), ""]
    return "\n".join(out)


def escape(text):
    """Prose of a comment as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}<>\[\]#|])", r"\\\1", text)
