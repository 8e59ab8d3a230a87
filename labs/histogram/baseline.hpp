// SPDX-License-Identifier: MIT
// Histograms on the CPU: the two baselines for speedups; they also define the right answer. Plain loops,
// compiled with -O3, without tuning for a particular CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "histogram/lab.hpp"
#include "lab/baselines.hpp"

namespace course::histogram {

// Bins between explicit edges in the CPU's memory: the counterpart of EdgeBins.
template <typename T>
struct HostEdgeBins {
  std::uint32_t n_bins;
  std::span<const Edge<T>> edges;  // n_bins + 1, strictly ascending
};

// The number of edges that are not above the sample, from the library's binary search; the last of them is
// the lower edge of its bin.
template <typename T>
std::uint32_t bin_of(const HostEdgeBins<T>& bins, T sample) {
  const Edge<T> x = static_cast<Edge<T>>(sample);
  if (!(x >= bins.edges.front() && x < bins.edges.back())) return bins.n_bins;
  const auto above = std::upper_bound(bins.edges.begin(), bins.edges.end(), x);
  return static_cast<std::uint32_t>(above - bins.edges.begin() - 1);
}

// n increments, each of which may have to wait for the one before.
template <typename T, typename Bins>
void count_one_thread(std::span<const T> samples, const Bins& bins, std::span<Count> counts) {
  std::ranges::fill(counts, Count{0});
  for (const T& sample : samples) ++counts[bin_of(bins, sample)];
}

// Each core counts a contiguous share in its own histogram; then the histograms are added. No two cores write
// to the same counter.
template <typename T, typename Bins>
void count_all_cores(std::span<const T> samples, const Bins& bins, std::span<Count> counts) {
  std::vector<std::vector<Count>> privates(lab::n_cores());
  const std::size_t n_shares = lab::on_shares(
      samples.size(), lab::kItemsWorthAThread, [&](std::size_t share, std::size_t first, std::size_t last) {
        privates[share].resize(counts.size());
        count_one_thread(samples.subspan(first, last - first), bins, std::span(privates[share]));
      });
  for (std::size_t b = 0; b < counts.size(); ++b) {
    counts[b] = 0;
    for (std::size_t share = 0; share < n_shares; ++share) counts[b] += privates[share][b];
  }
}

}  // namespace course::histogram
