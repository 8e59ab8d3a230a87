// SPDX-License-Identifier: MIT
// What happens where control does not simply fall through or branch: barriers, calls, returns, exits, jump
// tables. Called by the run loop; the same for every instruction set of the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/machine/warp.hpp"

namespace course::sim {

// MicroOp::imm of barrier ops.
enum BarrierForm : std::int64_t {
  kBarrierSync,
  kBarrierArrive,
  kBarrierReduce,
  kClusterArrive,
  kClusterWait
};
inline bool waits_at_barrier(const MicroOp& op) {
  return op.imm == kBarrierSync || op.imm == kBarrierReduce;
}
// The number of the barrier at which lanes `mask` are.
std::uint32_t barrier_number(Warp& w, std::uint32_t mask, const MicroOp& op);

// Group `k` of the warp arrives at the block-wide barrier `op`. Returns true if it may continue at once,
// because it was the last to arrive or does not wait; otherwise the group waits until the barrier releases
// it.
bool arrive_at_barrier(Warp& w, std::size_t k, const MicroOp& op);

// Moves group `k` on from a basic block that ends with a call, return, exit, jump table or trap.
void leave_by_machine(Warp& w, std::size_t k, const BasicBlock& b);

// Initialises warp `number` of a new block of `n_threads` threads. The block's last warp may have fewer than
// 32 live lanes.
void begin_warp(Warp& w, Block& block, std::uint32_t number, std::uint32_t n_threads);

}  // namespace course::sim
