// SPDX-License-Identifier: MIT
// Rung 8 of the hierarchical scan: about as fast as a copy of the array.
// Predictions and measurements: 2^28 int32 items on an H200.
#pragma once

#include "device/block_scan.cuh"
#include "device/launch.hpp"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "device/tuning.hpp"
#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/look_back.cuh"

namespace course::hierarchical_scan {

// --- Rung 8: tiles in waves, one tile ahead.
// Changed:
// - The grid has as many blocks as the device can run at once. Block b takes tile b of each wave of gridDim.x
//   tiles.
// - A block holds two tiles and loads a third: it reduces tile k + 1 and publishes its total, requests the
//   totals before tile k, starts the loads of tile k + 2, and only then waits for the totals. They were
//   published one iteration earlier. A reduced tile waits in shared memory.
// - There is no serial look-back: thread i reads the total of tile i of the wave, and one more thread reads
//   the prefix of the wave before.
// Why: rung 7's blocks waited at a barrier half of their time (57 % of the stalls in the profiler), for round
// trips to the L2 cache. Now the totals are there when a block needs them, and the memory is busy while the
// block waits.
// Predicted: the copy rate, 2n items at 4.2 TB/s: 513 µs.
// Measured (CUB in parentheses): 597 µs (700), 86 % of the copy rate; 50 µs (59) at 2^24; 14 µs (19) at 2^20.
// The share of each change, from a stand-alone benchmark: without the second, with two tiles in registers,
// 647 µs; without the first, with tiles by ticket, 636 µs, because a block that takes two tickets in a row
// gets neighbouring tiles, and the second waits for the first. No gain: asynchronous copies to shared memory,
// also with the bulk engine; requesting before the next tile is reduced. Cache hints: 3 % slower.
// Why it misses the prediction: the benchmark's version of this kernel takes 541 µs with tiles of 512 x 4. It
// handles only integers; one warp requests all totals, 9 words per lane, and adds them up with one
// instruction. Which of these makes the difference is not known. One warp that makes the 9 requests one after
// the other takes 704 µs; earlier requests make no difference here (597 µs).
// Still wastes: a launch that starts all blocks at the same time costs 2 µs more than an ordinary one, a
// tenth of the time at 2^20.
// Float sums are the same in every run on the same device, because prefix_of combines in a fixed order. An
// item passes through at most 4 * kRows additions in its thread, 16 + 5 in the tile, 16 + 5 in the wave, and
// one per wave.
template <typename Tuning, typename Op>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k08_state_of_the_art(const typename Op::Value* d_in, std::uint64_t n, typename Op::Value* d_out,
                         device::WaveStatuses<typename Op::Value> statuses, Kind kind, Op op) {
  using Value = typename Op::Value;
  using Items = device::Tile<Value, Tuning::kThreads, Tuning::kRows>;
  constexpr unsigned kTilePacks = Tuning::kThreads * Tuning::kRows;
  extern __shared__ uint4 s_memory[];  // two stored tiles
  auto* s_parked = reinterpret_cast<device::Pack<Value>*>(s_memory);
  __shared__ Value s_warp[2][Tuning::kThreads / device::kWarp];
  __shared__ typename device::WaveStatuses<Value>::template Shared<Tuning::kThreads> s_carry[2];

  struct Ahead {  // a tile that is reduced and waits for its carry
    device::TileScan<Op, Tuning::kThreads, Tuning::kRows> scan;
    Value total;
  };
  const std::uint64_t n_tiles = device::tiles_for(n, Items::kItems);
  Items items;  // loads in flight

  const auto send_for = [&](std::uint64_t tile) {
    if (tile < n_tiles) device::load_tile(items, d_in, n, tile, op.identity());
  };
  // Reduces the tile whose loads are in flight, publishes its total, and stores the tile in shared memory.
  const auto take = [&](std::uint64_t tile, unsigned slot) {
    Ahead ahead;
    ahead.total = ahead.scan.fold(items, s_warp[slot], op);
    if (threadIdx.x == 0) statuses.publish_total(tile, ahead.total);
    device::park(items, s_parked + slot * kTilePacks);
    return ahead;
  };

  std::uint64_t tile = blockIdx.x;
  send_for(tile);
  Ahead current = take(tile, 0);
  send_for(tile + gridDim.x);
  for (unsigned slot = 0;; slot = 1 - slot) {
    const std::uint64_t next = tile + gridDim.x;
    Ahead ahead = current;
    if (next < n_tiles) ahead = take(next, 1 - slot);
    const auto question = statuses.template ask<Tuning::kThreads>(tile);
    send_for(next + gridDim.x);

    const Value carry = statuses.prefix_of(tile, current.total, question, s_carry[slot], op);
    Items results;
    device::unpark(results, s_parked + slot * kTilePacks);
    current.scan.finish(results, carry, kind == Kind::inclusive, op);
    device::store_tile(results, d_out, n, tile);

    if (next >= n_tiles) return;
    tile = next;
    current = ahead;
  }
}

template <typename Tuning, typename Op>
Status scan_in_waves(const Job<Op>& job) {
  using Value = typename Op::Value;
  using Words = device::WaveStatuses<Value>;
  const std::uint64_t n_tiles =
      device::tiles_for(job.n, device::Tile<Value, Tuning::kThreads, Tuning::kRows>::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  const Words statuses(cleared_words(job, Words::words(n_tiles)), n_tiles);
  constexpr unsigned kParked = 2 * Tuning::kThreads * Tuning::kRows * sizeof(uint4);
  device::launch_together<kParked>(k08_state_of_the_art<Tuning, Op>, n_blocks, Tuning::kThreads, job.stream,
                                   job.d_in, job.n, job.d_out, statuses, job.kind, job.op);
  return Status::ok;
}

template <typename Op>
Status state_of_the_art(const Job<Op>& job) {
  if (job.n == 0) return Status::ok;
  return device::with_tuning<device::ScanInWaves>(
      [&]<typename Tuning>(Tuning) { return scan_in_waves<Tuning>(job); });
}

}  // namespace course::hierarchical_scan
