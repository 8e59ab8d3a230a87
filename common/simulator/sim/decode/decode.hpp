// SPDX-License-Identifier: MIT
// Decodes a PTX function into a Program, once per kernel: operands become slots, instructions become
// micro-ops from the op table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/demangle.hpp"
#include "base/result.hpp"
#include "ptx/ir.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/program.hpp"

namespace course::sim {

// The addresses of a loaded module's symbols.
struct ModuleImage {
  const ptx::Module* module = nullptr;
  // Global and constant variables: address in the arena. Variables declared in a function's body have the
  // prefix scope_of_variables().
  std::unordered_map<std::string, std::uint64_t> variables;
  std::uint64_t parameter_area = 0;  // address of the kernel's parameters during a launch
};

// For debuggers: where a decoded kernel keeps what the PTX text names.
struct SlotNames {
  using Offsets = std::map<std::string, std::uint32_t, std::less<>>;
  struct Function {
    std::vector<std::uint32_t> registers;  // slots, by index in ptx::Function::registers; or MicroOp::kNoSlot
    Offsets frame;                         // of its local variables, in its frame
  };
  std::vector<Function> functions;  // as Program::functions
  Offsets shared;                   // of shared variables, in the block's shared memory
};

// Decodes a kernel. An Error about an instruction contains it, the function and file:line. Fills `names`
// unless it is nullptr.
Result<Program> decode(const ModuleImage& image, const ptx::Function& kernel, const OpTable& table,
                       SlotNames* names = nullptr);

// Assigns scheduling ranks to blocks: a reverse post-order in which loop bodies come before what follows the
// loop. Also marks loops that poll and the loads that they poll with, and assigns costs: short loops that
// poll memory use up their time slice quickly, so that the threads that they wait for can run.
void rank_blocks(Program& program);
// Fills in ProgramFunction::unset_slots.
void find_unset_slots(Program& program);
// Marks atomics of the kernel itself, without called functions, that one lane executes for all (kCombined).
// nvcc's assembler combines integer additions, minima, maxima and bitwise operations if the way in which the
// address is computed makes it the same for the whole warp.
void mark_combined_atomics(Program& program);

// The prefix of a function's own variables in ModuleImage::variables. No variable name can start like this.
inline std::string scope_of_variables(const ptx::Function& f) {
  return f.name + "/";
}

// The value of a pointer to a function: its index in the module, in a range without data.
std::uint64_t function_address(const ptx::Module& module, const ptx::Function& f);

}  // namespace course::sim
