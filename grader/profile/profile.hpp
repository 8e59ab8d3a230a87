// SPDX-License-Identifier: MIT
// The cost of a kernel by source line, from a run on the simulator: counters of each line, and the task's
// work, steps and bytes beside their closed forms. Made from the simulator's report, which may contain
// anything: fields that can't be read are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/problem.hpp"
#include "source_lines.hpp"

namespace course::grader {

struct ProfiledLine {
  std::string file;
  std::uint32_t line = 0;
  // Share of the limiting resource (memory: sectors; issue: warp instructions; …), 0 … 1.
  double share = 0;
  double active_lanes = 0;                     // 0 … 1
  std::optional<double> divergent;             // of the conditional branches, 0 … 1
  std::optional<double> sectors_per_request;   // of 32 bytes
  std::optional<double> passes_per_request;    // shared-memory wavefronts per request
  std::optional<double> atomics_at_one_place;  // most lanes at one address, per request; 1: none waits
};

struct ProfiledKernel {
  std::string name;
  std::uint64_t launches = 0;
  double modelled_us = 0;
  std::string bound_by;  // the limiter of its longest launch: a name of sim/timing/bounds.hpp
  // The occupancy of its longest launch, and the numbers that determine it.
  double occupancy = 0;  // 0 … 1
  std::uint64_t resident_blocks = 0, block_threads = 0, registers = 0, shared = 0;
  std::vector<ProfiledLine> lines;  // by file and line
};

struct Profile {
  std::string lab, task, case_name, device;
  std::uint64_t n = 0;  // items of the case
  double modelled_us = 0;
  std::vector<ProfiledKernel> kernels;  // the longest first
  double work = 0, steps = 0, bytes = 0;
  double barriers = 0;  // passed by blocks, together
  double messages = 0;  // of the device that sends most
  lab::Ideal ideal;
  std::vector<std::pair<lab::Metric, double>> metrics;               // those that the counters determine
  double intensity() const { return bytes > 0 ? work / bytes : 0; }  // operations a byte
};

Profile profile_of(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                   std::string_view sim_report);

// For a terminal of so many columns, at least 80.
std::string profile_text(const Profile& profile, const SourceLine& source_line, std::size_t columns = 80);
std::string profile_json(const Profile& profile);

// The meaning of a limiter in words: "bytes through global memory; share = sectors moved".
const char* meaning_of(const std::string& bound_by);

}  // namespace course::grader
