// SPDX-License-Identifier: MIT
// Where addresses and values of an access come from and go to, read off a function's code: the pointers that the kernel was given,
// followed through its registers; loads that a compare-and-swap checks.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "sim/machine/program.hpp"
#include "sim/types.hpp"

namespace course::sim {

// The values of the kernel's parameters that the address of `op` may have been computed from. In kernels alone: what functions
// are called with is not followed.
std::vector<std::uint64_t> pointers_behind(const Program& program, const LaunchRequest& launch,
                                           const MicroOp& op);

// Loads whose value a compare-and-swap of the same place expects there: ops by number. What they read may be out of date, and the
// swap then fails.
//   old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);
std::set<std::uint32_t> loads_before_swaps(const Program& program);

// Atomics that return what they find and leave it as it is: they add, or, xor 0, or swap a value for itself. Ops by number.
std::set<std::uint32_t> atomics_that_only_look(const Program& program);

// By op: the shared array that its address is computed from; nullptr where that may be none or one of several, or its size is the
// launch's.
std::vector<const Program::SharedVariable*> shared_arrays(const Program& program);

}  // namespace course::sim
