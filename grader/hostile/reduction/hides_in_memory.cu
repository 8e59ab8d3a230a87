// SPDX-License-Identifier: MIT
// about: Passes items through half of a wider word, or through a table, to hide a long chain of operations.
// expect: neighboured OK
// expect: shuffle OK
// misses: neighboured step_ratio
// misses: shuffle step_ratio
#include "serial.cuh"

namespace course::reduction {
namespace {
__device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

struct Halves {
  static __device__ unsigned hide(unsigned bits) {
    __shared__ unsigned long long s_pairs[hostile::kBlock];
    s_pairs[threadIdx.x] = static_cast<unsigned long long>(bits) << 32;
    unsigned out;
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(out)
                 : "r"(shared_address(&s_pairs[threadIdx.x]) + 4)
                 : "memory");
    return out;
  }
};

struct Tables {
  static __device__ unsigned hide(unsigned bits) {
    __shared__ unsigned s_table[256];
    s_table[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned out = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
      out |= static_cast<volatile unsigned*>(s_table)[bits >> shift & 255] << shift;
    return out;
  }
};
}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return hostile::serial<Halves>(job);
      case Rung::shuffle: return hostile::serial<Tables>(job);
      default: return not_implemented(job);
    }
  });
}

}  // namespace course::reduction
