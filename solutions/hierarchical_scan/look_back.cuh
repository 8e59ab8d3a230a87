// SPDX-License-Identifier: MIT
// Rungs 6 and 7 of the hierarchical scan: two changes that make the look-back of rung 5 fast, one at a time.
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVR-2016-002).
#pragma once

#include "device/block_scan.cuh"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "hierarchical_scan/lab.hpp"

namespace course::hierarchical_scan {

// The ticket gets 256 bytes of its own, so that atomics on it do not disturb reads of the words that blocks
// poll.
inline constexpr unsigned kTicketWords = 32;

// Clears the ticket, and the tile statuses behind it with the given number of words. There is enough space: a
// tile has at least 2048 items, and d_flags has more than n / 64 words.
template <typename Op>
device::Word* cleared_words(const Job<Op>& job, std::uint64_t status_words) {
  auto* d_words = reinterpret_cast<device::Word*>(job.d_flags);
  device::clear_words(d_words, kTicketWords + status_words, job.stream);
  return d_words + kTicketWords;
}

// --- Rung 6: flag and value in one word.
// Changed from rung 5: only the storage of tile statuses (device::TileStatuses).
// Why: a step of rung 5's look-back was a load of the flag, a fence, and a load of the value. The two loads
// depend on each other, each is a round trip to the L2 cache, and __threadfence() waits for all of the
// thread's accesses. One word of 64 bits holds both and is read and written as a whole: one round trip per
// step, no fence. The 1,056 tiles that start together on an H200 finish in about √(2 · 1,056) ≈ 46 steps,
// because in step j the tiles that are j positions from a prefix find it.
// Predicted (one_word, against look_back, 2^24 items): 3×. Measured: 3.1× (H200, 2026-11-26).
// Drawback: one lane looks back; the other 31 are idle.

// Returns the total of all tiles left of tile `index`, whose own total is `total`. One thread of the block
// must call it.
template <typename Op>
__device__ typename Op::Value walk_back(const device::TileStatuses<typename Op::Value>& statuses,
                                        unsigned index, typename Op::Value total, Op op) {
  using Value = typename Op::Value;
  Value carry = op.identity();
  statuses.publish(index, index == 0 ? device::kPrefix : device::kTotal, total);
  if (index == 0) return carry;
  for (unsigned left = index; left-- > 0;) {
    device::Entry<Value> entry = statuses.read(left);
    while (entry.state == device::kEmpty) entry = statuses.read(left);
    carry = op(entry.value, carry);
    if (entry.state == device::kPrefix) break;
  }
  statuses.publish(index, device::kPrefix, op(carry, total));
  return carry;
}

// kByWarp: use rung 7's look-back in place of rung 6's.
template <unsigned kThreads, unsigned kRows, bool kByWarp, typename Value, typename Op>
__global__ void __launch_bounds__(kThreads)
    k06_one_word(const Value* d_in, std::uint64_t n, Value* d_out, unsigned* d_ticket,
                 device::TileStatuses<Value> statuses, Kind kind, Op op) {
  __shared__ unsigned s_tile;
  __shared__ Value s_warp[kThreads / device::kWarp], s_carry;
  const unsigned index = device::draw_tile(d_ticket, &s_tile);
  device::Tile<Value, kThreads, kRows> tile;
  device::TileScan<Op, kThreads, kRows> scan;
  device::load_tile(tile, d_in, n, index, op.identity());
  const Value total = scan.fold(tile, s_warp, op);
  if constexpr (kByWarp) {
    if (threadIdx.x == 0) statuses.publish(index, index == 0 ? device::kPrefix : device::kTotal, total);
    if (threadIdx.x < device::kWarp) {
      const Value carry = device::look_back(statuses, index, op);
      if (threadIdx.x == 0) {
        if (index > 0) statuses.publish(index, device::kPrefix, op(carry, total));
        s_carry = carry;
      }
    }
  } else {
    if (threadIdx.x == 0) s_carry = walk_back(statuses, index, total, op);
  }
  __syncthreads();  // the carry is stored before the others read it
  scan.finish(tile, s_carry, kind == Kind::inclusive, op);
  device::store_tile(tile, d_out, n, index);
}

template <unsigned kThreads, unsigned kRows, bool kByWarp, typename Op>
Status scan_by_look_back(const Job<Op>& job) {
  using Value = typename Op::Value;
  if (job.n == 0) return Status::ok;
  const std::uint64_t n_tiles = device::tiles_for(job.n, device::Tile<Value, kThreads, kRows>::kItems);
  const device::TileStatuses<Value> statuses{cleared_words(job, device::TileStatuses<Value>::words(n_tiles))};
  auto* d_ticket = reinterpret_cast<unsigned*>(job.d_flags);
  k06_one_word<kThreads, kRows, kByWarp><<<static_cast<unsigned>(n_tiles), kThreads, 0, job.stream>>>(
      job.d_in, job.n, job.d_out, d_ticket, statuses, job.kind, job.op);
  return Status::ok;
}

template <typename Op>
Status one_word(const Job<Op>& job) {
  return scan_by_look_back<256, 2, false>(job);
}

// --- Rung 7: a warp looks back, over larger tiles.
// Changed: 32 lanes read 32 tile statuses at once and reduce them with shuffles; a tile is 64 KB instead of
// 8.
// Why: a look-back takes two or three steps instead of 46, and there are 8 times fewer look-backs.
// Predicted (warp_look_back, against one_word, 2^28 items): 2.2×. Measured: 1.8× (H200, 2026-11-26).
// Drawback: a block still waits at its barrier for two or three round trips to the L2 cache, half of its
// time according to the profiler. The next block's loads start only after this block has ended.
template <typename Op>
Status warp_look_back(const Job<Op>& job) {
  return scan_by_look_back<512, 8, true>(job);
}

}  // namespace course::hierarchical_scan
