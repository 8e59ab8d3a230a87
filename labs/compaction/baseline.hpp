// SPDX-License-Identifier: MIT
// Stream compaction on the CPU: the two baselines for speedups, and one in three steps for the handout. Plain
// loops, compiled with -O3, without tuning for a particular CPU. All of them: `out` has space for every item;
// they do not write past the kept items, and return how many are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lab/all_cores.hpp"

namespace course::compaction {

// The usual loop. It is serial because of `count`: item i cannot be placed before item i - 1 has been tested.
template <typename T, typename Keep>
std::size_t copy_if_one_thread(std::span<const T> items, std::span<T> out, Keep keep) {
  std::size_t count = 0;
  for (const T& item : items)
    if (keep(item)) out[count++] = item;
  return count;
}

// The same in three steps, two of which can handle the items in any order: a flag for each item, the
// exclusive scan of the flags, and a move of every kept item to its position. It needs five times the memory,
// and on the CPU it takes longer than the loop, but thousands of threads can share the work.
template <typename T, typename Keep>
std::size_t copy_if_by_scan(std::span<const T> items, std::span<T> out, Keep keep) {
  const std::size_t n = items.size();
  std::vector<std::size_t> flags(n), positions(n);
  for (std::size_t i = 0; i < n; ++i) flags[i] = keep(items[i]) ? 1 : 0;
  std::size_t before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    positions[i] = before;
    before += flags[i];
  }
  for (std::size_t i = 0; i < n; ++i)
    if (flags[i] != 0) out[positions[i]] = items[i];
  return n == 0 ? 0 : positions[n - 1] + flags[n - 1];
}

// Each core takes a contiguous share: it counts its kept items, the exclusive scan of the counts gives the
// start of each share's output, and each core copies. Reads the items twice.
template <typename T, typename Keep>
std::size_t copy_if_all_cores(std::span<const T> items, std::span<T> out, Keep keep) {
  constexpr std::size_t kWorthAThread = 1 << 16;  // items
  const std::size_t n_shares = lab::n_shares_of(items.size(), kWorthAThread);
  if (n_shares == 1) return copy_if_one_thread(items, out, keep);
  const auto share_of = [&](std::size_t share) {
    const std::size_t first = items.size() * share / n_shares, last = items.size() * (share + 1) / n_shares;
    return items.subspan(first, last - first);
  };
  std::vector<std::size_t> first_place(n_shares + 1, 0);
  lab::on_all_cores(n_shares, [&](std::size_t share) {
    const auto items_of_share = share_of(share);
    const auto kept = std::ranges::count_if(items_of_share, keep);
    first_place[share + 1] = static_cast<std::size_t>(kept);
  });
  for (std::size_t share = 0; share < n_shares; ++share) first_place[share + 1] += first_place[share];
  lab::on_all_cores(n_shares, [&](std::size_t share) {
    copy_if_one_thread(share_of(share), out.subspan(first_place[share]), keep);
  });
  return first_place[n_shares];
}

}  // namespace course::compaction
