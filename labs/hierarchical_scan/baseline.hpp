// SPDX-License-Identifier: MIT
// Scans on the CPU: the two baselines for speedups. Plain loops, compiled with -O3, without tuning for a
// particular CPU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hierarchical_scan/lab.hpp"
#include "lab/all_cores.hpp"

namespace course::hierarchical_scan {

// Scans items into out (same length), starting with `carry`; returns the total of carry and all items. n
// operations, n steps. Op's running value may have a wider type than the items.
template <typename T, typename Op>
typename Op::Value scan_one_thread(std::span<const T> items, std::span<T> out, Kind kind, Op op,
                                   typename Op::Value carry) {
  using Value = typename Op::Value;
  if (kind == Kind::inclusive) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      carry = op(carry, static_cast<Value>(items[i]));
      out[i] = static_cast<T>(carry);
    }
  } else {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Value item = static_cast<Value>(items[i]);  // read before the write, because out may be items
      out[i] = static_cast<T>(carry);
      carry = op(carry, item);
    }
  }
  return carry;
}

// Reduce, then scan: each core reduces a contiguous share, the shares' sums are scanned, and each core scans
// its share, starting with the sum of the shares before. 2n operations, 2 n / cores + cores steps.
template <typename T, typename Op>
void scan_all_cores(std::span<const T> items, std::span<T> out, Kind kind, Op op) {
  using Value = typename Op::Value;
  constexpr std::size_t kWorthAThread =
      1 << 16;  // items; starting a thread costs about as much as scanning them
  const std::size_t n_shares = lab::n_shares_of(items.size(), kWorthAThread);
  const auto first = [&](std::size_t share) { return items.size() * share / n_shares; };

  std::vector<Value> carries(n_shares, op.identity());
  if (n_shares > 1) {
    lab::on_all_cores(n_shares, [&](std::size_t share) {
      Value sum = op.identity();
      for (std::size_t i = first(share); i < first(share + 1); ++i)
        sum = op(sum, static_cast<Value>(items[i]));
      carries[share] = sum;
    });
    Value carry = op.identity();
    for (Value& sum : carries) {
      const Value through = op(carry, sum);
      sum = carry;
      carry = through;
    }
  }
  lab::on_all_cores(n_shares, [&](std::size_t share) {
    const std::size_t begin = first(share), count = first(share + 1) - begin;
    scan_one_thread(items.subspan(begin, count), out.subspan(begin, count), kind, op, carries[share]);
  });
}

}  // namespace course::hierarchical_scan
