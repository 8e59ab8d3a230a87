// SPDX-License-Identifier: MIT
// The functions that device code calls but does not contain: printf, assert, malloc, free.
#pragma once

#include "sim/machine/warp.hpp"

namespace course::sim {

// Runs the built-in of a call site for the warp's active lanes: arguments and results lie in their frames.
void run_builtin(Warp& w, const CallSite& site);

}  // namespace course::sim
