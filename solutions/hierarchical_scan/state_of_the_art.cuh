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

// --- Rung 8: a ring of parts, in waves.
// Changed:
// - A tile consists of kParts parts, which the block handles one per step. Its shared memory is a ring of
//   parts: while one part is scanned, the next ones arrive by asynchronous copies, which need no registers,
//   and scanned parts wait for their carry.
// - The grid has as many blocks as the device can run at once. Block b takes tile b of each wave of gridDim.x
//   tiles. A tile's total is published after its last part, kLag steps before its first part needs the carry.
// - There is no serial look-back: thread i reads the total of tile i of the wave, and one more thread reads
//   the prefix of the wave before.
// Why: rung 7's blocks waited at a barrier half of their time (57 % of the stalls in the profiler), for round
// trips to the L2 cache. Here every block always has loads in flight, and the totals that it needs were
// published two tiles ago.
// Predicted: the rate of a persistent copy, whose blocks copy many tiles each: 537 µs. (The fastest copy has
// many short blocks and takes 516 µs; no persistent copy that was tried takes less.)
// Measured on an H200 (copy, CUB in parentheses): 531 µs (516, 684), 97 % of the copy rate; 41 µs (36, 52) at
// 2^24; 9.2 µs (5.7, 11.5) at 2^20.
// Why the ring helps: the version before had the same waves, but no ring: one tile of 32 KB in registers and
// two in shared memory. It took 585 µs; a copy of this shape takes 539 µs, and with a scan of each tile, but
// no carries, 549 µs. It started loads only after the scan of the tile before them, so each block had none in
// flight for a part of each step. Other parameters: with a lag of 3 steps instead of 4, 560 µs; with one part
// in flight instead of two (5 slots, not 6), 618 µs; with parts of 8 KB instead of 16 KB, 571 µs; with blocks
// of 512 threads and the same parts, 530 µs. Slower variants: a separate warp for the carries (666 µs), since
// it needs several round trips per tile one after the other; tiles by ticket (636 µs), because a block that
// takes two tickets in a row gets neighbouring tiles, and the second waits for the first.
// Drawback: a launch that starts all blocks at the same time takes 2 µs longer than an ordinary one, a fifth
// of the time at 2^20. For so few items, a block has at most one tile, so the lag only delays it.
// Float sums are the same in every run on the same device, because prefix_of combines in a fixed order. An
// item passes through at most 4 * kRows additions in its thread, 16 + 5 in the part, kParts in the tile,
// 16 + 5 in the wave, and one per wave.
template <typename Tuning, typename Op>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k08_state_of_the_art(const typename Op::Value* d_in, std::uint64_t n, typename Op::Value* d_out,
                         device::WaveStatuses<typename Op::Value> statuses, Kind kind, Op op) {
  using Value = typename Op::Value;
  constexpr unsigned kThreads = Tuning::kThreads, kRows = Tuning::kRows, kParts = Tuning::kParts,
                     kLag = Tuning::kLag, kSlots = Tuning::kSlots, kInFlight = kSlots - kLag;
  static_assert(kParts >= 2, "a step asks for the next step's carry before it uses its own answer");
  static_assert(kLag >= kParts && kSlots > kLag);
  using Part = device::Tile<Value, kThreads, kRows>;
  extern __shared__ uint4 s_memory[];
  auto* s_ring = reinterpret_cast<device::Pack<Value>*>(s_memory);
  constexpr unsigned kTotals = kLag / kParts + 2;  // of the tiles that have not got their carry
  __shared__ Value s_warp[2][kThreads / device::kWarp], s_total[kTotals];
  __shared__ typename device::WaveStatuses<Value>::template Shared<kThreads> s_carry[2];

  // The block's parts are numbered by its steps 0 … n_steps - 1.
  const std::uint64_t n_tiles = device::tiles_for(n, std::uint64_t{kParts} * Part::kItems);
  const auto n_steps =
      kParts * static_cast<std::uint32_t>((n_tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  const auto tile_of = [&](std::uint32_t step) {
    return blockIdx.x + std::uint64_t{step / kParts} * gridDim.x;
  };
  const auto part_of = [&](std::uint32_t step) { return tile_of(step) * kParts + step % kParts; };
  const auto slot_of = [&](std::uint32_t step) { return s_ring + step % kSlots * (kThreads * kRows); };
  const auto load = [&](std::uint32_t step) {
    device::start_loading<Value, kThreads, kRows>(slot_of(step), step < n_steps, d_in, n, part_of(step),
                                                  op.identity());
  };

  Value so_far = op.identity();  // the total of the tile's parts before this one
  Value carry = op.identity();
  typename device::WaveStatuses<Value>::Question question;
#pragma unroll
  for (std::uint32_t step = 0; step < kInFlight; ++step) load(step);
  for (std::uint32_t step = 0; step < n_steps + kLag; ++step) {
    // The step's results: those of an earlier part.
    const bool has_results = step >= kLag, is_asking = step + 1 >= kLag && (step + 1 - kLag) % kParts == 0;
    const std::uint32_t earlier = step - kLag;
    if (step < n_steps) {
      device::wait_for_loads<kInFlight - 1>();
      Part items;
      device::unpark(items, slot_of(step));
      device::TileScan<Op, kThreads, kRows> scan;
      const Value total = scan.fold(items, s_warp[step % 2], op);
      scan.finish(items, so_far, kind == Kind::inclusive, op);
      device::park(items, slot_of(step));
      so_far = op(so_far, total);
      if (step % kParts == kParts - 1) {
        if (threadIdx.x == 0) {
          statuses.publish_total(tile_of(step), so_far);
          s_total[step / kParts % kTotals] = so_far;
        }
        so_far = op.identity();
      }
    }
    if (is_asking && earlier + 1 < n_steps) question = statuses.template ask<kThreads>(tile_of(earlier + 1));
    if (has_results) {
      if (earlier % kParts == 0) {
        // Only thread 0 needs the tile's total, which it stored itself.
        const Value total = threadIdx.x == 0 ? s_total[earlier / kParts % kTotals] : op.identity();
        carry = statuses.prefix_of(tile_of(earlier), total, question, s_carry[earlier / kParts % 2], op);
      }
      Part results;
      device::unpark(results, slot_of(earlier));
      load(earlier + kSlots);  // into the same slot, from which each thread has read what it overwrites
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) {
#pragma unroll
        for (unsigned j = 0; j < Part::kPack; ++j) results.row[r].item[j] = op(carry, results.row[r].item[j]);
      }
      device::store_tile(results, d_out, n, part_of(earlier));
    } else {
      load(step + kInFlight);
    }
  }
}

template <typename Tuning, typename Op>
Status scan_in_waves(const Job<Op>& job) {
  using Value = typename Op::Value;
  using Words = device::WaveStatuses<Value>;
  using Part = device::Tile<Value, Tuning::kThreads, Tuning::kRows>;
  const std::uint64_t n_tiles = device::tiles_for(job.n, std::uint64_t{Tuning::kParts} * Part::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  const Words statuses(cleared_words(job, Words::words(n_tiles)), n_tiles);
  constexpr unsigned kRing = Tuning::kSlots * Tuning::kThreads * Tuning::kRows * sizeof(uint4);
  device::launch_together<kRing>(k08_state_of_the_art<Tuning, Op>, n_blocks, Tuning::kThreads, job.stream,
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
