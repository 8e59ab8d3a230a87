// SPDX-License-Identifier: MIT
// The secret seed of a run: fresh from the kernel each time, or given to repeat a run.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace course::grader {

Result<std::uint64_t> fresh_seed();
// Decimal or 0x… hexadecimal, 64 bits.
Result<std::uint64_t> parse_seed(const std::string& text);

}  // namespace course::grader
