// SPDX-License-Identifier: MIT
// The tasks on the CPU: the baselines for speedups. Plain loops over the shards, one after the other. The CPU
// has one memory, so nothing is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/baselines.hpp"
#include "multi_gpu/lab.hpp"

namespace course::multi_gpu {

// Adds the counts of the samples.
inline void count_one_thread(std::span<const std::uint32_t> samples, std::uint32_t n_bins,
                             std::span<Count> counts) {
  for (const std::uint32_t sample : samples) ++counts[bin_of(sample, n_bins)];
}

}  // namespace course::multi_gpu
