#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares api.md with what a built library and the sources have; with --write writes it.

usage: api_list_test.py LIBCUDART [--write]
"""

import re
import subprocess
import sys
from pathlib import Path

CUDART = Path(__file__).resolve().parent.parent
DECODE, OPS = CUDART.parent / "sim/decode", CUDART.parent / "sim/ops"
# PTX ISA 9.0, chapter 9.7, but for directives.
ISA = """abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev
brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div
dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu
lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem
nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set
setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld
suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4
vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl
vshr vsub vsub2 vsub4 wgmma wmma xor""".split()


def text_of(*files: Path) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def calls() -> dict[str, list[str]]:
    """The runtime's functions, without the twins for per-thread streams, by how much of them there is."""
    # Those with a definition, instead of a stub, which is a weak symbol.
    symbols = subprocess.run(["nm", "-D", sys.argv[1]], check=True, capture_output=True, text=True).stdout
    defined = set(re.findall(r" T (cuda\w+)", symbols))
    code = text_of(*CUDART.glob("api/*.cpp"), CUDART / "abi/abi13.cpp")
    bodies = re.findall(r"CUDART_API (?:TWIN(?:_SYNC)?\()?(cuda\w+)\)?\((.*?)^\}", code, re.M | re.S)
    defined -= {name for name, body in bodies if "Status(cudaErrorNotSupported" in body}
    partly = {name for name, body in bodies if "cudaErrorNotSupported" in body}
    lines = (CUDART / "abi/symbols13.txt").read_text(encoding="ascii").splitlines()
    names = [n for n in lines if re.fullmatch(r"cuda[A-Z]\w+", n) and not n.endswith(("_ptsz", "_ptds"))]
    return {
        "supported": [name for name in names if name in defined - partly],
        "partly": [name for name in names if name in defined & partly],
        "not supported": [name for name in names if name not in defined],
    }


def instructions() -> dict[str, list[str]]:
    code = re.sub(r'has\("[^"]*"', "", text_of(*DECODE.glob("*.cpp"), *OPS.glob("*_rows.cpp")))
    words = {re.split(r"\W", text)[0] for text in re.findall(r'"([a-z][\w.:]*)', code)}
    return {"supported": [i for i in ISA if i in words], "not supported": [i for i in ISA if i not in words]}


def page() -> str:
    parts = [
        "# What the simulator has of CUDA and PTX",
        "`cudart/abi/api_list_test.py` writes this page (with --write). *Partly*: with some arguments, "
        "the call fails with cudaErrorNotSupported. A program that executes an instruction that is not supported "
        "ends with 86 and its name; with SIM_CHECK=1, so does one that makes such a call.",
    ]
    for title, found in (("CUDA runtime 13.0", calls()), ("PTX ISA 9.0", instructions())):
        parts.append(f"## {title}")
        parts += [
            f"**{kind}** ({len(names)}): {', '.join(f'`{n}`' for n in names)}"
            for kind, names in found.items()
            if names
        ]
    return "\n\n".join(parts) + "\n"


target = CUDART / "api.md"
if "--write" in sys.argv:
    target.write_text(page(), encoding="utf-8")
elif target.read_text(encoding="utf-8").split() != page().split():  # ./lab format wraps it
    sys.exit(f"{target} is out of date: run this test with --write")
