// SPDX-License-Identifier: MIT
// The secret seed of a run: random bits from the kernel, or given by the user to repeat a run.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace course::grader {

Result<std::uint64_t> fresh_seed();
// Parses a decimal or hexadecimal (0x…) number of up to 64 bits.
Result<std::uint64_t> parse_seed(const std::string& text);

}  // namespace course::grader
