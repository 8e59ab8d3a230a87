// SPDX-License-Identifier: MIT
// For the tests: reads what a file of test kernels says about its kernels (kernels/kernels.cuh), runs one, hands back findings.
#pragma once

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
  std::set<std::string> expected;  // kinds; empty for correct code
  std::uint32_t grid = 1, block = 32, n = 4096, shared = 0;
  bool cooperative = false, free_scratch = false;
  std::set<std::uint32_t> fault_lines, other_lines;
  std::set<std::uint32_t>
      helper_lines;  // of functions that several kernels call: there the line of the call counts
};

// For GoogleTest's messages.
void PrintTo(const KernelCase& c, std::ostream* out);

// All cases of a file. Throws std::runtime_error where a comment cannot be read.
std::vector<KernelCase> cases_of(const std::string& file);

// Runs the kernel in `mode`. Its findings, and what it left in `out`.
std::vector<Finding> run(const KernelCase& c, std::uint32_t mode, std::uint64_t schedule_seed = 0,
                         int host_threads = 1, std::vector<std::uint32_t>* out = nullptr);

// For messages: the findings, one a line.
std::string list(const std::vector<Finding>& findings);

}  // namespace course::sim::testing
