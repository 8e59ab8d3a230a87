// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace course::lab {

// What outputs, workspace and the guard bands around them hold before a student's code runs: a byte that
// stays was not written.
inline constexpr std::byte kPoison{0xa5};

}  // namespace course::lab
