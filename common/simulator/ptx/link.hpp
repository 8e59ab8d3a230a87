// SPDX-License-Identifier: MIT
// Links modules that were compiled separately (nvcc -rdc=true).
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "ptx/ir.hpp"

namespace course::ptx {

// Returns one module that contains all `texts`. An .extern declaration and its definition
// in another module become one. Of several definitions the one that is neither .weak nor .common is kept,
// else the first. Names visible only in their own module stay distinct. Names without a definition stay
// .extern. An Error says at which line and column a text cannot be parsed, or names what two texts define.
Result<Module> link(std::span<const std::string> texts);

}  // namespace course::ptx
