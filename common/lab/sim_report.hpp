// SPDX-License-Identifier: MIT
// What the verifier takes from the simulator's report (its JSON is described in cudart/sim_control.h).
// The report comes out of a process that runs a student's kernels and may be anything at all: reading it never fails, it only finds less.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace course::lab {

struct SimFinding {
  std::string checker;  // "racecheck"
  std::string kind;     // "shared-race"
  std::string kernel;
  std::string file;
  std::uint32_t line = 0;
  std::string other_file;
  std::uint32_t other_line = 0;
  std::string object;   // "s_data[17]"
  std::string message;  // one sentence
  std::uint64_t times = 1;
};

struct SimReport {
  bool readable = false;  // false: no report, or not one of the simulator's
  std::string device;
  double modelled_us = 0;
  std::uint64_t launches = 0;
  std::vector<SimFinding> findings;  // most telling first
};

SimReport read_sim_report(std::string_view json);

// One line: what was found, where, on which object. "" when the finding is not about the student's kernels.
std::string one_line(const SimFinding& finding);

}  // namespace course::lab
