// SPDX-License-Identifier: MIT
// about: A second section of device code, with other flags.
// screen: several sections
// expect: neighboured POLICY device code that can't be read
asm(".section .nv_fatbin,\"aG\",@progbits,mine,comdat\n.align 8\n.quad 0\n.text");
#include "runs_right.cuh"
