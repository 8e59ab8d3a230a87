// SPDX-License-Identifier: MIT
// Moves the data of an operation whose ranks have all arrived. Device memory is memory of this process.
// The result of a reduction is defined, whatever algorithm the timing model assumes:
//   - the values are combined in the order of the ranks: ((x0 + x1) + x2) + …
//   - each step is rounded to the data type. Integers wrap.
//   - avg multiplies each value by 1/n, rounded to the type, before the sum (floating point), or divides the
//     sum, rounding towards 0 (integers).
//   - min and max ignore NaN, unless both values are NaN; of two zeros they take the first.
#pragma once

#include <vector>

#include "nccl/operation/call.hpp"

namespace course::nccl {

// `calls`: those of all ranks, in the order of the ranks. They agree, and their buffers are checked.
void move_collective(const std::vector<Call>& calls);
void move_message(const Call& send, const Call& receive);

}  // namespace course::nccl
