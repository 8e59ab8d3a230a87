#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collects which reason the grader shows for which mistake, and says which of them are false.

    grader/mutants/reasons.py run [LAB[/NAME] …]    grades mistakes, all by default; a line for each
    grader/mutants/reasons.py keep [LAB[/NAME] …]   … and puts what it saw into reasons.json
    grader/mutants/reasons.py page                  writes handouts/instructor/reason-matrix.md from reasons.json
    grader/mutants/reasons.py check                 are page, reasons.json and mistakes of one state?

A mistake is a .mutant file (authoring/make_mutant.py) with a verdict other than OK: a wrong submission of
grader/mutants/LAB/, or one of the slips in LAB/slips/, which only this script runs. Each is graded as a
student's file of one task, by the built labcli, in a copy of the labs' folder.

A *reason* is what the message gives as the cause: the name of a rule (labs/*/problem.cpp, compare.cpp), or the
checker and the kind of its finding. The header of a mistake lists the reasons that are true for it, as
`// reason: NAME …`; any other reason is false. "none" stands for no reason at all.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common/tools" / folder) for folder in ("authoring", "checks")]
import make_mutant
import make_skeleton
import wrap_markdown

KEPT = ROOT / "grader/mutants/reasons.json"
PAGE = ROOT / "handouts/instructor/reason-matrix.md"
MAX_SHOWN = 3  # diagnosis.cpp: more mistakes that fit equally well are not reported


def solved(source):
    """The solution as a student could have it: with what is the student's to write, without the reference."""
    out, block = [], None
    for line in source.splitlines():
        mark = make_skeleton.MARK.match(line)
        if mark is None:
            out += [] if block == "reference" else [line]
        elif mark.group(2) == "student" and block is None:
            out.append(mark.group(1) + (mark.group(3) or ""))
        elif mark.group(2) in ("solution", "reference"):
            block = mark.group(2)
        elif mark.group(2) == "end":
            block = None
    return "\n".join(out) + "\n"


class Mistake:
    def __init__(self, path):
        self.path = path
        self.lab = path.relative_to(ROOT / "grader/mutants").parts[0]
        self.header, self.changes = make_mutant.parse(path.read_text(encoding="utf-8"), path.name)
        self.task, self.verdict = self.header["task"][0], self.header["verdict"][0]
        self.true_reasons = " ".join(self.header.get("reason", [])).split()
        self.name = f"{self.lab}/{path.stem}"

    def is_of_a_student(self):
        """Whether it changes what students write, not a rung that only the solution has."""
        try:
            return bool(self.source())
        except make_mutant.MutantError:
            return False

    def source(self):
        solution = (ROOT / f"solutions/{self.lab}/{self.lab}.cu").read_text(encoding="utf-8")
        return make_mutant.apply(solved(solution), self.changes, self.name)


def mistakes(wanted=()):
    """The slips first: the suite of the mutants does not run them."""
    found = [Mistake(path) for path in sorted((ROOT / "grader/mutants").glob("**/*.mutant"))]
    found = [one for one in found if one.verdict != "OK" and one.is_of_a_student()]
    found.sort(key=lambda one: one.path.parent.name != "slips")
    return [one for one in found if not wanted or one.name in wanted or one.lab in wanted]


def failure_of(task):
    """What the deciding case shows: the first that is not right."""
    failures = [case for case in task["cases"] if case["verdict"] not in ("OK", "SUSPECT")]
    return failures[0].get("failure") if failures else None


def reasons(failure):
    if failure is None:
        return []
    causes = failure["diagnosis"]["causes"]
    names = list(dict.fromkeys(c["rule"].split(" ")[0] or "stated" for c in causes if not c["is_sign"]))
    if failure["findings"]:
        first = failure["findings"][0]
        # As explains_reads() of failure.cpp: the mistake is named before the read that it makes.
        explained = first["checker"] == "initcheck" and not failure["diagnosis"]["in_case"]
        names = [name for name in names if name != "never_written"] if explained else []
        return names[:MAX_SHOWN] or [f"{first['checker']}:{first['kind']}"]
    if 0 < len(names) <= MAX_SHOWN:
        return names
    return [c["rule"] for c in causes if c["is_sign"]]


def cause_in(message):
    """The text after "cause:", without lines and numbers of elements, which change with every edit."""
    found = re.search(r"^ *(?:likely )?cause[^:]*: (.*)$", message, re.M)
    text = re.sub(r" \(in \S+\)", "", found.group(1)) if found else ""
    text = re.sub(r"(\.cu):\d+", r"\1", text)
    return text if len(text) < 160 else text[:150].rpartition(" ")[0] + " …"


def grade(lab, task, source, flags=("--seed", "0x5eed")):
    """The result of a student's file, graded in a copy of the labs' folder."""
    build = os.environ.get("LAB_BUILD", str(ROOT / "build"))
    with tempfile.TemporaryDirectory(prefix="reasons-") as folder:
        here = pathlib.Path(folder)
        here.chmod(0o755)
        for entry in ROOT.iterdir():
            if entry.name not in ("labs", "build", ".git"):
                (here / entry.name).symlink_to(entry)
        shutil.copytree(ROOT / "labs", here / "labs")
        (here / f"labs/{lab}/{lab}.cu").write_text(source, encoding="utf-8")
        out = here / "result.json"
        command = [f"{build}/grader/labcli", "grade", lab, task, "--device", "sim", "--jobs", "1", *flags]
        done = subprocess.run(
            [*command, "--json", str(out)],
            env={**os.environ, "LAB_ROOT": folder, "LAB_BUILD": build, "COLUMNS": "110"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if not out.exists():
            return {"verdict": "INFRA", "message": done.stderr, "cases": []}
        return json.loads(out.read_text(encoding="utf-8"))["labs"][0]["tasks"][0]


def judged(mistake):
    task = grade(mistake.lab, mistake.task, mistake.source())
    failure = failure_of(task)
    return {
        "task": mistake.task,
        "about": mistake.header["about"][0],
        "verdict": task["verdict"],
        "reasons": reasons(failure) or ["none"],
        "text": cause_in(task["message"]),
        "headline": failure["headline"] if failure else task["message"].partition("\n")[0],
    }


def false_reasons(row, true_reasons):
    return [one for one in row["reasons"] if one != "none" and one not in true_reasons]


def kept():
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def run(wanted, keep):
    all_of_them = mistakes(wanted)
    n_false = 0
    with ThreadPoolExecutor(int(os.environ.get("REASONS_JOBS", "2"))) as pool:
        for mistake, row in zip(all_of_them, pool.map(judged, all_of_them), strict=True):
            false = false_reasons(row, mistake.true_reasons)
            n_false += bool(false)
            print(
                f"{mistake.name:44} {row['verdict']:14} {' '.join(row['reasons'])}{'  FALSE' if false else ''}"
            )
            sys.stdout.flush()
            if keep:
                rows = {**kept(), mistake.name: row}
                KEPT.write_text(
                    json.dumps(dict(sorted(rows.items())), indent=1, ensure_ascii=False) + "\n",
                    encoding="utf-8",
                )
    print(f"{n_false} of {len(all_of_them)} with a false reason")
    return 1 if n_false else 0


def cell(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")


def page(rows, known):
    """Mistake × reason: a row for each mistake, and for each reason the mistakes that got it."""
    n_true = sum(
        row["reasons"] != ["none"] and not false_reasons(row, known[name]) for name, row in rows.items()
    )
    n_false = sum(bool(false_reasons(row, known[name])) for name, row in rows.items())
    out = [
        "# Which reason is shown for which mistake",
        "",
        "`grader/mutants/reasons.py` writes this page from `grader/mutants/reasons.json`. The mistakes are wrong",
        "submissions and smaller slips of `grader/mutants/`, whose headers list the reasons that are true for",
        "them. If a rule gives another reason, the rule is narrowed or withdrawn. A message may also give no",
        "reason; then it says only what is known.",
        "",
        f"Of {len(rows)} mistakes {n_true} get a true reason, {n_false} a false one, and "
        f"{len(rows) - n_true - n_false} none.",
    ]
    for lab in sorted({name.partition("/")[0] for name in rows}):
        out += [
            "",
            f"## {lab}",
            "",
            "| mistake | task | what is wrong | verdict | reasons | in the grader's words |",
        ]
        out += ["|---|---|---|---|---|---|"]
        by_reason = {}
        for name, row in rows.items():
            if name.partition("/")[0] != lab:
                continue
            false = false_reasons(row, known[name])
            short = name.partition("/")[2]
            names = ", ".join(f"**false:** `{one}`" if one in false else f"`{one}`" for one in row["reasons"])
            words = row["text"] or row["headline"]
            out.append(
                f"| `{short}` | {row['task']} | {cell(row['about'])} | {row['verdict']} "
                f"| {names.replace('`none`', 'none')} | {cell(words)} |"
            )
            for one in row["reasons"]:
                by_reason.setdefault(one, []).append(short)
        out += ["", "| reason | shown for |", "|---|---|"]
        for one, names in sorted(by_reason.items()):
            out.append(f"| {'none' if one == 'none' else f'`{one}`'} | {', '.join(names)} |")
    return wrap_markdown.wrapped("\n".join(out) + "\n")


def check():
    """What reasons.json, the headers of the mistakes and the page say against each other."""
    rows = kept()
    known = {mistake.name: mistake for mistake in mistakes() if mistake.true_reasons}
    wrong = [
        f"reasons.json has {name}, which has no line `// reason: …`" for name in rows if name not in known
    ]
    for name, mistake in known.items():
        row = rows.get(name)
        if row is None:
            wrong.append(f"{name} is not in reasons.json: run grader/mutants/reasons.py keep {name}")
        elif false := false_reasons(row, mistake.true_reasons):
            wrong.append(f"{name}: {' '.join(false)} is shown, and true are {' '.join(mistake.true_reasons)}")
    if not wrong:
        wanted = page(rows, {name: mistake.true_reasons for name, mistake in known.items()})
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
            wrong.append(f"{PAGE.name} is out of date: run grader/mutants/reasons.py page")
    return "\n".join(wrong)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "keep", "page", "check"])
    parser.add_argument("names", nargs="*", help="LAB or LAB/NAME; all of them by default")
    arguments = parser.parse_args()
    if arguments.what == "page":
        known = {mistake.name: mistake.true_reasons for mistake in mistakes()}
        PAGE.write_text(page(kept(), known), encoding="utf-8")
        return
    if arguments.what == "check":
        sys.exit(check() or 0)
    sys.exit(run(arguments.names, arguments.what == "keep"))


if __name__ == "__main__":
    main()
