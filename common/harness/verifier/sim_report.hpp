// SPDX-License-Identifier: MIT
// The part of the simulator's report that verifier and grader use (the JSON is described in
// cudart/sim_control.h).
// The report comes from a process that runs a student's kernels and may contain anything: reading it never
// fails, but skips what is invalid. Only weight_of() decides what a finding means for a verdict.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/counters.hpp"

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

// The effect of a finding on a verdict.
enum class Weight : std::uint8_t {
  fault,  // the case is wrong, even if its output is right
  hint,   // no verdict; the likely cause of a wrong output
  shown,  // no verdict and no cause; only ./lab check and ./lab sanitize show it
};

// fault: errors of all checkers but leakcheck, and of the execution.
// hint: lost updates, and findings with the severity hint: old values (is_old_value); failed calls; threads
// that write the same value to one word; reads in kernels of CUB and Thrust whose values are discarded; a
// mask that contains lanes which have exited.
// shown: leakcheck. The harness frees its allocations after the report, and the heap of kernels is emptied
// after each case.
Weight weight_of(const SimFinding& finding);

// A call of the runtime failed, a launch too.
bool is_failed_call(const SimFinding& finding);

// A load got an old value (sim/checkers/README.md, "Old values"), for want of a fence.
bool is_old_value(const SimFinding& finding);

// What the device that sends most has sent to other devices (nccl/operation/model.hpp).
struct Traffic {
  std::uint64_t messages = 0, bytes_sent = 0;
};

struct SimReport {
  bool readable = false;  // false: no report, or not one of the simulator's
  std::string device;
  double modelled_us = 0;
  double memory_gb_per_s = 0;  // of the chip; 0: unknown
  sim::Counters totals;
  Traffic traffic;
  std::uint64_t fills = 0;           // memsets of the program
  std::vector<SimFinding> findings;  // of each device, the most telling first; at most 100
  // Whether the device did any work for the program.
  bool did_work() const { return totals.launches + fills > 0; }
  // Whether a kernel changed global memory. False without counters.
  bool stored() const { return totals.global_store_requests + totals.atomic_requests > 0; }
};

SimReport read_sim_report(std::string_view json);

// "k03" for "void course::reduction::k03<int, Sum<int> >(int const*, …)".
std::string short_kernel_name(std::string kernel);

// One report for an array of the reports of several devices: launches, findings and the like of all of them;
// totals are summed, but "steps", "hottest_atomics" and "modelled_us" are those of the device with most. Of
// "traffic", each number is that of the device with most. "" if it is no such array.
std::string merged_report(std::string_view json);

// The finding as one line: the kind of error, the position, the object; "" if the finding is empty.
std::string one_line(const SimFinding& finding);

// The finding without values, which a kernel may use as indices too: arrays without the elements, and no text
// about the contents of memory.
SimFinding without_elements(SimFinding finding);

}  // namespace course::lab
