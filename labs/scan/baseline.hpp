// SPDX-License-Identifier: MIT
// Scan on the CPU: the baseline for speedups, and the segmented scan. Plain loops, compiled with -O3,
// without tuning for a particular CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/baselines.hpp"
#include "scan/lab.hpp"

namespace course::scan {

// One row: `length` operations, each of which needs the result of the one before. The total is an Op::Value,
// which may be wider than an Item.
template <typename Item, typename Op>
void scan_row(const Item* in, std::size_t length, Op op, Kind kind, Item* out) {
  const auto of = kind == Kind::inclusive ? lab::ScanKind::inclusive : lab::ScanKind::exclusive;
  lab::scan_one_thread(std::span(in, length), std::span(out, length), of, op, op.identity());
}

// Like scan_row, but the total starts again at every head.
template <typename Item, typename Op>
void scan_segments(const Item* in, const std::uint8_t* heads, std::size_t length, Op op, Kind kind,
                   Item* out) {
  auto total = op.identity();
  for (std::size_t i = 0; i < length; ++i) {
    const auto before = heads[i] != 0 ? op.identity() : total;
    total = op(before, in[i]);
    out[i] = static_cast<Item>(kind == Kind::inclusive ? total : before);
  }
}

// Calls row(first, length) for each row of the n items, in order.
template <typename Row>
void rows_one_thread(std::size_t n, std::size_t row_length, Row row) {
  for (std::size_t first = 0; first < n; first += row_length) row(first, std::min(row_length, n - first));
}

}  // namespace course::scan
