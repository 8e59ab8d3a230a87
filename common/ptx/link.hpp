// SPDX-License-Identifier: MIT
// Modules that were compiled apart (nvcc -rdc=true) as one.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"

namespace course::ptx {

// The text of a module that holds all of `texts`: what one declares .extern and another defines is one thing,
// of .weak and .common definitions the first one stays, and names that only their own module sees are kept
// apart. What nobody defines stays .extern. An Error says which text cannot be parsed, or which name two of
// them define.
Result<std::string> link(std::span<const std::string> texts);

}  // namespace course::ptx
