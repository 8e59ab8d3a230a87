// SPDX-License-Identifier: MIT
// The state in which a block starts: registers, parameters, special registers, shared memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/machine/gap.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// Creates a Block object for the worker's launch. It is reused for one block after another.
std::unique_ptr<Block> make_block(Worker& worker);
// Initialises it as block number `linear` of the grid, counted along x first, and calls the worker's
// observer.
void begin_block(Block& block, std::uint64_t linear, Worker& worker);

// What the values of a special register do not show of a GPU.
Gap gap_of_special(std::string_view name);

// The rank of a block in its cluster, counted along x first. `index`: of the block in the grid.
std::uint32_t rank_in_cluster(const std::uint32_t* index, const Dim3& cluster);

}  // namespace course::sim
