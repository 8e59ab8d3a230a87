// SPDX-License-Identifier: MIT
// Reduction and scan over a warp and over a tile (device/tile.cuh), for any associative operator: Op::Value,
// op(a, b), op.identity(). Operands keep their order.
// Read: warp_scan, warp_fold, TileScan.
#pragma once

#include <cstring>

#include "device/tile.cuh"

namespace course::device {

// Shuffles for values of any type whose size is a multiple of 4, word by word. All 32 lanes must call them.
template <typename Value, typename Shuffle>
__device__ Value shuffle_words(Value value, Shuffle shuffle) {
  static_assert(sizeof(Value) % sizeof(unsigned) == 0);
  unsigned words[sizeof(Value) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = shuffle(word);
  memcpy(&value, words, sizeof value);
  return value;
}
// The value of the lane `delta` below; the lowest `delta` lanes get their own value.
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned delta) {
  return shuffle_words(value, [=](unsigned word) { return __shfl_up_sync(kFullMask, word, delta); });
}
// The value of the lane `delta` above; the highest `delta` lanes get their own value.
template <typename Value>
__device__ Value shuffle_down(Value value, unsigned delta) {
  return shuffle_words(value, [=](unsigned word) { return __shfl_down_sync(kFullMask, word, delta); });
}
// The value of lane `source`.
template <typename Value>
__device__ Value shuffle_from(Value value, unsigned source) {
  return shuffle_words(value, [=](unsigned word) { return __shfl_sync(kFullMask, word, source); });
}

// Inclusive scan of a warp's 32 values, in 5 steps. All 32 lanes must call it.
template <typename Op>
__device__ typename Op::Value warp_scan(typename Op::Value value, Op op) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const typename Op::Value left = shuffle_up(value, offset);
    if (lane >= offset) value = op(left, value);
  }
  return value;
}

// Reduces a warp's 32 values, with lane 0's leftmost; valid in lane 0. All 32 lanes must call it. 5 steps.
template <typename Op>
__device__ typename Op::Value warp_fold(typename Op::Value value, Op op) {
#pragma unroll
  for (unsigned offset = 1; offset < kWarp; offset *= 2) value = op(value, shuffle_down(value, offset));
  return value;
}

// Scan of a tile in two halves. Between them the block gets the total of everything left of the tile.
template <typename Op, unsigned kThreads, unsigned kRows>
struct TileScan {
  using Value = typename Op::Value;
  using Items = Tile<Value, kThreads, kRows>;
  static constexpr unsigned kWarps = kThreads / kWarp;

  Value before[kRows];  // the total of the tile's items left of the thread's vector in that row

  // First half: fills `before` and returns the total of the whole tile, in every thread. Every thread of the
  // block must call it, with kWarps Values of shared memory. It has one barrier. Two calls with the same
  // s_warp need another one between them.
  __device__ Value fold(const Items& tile, Value* s_warp, Op op) {
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    Value through[kRows];  // the rows' scans are independent of each other, so their shuffles overlap
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      through[r] = tile.row[r].item[0];
#pragma unroll
      for (unsigned j = 1; j < Items::kPack; ++j) through[r] = op(through[r], tile.row[r].item[j]);
    }
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) through[r] = warp_scan(through[r], op);

    Value warp_total = op.identity();
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      const Value left = shuffle_up(through[r], 1);
      before[r] = lane == 0 ? warp_total : op(warp_total, left);
      warp_total = op(warp_total, shuffle_from(through[r], kWarp - 1));
    }
    if (lane == 0) s_warp[warp] = warp_total;
    __syncthreads();  // every warp's total is stored before the others read it

    Value total = op.identity(), left_of_warp = op.identity();
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w == warp) left_of_warp = total;
      total = op(total, s_warp[w]);
    }
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) before[r] = op(left_of_warp, before[r]);
    return total;
  }

  // Second half: turns the thread's items into their prefixes, inclusive or exclusive. `carry` is the tile's
  // exclusive prefix: the total of everything left of the tile.
  __device__ void finish(Items& tile, Value carry, bool inclusive, Op op) const {
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      Value prefix = op(carry, before[r]);
#pragma unroll
      for (unsigned j = 0; j < Items::kPack; ++j) {
        const Value next = op(prefix, tile.row[r].item[j]);
        tile.row[r].item[j] = inclusive ? next : prefix;
        prefix = next;
      }
    }
  }
};

}  // namespace course::device
