// SPDX-License-Identifier: MIT
// Rung 8 of the hierarchical scan: about as fast as a copy of the array.
#pragma once

#include "device/block_scan.cuh"
#include "device/launch.hpp"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "device/tuning.hpp"
#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/look_back.cuh"

namespace course::hierarchical_scan {

// --- Rung 8: a ring of tiles, in waves.
// Changed:
// - The block's shared memory is a ring of tiles: while one tile is scanned, the next ones arrive by
//   asynchronous copies, which need no registers, and scanned tiles wait for their carry.
// - The grid has as many blocks as the device can run at once. Block b takes the tiles b, b + gridDim.x, … A
//   tile's total is published as soon as it is known, kLag steps before the tile needs its carry.
// - There is no look-back, and no tile waits for another tile's prefix: the carry is that of the block's tile
//   before, combined with the totals since then. Each thread reads one of them.
// - No launch clears the words for the totals (device/look_back.cuh); a memset took longer than the exchange.
// Why: rung 7's blocks waited at a barrier, for round trips to the L2 cache. Here every block always has
// loads in flight, and the totals that it needs were published three tiles ago. The prediction is the time of
// a copy by blocks that stay; the fastest copy, by many short blocks, takes a little less.
// Predicted (state_of_the_art, 2^28 items): 537 µs, a persistent copy. Measured: 529.0 µs (H200, 2026-11-26).
// Tried and slower:
// - no ring, but one tile of 32 KB in registers and two in shared memory: loads were started only after the
//   tile before them was scanned, so each block had none in flight for a part of each step;
// - a lag of 2 steps instead of 3, and most of all of 1 step;
// - tiles of 8 KB instead of 16 KB;
// - waiting for totals before the own tile's total is published;
// - a warp of its own for the carries, since it needs several round trips per tile one after the other;
// - tiles by ticket: a block that takes two tickets in a row gets neighbouring tiles, and the second waits
//   for the first.
// Drawback: two launches must not run at the same time.
// Float sums are the same in every run on the same device, because the totals are combined in a fixed order.
// An item passes through at most 4 * kRows additions in its thread, 5 + 8 in the tile, 5 + 8 in the totals
// between two tiles of the block, and one per wave.
template <typename Tuning, typename Op>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k08_state_of_the_art(const typename Op::Value* d_in, std::uint64_t n, typename Op::Value* d_out,
                         Kind kind, Op op) {
  using Value = typename Op::Value;
  constexpr unsigned kThreads = Tuning::kThreads, kRows = Tuning::kRows, kLag = Tuning::kLag,
                     kSlots = Tuning::kSlots, kInFlight = kSlots - kLag, kWarps = kThreads / device::kWarp;
  static_assert(kLag >= 1 && kSlots > kLag);
  static_assert(kLag <= device::kMaxWaveLag && kThreads <= device::kMaxWaveBlocks);
  using Tile = device::Tile<Value, kThreads, kRows>;
  extern __shared__ __align__(128) uint4 s_memory[];  // copies to 16 bytes past a multiple of 128 take longer
  auto* s_ring = reinterpret_cast<device::Pack<Value>*>(s_memory);
  // One array for even steps and one for odd ones: the next step may start before all threads have read.
  __shared__ Value s_warp[2][kWarps], s_wave[2][kWarps];
  __shared__ unsigned s_launch;

  // The block's tiles are numbered by its steps 0 … n_steps - 1.
  const std::uint64_t n_tiles = device::tiles_for(n, Tile::kItems);
  const auto n_steps = static_cast<std::uint32_t>((n_tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  const auto tile_of = [&](std::uint32_t step) { return blockIdx.x + std::uint64_t{step} * gridDim.x; };
  const auto slot_of = [&](std::uint32_t step) { return s_ring + step % kSlots * (kThreads * kRows); };
  const auto load = [&](std::uint32_t step) {
    device::start_loading<Value, kThreads, kRows>(slot_of(step), step < n_steps, d_in, n, tile_of(step),
                                                  op.identity());
  };

  Value carry = op.identity();
  device::Entry<Value> answer{};
#pragma unroll
  for (std::uint32_t step = 0; step < kInFlight; ++step) load(step);
  const device::WaveTotals<Value> waves(&s_launch);
  for (std::uint32_t step = 0; step < n_steps + kLag; ++step) {
    const bool has_results = step >= kLag;  // those of an earlier step's tile
    const std::uint32_t earlier = step - kLag;
    if (step < n_steps) {
      device::wait_for_loads<kInFlight - 1>();
      Tile items;
      device::unpark(items, slot_of(step));
      device::TileScan<Op, kThreads, kRows> scan;
      const Value total = scan.fold(items, s_warp[step % 2], op);
      if (threadIdx.x == 0) waves.publish(step, total);
      scan.finish(items, op.identity(), kind == Kind::inclusive, op);
      device::park(items, slot_of(step));
    }
    const device::Entry<Value> answer_for_now = answer;
    if (step + 1 >= kLag && earlier + 1 < n_steps) answer = waves.ask(earlier + 1);
    if (has_results) {
      const Value of_warp = waves.of_warp(earlier, answer_for_now, op);
      if (threadIdx.x % device::kWarp == 0) s_wave[step % 2][threadIdx.x / device::kWarp] = of_warp;
      __syncthreads();  // every warp has stored its part before the others read it
#pragma unroll
      for (unsigned w = 0; w < kWarps; ++w) carry = op(carry, s_wave[step % 2][w]);
      Tile results;
      device::unpark(results, slot_of(earlier));
      load(earlier + kSlots);  // into the same slot, from which each thread has read what it overwrites
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
        for (unsigned j = 0; j < Tile::kPack; ++j) results.row[r].item[j] = op(carry, results.row[r].item[j]);
      }
      device::store_tile(results, d_out, n, tile_of(earlier));
    } else {
      load(step + kInFlight);
    }
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) waves.end();
}

template <typename Tuning, typename Op>
Status scan_in_waves(const Job<Op>& job) {
  using Value = typename Op::Value;
  const std::uint64_t n_tiles =
      device::tiles_for(job.n, device::Tile<Value, Tuning::kThreads, Tuning::kRows>::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  constexpr unsigned kRing = Tuning::kSlots * Tuning::kThreads * Tuning::kRows * sizeof(uint4);
  device::launch_together<kRing>(k08_state_of_the_art<Tuning, Op>, n_blocks, Tuning::kThreads, job.stream,
                                 job.d_in, job.n, job.d_out, job.kind, job.op);
  return Status::ok;
}

template <typename Op>
Status state_of_the_art(const Job<Op>& job) {
  if (job.n == 0) return Status::ok;
  return device::with_tuning<device::ScanInWaves>(
      [&]<typename Tuning>(Tuning) { return scan_in_waves<Tuning>(job); });
}

}  // namespace course::hierarchical_scan
