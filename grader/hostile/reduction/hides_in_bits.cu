// SPDX-License-Identifier: MIT
// about: Copies each item bit by bit, through guards and ballots, to hide a long chain of operations.
// expect: neighboured OK
// expect: shuffle OK
// misses: neighboured step_ratio
// misses: shuffle step_ratio
#include "serial.cuh"

namespace course::reduction {
namespace {
struct Guards {
  static __device__ unsigned hide(unsigned bits) {
    unsigned out = 0;
#pragma unroll
    for (unsigned mask = 1; mask != 0; mask <<= 1)
      asm volatile(
          "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; "
          "@p or.b32 %0, %0, %2;}"
          : "+r"(out)
          : "r"(bits), "r"(mask));
    return out;
  }
};

struct Ballots {
  static __device__ unsigned hide(unsigned bits) {
    unsigned out = 0;
    for (unsigned b = 0; b < 32; ++b)
      out |= (__ballot_sync(~0u, bits >> b & 1) >> (threadIdx.x % 32) & 1) << b;
    return out;
  }
};
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return hostile::serial<Guards>(job);
      case Rung::shuffle: return hostile::serial<Ballots>(job);
      default: return not_implemented(job);
    }
  });
}

}  // namespace course::reduction
