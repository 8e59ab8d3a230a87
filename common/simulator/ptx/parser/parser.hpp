// SPDX-License-Identifier: MIT
// Conversion of PTX text to a Module.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "ptx/ir.hpp"

namespace course::ptx {

// Parses one PTX module. Accepts any opcode and modifiers; the simulator decides whether an instruction can
// run. Errors state line and column of the text, what was found and what was expected. The text may end
// without a newline and ends at the first NUL. Any bytes are accepted as input, at most 1 GiB.
Result<Module> parse(std::string_view text);

}  // namespace course::ptx
