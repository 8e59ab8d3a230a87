#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills what the texts quote: lines of a command's output, faulty kernels, wrong submissions, measured ceilings.

    handouts/quotes.py --labcli build/grader/labcli handouts/00-ideas.md
    handouts/quotes.py --check ...       # changes nothing; exit code 1 when one has drifted (by more than line numbers)

Between `<!-- quote: KIND ARGUMENTS -->` and `<!-- end quote -->` stands, by KIND:

    output COMMAND /REGEX/   the lines of `labcli COMMAND` in which REGEX occurs, each once; without /REGEX/ all of them
    kernel NAME              a kernel of common/sim/checkers/kernels/errata.cu and what the checkers must say of it
    mutant LAB/NAME          a wrong submission of grader/mutants/, as changes of the solution, and what the grader must say
    ceilings LAB             how fast the published run's device copied and read, by size

Tables that a command prints as Markdown are generated blocks: common/lab/tools/fill_blocks.py fills those.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- quote: (\w+) (.*?) -->\n)(.*?)(<!-- end quote -->)", re.S)


def without_places(text):
    """Line numbers of sources go their own ways: a quotation with another one has not drifted."""
    return re.sub(r"\s+\d+  (?=[A-Za-z_}(])", " # ", re.sub(r"\bline \d+", "line #", text))


def fenced(language, text):
    return f"```{language}\n{text.rstrip()}\n```\n"


def output(arguments, labcli):
    command, _, pattern = arguments.partition(" /")
    done = subprocess.run([labcli, *command.split()], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"labcli {command} failed:\n{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if re.search(pattern.removesuffix("/"), line)]
    lines = list(dict.fromkeys(lines))  # the head of a table is wanted once
    if not any(lines):
        sys.exit(f"labcli {command} prints no line like {pattern}")
    return fenced("", f"$ ./lab {command}\n" + "\n".join(lines))


def kernel(name, _labcli):
    text = (ROOT / "common/sim/checkers/kernels/errata.cu").read_text(encoding="utf-8")
    found = re.search(rf"^// EXPECT ([\w-]+)\n// LAUNCH ([^\n]*)\n(KERNEL\({name}\) {{\n.*?^}})", text, re.M | re.S)
    if found is None:
        sys.exit(f"errata.cu has no kernel {name}")
    finding, launch, code = found.groups()
    launch = launch.split()
    how = f"{launch[0]} block{'s' * (launch[0] != '1')} of {launch[1]}" + (f", n = {launch[3]}" if len(launch) > 3 else "")
    code = code.replace(f"KERNEL({name})", f"__global__ void {name}(const int* in, int* out, int n)").replace("  UNUSED;\n", "")
    code = re.sub(r"// FAULT OTHER|// FAULT|// OTHER", "// ← named", code)
    return fenced("cuda", code) + f"\nLaunched with {how}, the checkers must say `{finding}`, and name the marked line.\n"


def mutant(name, _labcli):
    text = (ROOT / f"grader/mutants/{name}.mutant").read_text(encoding="utf-8")
    said = dict(re.findall(r"^// (task|verdict|checker): (.*)$", text, re.M))
    says = re.findall(r"^// says: (.*)$", text, re.M)
    diff = []
    for place, old, new in re.findall(r"^//--- in (.*?)\n//--- replace\n(.*?)//--- with\n(.*?)//--- end", text, re.M | re.S):
        diff += [f"@@ {place} @@"] + [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    by = f", found by `{said['checker']}`" if "checker" in said else ""
    lab = name.split("/")[0]
    return (
        fenced("diff", "\n".join(diff))
        + f"\n`{name}`, graded as {lab}'s task `{said['task']}`, must get {said['verdict']}{by}, with the words "
        + ", ".join(f"“{words}”" for words in says)
        + ".\n"
    )


def ceilings(lab, _labcli):
    runs = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "handouts/results").glob("*.json"))]
    run = max(runs, key=lambda r: r["date"])
    measured = next(entry for entry in run["labs"] if entry["lab"] == lab)
    rows = [f"{measured['device']}, {run['date']}, in the run of {lab}. Medians of {measured['sizes'][0]['ceilings']['copy']['runs']} runs.", ""]
    rows += ["| bytes of the array | plain copy (read and write) | plain read |", "|--:|--:|--:|"]
    for size in measured["sizes"]:
        c = size["ceilings"]
        rate = {k: f"{c[k]['gb_per_s'] / 1000:.2f} TB/s" for k in ("copy", "read")}
        rows.append(f"| 2^{c['bytes'].bit_length() - 1} | {rate['copy']} | {rate['read']} |")
    return "\n".join(rows) + "\n"


KINDS = {f.__name__: f for f in (output, kernel, mutant, ceilings)}


def main():
    parser = argparse.ArgumentParser(description="Fills what the texts quote.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    drifted = []
    for path in arguments.texts:
        text = path.read_text(encoding="utf-8")
        if text.count("<!-- quote:") != len(BLOCK.findall(text)):
            sys.exit(f"{path}: a quotation has no end")
        wanted = BLOCK.sub(lambda m: m[1] + KINDS[m[2]](m[3], arguments.labcli) + m[5], text)
        if wanted == text or (arguments.check and without_places(wanted) == without_places(text)):
            continue
        if arguments.check:
            drifted.append(path)
        else:
            path.write_text(wanted, encoding="utf-8")
    if drifted:
        paths = " ".join(map(str, drifted))
        sys.exit(f"Quotations are out of date. Run\n  handouts/quotes.py --labcli {arguments.labcli} {paths}")


if __name__ == "__main__":
    main()
