#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random kernels on the simulator: every instruction set that it is built for and every schedule computes the
same, and ptxas, where there is one, takes every kernel (else a comparison with a GPU would say nothing).
shrink.py finds what makes two devices differ.

usage: differential_test.py PROGRAM CUDART ISA,ISA,… [PTXAS]"""

import os
import pathlib
import subprocess
import sys
import tempfile

import shrink

FIRST, COUNT, ASSEMBLED = 1, 160, 10


def digests(program, cudart, **settings):
    environment = dict(os.environ, LD_LIBRARY_PATH=cudart, **settings)
    ran = subprocess.run([program, str(FIRST), str(COUNT)], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-500:] + ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == COUNT and len({line.split()[1] for line in lines}) == COUNT, (
        "each kernel has a digest of its own"
    )
    return lines


class Faulty(shrink.Machine):
    """A simulator that answers otherwise as long as a kernel has both of these."""

    NEEDS = ("madc.lo.cc.u32 %r9, %r7, %r6, %r7;", "cvt.rmi.ftz.sat.u8.f32 %to, %from;")

    def run(self, seed, path):
        text = path.read_text()
        return super().run(seed, path) + ("!" if all(x in text for x in self.NEEDS) else "")


def shrinks(program, cudart):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "k.ptx"
        right = shrink.Machine(program, cudart)
        assert shrink.shrink("600003", program, shrink.Machine(program, cudart), right, path) == []
        # A chain of carries stays whole: without its beginning its end would mean something else. So does a
        # group in braces.
        stays = shrink.shrink("600003", program, Faulty(program, cudart), right, path)
        assert stays == [
            "sub.cc.u32 %r3, %r10, %r8;",
            Faulty.NEEDS[0],
            "subc.u32 %r8, %r2, %r8;",
            "{ .reg .b32 %from; .reg .b32 %to; .reg .pred %is;",
            "xor.b32 %from, %r9, %zero32;",
            "@!%p5 " + Faulty.NEEDS[1],
            "@!%p5 xor.b32 %r2, %to, %zero32;",
            "}",
        ], stays


def main():
    program, cudart, isas = sys.argv[1:4]
    expected = digests(program, cudart)
    for settings in [{"SIM_ISA": isa} for isa in isas.split(",")] + [{"SIM_SCHEDULE_SEED": "5"}]:
        got = digests(program, cudart, **settings)
        differing = [a + " != " + b for a, b in zip(expected, got) if a != b]
        assert not differing, f"with {settings}: {differing}"
    shrinks(program, cudart)
    for seed in range(FIRST, FIRST + ASSEMBLED) if len(sys.argv) > 4 else ():
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(
                subprocess.run(
                    [program, "--ptx", str(seed)], check=True, capture_output=True, text=True
                ).stdout
            )
            file.flush()
            subprocess.run([sys.argv[4], "-arch=sm_90", "-o", os.devnull, file.name], check=True)


main()
