// SPDX-License-Identifier: MIT
// Where the address of an access comes from, derived from the code of its function: the pointers among the
// kernel's arguments, and the lines that compute the index. For messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/machine/warp.hpp"

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

}  // namespace course::sim
