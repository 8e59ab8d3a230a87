// SPDX-License-Identifier: MIT
// How barriers of a block and of a warp order the accesses of threads. `next`: the number of the next record.
#pragma once

#include "sim/checkers/racecheck/block_state.hpp"

namespace course::sim::race {

void arrive(BlockState& b, Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next);
// Returns whether all threads of the block have taken part.
bool release(BlockState& b, Block& block, std::uint32_t barrier, RecordId next);
// bar.warp.sync: several tiles of a warp may execute the same instruction together, each with its own mask.
void sync_warp(BlockState& b, Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next);

}  // namespace course::sim::race
