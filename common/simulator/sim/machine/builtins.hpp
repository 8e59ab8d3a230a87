// SPDX-License-Identifier: MIT
// Functions that device code calls but that are not in its PTX: printf, assert, malloc, free.
#pragma once

#include <string_view>

#include "sim/machine/warp.hpp"

namespace course::sim {

// Runs the built-in function of a call site for the warp's active lanes. Arguments and results are in their
// frames.
void run_builtin(Warp& w, const CallSite& site);

// If not nullptr, called with each thread's output when the thread prints it. The debugger sets it.
inline void (*print_listener)(const Warp& w, int lane, std::string_view text) = nullptr;

}  // namespace course::sim
