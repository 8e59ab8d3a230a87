// SPDX-License-Identifier: MIT
// For kernels that read every item once, in any order: the threads of a grid share an array, 16 bytes at a
// time.
#pragma once

#include "device/tile.cuh"

namespace course::device {

// Calls f(item) for the calling thread's share of the grid's n items (one-dimensional grid and blocks), 16
// bytes of neighbouring items at a time. Works for any alignment. Each thread has two loads in flight.
template <typename Value, typename F>
__device__ void for_each_item(const Value* d_in, std::uint64_t n, F f) {
  using Items = Pack<Value>;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(d_in) % sizeof(Items) / sizeof(Value);
  std::uint64_t n_head = misaligned == 0 ? 0 : Items::kItems - misaligned;
  if (n_head > n) n_head = n;
  const std::uint64_t n_packs = (n - n_head) / Items::kItems;
  const Items* d_packs = reinterpret_cast<const Items*>(d_in + n_head);

  const auto each = [&](const Items& pack) {
#pragma unroll
    for (unsigned k = 0; k < Items::kItems; ++k) f(pack.item[k]);
  };
  std::uint64_t i = gid;
  for (; i + n_threads < n_packs; i += 2 * n_threads) {
    const Items one = d_packs[i], two = d_packs[i + n_threads];
    each(one);
    each(two);
  }
  if (i < n_packs) each(d_packs[i]);
  const std::uint64_t tail = n_head + n_packs * Items::kItems;
  if (gid < n_head) f(d_in[gid]);
  if (tail + gid < n) f(d_in[tail + gid]);
}

}  // namespace course::device
