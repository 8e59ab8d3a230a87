// SPDX-License-Identifier: MIT
// What can hold a kernel up, in the words of the timing model (LaunchResult::bound_by, "bound_by" in
// reports).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace course::sim {

enum class Bound : std::uint8_t {
  memory,
  second_level_cache,
  near,  // what serves both shared memory and the first-level cache
  issue,
  shared_atomics,
  global_atomics,
  starting_blocks,
  latency,  // no part of the machine is busy: warps wait for themselves, or for one another
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
