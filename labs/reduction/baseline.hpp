// SPDX-License-Identifier: MIT
// Reduction on the CPU: the two baselines for speedups, and a divide-and-conquer version for the handout.
// Plain loops, compiled with -O3, without tuning for a particular CPU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/all_cores.hpp"

namespace course::reduction {

// n - 1 operations, n - 1 steps.
template <typename T, typename Op>
typename Op::Value fold_one_thread(std::span<const T> items, Op op) {
  typename Op::Value total = op.identity();
  for (const T& item : items) total = op(total, static_cast<typename Op::Value>(item));
  return total;
}

// Each core reduces a contiguous share; then the partial results are combined in order. n / cores + cores
// steps.
template <typename T, typename Op>
typename Op::Value fold_all_cores(std::span<const T> items, Op op) {
  constexpr std::size_t kWorthAThread =
      1 << 16;  // items; starting a thread costs about as much as reducing them
  const std::size_t n_shares = lab::n_shares_of(items.size(), kWorthAThread);
  std::vector<typename Op::Value> partials(n_shares, op.identity());
  const auto fold_share = [&](std::size_t share) {
    const std::size_t first = items.size() * share / n_shares, last = items.size() * (share + 1) / n_shares;
    partials[share] = fold_one_thread(items.subspan(first, last - first), op);
  };
  lab::on_all_cores(n_shares, fold_share);
  typename Op::Value total = op.identity();
  for (const auto& partial : partials) total = op(total, partial);
  return total;
}

// Recursive halving, in place: combines the lower half with the upper half until one value is left. If the
// number of values is odd, the first value is combined with the last one before. n - 1 operations like the
// loop, but only ⌊log2 n⌋ rounds that depend on each other; a block's tree has the same shape. Overwrites
// `values`; an empty span gives the identity.
template <typename Op>
typename Op::Value fold_by_halving(std::span<typename Op::Value> values, Op op) {
  if (values.empty()) return op.identity();
  if (values.size() == 1) return values[0];
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) values[0] = op(values[0], values.back());
  for (std::size_t i = 0; i < half; ++i) values[i] = op(values[i], values[i + half]);
  return fold_by_halving(values.first(half), op);
}

}  // namespace course::reduction
