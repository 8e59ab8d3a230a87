// SPDX-License-Identifier: MIT
// A launch that does not end, in words: which threads wait where, for which place in memory to change, and who changed it last.
// Threads that poll look like any others; so blocks are run on for a moment under observation, to see what they look at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// What is known of the blocks of a launch that hangs.
struct HangScene {
  Worker& worker;
  const Engine& engine;
  std::vector<Block*> resident;
  std::uint64_t n_blocks, n_started;  // of the grid; none started: not known
};
struct Hang {
  std::string text;
  // One of those who wait: what it waits for is a look at memory, or a barrier. nullptr: nobody.
  Warp* warp = nullptr;
  const MicroOp* op = nullptr;
  std::uint32_t lanes = 0;
};
Hang describe_hang(const HangScene& scene);

// The first group of a block that waits for others, without text; of those that run too where `running_too`.
Hang first_waiting(Block& block, bool running_too);

}  // namespace course::sim
