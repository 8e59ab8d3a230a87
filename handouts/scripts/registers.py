#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Registers of the solutions' kernels, as ptxas allocates them, and for how many warps they are enough.

    handouts/scripts/registers.py            # compiles the solutions in LABS and writes results/registers/sm_90.json
    handouts/scripts/registers.py --check    # changes nothing; exit code 1 when the file is out of date

The table `registers LAB KERNELS` of quotes.py comes from this file.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from worked import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "handouts/results/registers/sm_90.json"
LABS = ["radix_sort"]
# CUDA C++ Programming Guide, technical specifications of compute capability 9.0: registers and warps of a
# multiprocessor, register allocation unit of a warp.
REGISTERS, WARPS, ALLOCATED = 65536, 64, 256


def compiled(lab: str, nvcc: list[str]) -> dict:
    """The registers and the largest block of each kernel of a solution, by name with template arguments."""
    with tempfile.TemporaryDirectory() as folder:
        include = [f"-I{ROOT / name}" for name in ("common", "common/harness", "labs", "solutions")]
        options = f"-std=c++20 -O2 -arch=sm_90 -cubin -Xptxas -v --keep --keep-dir={folder}".split()
        files: list = [ROOT / f"solutions/{lab}/{lab}.cu", "-o", pathlib.Path(folder) / "out.cubin"]
        done = subprocess.run([*nvcc, *options, *include, *files], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        (ptx,) = pathlib.Path(folder).glob("*.ptx")
        blocks = dict(
            re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)", ptx.read_text(encoding="utf-8"))
        )
    used = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", done.stderr, re.S)
    names = subprocess.run(
        ["c++filt"], input="\n".join(name for name, _ in used), capture_output=True, text=True, check=True
    )
    found = {}
    for (mangled, registers), name in zip(used, names.stdout.splitlines()):
        short = re.sub(
            r"\w+::", "", re.sub(r"^void |\(.*\)$", "", name.replace("(anonymous namespace)::", ""))
        )
        if mangled in blocks:
            found[short] = {"registers": int(registers), "threads": int(blocks[mangled])}
    return found


def resident_warps(kernel: dict) -> int:
    """For how many warps of whole blocks the registers are enough."""
    warps = kernel["threads"] // 32
    of_warp = -(-32 * kernel["registers"] // ALLOCATED) * ALLOCATED
    return min(REGISTERS // (warps * of_warp), WARPS // warps) * warps


# The words for template arguments, and for the kernels of which a lab compares all versions.
TYPES = {"unsigned int": "32-bit keys", "unsigned long": "64-bit keys"}
VALUES = {"NoValue": "", "unsigned int": " with values"}


def registers(arguments: str, _labcli: str) -> str:
    lab, *kernels = arguments.split()
    known = json.loads(FILE.read_text(encoding="utf-8"))
    rows: dict = {}
    for name, kernel in known["labs"][lab].items():
        base, types = re.fullmatch(r"(\w+)<(.*)>", name).groups() if "<" in name else (name, "")
        if base not in kernels:
            continue
        bits, value, *rest = types.split(", ")
        large = ", large tiles" if "true" in rest else ""
        rows.setdefault((TYPES[bits] + VALUES[value] + large, base, kernel["threads"]), []).append(kernel)

    def span(numbers: list[int]) -> str:
        low, high = min(numbers), max(numbers)
        return f"{low}" if low == high else f"{low} to {high}"

    lines = []
    for (keys, base, threads), versions in sorted(rows.items()):
        used, warps = [v["registers"] for v in versions], [resident_warps(v) for v in versions]
        lines.append([keys, f"`{base}`", threads, span(used), span(warps)])
    head = "keys | kernel | threads of a block | registers of a thread | warps for which the registers are enough"
    about = f"Registers per thread, from ptxas of CUDA {known['cuda']} for sm_90."
    return f"{about}\n\n{table(head, lines, 'llr')}"


KINDS = (registers,)


def main() -> None:
    parser = argparse.ArgumentParser(description="Records the registers of the solutions' kernels.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("nvcc", nargs="*", default=["nvcc"], help="the compiler's command, after --")
    arguments = parser.parse_args()
    command = [*arguments.nvcc, "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cuda = re.search(r"release ([\d.]+)", version)[1]
    made = {"cuda": cuda, "labs": {lab: compiled(lab, arguments.nvcc) for lab in LABS}}
    if not arguments.check:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    elif (known := json.loads(FILE.read_text(encoding="utf-8"))) != made and known["cuda"] == cuda:
        sys.exit(
            f"{FILE.relative_to(ROOT)} is out of date. Run handouts/scripts/registers.py, then handouts/scripts/quotes.py"
        )


if __name__ == "__main__":
    main()
