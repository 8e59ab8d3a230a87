// SPDX-License-Identifier: MIT
// Rung 8 of the hierarchical scan: as fast as the memory copies.
// Predictions and figures: 2^28 int32 items on an H200.
#pragma once

#include "device/block_scan.cuh"
#include "device/launch.hpp"
#include "device/look_back.cuh"
#include "device/tile.cuh"
#include "device/tuning.hpp"
#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/look_back.cuh"

namespace course::hierarchical_scan {

// --- Rung 8: in waves, one tile ahead.
// Changed: (1) the grid is what the device holds at once, and block b takes tile b of each wave of gridDim.x tiles. (2) A block has
// two tiles in hand and a third on its way: it folds tile k + 1 and publishes its total, sends for tile k + 2, and only then asks
// for the carry of tile k, whose neighbours' totals were published a turn ago. What is folded waits in shared memory. (3) Nobody
// looks back: thread i asks for the total of tile i of the wave, and the prefix of the wave before is one word more.
// Why: rung 7's blocks stood at a barrier half of their time (profiler: 57 % of the stalls) for trips to the L2 cache; now what
// they ask for is there, and memory is busy while they ask. Expect the copy rate, 2n items at 4.2 TB/s: 513 us at 2^28.
// Measured: 597 us, 86 % of the copy rate (CUB: 700, a copy: 513); 50 us at 2^24 (CUB: 59), 14 at 2^20 (CUB: 19). What each thing is
// worth, tried in a stand-alone benchmark at 2^28: without (2), two tiles in registers, 647; without (1), tiles by ticket, 636:
// a block that draws two tickets in a row has neighbours, and the second waits for the first. Tried, and no gain: asynchronous
// copies to shared memory, also by the bulk engine; cache hints, 3 % slower; asking before the next tile is folded.
// The miss: that benchmark's form of this kernel, for integers alone, where one warp asks for all totals, 9 words a lane, and adds
// them up by one instruction, came to 541 with tiles of 512 x 4. What of the difference is due to which is not known yet: one
// warp that asks 9 times, one question after the other, took 704; asking earlier (597) made no difference here.
// Wastes: the launch that starts all blocks at the same time, or none, costs 2 us more than an ordinary one, a tenth at 2^20.
// Float sums come out the same in every run on the same device: carry_of has fixed brackets. An item goes through at most
// 4 * kRows additions of its thread, 16 + 5 of the tile, 16 + 5 of the wave, and one for each wave.
template <typename Tuning, typename Op>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    k08_state_of_the_art(const typename Op::Value* d_in, std::uint64_t n, typename Op::Value* d_out,
                         device::WaveLedger<typename Op::Value> ledger, Kind kind, Op op) {
  using Value = typename Op::Value;
  using Items = device::Tile<Value, Tuning::kThreads, Tuning::kRows>;
  constexpr unsigned kTilePacks = Tuning::kThreads * Tuning::kRows;
  extern __shared__ uint4 s_memory[];  // two parked tiles
  auto* s_parked = reinterpret_cast<device::Pack<Value>*>(s_memory);
  __shared__ Value s_warp[2][Tuning::kThreads / device::kWarp];
  __shared__ typename device::WaveLedger<Value>::template Shared<Tuning::kThreads> s_carry[2];

  struct Ahead {  // a tile that is folded, and waits for its carry
    device::TileScan<Op, Tuning::kThreads, Tuning::kRows> scan;
    Value total;
  };
  const std::uint64_t n_tiles = device::tiles_for(n, Items::kItems);
  Items items;  // on their way from memory

  const auto send_for = [&](std::uint64_t tile) {
    if (tile < n_tiles) device::load_tile(items, d_in, n, tile, op.identity());
  };
  // Folds the tile whose items are on their way, tells the others, and parks it.
  const auto take = [&](std::uint64_t tile, unsigned slot) {
    Ahead ahead;
    ahead.total = ahead.scan.fold(items, s_warp[slot], op);
    if (threadIdx.x == 0) ledger.publish_total(tile, ahead.total);
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
    const auto question = ledger.template ask<Tuning::kThreads>(tile);
    send_for(next + gridDim.x);

    const Value carry = ledger.carry_of(tile, current.total, question, s_carry[slot], op);
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
  using Words = device::WaveLedger<Value>;
  const std::uint64_t n_tiles =
      device::tiles_for(job.n, device::Tile<Value, Tuning::kThreads, Tuning::kRows>::kItems);
  const unsigned n_blocks = device::blocks_in_a_wave<Tuning>(n_tiles, job.multiprocessors);
  const Words ledger(cleared_words(job, Words::words(n_tiles)), n_tiles);
  constexpr unsigned kParked = 2 * Tuning::kThreads * Tuning::kRows * sizeof(uint4);
  device::launch_together<kParked>(k08_state_of_the_art<Tuning, Op>, n_blocks, Tuning::kThreads, job.stream,
                                   job.d_in, job.n, job.d_out, ledger, job.kind, job.op);
  return Status::ok;
}

template <typename Op>
Status state_of_the_art(const Job<Op>& job) {
  if (job.n == 0) return Status::ok;
  return device::with_tuning<device::ScanInWaves>(
      [&]<typename Tuning>(Tuning) { return scan_in_waves<Tuning>(job); });
}

}  // namespace course::hierarchical_scan
