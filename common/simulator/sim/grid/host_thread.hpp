// SPDX-License-Identifier: MIT
// One host thread's part of a launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/grid/block_times.hpp"
#include "sim/grid/grid.hpp"

namespace course::sim {

// State shared by the host threads of one launch.
struct SharedRun {
  std::atomic<std::uint64_t> next_block{0};
  // Blocks that a host thread takes at once. Neighbours often use the same lines of memory.
  std::uint64_t chunk = 1;
  // After a fault only blocks with lower numbers run on, and only those of chunks that were taken before
  // start. So the fault of the lowest block is reported, whatever the number of host threads.
  std::atomic<std::uint64_t> fault_block{~std::uint64_t{0}};
  std::atomic<int> getting_on{0};  // host threads whose blocks may still make progress
  std::mutex mutex;
  GridOutcome outcome;
  // For the timing model: how long each block took. If blocks may wait for each other, `block_times` gives
  // their start times instead.
  std::vector<std::uint32_t> block_clocks;
  std::optional<BlockTimes> block_times;
};

// Whether blocks that may wait for each other start in an order of the schedule's seed, only a few at once.
bool scatters(const GridOptions& options, const Program& program, const LaunchRequest& launch);

// Takes blocks, by their numbers in the order in which they start, and runs them until there are none left.
void run_blocks(Worker& worker, const Engine& engine, const GridOptions& options, SharedRun& shared,
                const std::vector<std::uint64_t>& blocks);

}  // namespace course::sim
