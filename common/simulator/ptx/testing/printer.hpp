// SPDX-License-Identifier: MIT
// Converts modules to PTX text, for tests of the parser and for fuzzing.
#pragma once

#include <string>

#include "ptx/ir.hpp"

namespace course::ptx {

// Prints a module. parse(print(m)) equals m except for text_line, locations that no instruction has, and the
// extents of arrays with several dimensions.
std::string print(const Module& module);

std::string print(const Function& function, const Instruction& instruction);

}  // namespace course::ptx
