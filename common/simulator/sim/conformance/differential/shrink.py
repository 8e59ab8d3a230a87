#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shrinks random kernels whose outputs differ between a GPU and the simulator: leaves out instructions for as
long as they differ.

usage: shrink.py DIFFERENTIAL SIMULATOR_FOLDER SEED...

DIFFERENTIAL: the program (ninja -C build common/simulator/sim/differential); SIMULATOR_FOLDER: where our libcudart is
(build/common/simulator/cudart). Prints for each kernel its seed and the instructions that have to stay, in order;
"agrees" where the outputs are the same.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# What may go: it writes registers that hold a value from the beginning, and memory that does. Branches,
# barriers and what counts or addresses stay, so that each kernel ends, and reads what it wrote. A chain of
# carries goes as a whole.
REMOVABLE = re.compile(
    r"^  (@!?%p\d+ )?(?!st\.shared|st\.local|cp\.async|bra|bar|ret|call)[a-z][\w.:]* +[{(]?(%[hrwp]\d|\[)"
)
CARRIES = re.compile(r"^  (add|sub|mad)(c\b|[\w.]*\.cc\b)")

# What a function or a kernel does after all that: mixes its registers, or stores them.
LAST = ("  mov.b64 %u0, 0;", "  st.global.b64 [%out+0], %w0;")


class Machine:
    """A device that runs changed kernels, in a process of its own, which an error ends."""

    def __init__(self, program: str, libraries: str | None):
        self.program = program
        self.environment = dict(os.environ)
        if libraries:
            self.environment["LD_LIBRARY_PATH"] = libraries + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        self.process: subprocess.Popen | None = None

    def run(self, seed: str, path: pathlib.Path) -> str:
        if self.process is None:
            self.process = subprocess.Popen(
                [self.program, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self.environment,
            )
        try:
            self.process.stdin.write(f"{seed} {path}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline().strip()
        if not answer:
            self.process.wait()
            self.process = None
        return answer


def chunks_of(lines: list[str]) -> list[list[int]]:
    """What can go, together: a line, or all from a brace to its end. Not what fills registers at first, nor
    what stores them at last."""
    chunks: list[list[int]] = []
    inside = False  # the part of a function that its seed chose
    k = 0
    while k < len(lines):
        line = lines[k]
        if line.startswith((".func", ".visible")):
            inside = False
        elif "setp.ne.u32 %p5, %t0, 0" in line:
            inside = True
        elif line in LAST:
            inside = False
        elif inside and line.startswith("  { ."):
            end = lines.index("  }", k)
            if "atom.global" in "".join(lines[k:end]) and "b128" in lines[k]:
                end += 3  # what reads its result
            chunks.append(list(range(k, end + 1)))
            k = end
        elif inside and CARRIES.match(line):
            first = k
            while CARRIES.match(lines[k + 1]):
                k += 1
            chunks.append(list(range(first, k + 1)))
        elif inside and REMOVABLE.match(line):
            chunks.append([k])
        k += 1
    return chunks


def shrink(seed: str, program: str, gpu: Machine, simulator: Machine, path: pathlib.Path) -> list[str]:
    lines = subprocess.run(
        [program, "--ptx", seed], check=True, capture_output=True, text=True
    ).stdout.splitlines()

    def differ(without: set[int]) -> bool:
        path.write_text("\n".join(x for k, x in enumerate(lines) if k not in without) + "\n")
        there, here = gpu.run(seed, path), simulator.run(seed, path)
        if not without and not (there and here):
            sys.exit(
                f"shrink.py: {seed} does not run on the {'simulator' if there else 'GPU'}; try: differential --outputs {seed}"
            )
        return bool(there and here) and there != here

    gone: set[int] = set()
    if not differ(gone):
        return []
    left = chunks_of(lines)
    size = max(len(left) // 2, 1)
    while left:
        k, before = 0, len(left)
        while k < len(left):
            trial = {line for chunk in left[k : k + size] for line in chunk}
            if differ(gone | trial):
                gone |= trial
                del left[k : k + size]
            else:
                k += size
        if size == 1 and len(left) == before:
            break
        size = max(size // 2, 1)
    return [lines[k].strip() for chunk in left for k in chunk]


def main() -> None:
    program, folder, *seeds = sys.argv[1:]
    gpu, simulator = Machine(program, None), Machine(program, folder)
    with tempfile.TemporaryDirectory() as place:
        for seed in seeds:
            stays = shrink(seed, program, gpu, simulator, pathlib.Path(place) / "k.ptx")
            print(seed, " | ".join(stays) or "agrees", flush=True)


if __name__ == "__main__":
    main()
