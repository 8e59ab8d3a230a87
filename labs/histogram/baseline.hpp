// SPDX-License-Identifier: MIT
// Histograms on the CPU: the baseline for speedups, which also defines the right answer. A plain loop,
// compiled with -O3, without tuning for a particular CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "histogram/lab.hpp"

namespace course::histogram {

// Bins between explicit edges in the CPU's memory: the counterpart of EdgeBins.
template <typename T>
struct HostEdgeBins {
  std::uint32_t n_bins;
  std::span<const Edge<T>> edges;  // n_bins + 1, strictly ascending
};

// The bin of a sample, or n_bins. The last edge that is not above the sample, found by the library's binary
// search, is the lower edge of its bin.
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

}  // namespace course::histogram
