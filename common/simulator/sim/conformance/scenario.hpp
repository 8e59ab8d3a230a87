// SPDX-License-Identifier: MIT
// Instructions that need more context than operands and a result: memory, atomics, exchange between lanes,
// carries. Each scenario is a kernel of its own with its expected output, which is computed on the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/device.hpp"

namespace course::sim {

struct Scenario {
  std::string name;
  std::vector<std::string> rows;  // the rows of the op table that it tests
  // A module with one kernel `k(.param .u64 in, .param .u64 out)`.
  std::string ptx = {};
  std::uint32_t blocks = 1, threads = 32;
  std::vector<std::uint64_t> in = {};
  std::vector<std::uint64_t> out = {};  // expected output; the words are initially 0
  MemoryKind in_kind = MemoryKind::device;
  bool any_order = true;  // the outcome does not depend on the order of warps
  int least_sm = 80;
};

std::vector<Scenario> memory_scenarios();
std::vector<Scenario> atomic_scenarios();
std::vector<Scenario> warp_scenarios();
std::vector<Scenario> carry_scenarios();
std::vector<Scenario> form_scenarios();  // spellings that the decoder splits into several rows
std::vector<Scenario> async_scenarios();
std::vector<Scenario> mma_scenarios();
std::vector<Scenario> wmma_scenarios();
std::vector<Scenario> ldmatrix_scenarios();
std::vector<Scenario> texture_scenarios();
std::vector<Scenario> cluster_scenarios();
std::vector<Scenario> all_scenarios();

// The text of a kernel with these `declarations` (registers, variables) and this `body`. In the body, %in and
// %out are the addresses of the thread's own `in_words` and `out_words` words, %i is the thread's index in
// the grid and %lane its lane.
std::string scenario_kernel(const std::string& declarations, const std::string& body, int in_words,
                            int out_words);

}  // namespace course::sim
