// SPDX-License-Identifier: MIT
// Where the address of an access came from: the pointers that the kernel was given, followed through its registers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/device.hpp"
#include "sim/program.hpp"

namespace course::sim {

// The values of the kernel's parameters that the address of `op` may have been computed from. In kernels alone: what functions
// are called with is not followed.
std::vector<std::uint64_t> pointers_behind(const Program& program, const LaunchRequest& launch,
                                           const MicroOp& op);

}  // namespace course::sim
