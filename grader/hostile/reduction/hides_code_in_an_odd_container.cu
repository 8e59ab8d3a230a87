// SPDX-License-Identifier: MIT
// about: A container whose size is beyond the end, before the device code.
// screen: is cut off
// expect: neighboured POLICY device code that can't be read
asm(".section .nv_fatbin,\"a\"\n.align 8\n.long 0xBA55ED50\n.short 1, 16\n.quad 1 << 40\n.text");
#include "runs_right.cuh"
