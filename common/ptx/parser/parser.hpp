// SPDX-License-Identifier: MIT
// Conversion of PTX text to a Module and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ptx/ir.hpp"

namespace course::ptx {

// Parses one PTX module. Accepts any opcode and modifiers; the simulator decides whether an instruction can
// run. Errors state line and column of the text, what was found and what was expected. The text may end
// without a newline and ends at the first NUL. Any bytes are accepted as input.
Result<Module> parse(std::string_view text);

// Prints a module. parse(print(m)) equals m except for text_line, locations that no instruction has, and the
// extents of arrays with several dimensions.
std::string print(const Module& module);

// One instruction as PTX text, for diagnostics.
std::string print(const Function& function, const Instruction& instruction);

}  // namespace course::ptx
