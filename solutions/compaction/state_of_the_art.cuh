// SPDX-License-Identifier: MIT
// Rung 6 of the compaction: a ring of tiles, in waves. Read: compact_in_warp, the kernel. Predictions and
// measurements: 2^28 int32 items of which half are kept, on an H200.
#pragma once

#include "compaction/lab.hpp"
#include "device/launch.hpp"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "device/tuning.hpp"

namespace course::compaction {

struct SumOfCounts {
  using Value = unsigned;
  __device__ unsigned identity() const { return 0; }
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

// Moves the kept ones of a warp's items of tile number `index` to the front of s_run, the warp's part of the
// parked tile, in their order. Returns their number, in every lane. All 32 lanes must call it, with
// their own vectors, which each lane has read before any lane overwrites them.
// The counts of four rows share a word, one byte each: a row of 32 vectors keeps at most 128 items, so sums
// over a warp's lanes do not overflow, and one scan of words is four scans.
template <typename T, unsigned kThreads, unsigned kRows, typename Keep>
__device__ unsigned compact_in_warp(const device::Tile<T, kThreads, kRows>& tile, std::uint64_t index,
                                    std::uint64_t n, Keep keep, T* s_run) {
  using Items = device::Tile<T, kThreads, kRows>;
  constexpr unsigned kPack = Items::kPack, kWords = (kRows + 3) / 4;
  static_assert(kRows * kPack <= 32 && kPack * device::kWarp <= 255);
  const unsigned lane = threadIdx.x % device::kWarp;
  const bool is_full = (index + 1) * Items::kItems <= n;

  unsigned kept = 0;  // bit r * kPack + j: item j of the vector in row r
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
    for (unsigned j = 0; j < kPack; ++j) {
      if (keep(tile.row[r].item[j]) && (is_full || Items::first_item(index, r) + j < n))
        kept |= 1u << (r * kPack + j);
    }
  }
  unsigned mine[kWords] = {}, up_to_me[kWords];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r)
    mine[r / 4] |= __popc(kept >> (r * kPack) & ((1u << kPack) - 1)) << (8 * (r % 4));
#pragma unroll
  for (unsigned w = 0; w < kWords; ++w) up_to_me[w] = mine[w];
#pragma unroll
  for (unsigned offset = 1; offset < device::kWarp; offset *= 2) {
#pragma unroll
    for (unsigned w = 0; w < kWords; ++w) {
      const unsigned left = __shfl_up_sync(device::kFullMask, up_to_me[w], offset);
      if (lane >= offset) up_to_me[w] += left;
    }
  }
  __syncwarp();  // every lane has its items in registers before any lane overwrites them
  unsigned row_begins = 0;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const unsigned shift = 8 * (r % 4);
    unsigned rank = row_begins + ((up_to_me[r / 4] - mine[r / 4]) >> shift & 255);
#pragma unroll
    for (unsigned j = 0; j < kPack; ++j) {
      if ((kept >> (r * kPack + j) & 1) != 0) s_run[rank++] = tile.row[r].item[j];
    }
    row_begins += __shfl_sync(device::kFullMask, up_to_me[r / 4], device::kWarp - 1) >> shift & 255;
  }
  return row_begins;
}

// --- Rung 6: a ring of tiles, in waves.
// Changed:
// - The grid has as many blocks as the device can run at once. Block b takes the tiles b, b + gridDim.x, …
//   Its shared memory is a ring of tiles, into which the next ones arrive by asynchronous copies, which need
//   no registers.
// - When a tile has arrived, each warp moves its kept items to the front of its own part of the tile, and the
//   block publishes their number. kLag steps later it knows how many items are kept before the tile, and each
//   warp stores its items from there.
// - No tile waits for another tile's prefix: a block adds up the counts of the tiles since its tile before.
// - No launch clears the words for the counts (device/look_back.cuh); a memset took longer than the exchange.
// - One barrier per tile.
// Why: rung 5's blocks wait while their first warp looks back, and have no loads in flight while they count,
// compact and store.
// Predicted (state_of_the_art, 2^28 items): 436 µs, 90 % of the copy rate. Measured: 421.5 µs (H200,
//   2026-11-26).
// Steps on the way, each of them faster than the one before:
// - two tiles of 32 KB per block, the next one in registers, and carries that passed from wave to wave: the
//   last block of a wave published its prefix only after it had that of the wave before it;
// - totals alone;
// - asynchronous copies in place of registers: a warp that waits for a count in a register waits for the
//   items that it loads after it, too;
// - compacting per warp when a tile arrives, so that a tile can wait without registers, for more steps.
// Tried and slower: a lag of 3 steps instead of 4; one tile in flight instead of two (most of all); 16-byte
// stores, whose vectors are read from shared memory item by item. One block of 384 threads and 8 rows per
// multiprocessor is faster for long arrays, but slower for short ones.
// Drawback: two neighbouring runs both write the sector in which they meet, once per warp and tile. Two
// launches must not run at the same time.
template <typename Tuning, typename T, typename Keep>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k06_state_of_the_art(const T* d_in, std::uint64_t n, T* d_out, Index* d_count, Keep keep) {
  constexpr unsigned kThreads = Tuning::kThreads, kRows = Tuning::kRows, kLag = Tuning::kLag,
                     kSlots = Tuning::kSlots, kInFlight = kSlots - kLag, kWarps = kThreads / device::kWarp;
  static_assert(kLag >= 1 && kSlots > kLag);
  static_assert(kLag <= device::kMaxWaveLag && kThreads <= device::kMaxWaveBlocks);
  using Items = device::Tile<T, kThreads, kRows>;
  extern __shared__ __align__(128) uint4 s_memory[];  // copies to 16 bytes past a multiple of 128 take longer
  auto* s_ring = reinterpret_cast<device::Pack<T>*>(s_memory);
  // What the warps of a tile keep, until the tile is stored; one entry more, because a warp may write the
  // next step's before another has read this step's. s_wave: likewise.
  __shared__ unsigned s_kept[kLag + 2][kWarps], s_wave[2][kWarps];
  __shared__ unsigned s_launch;
  const unsigned lane = threadIdx.x % device::kWarp, warp = threadIdx.x / device::kWarp;

  // The block's tiles are numbered by its steps 0 … n_steps - 1.
  const std::uint64_t n_tiles = n == 0 ? 1 : device::tiles_for(n, Items::kItems);
  const auto n_steps = static_cast<std::uint32_t>((n_tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  const auto tile_of = [&](std::uint32_t step) { return blockIdx.x + std::uint64_t{step} * gridDim.x; };
  const auto slot_of = [&](std::uint32_t step) { return s_ring + step % kSlots * (kThreads * kRows); };
  const auto run_of = [&](std::uint32_t step) {
    return reinterpret_cast<T*>(slot_of(step) + warp * kRows * device::kWarp);
  };
  const auto load = [&](std::uint32_t step) {
    device::start_loading<T, kThreads, kRows>(slot_of(step), step < n_steps, d_in, n, tile_of(step), T{});
  };

  Index before = 0;  // kept items before the block's tile
  device::Entry<unsigned> answer{};
#pragma unroll
  for (std::uint32_t step = 0; step < kInFlight; ++step) load(step);
  const device::WaveTotals<unsigned> waves(&s_launch);
  for (std::uint32_t step = 0; step < n_steps + kLag; ++step) {
    const bool has_results = step >= kLag;  // those of an earlier step's tile
    const std::uint32_t earlier = step - kLag;
    unsigned* const s_now = s_kept[step % (kLag + 2)];
    if (step < n_steps) {
      device::wait_for_loads<kInFlight - 1>();
      Items items;
      device::unpark(items, slot_of(step));
      const unsigned n_warp = compact_in_warp(items, tile_of(step), n, keep, run_of(step));
      if (lane == 0) s_now[warp] = n_warp;
    }
    if (has_results) {
      const unsigned of_warp = waves.of_warp(earlier, answer, SumOfCounts{});
      if (lane == 0) s_wave[step % 2][warp] = of_warp;
    }
    if (step + 1 >= kLag && earlier + 1 < n_steps) answer = waves.ask(earlier + 1);
    __syncthreads();  // every warp's numbers are stored before the others read them
    if (threadIdx.x == 0 && step < n_steps) {
      unsigned total = 0;
#pragma unroll
      for (unsigned w = 0; w < kWarps; ++w) total += s_now[w];
      waves.publish(step, total);
    }
    if (has_results) {
      const unsigned* const s_then = s_kept[earlier % (kLag + 2)];
      unsigned n_before = 0, total = 0;
#pragma unroll
      for (unsigned w = 0; w < kWarps; ++w) {
        before += s_wave[step % 2][w];
        if (w < warp) n_before += s_then[w];
        total += s_then[w];
      }
      if (threadIdx.x == 0 && tile_of(earlier) + 1 == n_tiles) *d_count = before + total;
      const T* const s_run = run_of(earlier);
      T* const d_run = d_out + before + n_before;
      const unsigned n_run = s_then[warp];
      const unsigned n_head =
          static_cast<unsigned>(-(reinterpret_cast<std::uintptr_t>(d_run) / sizeof(T))) % device::kWarp;
      if (lane < n_head && lane < n_run) d_run[lane] = s_run[lane];
#pragma unroll 4
      for (unsigned k = n_head + lane; k < n_run; k += device::kWarp) d_run[k] = s_run[k];
      __syncwarp();            // the warp has read its run before it loads other items into its place
      load(earlier + kSlots);  // into the same slot
    } else {
      load(step + kInFlight);
    }
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) waves.end();
}

template <typename Tuning, typename T, typename Keep>
Status compact_in_waves(const Job<T, Keep>& job) {
  const std::uint64_t n_tiles =
      job.n == 0 ? 1 : device::tiles_for(job.n, device::Tile<T, Tuning::kThreads, Tuning::kRows>::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  constexpr unsigned kRing = Tuning::kSlots * Tuning::kThreads * Tuning::kRows * sizeof(uint4);
  device::launch_together<kRing>(k06_state_of_the_art<Tuning, T, Keep>, n_blocks, Tuning::kThreads,
                                 job.stream, job.d_in, job.n, job.d_out, job.d_count, job.keep);
  return Status::ok;
}

template <typename T, typename Keep>
Status state_of_the_art(const Job<T, Keep>& job) {
  return device::with_tuning<device::CompactionInWaves>(
      [&]<typename Tuning>(Tuning) { return compact_in_waves<Tuning>(job); });
}

}  // namespace course::compaction
