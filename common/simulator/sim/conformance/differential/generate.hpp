// SPDX-License-Identifier: MIT
// Random kernels in which every output bit is determined, so that all devices must compute the same. They use
// the arithmetic of the conformance suite (all instructions with an exact result) and, around it, carry
// chains, pairs of halves, divergent branches and loops, calls, shuffles and votes, shared and local memory,
// commutative atomics, vector loads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/conformance/operation.hpp"

namespace course::sim::differential {

inline constexpr unsigned kBlocks = 2, kThreads = 64;
inline constexpr std::size_t kWordsIn = 8, kWordsOut = 20;  // of 64 bits, per thread

// The instructions of the conformance suite from which the kernels are made: those that ptxas accepts for
// `sm`, with an exact result for which the machine code follows the ISA.
const std::vector<Operation>& operations(int sm);

// The approximate instructions, whose results the simulator takes from measurements.
const std::vector<Operation>& approximate_operations(int sm);

// `.version` and `.target` of the kernels below.
std::string header(int sm);

// A kernel `.visible .entry NAME(.param .u64 in, .param .u64 out)` with the functions that it calls. The same
// seed gives the same text on every machine. `sm`: the compute capability whose instructions it may use.
std::string random_kernel(std::uint64_t seed, const std::string& name, int sm);

// The input of all threads: edge cases and random numbers.
std::vector<std::uint64_t> random_input(std::uint64_t seed);

}  // namespace course::sim::differential
