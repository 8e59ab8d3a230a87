// SPDX-License-Identifier: MIT
// The timing model's view of accesses through which blocks may wait for each other: called by the memory ops, for counted launches.
// `at`: addresses of the warp's active lanes.
#pragma once

#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim {

// A strong load: the warp goes on when the blocks that wrote there have.
void await_signal(Warp& w, const MicroOp& op, const std::uint64_t* at);
// A strong store.
void raise_signal(Warp& w, const std::uint64_t* at);
// An atomic: a store, and when it is repeated at the same place a wait.
void atomic_signal(Warp& w, const MicroOp& op, const std::uint64_t* at);
// What global atomics ask of each part of the second-level cache.
void count_hot_spots(Warp& w, const std::uint64_t* at);

}  // namespace course::sim
