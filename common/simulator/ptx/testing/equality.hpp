// SPDX-License-Identifier: MIT
// Compares two modules, for tests and fuzzing.
#pragma once

#include <string>

#include "ptx/ir.hpp"

namespace course::ptx {

// Describes the first difference; "" if the modules are equal. Line numbers of the PTX text and the numbering
// of locations are ignored; the contents of a location and its chain of call sites are compared.
std::string first_difference(const Module& left, const Module& right);

}  // namespace course::ptx
