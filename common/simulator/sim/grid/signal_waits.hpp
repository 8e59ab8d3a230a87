// SPDX-License-Identifier: MIT
// The timing model's part of accesses through which blocks may wait for each other. Called by memory ops in
// counted launches. `at`: addresses of the warp's active lanes.
#pragma once

#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim {

// A strong load: the warp continues when the blocks that wrote these words have done so. Returns whether it
// only finds again what it found before, in a loop that does nothing else: how often it looks there says
// nothing about the kernel, so this look is no traffic.
bool await_signal(Warp& w, const MicroOp& op, const std::uint64_t* at);
// A strong store.
void raise_signal(Warp& w, const MicroOp& op, const std::uint64_t* at);
// An atomic: a store, and also a wait if it is repeated at the same address, or if its result depends on
// whether it comes before or after the last write of another block: a lock. One that leaves memory as it is,
// in all lanes, is a strong load, with its result.
bool atomic_signal(Warp& w, const MicroOp& op, const std::uint64_t* at);

}  // namespace course::sim
