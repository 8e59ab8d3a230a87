// SPDX-License-Identifier: MIT
// A histogram by sort and reduce over all keys, without atomics: these are the steps before and after the
// sort, which lessons.cpp calls in between.
#include "histogram/lab.hpp"
#include "lessons/lessons.cuh"

namespace course::lessons {
namespace {

constexpr unsigned kThreads = 256;

__global__ void k_keys(const std::int32_t* d_samples, std::uint64_t n, histogram::EvenBins<std::int32_t> bins,
                       std::uint32_t* d_keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) d_keys[i] = histogram::bin_of(bins, d_samples[i]);
}

// A run of equal keys has one first and one last item, so each position is written at most once.
__global__ void k_runs(const std::uint32_t* d_sorted, std::uint64_t n, std::uint64_t* d_begin,
                       std::uint64_t* d_end) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::uint32_t key = d_sorted[i];
  if (i == 0 || d_sorted[i - 1] != key) d_begin[key] = i;
  if (i + 1 == n || d_sorted[i + 1] != key) d_end[key] = i + 1;
}

__global__ void k_lengths(const std::uint64_t* d_begin, const std::uint64_t* d_end, std::uint32_t n_counts,
                          std::uint64_t* d_counts) {
  const std::uint32_t b = blockIdx.x * kThreads + threadIdx.x;
  if (b < n_counts) d_counts[b] = d_end[b] - d_begin[b];
}

unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

}  // namespace

void keys_of(const std::int32_t* d_samples, std::uint64_t n, std::uint32_t n_bins, std::int64_t lo,
             std::int64_t hi, std::uint32_t* d_keys, CUstream_st* stream) {
  k_keys<<<blocks_for(n), kThreads, 0, stream>>>(d_samples, n, {n_bins, lo, hi}, d_keys);
}

void lengths_of_runs(const std::uint32_t* d_sorted, std::uint64_t n, std::uint32_t n_counts,
                     std::uint64_t* d_ends, std::uint64_t* d_counts, CUstream_st* stream) {
  static_cast<void>(cudaMemsetAsync(d_ends, 0, 16 * std::uint64_t{n_counts}, stream));
  k_runs<<<blocks_for(n), kThreads, 0, stream>>>(d_sorted, n, d_ends, d_ends + n_counts);
  k_lengths<<<blocks_for(n_counts), kThreads, 0, stream>>>(d_ends, d_ends + n_counts, n_counts, d_counts);
}

}  // namespace course::lessons
