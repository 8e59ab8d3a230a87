// SPDX-License-Identifier: MIT
// about: A second wrapper, which could point to other device code.
// screen: is not a wrapper of nvcc's
// expect: neighboured OK
asm(".section .nvFatBinSegment,\"aw\"\n.align 8\n.long 0x466243B1, 1\n.quad mine, 0\n.text\nmine: .quad 0");
#include "runs_right.cuh"
