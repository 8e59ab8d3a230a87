// SPDX-License-Identifier: MIT
// One turn of a block: its warps take turns until the block has ended or used up its warp instructions.
// A schedule's seed changes the order of the warps in each round, and the order of the lanes of an atomic or
// a store. Besides, the turn of a warp may end directly after a strong load or an atomic, with a seed after
// any strong access, in shared memory, too (Block::one_pause_in).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "sim/grid/describe_hang.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

enum class BlockEnd { finished, turn_over, waiting };

// Warp instructions that a block, and each of its warps, may run in one turn.
struct Turn {
  std::int64_t block, warp;
};

template <typename T>
void shuffle(std::vector<T>& order, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
}

// The order in which the warps of a block take turns: ascending, or with a schedule's seed a different one in
// each round. It does not depend on the host thread that runs the block.
class WarpOrder {
 public:
  // `first_pauses`: the first look of a block always ends a turn (see pause_in), so that in the natural
  // order, too, other warps can come before the first one.
  WarpOrder(std::size_t n_warps, std::uint64_t seed, bool pauses, bool first_pauses)
      : order_(n_warps), seed_(seed), pauses_(pauses), first_pauses_(first_pauses) {
    std::iota(order_.begin(), order_.end(), 0u);
  }
  const std::vector<std::uint32_t>& next_round(Block& block) {
    if (seed_ == 0 || order_.size() < 2) return order_;
    std::iota(order_.begin(), order_.end(), 0u);
    shuffle(order_, seed_of(block) + block.rounds++);
    return order_;
  }
  void begin(Block& block) const {
    block.rounds = 0;
    block.dice = Rng(~seed_of(block));
    block.pauses_at_changes = seed_ != 0;
    block.one_pause_in = !pauses_ ? 0 : first_pauses_ ? 1 : std::uint32_t{2} << block.dice.below(4);
    for (Warp& w : block.warps)
      w.first_lane = seed_ == 0 ? 0 : static_cast<std::uint32_t>(mix(seed_of(block) ^ ~w.number) % kLanes);
  }

 private:
  std::uint64_t seed_of(const Block& block) const { return mix(seed_ + block.linear); }

  std::vector<std::uint32_t> order_;
  std::uint64_t seed_;  // 0: natural order
  bool pauses_, first_pauses_;
};

// Lets the warps take turns until all threads have exited or the block's turn is over. Throws DeviceFault on
// a fault or a deadlock.
BlockEnd run_block(Block& block, Worker& worker, const Engine& engine, WarpOrder& order, Turn turn);

// The fault of a launch that hangs, at the source position of one of the waiting threads.
DeviceFault at_waiting(Worker& worker, const Hang& hang, const std::string& text);

}  // namespace course::sim
