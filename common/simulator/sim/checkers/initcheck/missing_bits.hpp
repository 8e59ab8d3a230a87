// SPDX-License-Identifier: MIT
// What becomes of the bits of a register that come from bytes of memory that were never written, while others
// of the same register have been: padding, for example. Each lane has one mask of missing bits.
#pragma once

#include <array>

#include "sim/machine/flow_rule.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// The missing bits of the op's result, for each way from routes to orders. For `orders`, not 0 if the result
// depends on them.
LaneBits missing_after(Warp& w, const MicroOp& op, const FlowRule& rule,
                       const std::array<LaneBits, 4>& missing);

}  // namespace course::sim
