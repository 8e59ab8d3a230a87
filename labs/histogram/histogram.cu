// SPDX-License-Identifier: MIT
// Histogram: your file. Read labs/histogram/lab.hpp (bins, Job), then handouts/05-histogram.md.
// Work from the top down: each task is a kernel and the host function that launches it.
// Grade one task with
//   ./lab grade histogram --task global_atomics
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "histogram/lab.hpp"

namespace course::histogram {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// --- Given: helper functions.

// The index of this thread in the grid, and the number of threads in the grid. A thread takes the samples
// gid, gid + n_threads, …, so neighbouring lanes always load neighbouring samples.
__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t grid_threads() {
  return std::uint64_t{gridDim.x} * blockDim.x;
}

// Number of blocks of kBlock threads for n samples: one per `samples_per_block`, but at most as many as the
// device can run at once, and at least one, so that n = 0 gets an answer, too.
inline unsigned blocks_for(std::uint64_t n, std::uint64_t samples_per_block, int multiprocessors) {
  constexpr std::uint64_t kBlocksPerProcessor = 8;  // 2,048 threads
  const std::uint64_t most = kBlocksPerProcessor * static_cast<std::uint64_t>(multiprocessors);
  const std::uint64_t wanted = n / samples_per_block + 1;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

// Sets n counts to 0. Work n, one step.
__global__ void k00_clear(Count* d_counts, std::uint64_t n) {
  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) d_counts[i] = 0;
}
// Clears all of the job's counts. The next launch in the stream starts when this one has ended, so it finds
// zeros.
template <typename T, typename Bins>
void clear_counts(const Job<T, Bins>& job) {
  const std::uint64_t n_counts = std::uint64_t{job.bins.n_bins} + 1;
  k00_clear<<<blocks_for(n_counts, kBlock, job.multiprocessors), kBlock, 0, job.stream>>>(job.d_counts,
                                                                                          n_counts);
}

// --- The bin of a sample between explicit edges: the b with edge[b] <= x < edge[b + 1]; n_bins if there is
// none.
// Edge<T> can hold every T, so compare as Edge<T>. Any thread may call it; log2(n_bins) dependent loads.
template <typename T>
__device__ std::uint32_t bin_of(const EdgeBins<T>& bins, T sample) {
  // TODO(student): Find the bin with a binary search. A bin contains its lower edge, but not its upper one. A
  // NaN is in no bin. (roughly 10 lines)
  static_cast<void>(sample);
  return bins.n_bins;
}

// --- Rung 1, task "global_atomics": one atomic increment in global memory per sample.
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

// Given: the sum of one value per thread over the block, as in the reduction lab. Every thread must call it;
// the result is valid in thread 0. blockDim.x must be a multiple of 32. It has one barrier, and two calls
// need another barrier between them.
__device__ inline Count block_sum(Count value) {
  __shared__ Count s_warp[kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(kFullMask, value, offset);
  if (lane == 0) s_warp[warp] = value;
  __syncthreads();  // every warp's sum is stored before warp 0 reads them
  if (warp == 0) {
    value = lane < blockDim.x / kWarp ? s_warp[lane] : 0;
    for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
      value += __shfl_down_sync(kFullMask, value, offset);
  }
  return value;
}

// --- Rung 2, task "private_counts": each thread has its own counters.
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

// Given: 32-bit counters in a block's shared memory. A block may use 48 KiB of it without asking, which is
// 12,288 counters. If a histogram has more, the grid gets a second dimension: blocks (x, y) count only the
// bins of window y, [y · kWindow, (y + 1) · kWindow), and every window's blocks read all samples.
inline constexpr unsigned kWindow = 12288;  // counters

// The windows of a histogram: how many there are, and the number of counters of the largest one.
struct Windows {
  unsigned n_windows, counters;  // gridDim.y; counters of the largest window
  std::size_t shared_bytes() const { return counters * sizeof(std::uint32_t); }
};
inline Windows windows_for(std::uint32_t n_bins, unsigned window = kWindow) {
  const unsigned n_counters = n_bins + 1;
  return {(n_counters + window - 1) / window, n_counters < window ? n_counters : window};
}

// Number of blocks for n samples if each block must clear and merge n_counters: each block should get several
// samples per counter.
inline unsigned shared_grid(std::uint64_t n, unsigned n_counters, int multiprocessors) {
  constexpr std::uint64_t kSamplesPerCounter = 4, kSamplesPerThread = 32;
  return blocks_for(n, kSamplesPerCounter * n_counters + kSamplesPerThread * kBlock, multiprocessors);
}

// --- Rung 3, task "shared_counts": one histogram per block in shared memory, merged into the global one at
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

// --- Given, for rung 4: two functions that are similar to those of labs 2 and 4.

inline constexpr unsigned kKeysPerThread = 8;
inline constexpr unsigned kTile = kBlock * kKeysPerThread;  // keys that a block sorts at once: a power of two

// Sorts the kTile keys in shared memory in ascending order, with a bitonic network, as in the radix sort lab.
// Every thread must call it, after a barrier. It has 66 rounds of kTile / 2 exchanges, and ends with a
// barrier.
__device__ inline void sort_tile(std::uint32_t* s_keys) {
  for (unsigned size = 2; size <= kTile; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      for (unsigned pair = threadIdx.x; pair < kTile / 2; pair += kBlock) {
        const unsigned left = 2 * pair - (pair & (stride - 1)), right = left + stride;
        const std::uint32_t a = s_keys[left], b = s_keys[right];
        const bool ascending = (left & size) == 0;
        if ((a > b) == ascending) {
          s_keys[left] = b;
          s_keys[right] = a;
        }
      }
      __syncthreads();  // this round's writes come before the next round's reads
    }
  }
}

// Returns the sum of the values of the threads before this one; `total` is the sum of all values. All kBlock
// threads must call it. It has two barriers, and no other barrier is needed between two calls.
__device__ inline unsigned block_exclusive_sum(unsigned value, unsigned& total) {
  __shared__ unsigned s_warp[kBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned inclusive = value;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const unsigned before = __shfl_up_sync(kFullMask, inclusive, offset);
    if (lane >= offset) inclusive += before;
  }
  if (lane == kWarp - 1) s_warp[warp] = inclusive;
  __syncthreads();  // every warp's total is stored before the threads read them
  unsigned base = 0;
  total = 0;
  for (unsigned w = 0; w < kBlock / kWarp; ++w) {
    if (w == warp) base = total;
    total += s_warp[w];
  }
  __syncthreads();  // all threads have read the totals before the next call stores its own
  return base + inclusive - value;
}

inline constexpr std::uint32_t kNoKey = ~0u;  // for positions without a sample: sorted to the end

// --- Rung 4, task "sort_reduce": sort the bins of a tile, so that equal ones are neighbours; then count
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

// --- Rung 7, task "combined" (bonus): a different method for few and for many bins.
// Limits: contention per sample ≤ 0.1 (the lanes that wait for another one of their warp), bytes_ratio ≤ 2.
// Few bins: each lane of a warp counts in its own histogram, so no two lanes of a warp use the same counter.
// A lane's counter of bin b is s_counts[b · 32 + lane]: all counters of lane l are in bank l. More bins: rung
// 3.
inline constexpr unsigned kCopies = kWarp;

template <typename T, typename Bins>
__global__ void k07_copies(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Do the same as in rung 3 with one window, but with kCopies counters per bin. Avoid bank
  // conflicts. (roughly 15 lines)
}

template <typename T, typename Bins>
Status combined(const Job<T, Bins>& job) {
  // TODO(student): Launch k07_copies if its counters fit into kWindow, otherwise the method that you found to
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
