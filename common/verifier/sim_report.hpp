// SPDX-License-Identifier: MIT
// What the verifier takes from the simulator's report (its JSON is described in cudart/sim_control.h).
// The report comes out of a process that runs a student's kernels and may be anything at all: reading it
// never fails, it only finds less. What a finding means for a verdict is said here alone: weight_of().
#pragma once

#include <array>
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
  std::array<std::uint32_t, 3> block{}, thread{}, other_block{}, other_thread{};
  std::uint64_t times = 1;
  bool is_hint = false;  // the simulator's severity
};

// What a finding does to a verdict.
enum class Weight : std::uint8_t {
  fault,  // the case is wrong, whatever its output
  hint,   // no verdict, but the likely cause of a wrong output: the result never depends on luck
  shown,  // no verdict and no cause: ./lab check and ./lab sanitize show it
};

// fault: errors of memcheck, racecheck, initcheck, synccheck and of the execution.
// hint: what a checker itself calls one. Threads that write the same value to one word; reads in kernels of
// CUB and Thrust that
//   they discard; a mask that names lanes which have left the kernel.
// shown: leakcheck. The harness frees what it allocated after the report, and what kernels keep is gone with
// the case.
Weight weight_of(const SimFinding& finding);

// A load got an old value (sim/checkers/README.md, "Old values"), for want of a fence.
bool is_old_value(const SimFinding& finding);

struct SimReport {
  bool readable = false;  // false: no report, or not one of the simulator's
  std::string device;
  double modelled_us = 0;
  double memory_gb_per_s = 0;        // the chip's; 0: not told
  std::uint64_t launches = 0;        // of kernels
  std::uint64_t fills = 0;           // memsets that the program asked for
  std::vector<SimFinding> findings;  // most telling first, 100 at most
  // Did the device do anything at all for the program?
  bool did_work() const { return launches + fills > 0; }
};

SimReport read_sim_report(std::string_view json);

// One line: what was found, where, on which object. "" when the finding is not about the student's kernels.
std::string one_line(const SimFinding& finding);

}  // namespace course::lab
