// SPDX-License-Identifier: MIT
// Runs a launch: hands blocks to host threads, lets the warps of a block take turns, sums up what they counted.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

struct GridOptions {
  int host_threads = 1;
  int resident_blocks = 1;  // per host thread, so that blocks which wait for later ones make progress
  bool counting = true;
  std::uint64_t schedule_seed = 0;  // 0: the natural order
  // Where results may show the order of blocks: short turns of random length, dealt at random among several blocks, so that
  // what waits for another block really does. Natural turns are so long that most blocks end in their first one.
  bool interleave = false;
  double watchdog_seconds = 0;                 // 0: none
  std::uint64_t patience = ~std::uint64_t{0};  // warp instructions, see DeviceOptions
  std::uint64_t grid_workspace = 0;  // address of the words behind grid.sync(); 0: not a cooperative launch
  Cache* cache = nullptr;            // for counting
  Observer* observer = nullptr;      // forces one host thread
  std::vector<Observer*> together;   // … or one for each of several, in its place
};

struct GridOutcome {
  Fault fault = Fault::none;
  std::string text;  // what happened, without kernel and place
  std::vector<SourcePlace> where;
  ThreadId thread;
  std::uint64_t address = 0;
  std::uint32_t lanes = 0;
  const MicroOp* op = nullptr;  // at fault, where one is
  Counters counters;
  std::vector<OpCounters> op_counters;                           // by op
  std::vector<std::uint64_t> guarded_off;                        // by op: lanes that a guard switched off
  std::vector<std::uint64_t> block_runs, block_lanes, diverged;  // by basic block
  std::string output;                                            // of printf
};

// Runs every block of the grid. `launch.parameters` have been copied to the parameter area by the caller.
GridOutcome run_grid(const Program& program, const LaunchRequest& launch, Arena& arena,
                     const DevicePreset& preset, const Engine& engine, const GridOptions& options);

}  // namespace course::sim
