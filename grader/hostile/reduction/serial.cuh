// SPDX-License-Identifier: MIT
// A right reduction whose chains are too long: one thread of each block combines its 256 items, one after the
// other. Before that, each item passes through `hide`, to make the grader forget where it comes from.
#pragma once

#include <cstring>
#include <type_traits>

#include "right.cuh"

namespace course::reduction::hostile {

template <typename Hide, typename T, typename Op>
__global__ void fold_in_one_thread(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  Value value = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  if constexpr (sizeof(Value) == 4) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    bits = Hide::hide(bits);
    std::memcpy(&value, &bits, 4);
  }
  s_data[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < kBlock; ++i) value = op(value, s_data[i]);
  d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(value) : value;
}

template <typename Hide, typename T, typename Op>
Status serial(const Job<T, Op>& job) {
  // Long chains of floats would be too inexact.
  if constexpr (!std::is_integral_v<typename Op::Value>) return right(job);
  return by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
    fold_in_one_thread<Hide><<<n_blocks, kBlock, 0, job.stream>>>(d_from, n, d_to, job.op);
  });
}

}  // namespace course::reduction::hostile
