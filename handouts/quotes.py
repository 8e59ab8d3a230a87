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
    tops LABS                the labs' fastest rungs in the published run, beside the library and the memory's rate
    backwards LABS           the rungs that were slower there than the one below, at the largest size
    comment FILE RUNG        what the solution's comment says above a rung

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


def time_of(microseconds):
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def tops(labs, _labcli):
    """A row for each table of the published run that holds a lab's top rung and one of a library."""
    device = published(labs.split()[0])
    rows = [f"{device['device']}, {device['date']}: median times of {device['sizes'][0]['ceilings']['copy']['runs']} runs.", ""]
    rows += ["| lab, case | items | top rung | library | times as fast | of the memory's rate |", "|---|--:|--:|--:|--:|--:|"]
    for lab in labs.split():
        for size in published(lab)["sizes"]:
            for table in size["tables"]:
                top = [r for r in table["rows"] if r["name"] == "state_of_the_art"]
                peer = [r for r in table["rows"] if r["kind"] == "peer"]
                if not top or not peer:
                    continue
                # As `./lab bench` does it: what is hardly written is compared with reading.
                ceiling = size["ceilings"]["read" if table["ideal_bytes"] < 1.25 * size["ceilings"]["bytes"] else "copy"]
                case = re.sub(r"_n\d+|_bench\d+", "", table["case"])
                times = top[0]["median_us"], peer[0]["median_us"]
                rows.append(
                    f"| {lab} `{case}` | 2^{size['n'].bit_length() - 1} | {time_of(times[0])} | {time_of(times[1])} "
                    f"| {times[1] / times[0]:.2f} | {100 * top[0]['gb_per_s'] / ceiling['gb_per_s']:.0f} % |"
                )
    return "\n".join(rows) + "\n"


def backwards(labs, labcli):
    known = json.loads(subprocess.run([labcli, "list", "--json"], check=True, capture_output=True, text=True).stdout)["labs"]
    rows = ["| lab, case | items | rung | slower than the one below it |", "|---|--:|---|---|"]
    for lab in labs.split():
        # The solution's files, read from the top, are the ladder from the bottom.
        folder = ROOT / "solutions" / lab
        text = "".join(p.read_text(encoding="utf-8") for p in [folder / f"{lab}.cu", *sorted(folder.glob("*.cuh"))])
        ids = [r["id"] for entry in known if entry["id"] == lab for r in entry["tasks"] + entry["further_rungs"]]
        order = sorted(ids, key=lambda name: re.search(rf"^Status {name}\(|\bRung::{name}\b", text, re.M).start())
        size = published(lab)["sizes"][-1]
        for table in size["tables"]:
            case = re.sub(r"_n\d+|_bench\d+", "", table["case"])
            rungs = sorted((r for r in table["rows"] if r["kind"] == "rung"), key=lambda r: order.index(r["name"]))
            for below, rung in zip(rungs, rungs[1:]):
                if rung["median_us"] > below["median_us"]:
                    rows.append(
                        f"| {lab} `{case}` | 2^{size['n'].bit_length() - 1} | `{rung['name']}`, {time_of(rung['median_us'])} "
                        f"| `{below['name']}`, {time_of(below['median_us'])} |"
                    )
    return "\n".join(rows) + "\n"


def comment(arguments, _labcli):
    name, rung = arguments.split()
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(f"// --- Rung {rung}:")), None)
    if first is None:
        sys.exit(f"{name} has no rung {rung}")
    said = []
    for line in lines[first:]:
        if not line.startswith("//"):
            break
        said.append(line.removeprefix("//").removeprefix(" "))
    return fenced("text", "\n".join(said))


KINDS = {f.__name__: f for f in (output, kernel, mutant, roof, ceilings, tops, backwards, comment)}


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
