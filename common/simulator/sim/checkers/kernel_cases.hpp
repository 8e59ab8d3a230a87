// SPDX-License-Identifier: MIT
// For the tests: reads the expectations in a file of test kernels (kernels/kernels.cuh), runs a kernel and
// returns its findings.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "sim/device.hpp"

namespace course::sim::testing {

struct KernelCase {
  std::string file;                // "races_shared"
  std::string kernel;              // its name
  std::set<std::string> expected;  // kinds of findings; empty for correct code
  std::string reason;              // part of each finding's message
  std::uint32_t grid = 1, block = 32, n = 4096, shared = 0;
  int scratch_at = -1;  // `scratch` begins at this element of `out`; -1: it is an array of its own
  bool cooperative = false, free_scratch = false;
  bool is_task = false;  // `in` is the input of a lab's task
  std::set<std::uint32_t> fault_lines, other_lines;
  // Lines of functions that several kernels call: the marked line is that of the call.
  std::set<std::uint32_t> helper_lines;
};

// Prints a case in GoogleTest's messages.
void PrintTo(const KernelCase& c, std::ostream* out);

// All cases of a file. Throws std::runtime_error if a comment cannot be parsed.
std::vector<KernelCase> cases_of(const std::string& file);
std::vector<KernelCase> all_cases();  // of all files

// The name of a case in GoogleTest's lists.
std::string name_of_case(const ::testing::TestParamInfo<KernelCase>& info);

// Runs the kernel in `mode` on a new device. Returns the findings, and in `*out` the contents of the buffer
// `out`.
std::vector<Finding> run(const KernelCase& c, std::uint32_t mode, std::uint64_t schedule_seed = 0,
                         int host_threads = 1, std::vector<std::uint32_t>* out = nullptr);

// The findings as text, one per line.
std::string list(const std::vector<Finding>& findings);

}  // namespace course::sim::testing
