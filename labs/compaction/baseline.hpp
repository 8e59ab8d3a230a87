// SPDX-License-Identifier: MIT
// Stream compaction on the CPU: the baseline for speedups. A plain loop, compiled with -O3, without tuning
// for a particular CPU. `out` has space for every item; it does not write past the kept items, and returns
// how many are kept.
#pragma once

#include <cstddef>
#include <span>

namespace course::compaction {

// The usual loop. It is serial because of `count`: item i cannot be placed before item i - 1 has been tested.
template <typename T, typename Keep>
std::size_t copy_if_one_thread(std::span<const T> items, std::span<T> out, Keep keep) {
  std::size_t count = 0;
  for (const T& item : items)
    if (keep(item)) out[count++] = item;
  return count;
}

}  // namespace course::compaction
