// SPDX-License-Identifier: MIT
// Reductions and scans on the CPU, for the baselines of several labs. Plain loops, compiled with -O3, without
// tuning for a particular CPU. Op's Value may be wider than the items.
#pragma once

#include <cstddef>
#include <span>

#include "lab/scan_kinds.hpp"

namespace course::lab {

// The combination of `before` and all items. n operations, n steps.
template <typename T, typename Op>
typename Op::Value reduce_one_thread(std::span<const T> items, Op op, typename Op::Value before) {
  for (const T& item : items) before = op(before, static_cast<typename Op::Value>(item));
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

}  // namespace course::lab
