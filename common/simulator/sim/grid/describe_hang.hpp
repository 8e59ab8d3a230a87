// SPDX-License-Identifier: MIT
// Describes a launch that does not end: which threads wait where, for which memory to change, and which
// thread changed it last. A polling thread looks the same as a running one, so some blocks run on for a while
// under observation to find out which memory they read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// What is known about the blocks of a launch that hangs.
struct HangScene {
  Worker& worker;
  const Engine& engine;
  std::vector<Block*> resident;
  std::uint64_t n_blocks, n_started;  // of the grid; n_started == 0: not known
};
struct Hang {
  std::string text;
  // One of the waiting groups, and the memory access or barrier that it waits at. nullptr if there is none.
  Warp* warp = nullptr;
  const MicroOp* op = nullptr;
  std::uint32_t lanes = 0;
  // If it polls global memory: the generic address, and a clause that says who waits for what.
  std::uint64_t address = 0;
  std::string wait = {};
};
Hang describe_hang(const HangScene& scene);

// The first group of a block that waits for others, or with `running_too` the first group. The text is empty.
Hang first_waiting(Block& block, bool running_too);

}  // namespace course::sim
