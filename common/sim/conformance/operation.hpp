// SPDX-License-Identifier: MIT
// What each arithmetic instruction must give, as the PTX ISA says it: the list that the conformance test runs
// on the simulator, and that check_gpu.cpp runs on a GPU. Shares no code with the simulator's ops.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ptx/ir.hpp"

namespace course::sim {

// Operands and results as bits, zero-extended.
using Bits = std::uint64_t;
using Operands = const Bits*;

struct Operation {
  std::string row;  // key in the simulator's op table
  std::string ptx;  // as PTX spells it
  ptx::Type result = ptx::Type::none;
  std::vector<ptx::Type> sources;
  std::function<Bits(Operands)> expected;
  // For approximate instructions: is `got` near enough? Empty: bit by bit.
  std::function<bool(Operands, Bits got)> accepts;
  // What the machine code of compute capability 9.0 gives where it departs from the ISA: for check_gpu, which
  // takes either. The simulator is held to `expected`.
  std::function<Bits(Operands)> on_sm90;
  // ptxas loses the guard: machine code for sm_90 does the operation in every thread.
  bool sm90_loses_guard = false;
  int result_register_bits = 0;  // 0: as the type; more tests the extension
  int least_sm = 80;             // compute capability that has it
};

// Every arithmetic, logic, comparison, selection, and conversion instruction. By family, in the order of the
// op table's files.
std::vector<Operation> integer_operations();
std::vector<Operation> bit_operations();
std::vector<Operation> float_operations();
std::vector<Operation> half_operations();
std::vector<Operation> compare_operations();
std::vector<Operation> move_operations();
std::vector<Operation> convert_operations();
std::vector<Operation> all_operations();

// `n` tuples of operands, the same on every call with one seed. Seed 0: first the combinations of edge cases,
// then random ones; other seeds: random ones only, an edge case among them now and then.
std::vector<Bits> operands_for(const Operation& operation, std::size_t n, std::uint64_t seed = 0);

// A kernel that runs the operation on thread i's operands at in + 8·n_sources·i. Writes three words at out +
// 24·i: the result, the result of the operation under a guard that holds in odd threads only (its register
// held kUntouched before), and 0.
std::string kernel_for(const Operation& operation, const std::string& name);
inline constexpr Bits kUntouched = 0x5a5a5a5a5a5a5a5a;

// What the two result words must be.
struct Outcome {
  Bits plain, guarded;
};
Outcome expected_outcome(const Operation& operation, Operands operands, bool odd_thread);

}  // namespace course::sim
