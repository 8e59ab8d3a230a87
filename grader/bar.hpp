// SPDX-License-Identifier: MIT
// Bars of block characters, for tables on a terminal. They are no escape codes, so they are printed to files,
// too.
#pragma once

#include <cstddef>
#include <string>

namespace course::grader {

// A bar of at most `width` columns for a share of 0 to 1, in steps of an eighth of a column.
std::string bar(double share, std::size_t width);

}  // namespace course::grader
