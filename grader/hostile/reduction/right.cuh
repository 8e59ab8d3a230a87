// SPDX-License-Identifier: MIT
// A simple right reduction, for hostile submissions with a right task: one tree per block of 256 items, level
// by level until one item is left.
#pragma once

#include "reduction/lab.hpp"

namespace course::reduction::hostile {

inline constexpr unsigned kBlock = 256;

template <typename T, typename Op>
__global__ void fold_blocks(const T* d_in, std::uint64_t n, typename Op::Value* d_out, Op op) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kBlock];
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  s_data[threadIdx.x] = gid < n ? static_cast<Value>(d_in[gid]) : op.identity();
  __syncthreads();
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) s_data[threadIdx.x] = op(s_data[threadIdx.x], s_data[threadIdx.x + stride]);
    __syncthreads();
  }
  if (threadIdx.x == 0) d_out[blockIdx.x] = gridDim.x == 1 ? op.finish(s_data[0]) : s_data[0];
}

// Calls launch(d_from, n, d_to, n_blocks) for each level until one item is left.
template <typename T, typename Op, typename Launch>
Status by_levels(const Job<T, Op>& job, const Launch& launch) {
  using Value = typename Op::Value;
  const auto blocks_for = [](std::uint64_t n) {
    return static_cast<unsigned>(n == 0 ? 1 : (n + kBlock - 1) / kBlock);
  };
  Value* d_to = job.d_scratch_a;
  Value* d_next = job.d_scratch_b;
  unsigned n_blocks = blocks_for(job.n);
  launch(job.d_in, job.n, n_blocks == 1 ? job.d_out : d_to, n_blocks);
  while (n_blocks > 1) {
    const unsigned n = n_blocks;
    n_blocks = blocks_for(n);
    launch(static_cast<const Value*>(d_to), n, n_blocks == 1 ? job.d_out : d_next, n_blocks);
    Value* const swap = d_to;
    d_to = d_next;
    d_next = swap;
  }
  return Status::ok;
}

template <typename T, typename Op>
Status right(const Job<T, Op>& job) {
  return by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
    fold_blocks<<<n_blocks, kBlock, 0, job.stream>>>(d_from, n, d_to, job.op);
  });
}

template <typename Value>
__global__ void put(Value* d_out, Value value) {
  *d_out = value;
}

}  // namespace course::reduction::hostile
