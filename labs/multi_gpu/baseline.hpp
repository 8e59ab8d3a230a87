// SPDX-License-Identifier: MIT
// The tasks on the CPU: the baselines for speedups. Plain loops over the shards, one after the other, or by
// all cores. The CPU has one memory, so nothing is sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/baselines.hpp"
#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

// Adds the counts of the samples.
inline void count_one_thread(std::span<const std::uint32_t> samples, std::uint32_t n_bins,
                             std::span<Count> counts) {
  for (const std::uint32_t sample : samples) ++counts[bin_of(sample, n_bins)];
}

// Each core has counts of its own.
inline void count_all_cores(std::span<const std::uint32_t> samples, std::uint32_t n_bins,
                            std::span<Count> counts) {
  std::vector<std::vector<Count>> own(lab::n_cores());
  const std::size_t n_shares = lab::on_shares(
      samples.size(), lab::kItemsWorthAThread, [&](std::size_t share, std::size_t first, std::size_t last) {
        own[share].resize(n_bins);
        count_one_thread(samples.subspan(first, last - first), n_bins, own[share]);
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
  const auto at = [&](std::size_t i) { return keys.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t n_shares = lab::on_shares(keys.size(), lab::kItemsWorthAThread,
                                              [&](std::size_t share, std::size_t first, std::size_t last) {
                                                std::sort(at(first), at(last));
                                                ends[share] = last;
                                              });
  for (std::size_t share = 1; share < n_shares; ++share)
    std::inplace_merge(keys.begin(), at(ends[share - 1]), at(ends[share]));
}

}  // namespace course::multi_gpu
