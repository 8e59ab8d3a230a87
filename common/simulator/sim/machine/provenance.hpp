// SPDX-License-Identifier: MIT
// Derives from a function's code where the addresses and values of its accesses come from. Follows the
// kernel's pointer parameters through registers, and finds loads whose value a compare-and-swap checks.
// For messages: pointers_behind, describe_index, describe_stray_index. For bounds: shared_arrays. For the
// race checker: loads_before_swaps, swaps_of, atomics_that_only_read. For the decoder: mark_harmless_looks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/machine/program.hpp"
#include "sim/memory/memory.hpp"
#include "sim/types.hpp"

namespace course::sim {

// Pointers that the launch got, by their offsets among its arguments.
using PointerArguments = std::map<std::uint64_t, std::uint64_t>;

// Those from which the address of `op` may have been computed. Empty for ops in device functions: arguments
// of calls are not followed.
PointerArguments pointers_behind(const Program& program, const LaunchRequest& launch, const MicroOp& op);

// How the index of an access is computed: the arrays whose values it depends on, with the lines that load
// them, and all lines that compute it, nearest first. "; the position comes from d_starts (line 330) and
// s_rank (line 300), by lines 333, 330, 300". Or that it is the same for all threads of a block.
std::string describe_index(const Program& program, const LaunchRequest& launch, const Arena& arena,
                           const MicroOp& op);

// The same for an access by `lane`, which has just been found to be outside: a difference below zero on which
// the index depends, "; the position comes from 0 - 3, which is below zero (line 222; if unsigned, very
// large), by lines 222". Else "".
std::string describe_stray_index(const Warp& w, const MicroOp& op, int lane);

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

// For each op, the shared array from which its address is computed; nullptr if there is none, there may be
// several, or the size of the array is given at launch.
std::vector<const Program::SharedVariable*> shared_arrays(const Program& program);

}  // namespace course::sim
