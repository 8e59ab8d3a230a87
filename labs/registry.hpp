// SPDX-License-Identifier: MIT
// All labs of this build, in the order of the root meson.build's list. The definition is generated from that
// list; each labs/<lab>/problem.cpp defines `const course::lab::Problem& problem()` in its namespace
// course::<lab>.
#pragma once

#include <span>

#include "lab/problem.hpp"

namespace course::lab {

// The Problems live as long as the program.
std::span<const Problem* const> all_problems();

}  // namespace course::lab
