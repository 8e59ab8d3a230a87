// SPDX-License-Identifier: MIT
// Histogram: your file. Read labs/histogram/lab.hpp (bins, Job), then handouts/05-histogram.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is a kernel and the host function that launches it.
// Grade one task with
//   ./lab grade histogram --task global_atomics
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "histogram/lab.hpp"

namespace course::histogram {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "histogram/given.cuh"

// --- The bin of a sample between explicit edges: the b with edge[b] <= x < edge[b + 1]; n_bins if there is
// none.
// Edge<T> can hold every T, so compare as Edge<T>. Any thread may call it; log2(n_bins) dependent loads.
template <typename T>
__device__ std::uint32_t bin_of(const EdgeBins<T>& bins, T sample) {
  // TODO(student): Find the bin with a binary search. A bin contains its lower edge, but not its upper one. A
  // NaN is in no bin. (roughly 10 lines)
  return bins.n_bins;
}

// --- Task 1, "global_atomics": one atomic increment in global memory per sample.
// Limits: atomics per sample ≤ 1.05, active_lanes ≥ 0.95, launches ≤ 2.
// Reads n samples, does n atomics. Launches: clear, count.
template <typename T, typename Bins>
__global__ void k01_global_atomics(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Count every sample, also those in no bin. (roughly 3 lines)
}

template <typename T, typename Bins>
Status global_atomics(const Job<T, Bins>& job) {
  // TODO(student): Call clear_counts, then launch your kernel on job.stream, with blocks_for(n, kBlock, …)
  // blocks. (roughly 4 lines)
  return not_implemented(job);
}

// --- Task 2, "private_counts": each thread has its own counters.
// Limits: atomics per sample ≤ 0.05, launches ≤ 3.
// Thread t of n_private has n_bins + 1 counters: its counter of bin b is d_private[b · n_private + t], so
// neighbouring threads' counters of the same bin are neighbours. A second kernel adds up the counters of each
// bin.
template <typename T, typename Bins>
__global__ void k02_private_counts(const T* d_in, std::uint64_t n, Bins bins, std::uint32_t* d_private,
                                   std::uint32_t n_private) {
  // TODO(student): Count the samples t, t + n_private, … in the calling thread's own counters, which nobody
  // has cleared. (roughly 6 lines)
}

// One block per bin, and one for the samples in no bin: d_counts[b] becomes the sum of bin b's n_private
// counters.
__global__ void k02_add_up(const std::uint32_t* d_private, std::uint32_t n_private, Count* d_counts) {
  // TODO(student): Add up the private counters of bin blockIdx.x. (roughly 5 lines)
}

template <typename T, typename Bins>
Status private_counts(const Job<T, Bins>& job) {
  // TODO(student): Launch both kernels, for n_bins + 1 counters. (roughly 6 lines)
  return not_implemented(job);
}

// --- Task 3, "shared_counts": one histogram per block in shared memory, merged into the global one at
// the end.
// Limits: bytes_ratio ≤ 2, launches ≤ 2.
// Reads n samples per window; one shared atomic per sample, and one global atomic per block and counter that
// is not 0.
template <typename T, typename Bins>
__global__ void k03_shared_counts(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Count the samples of this block's window of counters in dynamic shared memory, then add
  // the counters to d_counts. (roughly 15 lines)
}

template <typename T, typename Bins>
Status shared_counts(const Job<T, Bins>& job) {
  // TODO(student): Clear the counts, and launch the kernel with the sizes that windows_for gives. (roughly 6
  // lines)
  return not_implemented(job);
}

// --- Task 4, "sort_reduce" (bonus): sort the bins of a tile, so that equal ones are neighbours; then count
// runs.
// Limits: atomics per sample ≤ 0.5, bytes_ratio ≤ 4.
// Key: a sample's bin. Value: 1. Reduce-by-key adds up the values of each run of equal keys, which gives its
// length.
// One global atomic per run; a tile of 2,048 samples in 256 bins has at most 257 runs.
template <typename T, typename Bins>
__global__ void k04_sort_reduce(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Sort each tile's keys, find its runs, and add the length of each run to the count of its
  // bin. (roughly 30 lines)
}

template <typename T, typename Bins>
Status sort_reduce(const Job<T, Bins>& job) {
  // TODO(student): Call clear_counts, then launch your kernel. A block takes kTile samples at a time.
  // (roughly 4 lines)
  return not_implemented(job);
}

// --- Task 5, "combined" (bonus): a different method for few and for many bins.
// Limits: contention per sample ≤ 0.1 (the lanes that wait for another one of their warp), bytes_ratio ≤ 2.
// Few bins: each lane of a warp counts in its own histogram, so no two lanes of a warp use the same counter.
// A lane's counter of bin b is s_counts[b · 32 + lane]: all counters of lane l are in bank l. More bins: rung
// 3.
inline constexpr unsigned kCopies = kWarp;

template <typename T, typename Bins>
__global__ void k05_copies(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Do the same as in task 3 with one window, but with kCopies counters per bin. Avoid bank
  // conflicts. (roughly 15 lines)
}

template <typename T, typename Bins>
Status combined(const Job<T, Bins>& job) {
  // TODO(student): Launch k05_copies if its counters fit into kWindow, otherwise the method that you found to
  // be the fastest. (roughly 7 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename T, typename Bins>
Status solve(Rung rung, const Job<T, Bins>& job) {
  switch (rung) {
    case Rung::global_atomics: return global_atomics(job);
    case Rung::private_counts: return private_counts(job);
    case Rung::shared_counts: return shared_counts(job);
    case Rung::sort_reduce: return sort_reduce(job);
    case Rung::combined: return combined(job);
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::histogram
