// SPDX-License-Identifier: MIT
// Stream compaction on the CPU: the two baselines for speedups. Plain loops, compiled with -O3, without
// tuning for a particular CPU. Both: `out` has space for every item; they do not write past the kept items,
// and return how many are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lab/baselines.hpp"

namespace course::compaction {

// The usual loop. It is serial because of `count`: item i cannot be placed before item i - 1 has been tested.
template <typename T, typename Keep>
std::size_t copy_if_one_thread(std::span<const T> items, std::span<T> out, Keep keep) {
  std::size_t count = 0;
  for (const T& item : items)
    if (keep(item)) out[count++] = item;
  return count;
}

// Each core takes a contiguous share: it counts its kept items, the exclusive scan of the counts gives the
// start of each share's output, and each core copies. Reads the items twice.
template <typename T, typename Keep>
std::size_t copy_if_all_cores(std::span<const T> items, std::span<T> out, Keep keep) {
  if (lab::n_shares_of(items.size(), lab::kItemsWorthAThread) == 1)
    return copy_if_one_thread(items, out, keep);
  std::vector<std::size_t> first_place(lab::n_cores() + 1, 0);
  const auto each_share = [&](auto work) {
    return lab::on_shares(items.size(), lab::kItemsWorthAThread,
                          [&](std::size_t share, std::size_t first, std::size_t last) {
                            work(share, items.subspan(first, last - first));
                          });
  };
  const std::size_t n_shares = each_share([&](std::size_t share, auto own) {
    first_place[share + 1] = static_cast<std::size_t>(std::ranges::count_if(own, keep));
  });
  for (std::size_t share = 0; share < n_shares; ++share) first_place[share + 1] += first_place[share];
  each_share(
      [&](std::size_t share, auto own) { copy_if_one_thread(own, out.subspan(first_place[share]), keep); });
  return first_place[n_shares];
}

}  // namespace course::compaction
