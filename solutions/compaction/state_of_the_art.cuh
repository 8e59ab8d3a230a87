// SPDX-License-Identifier: MIT
// Rung 7 of the compaction: tiles in waves, one tile ahead. Read: Selection (which items of a tile are kept,
// and their positions), store_aligned_run, the kernel. Predictions and measurements: 2^28 int32 items of
// which half are kept, on an H200.
#pragma once

#include "compaction/lab.hpp"
#include "device/launch.hpp"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "device/tuning.hpp"

namespace course::compaction {

struct SumOfCounts {
  using Value = Index;
  __device__ Index identity() const { return 0; }
  __device__ Index operator()(Index a, Index b) const { return a + b; }
};

// Which of the thread's items of a tile are kept, and how many kept items come before them in the tile. The
// counts of four rows share a word, one byte each: a row of 32 vectors keeps at most 128 items, so sums over
// a warp's lanes do not overflow.
template <typename T, unsigned kThreads, unsigned kRows>
struct Selection {
  using Items = device::Tile<T, kThreads, kRows>;
  static constexpr unsigned kPack = Items::kPack, kWords = kRows / 4;
  static_assert(kRows % 4 == 0 && kRows * kPack <= 32 && kPack * device::kWarp <= 255);

  unsigned kept;            // bit r * kPack + j: item j of the vector in row r
  unsigned below[kWords];   // in the row's vectors of lower lanes
  unsigned by_row[kWords];  // in the whole row
  unsigned before, total;   // in the warps before; in the whole tile

  // Every thread of the block must call it, with one word of shared memory per warp. It has one
  // barrier. Two calls with the same s_warp need another one between them.
  template <typename Keep>
  __device__ void select(const Items& tile, std::uint64_t index, std::uint64_t n, Keep keep,
                         unsigned* s_warp) {
    const unsigned lane = threadIdx.x % device::kWarp, warp = threadIdx.x / device::kWarp;
    const bool is_full = (index + 1) * Items::kItems <= n;
    kept = 0;
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
      for (unsigned j = 0; j < kPack; ++j) {
        if (keep(tile.row[r].item[j]) && (is_full || Items::first_item(index, r) + j < n))
          kept |= 1u << (r * kPack + j);
      }
    }
    unsigned mine[kWords], up_to_me[kWords];
#pragma unroll
    for (unsigned w = 0; w < kWords; ++w) {
      mine[w] = 0;
#pragma unroll
      for (unsigned r = 0; r < 4; ++r)
        mine[w] |= __popc(kept >> ((4 * w + r) * kPack) & ((1u << kPack) - 1)) << (8 * r);
      up_to_me[w] = mine[w];
    }
#pragma unroll
    for (unsigned offset = 1; offset < device::kWarp; offset *= 2) {
#pragma unroll
      for (unsigned w = 0; w < kWords; ++w) {
        const unsigned left = __shfl_up_sync(device::kFullMask, up_to_me[w], offset);
        if (lane >= offset) up_to_me[w] += left;
      }
    }
    unsigned n_warp = 0;
#pragma unroll
    for (unsigned w = 0; w < kWords; ++w) {
      below[w] = up_to_me[w] - mine[w];
      by_row[w] = __shfl_sync(device::kFullMask, up_to_me[w], device::kWarp - 1);
      n_warp += (by_row[w] & 255) + (by_row[w] >> 8 & 255) + (by_row[w] >> 16 & 255) + (by_row[w] >> 24);
    }
    if (lane == 0) s_warp[warp] = n_warp;
    __syncthreads();  // every warp's number is stored before the others read it
    before = total = 0;
#pragma unroll
    for (unsigned w = 0; w < kThreads / device::kWarp; ++w) {
      if (w < warp) before += s_warp[w];
      total += s_warp[w];
    }
  }

  // Moves the kept items to their ranks in the tile, next to each other, from s_run on.
  __device__ void compact(const Items& tile, T* s_run) const {
    unsigned row_begins = before;
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      unsigned rank = row_begins + (below[r / 4] >> (8 * (r % 4)) & 255);
#pragma unroll
      for (unsigned j = 0; j < kPack; ++j) {
        if ((kept >> (r * kPack + j) & 1) != 0) s_run[rank++] = tile.row[r].item[j];
      }
      row_begins += by_row[r / 4] >> (8 * (r % 4)) & 255;
    }
  }
};

// Number of items between d_items and the last multiple of 16 bytes that is not after it.
template <typename T>
__device__ unsigned items_past_a_pack(const T* d_items) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d_items) % 16 / sizeof(T));
}

// Stores a run of items, as vectors except at its ends. The whole block must call it. s_run and d_run have
// the same offset from a multiple of 16 bytes, so a vector in one is a vector in the other.
template <unsigned kThreads, typename T>
__device__ void store_aligned_run(const T* s_run, unsigned n_run, T* d_run) {
  using P = device::Pack<T>;
  unsigned n_head = (P::kItems - items_past_a_pack(d_run)) % P::kItems;
  if (n_head > n_run) n_head = n_run;
  const unsigned n_packs = (n_run - n_head) / P::kItems, tail = n_head + n_packs * P::kItems;
  if (threadIdx.x < n_head) d_run[threadIdx.x] = s_run[threadIdx.x];
  if (tail + threadIdx.x < n_run) d_run[tail + threadIdx.x] = s_run[tail + threadIdx.x];
  const auto* s_packs = reinterpret_cast<const P*>(s_run + n_head);
  auto* d_packs = reinterpret_cast<P*>(d_run + n_head);
  for (unsigned k = threadIdx.x; k < n_packs; k += kThreads) d_packs[k] = s_packs[k];
}

// --- Rung 7: tiles in waves, one tile ahead.
// Changed:
// - The grid has as many blocks as the device can run at once. Block b takes tile b of each wave of gridDim.x
//   tiles.
// - While tile k waits in shared memory, the block counts tile k + 1 and publishes the count. Then it
//   requests the counts before tile k, starts the loads of tile k + 2, and only then waits for the counts.
// - So the run's position is known before the run is built. It is built with the output's alignment and
//   stored as vectors without shifting.
// Why: in rung 6 the block waited while its first warp looked back, and it shifted every vector before
// storing it. Now the counts that a block needs were published one iteration earlier.
// Predicted: 90 % of the copy rate, 1.5n items at 4.1 TB/s: 436 µs.
// Measured (CUB in parentheses): 520 µs (610), 75 % of the copy rate; 48 µs (55) at 2^24; 16 µs (20) at 2^20.
// Requesting the counts before the next tile's items saves 49 µs (with tiles of 512 x 4), probably because
// loads that are issued first return first. Building the run with the output's alignment saves 105 µs in a
// stand-alone benchmark; there, streaming hints cost 118 µs.
// Why it is slower than predicted: in the benchmark, a version in which one warp requests all counts takes
// 463 µs with tiles of 512 x 4. With tiles of 256 x 8 that arrive by asynchronous copies it takes 429 µs:
// these allow a third tile in flight, for which this kernel has too few registers.
// Drawback: two neighbouring runs both write the sector in which they meet.
template <typename Tuning, typename T, typename Keep>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k07_state_of_the_art(const T* d_in, std::uint64_t n, T* d_out, Index* d_count,
                         device::WaveStatuses<Index, unsigned> statuses, Keep keep) {
  using Items = device::Tile<T, Tuning::kThreads, Tuning::kRows>;
  using Selected = Selection<T, Tuning::kThreads, Tuning::kRows>;
  constexpr unsigned kSlot = Tuning::kThreads * Tuning::kRows + 1;  // a run may begin inside its first vector
  extern __shared__ uint4 s_memory[];                               // two stored tiles
  auto* s_parked = reinterpret_cast<device::Pack<T>*>(s_memory);
  // One row per slot, because the next selection may start before all threads have read this one.
  __shared__ unsigned s_warp[2][Tuning::kThreads / device::kWarp];
  __shared__ device::WaveStatuses<Index, unsigned>::Shared<Tuning::kThreads> s_carry;

  const std::uint64_t n_tiles = n == 0 ? 1 : device::tiles_for(n, Items::kItems);
  Items items;  // loads in flight

  const auto send_for = [&](std::uint64_t tile) {
    if (tile < n_tiles) device::load_tile(items, d_in, n, tile, T{});
  };
  // Counts the tile whose loads are in flight, publishes the count, and stores the tile in shared memory.
  const auto take = [&](std::uint64_t tile, unsigned slot) {
    Selected ahead;
    ahead.select(items, tile, n, keep, s_warp[slot]);
    if (threadIdx.x == 0) statuses.publish_total(tile, ahead.total);
    device::park(items, s_parked + slot * kSlot);
    return ahead;
  };

  std::uint64_t tile = blockIdx.x;
  send_for(tile);
  Selected current = take(tile, 0);
  send_for(tile + gridDim.x);
  for (unsigned slot = 0;; slot = 1 - slot) {
    const std::uint64_t next = tile + gridDim.x;
    Selected ahead = current;
    if (next < n_tiles) ahead = take(next, 1 - slot);
    const auto question = statuses.template ask<Tuning::kThreads>(tile);
    send_for(next + gridDim.x);

    Items parked;
    device::unpark(parked, s_parked + slot * kSlot);
    const Index before = statuses.prefix_of(tile, current.total, question, s_carry, SumOfCounts{});
    // prefix_of has a barrier: every thread has read its items back before the run overwrites them.
    T* d_run = d_out + before;
    T* s_run = s_parked[slot * kSlot].item + items_past_a_pack(d_run);
    current.compact(parked, s_run);
    if (threadIdx.x == 0 && tile + 1 == n_tiles) *d_count = before + current.total;
    __syncthreads();  // the run is complete before any thread stores a part of it
    store_aligned_run<Tuning::kThreads>(s_run, current.total, d_run);

    if (next >= n_tiles) return;
    tile = next;
    current = ahead;
  }
}

template <typename Tuning, typename T, typename Keep>
Status compact_in_waves(const Job<T, Keep>& job) {
  using Words = device::WaveStatuses<Index, unsigned>;
  const std::uint64_t n_tiles =
      job.n == 0 ? 1 : device::tiles_for(job.n, device::Tile<T, Tuning::kThreads, Tuning::kRows>::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  auto* d_words = reinterpret_cast<device::Word*>(job.d_spare);
  device::clear_words(d_words, Words::words(n_tiles), job.stream);
  constexpr unsigned kParked = 2 * (Tuning::kThreads * Tuning::kRows + 1) * sizeof(uint4);
  device::launch_together<kParked>(k07_state_of_the_art<Tuning, T, Keep>, n_blocks, Tuning::kThreads,
                                   job.stream, job.d_in, job.n, job.d_out, job.d_count,
                                   Words(d_words, n_tiles), job.keep);
  return Status::ok;
}

template <typename T, typename Keep>
Status state_of_the_art(const Job<T, Keep>& job) {
  return device::with_tuning<device::CompactionInWaves>(
      [&]<typename Tuning>(Tuning) { return compact_in_waves<Tuning>(job); });
}

}  // namespace course::compaction
