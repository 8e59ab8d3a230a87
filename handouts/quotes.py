#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills what the texts quote: lines of a command's output, faulty kernels, wrong submissions, measured ceilings.

    handouts/quotes.py --labcli build/grader/labcli handouts/00-ideas.md
    handouts/quotes.py --check ...       # changes nothing; exit code 1 when one has drifted (by more than line numbers)

Between `<!-- quote: KIND ARGUMENTS -->` and `<!-- end quote -->` stands, by KIND:

    output COMMAND /REGEX/   the lines of `labcli COMMAND` in which REGEX occurs, each once; without /REGEX/ all of them
    kernel NAME              a kernel of common/sim/checkers/kernels/errata.cu and what the checkers must say of it
    mutant LAB/NAME          a wrong submission of grader/mutants/, as changes of the solution, and what the grader must say
    roof LAB                 the roofs of the simulated chip: its arithmetic from its preset, the memory as the published run measured it
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


def published(lab):
    """What the newest published run measured of a lab, and its date."""
    runs = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "handouts/results").glob("*.json"))]
    run = max(runs, key=lambda r: r["date"])
    return {**next(entry for entry in run["labs"] if entry["lab"] == lab), "date": run["date"]}


def ceilings(lab, _labcli):
    measured = published(lab)
    rows = [f"{measured['device']}, {measured['date']}, in the run of {lab}. Medians of {measured['sizes'][0]['ceilings']['copy']['runs']} runs.", ""]
    rows += ["| bytes of the array | plain copy (read and write) | plain read |", "|--:|--:|--:|"]
    for size in measured["sizes"]:
        c = size["ceilings"]
        rate = {k: f"{c[k]['gb_per_s'] / 1000:.2f} TB/s" for k in ("copy", "read")}
        rows.append(f"| 2^{c['bytes'].bit_length() - 1} | {rate['copy']} | {rate['read']} |")
    return "\n".join(rows) + "\n"


def roof(lab, _labcli):
    preset = (ROOT / "common/sim/device.hpp").read_text(encoding="utf-8")
    sms = int(re.search(r"int multiprocessors = (\d+);", preset)[1])
    ghz = float(re.search(r"double clock_ghz = ([\d.]+);", preset)[1])
    lanes = 64  # 32-bit integer additions a clock and multiprocessor: CUDA C++ Programming Guide, arithmetic throughput, 9.0
    additions = sms * lanes * ghz * 1e9
    sizes = published(lab)["sizes"]
    bytes_a_second = max(size["ceilings"]["copy"]["gb_per_s"] for size in sizes) * 1e9
    intensity = 0.25  # a sum of 4-byte items: an addition for each
    return f"""| roof | comes from | |
|---|---|--:|
| integer additions | {sms} multiprocessors · {lanes} lanes · {ghz} GHz | {additions / 1e12:.1f}·10¹² a second |
| memory | the fastest plain copy of the published run | {bytes_a_second / 1e12:.1f}·10¹² bytes a second |
| ridge | where the two meet | {additions / bytes_a_second:.1f} operations a byte |
| a sum of 4-byte items | {intensity} operations a byte × memory | {intensity * bytes_a_second / 1e12:.1f}·10¹² additions a second |
"""


KINDS = {f.__name__: f for f in (output, kernel, mutant, roof, ceilings)}


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
