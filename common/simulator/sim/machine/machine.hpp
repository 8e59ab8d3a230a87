// SPDX-License-Identifier: MIT
// What happens where control does not simply fall through or branch: barriers, calls, returns, exits, jump
// tables. Called by the run loop; the same for every instruction set of the host. Also source positions of
// ops as text (places_of … file_and_line), and where the threads of a block wait (describe_waits).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/machine/warp.hpp"

namespace course::sim {

// Number of lanes in a mask. Checks for the full mask first, because portable code has no popcount
// instruction.
inline std::uint32_t count_lanes(std::uint32_t mask) {
  return mask == kAllLanes ? kLanes : static_cast<std::uint32_t>(std::popcount(mask));
}

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

// The source positions of an op, innermost function first. Empty without line information.
std::vector<SourcePlace> places_of(const Program& program, const MicroOp& op);
std::vector<SourcePlace> places_of(const Program& program, std::uint32_t function, std::uint32_t ptx_index);
// The innermost position in the file of the kernel itself, that is, the line that its author wrote. If the
// kernel is the toolkit's, the innermost one in a file of the author's: a lambda passed to Thrust, for
// example. Default-initialised if `places` is empty.
SourcePlace own_place(const std::vector<SourcePlace>& places);
// The positions as text: "scan.cu:31 (in tile.cuh:7)".
std::string one_line(const std::vector<SourcePlace>& places);
// "kernels/fold.cu:31": relative to the current directory if the file is below it.
std::string file_and_line(const std::string& file, std::uint32_t line);

// A description of where the threads of a block wait, and for which threads. `running_too`: also where the
// others run.
std::string describe_waits(const Block& block, bool running_too = true);

}  // namespace course::sim
