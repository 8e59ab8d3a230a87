// SPDX-License-Identifier: MIT
// What a block finds when it starts: registers, parameters, special registers, shared memory.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/machine/warp.hpp"

namespace course::sim {

// Storage for one resident block of the worker's launch, used again for the next one.
std::unique_ptr<Block> make_block(Worker& worker);
// Makes it block number `linear` of the grid, x first, with nothing done yet; tells the worker's observer.
void begin_block(Block& block, std::uint64_t linear, Worker& worker);

// Of a block, by its `index` in the grid, among those of its cluster: x first.
std::uint32_t rank_in_cluster(const std::uint32_t* index, const Dim3& cluster);

}  // namespace course::sim
