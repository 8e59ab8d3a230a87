// SPDX-License-Identifier: MIT
// What the device has seen since the last reset, and its conversion to text and JSON (schema in
// common/simulator/cudart/sim_control.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/counters.hpp"
#include "sim/finding.hpp"
#include "sim/observation/profile.hpp"
#include "sim/observation/trace.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct Report {
  // Later launches are added to an earlier one of the same kernel and shape; if there is none, they are only
  // in the totals.
  static constexpr std::size_t kMaxLaunches = 1024;

  struct Launch {
    std::string kernel;  // demangled
    Dim3 grid, block;
    double modelled_us = 0;
    const char* bound_by = "";
    Counters counters;
    // How well the launch fills a multiprocessor.
    int resident_blocks = 0;   // per multiprocessor, at once
    double occupancy = 0;      // resident threads as a fraction of the multiprocessor's maximum
    int registers = 0;         // per thread; estimated from PTX if there is no machine code
    std::uint64_t shared = 0;  // bytes per block
    std::uint64_t times = 1;   // launches that this one stands for; times and counters are their sums
  };

  std::string device;
  double memory_gb_per_s = 0;  // achievable bandwidth of the chip
  std::uint64_t fills = 0;     // memsets
  // Operations of several devices in which this one took part, and what it sent to the others.
  struct Traffic {
    std::uint64_t operations = 0, messages = 0, bytes_sent = 0;
  } traffic;
  std::vector<Launch> launches;
  std::uint64_t launches_left_out = 0;  // in no entry of `launches`
  Counters totals;
  double modelled_us = 0;  // from the reset to the end of the last launch or memset
  std::vector<Finding> findings;
  std::map<std::string, std::uint64_t> unchecked;  // number of launches, by what was not checked and why
  TraceLog trace;
  std::vector<LineProfile> lines;

  void add(Launch launch);
};

// Findings with the same cause count as one.
struct FindingsText {
  std::string text;
  std::vector<std::string> brief;  // of each finding, with short names, and nothing said twice
  std::size_t errors = 0, hints = 0;
};

// The findings as text, the most important first: a line with the kind, a line with the message, and the
// other lines of code with the same cause.
FindingsText to_text(const std::vector<Finding>& findings);

// At most kMaxReportBytes: long texts are cut, the cheapest source lines and the end of a trace left out; if
// that is not enough, whole lists.
inline constexpr std::size_t kMaxReportBytes = (std::size_t{8} << 20) - 1;
std::string to_json(const Report& report, std::uint32_t mode);

}  // namespace course::sim
