// SPDX-License-Identifier: MIT
// Ways of using loads and atomics that the race checker treats in a special way, recognised in the code:
// loops with a compare-and-swap, looks that may be early or late, locks, polls by an atomic.
#pragma once

#include <cstdint>
#include <set>

#include "sim/machine/program.hpp"

namespace course::sim {

// Loads whose value a compare-and-swap of the same address uses as the expected value, and compares with what
// it finds. If such a load reads an outdated value, the swap fails. Ops are given by number.
//   old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);
std::set<std::uint32_t> loads_before_swaps(const Program& program);

// Marks strong loads as kWaits that do no harm if they are too early or too late: their value decides at most
// which way the thread takes, and it then changes the same word, or waits for it in a loop.
//   if (*flag == 0) *flag = 1;       if (*most < x) atomicMax(most, x);
void mark_harmless_looks(Program& program);

// Atomics that swap a value: atom.exch, atom.cas. Ops are given by number.
std::set<std::uint32_t> swaps_of(const Program& program);

// Atomics that return the value they find and do not change it: they add 0, OR or XOR with 0, or swap a value
// for itself. Ops are given by number.
std::set<std::uint32_t> atomics_that_only_read(const Program& program);

}  // namespace course::sim
