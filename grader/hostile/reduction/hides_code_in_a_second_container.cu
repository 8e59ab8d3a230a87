// SPDX-License-Identifier: MIT
// about: An empty container before the device code, so that this is the second one.
// screen: 2 fat binaries
// expect: neighboured OK
asm(".section .nv_fatbin,\"a\"\n.align 8\n.long 0xBA55ED50\n.short 1, 16\n.quad 0\n.text");
#include "runs_right.cuh"
