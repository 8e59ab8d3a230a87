// SPDX-License-Identifier: MIT
// Calm schedules. A counted launch runs each block to its end, so that its counters do not depend on when
// threads poll. A launch with a calm schedule does the same without being counted: its kernels observe what
// they would observe in a counted launch, and the checkers can look at them. Old values
// (checkers/racecheck/old_values.cpp) are rare in it, so that a kernel cannot tell it apart by looking for
// them.
#pragma once

#include <cstdint>

namespace course::sim {

inline constexpr std::uint64_t kCalmSchedule = std::uint64_t{1} << 63;  // a bit of the schedule's seed

constexpr bool is_calm(std::uint64_t schedule_seed) {
  return (schedule_seed & kCalmSchedule) != 0;
}

}  // namespace course::sim
