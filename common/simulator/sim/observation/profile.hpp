// SPDX-License-Identifier: MIT
// What each source line of a kernel did, summed over its launches: counters as in counters.hpp, by line.
// Lines are those of the kernel's own source file; instructions of an inlined function count for the line
// that called it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/grid/grid.hpp"
#include "sim/machine/program.hpp"

namespace course::sim {

struct LineProfile {
  std::string kernel;  // demangled
  std::string file;    // "" without line information
  std::uint32_t line = 0;
  std::uint64_t warp_instructions = 0, lane_instructions = 0;
  std::uint64_t branches = 0, divergent_branches = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, global_bytes = 0;  // also of local memory
  std::uint64_t local_sectors = 0;  // of these sectors, those of local memory
  std::uint64_t shared_requests = 0, shared_wavefronts = 0;
  std::uint64_t atomic_requests = 0, atomic_lanes = 0, atomic_serialised = 0;
  std::uint64_t barriers = 0;  // executions of barriers by warps
};

// Adds the counts of a launch to `lines`.
void add_to_profile(std::vector<LineProfile>& lines, const Program& program, const GridOutcome& outcome);

}  // namespace course::sim
