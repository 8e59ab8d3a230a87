// SPDX-License-Identifier: MIT
// PTX function to Program, once per kernel: operands become slots, instructions become micro-ops found in the
// op table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/demangle.hpp"
#include "base/result.hpp"
#include "ptx/ir.hpp"
#include "sim/machine/program.hpp"
#include "sim/ops/table.hpp"

namespace course::sim {

// Where a loaded module's symbols live.
struct ModuleImage {
  const ptx::Module* module = nullptr;
  // Global and constant: address in the arena. Those declared in a function's body: by scope_of_variables()
  // and their name.
  std::unordered_map<std::string, std::uint64_t> variables;
  std::uint64_t parameter_area = 0;  // where a launch puts the kernel's parameters
};

// Errors name the instruction, the function and file:line.
Result<Program> decode(const ModuleImage& image, const ptx::Function& kernel, const OpTable& table);

// Gives every block its scheduling rank: a reverse post-order in which loop bodies come before what follows
// the loop. Also its cost: short loops that wait for what other threads write use up a turn fast, so that
// those threads get theirs.
void rank_blocks(Program& program);

// What stands before the name of a function's own variables in ModuleImage: no name of a variable can begin
// so.
inline std::string scope_of_variables(const ptx::Function& f) {
  return f.name + "/";
}

// What a pointer to a function holds: its place in the module, at addresses that no data has.
std::uint64_t function_address(const ptx::Module& module, const ptx::Function& f);

}  // namespace course::sim
