// SPDX-License-Identifier: MIT
// The tasks on the CPU: the baselines for speedups. Plain loops over the shards, one after the other, or by
// all cores. The CPU has one memory, so nothing is sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/all_cores.hpp"
#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

template <typename T, typename Op>
typename Op::Value reduce_one_thread(std::span<const T> items, Op op, typename Op::Value before) {
  for (const T item : items) before = op(before, static_cast<typename Op::Value>(item));
  return before;
}

// Starts with `carry`; returns the total of carry and all items. Op's Value may be wider than the items.
template <typename T, typename Op>
typename Op::Value scan_one_thread(std::span<const T> items, std::span<T> out, Kind kind, Op op,
                                   typename Op::Value carry) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto through = op(carry, static_cast<typename Op::Value>(items[i]));
    out[i] = static_cast<T>(kind == Kind::inclusive ? through : carry);
    carry = through;
  }
  return carry;
}

// Calls work(share, begin, end) for about as many shares of n items as there are cores, each in a thread of
// its own. Returns the number of shares.
template <typename Work>
std::size_t on_all_cores(std::size_t n, const Work& work) {
  constexpr std::size_t kWorthAThread = 1 << 16;  // items
  const std::size_t n_shares = lab::n_shares_of(n, kWorthAThread);
  lab::on_all_cores(
      n_shares, [&](std::size_t share) { work(share, n * share / n_shares, n * (share + 1) / n_shares); });
  return n_shares;
}

template <typename T, typename Op>
typename Op::Value reduce_all_cores(std::span<const T> items, Op op, typename Op::Value before) {
  std::vector<typename Op::Value> totals(lab::n_cores(), op.identity());
  const std::size_t n_shares =
      on_all_cores(items.size(), [&](std::size_t share, std::size_t begin, std::size_t end) {
        totals[share] = reduce_one_thread(items.subspan(begin, end - begin), op, op.identity());
      });
  for (std::size_t share = 0; share < n_shares; ++share) before = op(before, totals[share]);
  return before;
}

// Reduce, then scan.
template <typename T, typename Op>
typename Op::Value scan_all_cores(std::span<const T> items, std::span<T> out, Kind kind, Op op,
                                  typename Op::Value carry) {
  std::vector<typename Op::Value> carries(lab::n_cores(), op.identity());
  const std::size_t n_shares =
      on_all_cores(items.size(), [&](std::size_t share, std::size_t begin, std::size_t end) {
        carries[share] = reduce_one_thread(items.subspan(begin, end - begin), op, op.identity());
      });
  for (std::size_t share = 0; share < n_shares; ++share) {
    const auto through = op(carry, carries[share]);
    carries[share] = carry;
    carry = through;
  }
  on_all_cores(items.size(), [&](std::size_t share, std::size_t begin, std::size_t end) {
    scan_one_thread(items.subspan(begin, end - begin), out.subspan(begin, end - begin), kind, op,
                    carries[share]);
  });
  return carry;
}

// Adds the counts of the samples.
inline void count_one_thread(std::span<const std::uint32_t> samples, std::uint32_t n_bins,
                             std::span<Count> counts) {
  for (const std::uint32_t sample : samples) ++counts[bin_of(sample, n_bins)];
}

// Each core has counts of its own.
inline void count_all_cores(std::span<const std::uint32_t> samples, std::uint32_t n_bins,
                            std::span<Count> counts) {
  std::vector<std::vector<Count>> own(lab::n_cores());
  const std::size_t n_shares =
      on_all_cores(samples.size(), [&](std::size_t share, std::size_t begin, std::size_t end) {
        own[share].resize(n_bins);
        count_one_thread(samples.subspan(begin, end - begin), n_bins, own[share]);
      });
  for (std::size_t share = 0; share < n_shares; ++share)
    for (std::size_t bin = 0; bin < n_bins; ++bin) counts[bin] += own[share][bin];
}

// All keys of all ranks.
inline void sort_one_thread(std::vector<Key>& keys) {
  std::ranges::sort(keys);
}

// Each core sorts a share; then the shares are merged one after the other.
inline void sort_all_cores(std::vector<Key>& keys) {
  std::vector<std::size_t> ends(lab::n_cores());
  const std::size_t n_shares =
      on_all_cores(keys.size(), [&](std::size_t share, std::size_t begin, std::size_t end) {
        std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                  keys.begin() + static_cast<std::ptrdiff_t>(end));
        ends[share] = end;
      });
  const auto at = [&](std::size_t i) { return keys.begin() + static_cast<std::ptrdiff_t>(i); };
  for (std::size_t share = 1; share < n_shares; ++share)
    std::inplace_merge(keys.begin(), at(ends[share - 1]), at(ends[share]));
}

}  // namespace course::multi_gpu
