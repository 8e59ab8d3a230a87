// SPDX-License-Identifier: MIT
// What happens where threads leave straight-line code: barriers, calls, returns, exits, jump tables. Called by the run loop,
// the same for every instruction set of the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/machine/warp.hpp"

namespace course::sim {

// How many lanes a mask names: mostly all, and portable code has no instruction for the rest.
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
// Which of the block's barriers lanes `mask` are at.
std::uint32_t barrier_number(Warp& w, std::uint32_t mask, const MicroOp& op);

// Group `k` of the warp stands at a block-wide barrier op. Returns true when it may go on at once (it was the last to come, or
// only announces itself); otherwise the group waits until the barrier releases it.
bool arrive_at_barrier(Warp& w, std::size_t k, const MicroOp& op);

// Moves group `k` on from a block whose exit is a call, return, exit, jump table or trap.
void leave_by_machine(Warp& w, std::size_t k, const BasicBlock& b);

// Prepares a warp's state for the first `n_threads` lanes of a fresh block.
void begin_warp(Warp& w, Block& block, std::uint32_t number, std::uint32_t n_threads);

// The source position of an op: "reduction.cu:31" with the call stack innermost first.
std::vector<SourcePlace> places_of(const Program& program, const MicroOp& op);
std::vector<SourcePlace> places_of(const Program& program, std::uint32_t function, std::uint32_t ptx_index);
// The innermost of them in the kernel's own file: the line that its author wrote. Nothing is in it when `places` is empty.
SourcePlace own_place(const std::vector<SourcePlace>& places);
std::string one_line(const std::vector<SourcePlace>& places);
// "kernels/fold.cu:31": the path from the current directory, where the file lies below it.
std::string file_and_line(const std::string& file, std::uint32_t line);

// Which threads of a block that does not end wait where for whom, or (`running_too`) run where.
std::string describe_waits(const Block& block, bool running_too = true);

}  // namespace course::sim
