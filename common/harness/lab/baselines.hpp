// SPDX-License-Identifier: MIT
// Reductions and scans on the CPU, for the baselines of several labs. Plain loops, compiled with -O3, without
// tuning for a particular CPU. Op's Value may be wider than the items.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/all_cores.hpp"
#include "lab/scan_kinds.hpp"

namespace course::lab {

// Starting a thread costs about as much as reducing or scanning so many items.
inline constexpr std::size_t kItemsWorthAThread = 1 << 16;

// The combination of `before` and all items. n operations, n steps.
template <typename T, typename Op>
typename Op::Value reduce_one_thread(std::span<const T> items, Op op, typename Op::Value before) {
  for (const T& item : items) before = op(before, static_cast<typename Op::Value>(item));
  return before;
}

// Each core reduces a contiguous share; then the partial results are combined in order. n / cores + cores
// steps.
template <typename T, typename Op>
typename Op::Value reduce_all_cores(std::span<const T> items, Op op, typename Op::Value before) {
  std::vector<typename Op::Value> totals(n_cores(), op.identity());
  const std::size_t n_shares = on_shares(
      items.size(), kItemsWorthAThread, [&](std::size_t share, std::size_t first, std::size_t last) {
        totals[share] = reduce_one_thread(items.subspan(first, last - first), op, op.identity());
      });
  for (std::size_t share = 0; share < n_shares; ++share) before = op(before, totals[share]);
  return before;
}

// Scans items into out (same length), starting with `carry`; returns the total of carry and all items. n
// operations, n steps. `out` may be `items`.
template <typename T, typename Op>
typename Op::Value scan_one_thread(std::span<const T> items, std::span<T> out, ScanKind kind, Op op,
                                   typename Op::Value carry) {
  using Value = typename Op::Value;
  if (kind == ScanKind::inclusive) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      carry = op(carry, static_cast<Value>(items[i]));
      out[i] = static_cast<T>(carry);
    }
  } else {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Value item = static_cast<Value>(items[i]);
      out[i] = static_cast<T>(carry);
      carry = op(carry, item);
    }
  }
  return carry;
}

// Reduce, then scan: each core reduces a contiguous share, the shares' sums are scanned, and each core scans
// its share, starting with the sum of the shares before. 2n operations, 2 n / cores + cores steps.
template <typename T, typename Op>
typename Op::Value scan_all_cores(std::span<const T> items, std::span<T> out, ScanKind kind, Op op,
                                  typename Op::Value carry) {
  std::vector<typename Op::Value> carries(n_cores(), op.identity());
  const auto each_share = [&](auto work) {
    return on_shares(items.size(), kItemsWorthAThread,
                     [&](std::size_t share, std::size_t first, std::size_t last) {
                       work(share, items.subspan(first, last - first), out.subspan(first, last - first));
                     });
  };
  if (n_shares_of(items.size(), kItemsWorthAThread) == 1) return scan_one_thread(items, out, kind, op, carry);
  const std::size_t n_shares = each_share([&](std::size_t share, auto from, auto) {
    carries[share] = reduce_one_thread(from, op, op.identity());
  });
  for (std::size_t share = 0; share < n_shares; ++share) {
    const auto through = op(carry, carries[share]);
    carries[share] = carry;
    carry = through;
  }
  each_share(
      [&](std::size_t share, auto from, auto to) { scan_one_thread(from, to, kind, op, carries[share]); });
  return carry;
}

}  // namespace course::lab
