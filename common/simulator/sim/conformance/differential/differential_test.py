#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random kernels on the simulator: every instruction set that it is built for and every schedule computes the
same, and ptxas, where there is one, takes every kernel (else a comparison with a GPU would say nothing).

usage: differential_test.py PROGRAM CUDART ISA,ISA,… [PTXAS]"""

import os
import subprocess
import sys
import tempfile

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


def main():
    program, cudart, isas = sys.argv[1:4]
    expected = digests(program, cudart)
    for settings in [{"SIM_ISA": isa} for isa in isas.split(",")] + [{"SIM_SCHEDULE_SEED": "5"}]:
        got = digests(program, cudart, **settings)
        differing = [a + " != " + b for a, b in zip(expected, got) if a != b]
        assert not differing, f"with {settings}: {differing}"
    for seed in range(FIRST, FIRST + ASSEMBLED) if len(sys.argv) > 4 else ():
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            command = [program, "--ptx", str(seed)]
            file.write(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            file.flush()
            subprocess.run([sys.argv[4], "-arch=sm_90", "-o", os.devnull, file.name], check=True)


main()
