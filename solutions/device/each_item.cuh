// SPDX-License-Identifier: MIT
// For kernels that read every item once, in any order: the threads of a grid share an array, 16 bytes at a
// time.
#pragma once

#include "device/tile.cuh"

namespace course::device {

// An array as vectors of 16 bytes. The first n_head items and those from `tail` on are in none of them,
// because they are not aligned or not 16 bytes.
template <typename Value>
struct InPacks {
  const Pack<Value>* d_packs;
  std::uint64_t n_packs, n_head, tail;
};
template <typename Value>
__device__ InPacks<Value> in_packs(const Value* d_in, std::uint64_t n) {
  constexpr unsigned kItems = Pack<Value>::kItems;
  const std::uint64_t misaligned =
      reinterpret_cast<std::uintptr_t>(d_in) % sizeof(Pack<Value>) / sizeof(Value);
  std::uint64_t n_head = misaligned == 0 ? 0 : kItems - misaligned;
  if (n_head > n) n_head = n;
  const std::uint64_t n_packs = (n - n_head) / kItems;
  return {reinterpret_cast<const Pack<Value>*>(d_in + n_head), n_packs, n_head, n_head + n_packs * kItems};
}

// Calls f(item) for the calling thread's share of the grid's n items (one-dimensional grid and blocks), 16
// bytes of neighbouring items at a time. Works for any alignment. Each thread has two loads in flight.
template <typename Value, typename F>
__device__ void for_each_item(const Value* d_in, std::uint64_t n, F f) {
  using Items = Pack<Value>;
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * blockDim.x;
  const InPacks<Value> in = in_packs(d_in, n);

  const auto each = [&](const Items& pack) {
#pragma unroll
    for (unsigned k = 0; k < Items::kItems; ++k) f(pack.item[k]);
  };
  std::uint64_t i = gid;
  for (; i + n_threads < in.n_packs; i += 2 * n_threads) {
    const Items one = in.d_packs[i], two = in.d_packs[i + n_threads];
    each(one);
    each(two);
  }
  if (i < in.n_packs) each(in.d_packs[i]);
  if (gid < in.n_head) f(d_in[gid]);
  if (in.tail + gid < n) f(d_in[in.tail + gid]);
}

}  // namespace course::device
