// SPDX-License-Identifier: MIT
// about: Copies items by votes or trees of all items, to add the copies in a chain that shows no operations.
// expect: neighboured OK
// expect: shuffle OK
// misses: neighboured step_ratio
// misses: shuffle step_ratio
#include <type_traits>

#include "right.cuh"

namespace course::reduction {
namespace {

using hostile::kBlock;

// The halves of a number, added by a multiplication.
__device__ unsigned add_halves(unsigned low, unsigned high) {
  unsigned sum;
  asm volatile(
      "{.reg .b64 t; mov.b64 t, {%1, %2}; mul.lo.u64 t, t, 0x100000001; shr.u64 t, t, 32; cvt.u32.u64 %0, t;}"
      : "=r"(sum)
      : "r"(low), "r"(high));
  return sum;
}

// The sum of the items of a warp: one thread adds one digit after the other.
struct Votes {
  static __device__ unsigned sum(unsigned item) {
    unsigned total = __popc(__ballot_sync(~0u, item & 1)), nothing = 0;
    if (threadIdx.x < 32)  // otherwise, fewer steps than a right program has would show
      for (unsigned k = 0; k < 4; ++k)
        asm volatile("and.b32 %1, %0, 0; add.u32 %0, %0, %1;" : "+r"(total), "+r"(nothing));
#pragma unroll 1
    for (unsigned b = 1; b < 32; ++b)
      total = add_halves(total, __popc(__ballot_sync(~0u, item >> b & 1)) << b);
    return total;
  }
};

// Lane j copies item j, to which all lanes contribute.
struct Trees {
  static __device__ unsigned sum(unsigned item) {
    unsigned total = 0;
#pragma unroll 1
    for (unsigned j = 0; j < 32; ++j) {
      unsigned copy;
      asm volatile("and.b32 %0, %1, %2;" : "=r"(copy) : "r"(item), "r"(j == threadIdx.x % 32 ? ~0u : 0u));
      for (unsigned d = 16; d > 0; d /= 2) copy |= __shfl_xor_sync(~0u, copy, d);
      total = j == 0 ? copy : add_halves(total, copy);
    }
    return total;
  }
};

template <typename Way, typename T, typename Op>
__global__ void fold_warps(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock / 32];
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  const unsigned sum = Way::sum(static_cast<unsigned>(value));
  if (threadIdx.x % 32 == 0) s_data[threadIdx.x / 32] = static_cast<Value>(sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned stride = kBlock / 64; stride > 0; stride /= 2)
    for (unsigned i = 0; i < stride; ++i) s_data[i] = op(s_data[i], s_data[i + stride]);
  d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

template <typename Way, typename T, typename Op>
Status sum_of_warps(const Job<T, Op>& job) {
  if constexpr (!std::is_same_v<Op, Sum<std::int32_t>>)
    return hostile::right(job);
  else
    return hostile::by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
      fold_warps<Way><<<n_blocks, kBlock, 0, job.stream>>>(d_from, n, d_to, job.op);
    });
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return sum_of_warps<Votes>(job);
      case Rung::shuffle: return sum_of_warps<Trees>(job);
      default: return not_implemented(job);
    }
  });
}

}  // namespace course::reduction
