// SPDX-License-Identifier: MIT
// Runs a launch: assigns blocks to host threads, lets the warps of a block take turns, and sums up what they
// counted.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

struct GridOptions {
  int host_threads = 1;
  // At most so many blocks at once per host thread, so that blocks which wait for later ones make progress.
  int resident_blocks = 1;
  bool counting = true;
  std::uint64_t schedule_seed = 0;  // 0: natural order
  bool any_start_order = false;     // see DeviceOptions
  // For kernels whose results may depend on the order of blocks: blocks take short turns of random length in
  // random order, so that a block that waits for another one really has to wait. Otherwise turns are so long
  // that most blocks end within their first one.
  bool interleave = false;
  bool short_turns = false;                    // see DeviceOptions; if interleaved
  double watchdog_seconds = 0;                 // of processor time; 0: no limit
  double seconds_after_error = 0;              // the same, if the observer knows an error
  std::uint64_t patience = ~std::uint64_t{0};  // warp instructions, see DeviceOptions::patience
  // Generic address of the words for grid.sync(); 0: not a cooperative launch.
  std::uint64_t grid_workspace = 0;
  Cache* cache = nullptr;           // if counting
  Observer* observer = nullptr;     // if given, one host thread runs the launch
  std::vector<Observer*> parallel;  // instead of `observer`: one observer for each of several host threads
};

struct GridOutcome {
  Fault fault = Fault::none;
  std::string text;  // the cause, without kernel and source position
  std::vector<SourcePlace> where;
  ThreadId thread;
  std::uint64_t address = 0;
  std::uint32_t lanes = 0;
  const MicroOp* op = nullptr;  // the op at fault, or nullptr
  std::string stray_index;      // as describe_stray_index says
  bool out_of_time = false;     // of a launch_timeout: the watchdog's limit; else the launch would never end
  Counters counters;
  UnitClocks busiest_block{};              // for each unit, of the block that needs it longest
  std::vector<OpCounters> op_counters;     // by op
  std::vector<std::uint64_t> guarded_off;  // by op: lanes whose guard was false
  std::vector<std::uint64_t> block_runs, block_lanes, diverged;  // by basic block
  std::string output;                                            // of printf
  std::uint64_t printed_bytes = 0, recursion_bytes = 0;          // as in LaunchResult
  std::vector<ChildLaunch> children;                             // in the order of the calls
};

// Runs every block of the grid. The caller must have copied `launch.parameters` to the parameter area. A
// fault of the kernel is reported in the result, not thrown.
GridOutcome run_grid(const Program& program, const LaunchRequest& launch, Arena& arena,
                     const DevicePreset& preset, const Engine& engine, const GridOptions& options);

}  // namespace course::sim
