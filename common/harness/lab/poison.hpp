// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace course::lab {

// The value of every byte of outputs, workspace and guard bands before a student's code runs; but on a GPU
// the arrays of the workspace have other contents in each run. A byte that still has it was probably not
// written.
inline constexpr std::byte kPoison{0xa5};

}  // namespace course::lab
