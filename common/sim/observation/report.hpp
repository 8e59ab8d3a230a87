// SPDX-License-Identifier: MIT
// What the device has seen since the last reset, and its JSON (schema in common/cudart/sim_control.h).
#pragma once

#include <string>
#include <vector>

#include "sim/counters.hpp"
#include "sim/finding.hpp"
#include "sim/observation/profile.hpp"
#include "sim/observation/trace.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct Report {
  static constexpr std::size_t kMostLaunches = 4096;  // later ones are summed only

  struct Launch {
    std::string kernel;  // demangled
    Dim3 grid, block;
    double modelled_us = 0;
    const char* bound_by = "";
    Counters counters;
    // How well the launch could fill a multiprocessor.
    int resident_blocks = 0;   // at once
    double occupancy = 0;      // of the multiprocessor's threads, 0 … 1
    int registers = 0;         // per thread, estimated from PTX
    std::uint64_t shared = 0;  // bytes per block
  };

  std::string device;
  double memory_gb_per_s = 0;  // the chip's
  std::uint64_t fills = 0;     // memsets
  std::vector<Launch> launches;
  Counters totals;
  double modelled_us = 0;  // from the reset to the end of the last launch
  std::vector<Finding> findings;
  TraceLog trace;
  std::vector<LineProfile> lines;

  void add(Launch launch);
};

// In words, most telling first: a line that names the kind, one that tells the rest, and the other lines that
// the same cause shows at.
std::string to_text(const std::vector<Finding>& findings);

std::string to_json(const Report& report, std::uint32_t mode);

}  // namespace course::sim
