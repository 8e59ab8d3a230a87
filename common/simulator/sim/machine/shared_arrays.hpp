// SPDX-License-Identifier: MIT
// Which array of shared memory each op accesses, derived from the code: bounds of single arrays, and names.
#pragma once

#include <vector>

#include "sim/machine/program.hpp"

namespace course::sim {

// For each op, the shared array from which its address is computed; nullptr if there is none, there may be
// several, or the size of the array is given at launch.
std::vector<const Program::SharedVariable*> shared_arrays(const Program& program);

}  // namespace course::sim
