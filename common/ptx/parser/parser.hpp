// SPDX-License-Identifier: MIT
// Text to Module and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ptx/ir.hpp"

namespace course::ptx {

// Parses one PTX module. Accepts any opcode and modifiers: whether an instruction can run is the simulator's
// question. Errors name the text line and column, what was found and what was expected.
// The text need not end in a newline; a NUL ends it. Never crashes, whatever the bytes.
Result<Module> parse(std::string_view text);

// Prints a module so that parse(print(m)) equals m up to formatting and text_line.
std::string print(const Module& module);

// One instruction as PTX text, registers and labels by name: for diagnostics.
std::string print(const Function& function, const Instruction& instruction);

}  // namespace course::ptx
