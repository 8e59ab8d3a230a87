// SPDX-License-Identifier: MIT
// about: A second wrapper, which could point to other device code.
// screen: is not a wrapper of nvcc's
// expect: neighboured OK
asm(".section .nvFatBinSegment,\"aw\"\n.align 8\n.long 0x466243B1, 1\n.quad mine, 0\n.text\nmine: .quad 0");
#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
