// SPDX-License-Identifier: MIT
// The limiters of a kernel in the timing model (LaunchResult::bound_by, "bound_by" in reports).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace course::sim {

enum class Bound : std::uint8_t {
  memory,
  second_level_cache,
  shared_memory_and_l1,  // one unit serves both
  issue,
  shared_atomics,
  global_atomics,
  starting_blocks,
  latency,  // no unit is busy: warps wait for their own instructions or for each other
  launch,
};

inline constexpr std::array<const char*, 9> kBoundNames{"memory",
                                                        "second-level cache",
                                                        "shared memory and first-level cache",
                                                        "issue",
                                                        "shared atomics",
                                                        "global atomics",
                                                        "starting blocks",
                                                        "latency",
                                                        "launch"};

constexpr const char* name_of(Bound bound) {
  return kBoundNames[static_cast<std::size_t>(bound)];
}

}  // namespace course::sim
