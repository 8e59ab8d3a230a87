// SPDX-License-Identifier: MIT
// about: The warps of a block add to one word with a load and a store that are strong, but not one operation.
// expect: neighboured WRONG_ANSWER
// expect: sequential WRONG_ANSWER
// expect: shuffle WRONG_ANSWER
// expect: coarsened WRONG_ANSWER
#include <cuda/atomic>

#include "right.cuh"

namespace course::reduction::hostile {

// How a warp adds its result to the block's.
enum class Adds { by_volatile, by_atomic_ref, under_a_broken_lock, in_global_memory };

template <Adds kHow, typename T, typename Op>
__global__ void fold_blocks_by_words(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  constexpr auto kRelaxed = cuda::memory_order_relaxed;
  __shared__ Value s_sum;
  __shared__ volatile int s_locked;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  Value* const sum = kHow == Adds::in_global_memory ? d_out + blockIdx.x : &s_sum;
  if (threadIdx.x == 0) {
    *sum = op.identity();
    s_locked = 0;
  }
  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  for (unsigned offset = 16; offset > 0; offset /= 2) value = op(value, __shfl_xor_sync(~0u, value, offset));
  __syncthreads();
  if (lane == 0) {
    if constexpr (kHow == Adds::by_atomic_ref) {
      const cuda::atomic_ref<Value, cuda::thread_scope_block> total(*sum);
      total.store(op(total.load(kRelaxed), value), kRelaxed);
    } else {
      if constexpr (kHow == Adds::under_a_broken_lock) {
        while (s_locked != 0) continue;
        s_locked = 1;  // two warps may both have read 0
        __threadfence_block();
      }
      volatile Value& total = *sum;
      total = op(total, value);
      __threadfence_block();
      s_locked = 0;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(*sum) : *sum;
}

template <Adds kHow, typename T, typename Op>
Status lossy(const Job<T, Op>& job) {
  return by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
    fold_blocks_by_words<kHow><<<n_blocks, kBlock, 0, job.stream>>>(d_from, n, d_to, job.op);
  });
}

}  // namespace course::reduction::hostile

namespace course::reduction {

Status run(const lab::Request& request) {
  using hostile::Adds;
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return hostile::lossy<Adds::by_volatile>(job);
      case Rung::sequential: return hostile::lossy<Adds::by_atomic_ref>(job);
      case Rung::shuffle: return hostile::lossy<Adds::under_a_broken_lock>(job);
      case Rung::coarsened: return hostile::lossy<Adds::in_global_memory>(job);
      default: return hostile::right(job);
    }
  });
}

}  // namespace course::reduction
