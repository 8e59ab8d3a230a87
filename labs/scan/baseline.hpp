// SPDX-License-Identifier: MIT
// Scan on the CPU: the two baselines for speedups, the segmented scan, and the two sweeps round by round for
// the handout. Plain loops, compiled with -O3, without tuning for a particular CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/all_cores.hpp"
#include "scan/lab.hpp"

namespace course::scan {

// One row: `length` operations, each of which needs the result of the one before. The total is an Op::Value,
// which may be wider than an Item.
template <typename Item, typename Op>
void scan_row(const Item* in, std::size_t length, Op op, Kind kind, Item* out) {
  auto total = op.identity();
  if (kind == Kind::inclusive) {
    for (std::size_t i = 0; i < length; ++i) {
      total = op(total, in[i]);
      out[i] = static_cast<Item>(total);
    }
  } else {
    for (std::size_t i = 0; i < length; ++i) {
      const Item item = in[i];
      out[i] = static_cast<Item>(total);
      total = op(total, item);
    }
  }
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

// The same, but each core takes a contiguous share of the rows.
template <typename Row>
void rows_all_cores(std::size_t n, std::size_t row_length, Row row) {
  constexpr std::size_t kWorthAThread =
      1 << 16;  // items; starting a thread costs about as much as scanning them
  const std::size_t n_shares = lab::n_shares_of(n, kWorthAThread);
  const std::size_t n_rows = (n + row_length - 1) / row_length;
  const auto scan_share = [&](std::size_t share) {
    const std::size_t first = n_rows * share / n_shares * row_length;
    const std::size_t last = std::min(n, n_rows * (share + 1) / n_shares * row_length);
    if (first < last)
      rows_one_thread(last - first, row_length, [&](std::size_t i, std::size_t k) { row(first + i, k); });
  };
  lab::on_all_cores(n_shares, scan_share);
}

}  // namespace course::scan
