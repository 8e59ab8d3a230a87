// SPDX-License-Identifier: MIT
// Random kernels whose every output bit is determined: what one machine computes, every machine must.
// They use the arithmetic of the conformance suite (all instructions with an exact result) and, around it,
// carries, pairs of halves, divergent branches and loops, calls, shuffles and votes, shared and local memory,
// atomics that commute, vector loads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/conformance/operation.hpp"

namespace course::sim::differential {

inline constexpr unsigned kBlocks = 2, kThreads = 64;
inline constexpr std::size_t kWordsIn = 8, kWordsOut = 20;  // of 64 bits, per thread

// The instructions of the conformance suite that the kernels choose from: those that ptxas takes for `sm`,
// with an exact result that the machine code computes as the ISA says.
const std::vector<Operation>& operations(int sm);

// `.version` and `.target` of the kernels below.
std::string header(int sm);

// A function `.visible .entry NAME(.param .u64 in, .param .u64 out)` with the functions that it calls. The
// same seed gives the same text everywhere. `sm`: the compute capability whose instructions it may use.
std::string random_kernel(std::uint64_t seed, const std::string& name, int sm);

// The input of all its threads: edge cases and random numbers.
std::vector<std::uint64_t> random_input(std::uint64_t seed);

}  // namespace course::sim::differential
