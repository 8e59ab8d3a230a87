// SPDX-License-Identifier: MIT
// about: Passes items through shuffles by their own value, or carries, to hide a long chain of operations.
// expect: neighboured OK
// expect: shuffle OK
// misses: neighboured step_ratio
// misses: shuffle step_ratio
#include "serial.cuh"

namespace course::reduction {
namespace {

// Lane j, which has its item, passes it to the others, which have its number; in one register.
struct Shuffles {
  static __device__ unsigned hide(unsigned bits) {
    const unsigned lane = threadIdx.x % 32;
    unsigned out = 0;
    for (unsigned j = 0; j < 32; ++j) {
      unsigned moved = j;
      asm volatile(
          "{.reg .pred p, q; setp.eq.u32 p, %2, %3; setp.eq.u32 q, %2, %4; @p mov.u32 %0, %5; "
          "shfl.sync.idx.b32 %0, %0, %0, 31, -1; @q mov.u32 %1, %0;}"
          : "+r"(moved), "+r"(out)
          : "r"(lane), "r"(j), "r"((j + 1) % 32), "r"(bits));
    }
    return __shfl_sync(~0u, out, (lane + 1) % 32);
  }
};

struct Carries {
  static __device__ unsigned hide(unsigned bits) {
    unsigned out = 0;
    for (unsigned b = 0; b < 32; ++b)
      asm volatile(
          "{.reg .pred p; .reg .u32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; add.cc.u32 t, 0, 0; "
          "@p add.cc.u32 t, -1, 1; addc.u32 t, 0, 0; mad.lo.u32 %0, t, %2, %0;}"
          : "+r"(out)
          : "r"(bits), "r"(1u << b));
    return out;
  }
};

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return hostile::serial<Shuffles>(job);
      case Rung::shuffle: return hostile::serial<Carries>(job);
      default: return not_implemented(job);
    }
  });
}

}  // namespace course::reduction
