// SPDX-License-Identifier: MIT
// A simple right histogram, for hostile submissions with a right task: one global atomic per sample.
#pragma once

#include "histogram/lab.hpp"

namespace course::histogram::hostile {

// For explicit edges: the last edge that is not above the sample.
template <typename T>
COURSE_HD std::uint32_t bin_of(const EdgeBins<T>& bins, T sample) {
  const auto x = static_cast<Edge<T>>(sample);
  if (!(x >= bins.d_edges[0] && x < bins.d_edges[bins.n_bins])) return bins.n_bins;
  std::uint32_t low = 0, high = bins.n_bins;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (x >= bins.d_edges[middle] ? low : high) = middle;
  }
  return low;
}

// Counts every `step`-th sample `step` times.
template <typename T, typename Bins>
__global__ void count(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts, unsigned step) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x * step;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * step; i < n; i += stride)
    atomicAdd(d_counts + bin_of(bins, d_in[i]), Count{step});
}

template <typename T, typename Bins>
Status right(const Job<T, Bins>& job, unsigned step = 1) {
  cudaMemsetAsync(job.d_counts, 0, (job.bins.n_bins + 1) * sizeof(Count), job.stream);
  const auto n_blocks = static_cast<unsigned>(job.n / 1024 + 1);
  count<<<n_blocks, 256, 0, job.stream>>>(job.d_in, job.n, job.bins, job.d_counts, step);
  return Status::ok;
}

}  // namespace course::histogram::hostile
