// SPDX-License-Identifier: MIT
// The results of each arithmetic instruction according to the PTX ISA: the list that the conformance test
// runs on the simulator and that check_gpu.cpp runs on a GPU. Shares no code with the simulator's ops.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ptx/ir.hpp"

namespace course::sim {

namespace exact {
struct Format;
}
const exact::Format* format_of(ptx::Type type);  // nullptr if it is no type of one floating-point number
bool has_sign(ptx::Type type);

// Operands and results as bits, zero-extended.
using Bits = std::uint64_t;
using Operands = const Bits*;

struct Operation {
  std::string row;  // key in the simulator's op table
  std::string ptx;  // spelling in PTX
  ptx::Type result = ptx::Type::none;
  std::vector<ptx::Type> sources;
  std::function<Bits(Operands)> expected;
  // For approximate instructions: whether `got` is accurate enough. If empty, the result must be equal bit by
  // bit.
  std::function<bool(Operands, Bits got)> accepts = {};
  // The result of machine code for compute capability 9.0 where it deviates from the ISA. check_gpu accepts
  // both; the simulator must give `expected`.
  std::function<Bits(Operands)> on_sm90 = {};
  // ptxas drops the guard: machine code for sm_90 executes the operation in every thread.
  bool sm90_loses_guard = false;
  int result_register_bits = 0;  // 0: that of the type; if larger, the extension is tested
  int least_sm = 80;             // the lowest compute capability that supports it
};

// All arithmetic, logic, comparison, selection and conversion instructions, by family in the order of the op
// table's files.
std::vector<Operation> integer_operations();
std::vector<Operation> bit_operations();
std::vector<Operation> float_operations();
std::vector<Operation> half_operations();
std::vector<Operation> compare_operations();
std::vector<Operation> move_operations();
std::vector<Operation> convert_operations();
std::vector<Operation> all_operations();

// `n` tuples of operands, reproducible by the seed. Seed 0: the combinations of edge cases, then random
// tuples; other seeds: random tuples only, with an occasional edge case.
std::vector<Bits> operands_for(const Operation& operation, std::size_t n, std::uint64_t seed = 0);

// A kernel that applies the operation to thread i's operands at in + 8·n_sources·i. It writes three words at
// out + 24·i: the result; the result under a guard that is true only in odd threads (the register contained
// kUntouched before); and 0.
std::string kernel_for(const Operation& operation, const std::string& name);
inline constexpr Bits kUntouched = 0x5a5a5a5a5a5a5a5a;

// The two expected result words.
struct Outcome {
  Bits plain, guarded;
};
Outcome expected_outcome(const Operation& operation, Operands operands, bool odd_thread);

}  // namespace course::sim
