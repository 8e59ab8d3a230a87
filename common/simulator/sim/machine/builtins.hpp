// SPDX-License-Identifier: MIT
// Functions that device code calls but that are not in its PTX: printf, assert, malloc, free.
#pragma once

#include "sim/machine/warp.hpp"

namespace course::sim {

// Runs the built-in function of a call site for the warp's active lanes. Arguments and results are in their
// frames.
void run_builtin(Warp& w, const CallSite& site);

}  // namespace course::sim
