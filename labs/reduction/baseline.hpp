// SPDX-License-Identifier: MIT
// Reduction on the CPU: the baseline for speedups, and a divide-and-conquer version for the handout.
// Plain loops, compiled with -O3, without tuning for a particular CPU.
#pragma once

#include <cstddef>
#include <span>

#include "lab/baselines.hpp"

namespace course::reduction {

template <typename T, typename Op>
typename Op::Value fold_one_thread(std::span<const T> items, Op op) {
  return lab::reduce_one_thread(items, op, op.identity());
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
