// SPDX-License-Identifier: MIT
// Whether two modules say the same; for tests and fuzzing.
#pragma once

#include <string>

#include "ptx/ir.hpp"

namespace course::ptx {

// "" when equal, else where they differ first and how. Lines in the PTX text and the numbering of locations
// do not count; what a location says and its chain of call sites do.
std::string first_difference(const Module& left, const Module& right);

}  // namespace course::ptx
