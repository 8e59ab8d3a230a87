// SPDX-License-Identifier: MIT
// The secret seed of a run: random bits from the kernel. (To repeat a run, the user gives its seed.)
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace course::grader {

Result<std::uint64_t> fresh_seed();

}  // namespace course::grader
