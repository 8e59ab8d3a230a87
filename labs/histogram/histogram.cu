// SPDX-License-Identifier: MIT
// Histogram: your file. Read labs/histogram/lab.hpp first (bins, Job), then handouts/05-histogram.md.
// Work from the top down: each task is a kernel and the host function that launches it. Grade one task with
//   ./lab grade histogram --task global_atomics
// Until you write it, a task answers "not implemented". Do not change the given lines at the end.
#include "histogram/lab.hpp"

namespace course::histogram {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// --- Given: small things.

// This thread among all of the grid's, and how many they are: a thread takes samples gid, gid + n_threads, …, so that
// neighbouring lanes always load neighbouring samples.
__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t grid_threads() {
  return std::uint64_t{gridDim.x} * blockDim.x;
}

// Blocks of kBlock threads for n samples: one for every `samples_per_block`, but no more than keep the device busy,
// and one at least, so that n = 0 is answered, too.
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
// Launches it on all of the job's counts. A launch begins when the one before has ended: what follows finds zeros.
template <typename T, typename Bins>
void clear_counts(const Job<T, Bins>& job) {
  const std::uint64_t n_counts = std::uint64_t{job.bins.n_bins} + 1;
  k00_clear<<<blocks_for(n_counts, kBlock, job.multiprocessors), kBlock, 0, job.stream>>>(job.d_counts,
                                                                                          n_counts);
}

// --- The bin of a sample between explicit edges: the b with edge[b] <= x < edge[b + 1]; n_bins if there is none.
// Edge<T> can hold every T, so compare as Edge<T>. Any thread; log2(n_bins) dependent loads.
template <typename T>
__device__ std::uint32_t bin_of(const EdgeBins<T>& bins, T sample) {
  // TODO(student): First the samples that lie in no bin: turn the comparison round, so that a NaN is among
  // them. Then a binary search: keep edge[low] <= x < edge[high] true while you halve the distance, until
  // high is low + 1. (roughly 10 lines)
  static_cast<void>(sample);
  return bins.n_bins;
}

// --- Rung 1, task "global_atomics": one atomic increment in global memory for each sample.
// Reads n samples, makes n atomics; launches: clear, count.
template <typename T, typename Bins>
__global__ void k01_global_atomics(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Every sample from global_thread() on, grid_threads() apart: atomicAdd of Count{1} to its
  // bin's count. bin_of gives n_bins for a sample in no bin: there is a count for those as well. (roughly 3
  // lines)
}

template <typename T, typename Bins>
Status global_atomics(const Job<T, Bins>& job) {
  // TODO(student): clear_counts, then your kernel on job.stream, with blocks_for(n, kBlock, …) blocks.
  // (roughly 4 lines)
  return not_implemented(job);
}

// Given: the sum of one value per thread over the block, as in the reduction lab. Every thread must call it; valid in
// thread 0. blockDim.x must be a multiple of 32. One barrier; calling it again needs a barrier in between.
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

// --- Rung 2, task "private_counts": no two threads share a counter.
// Thread t of n_private has n_bins + 1 counters of its own: its counter of bin b is d_private[b · n_private + t], so
// that the same bin's counters of neighbouring threads are neighbours. A second kernel adds up those of each bin.
template <typename T, typename Bins>
__global__ void k02_private_counts(const T* d_in, std::uint64_t n, Bins bins, std::uint32_t* d_private,
                                   std::uint32_t n_private) {
  // TODO(student): Threads from n_private on have nothing to do. The others clear their own counters (nobody
  // else looks at them, so there is no barrier), then count samples t, t + n_private, … with a plain ++. Mind
  // that the index of a counter needs 64 bits. (roughly 6 lines)
}

// One block for each bin, and one for what lies in none: d_counts[b] becomes the sum of bin b's n_private counters.
__global__ void k02_add_up(const std::uint32_t* d_private, std::uint32_t n_private, Count* d_counts) {
  // TODO(student): Block b: each thread adds up every blockDim.x-th of the bin's counters, in 64 bits; then
  // block_sum; thread 0 writes. (roughly 5 lines)
}

template <typename T, typename Bins>
Status private_counts(const Job<T, Bins>& job) {
  // TODO(student): Enough blocks for job.n_private threads; then k02_add_up with n_bins + 1 blocks. Its
  // blocks need no more threads than n_private, which is a multiple of 32 and may be less than kBlock.
  // Nothing to clear: every count is written. (roughly 6 lines)
  return not_implemented(job);
}

// Given: counters of 32 bits in a block's shared memory. A block gets 48 KiB of it without asking, which is 12,288
// counters; where a histogram has more, the grid gets a second dimension: blocks (x, y) count the bins of window y
// alone, [y · kWindow, (y + 1) · kWindow), and every window's blocks read all samples.
inline constexpr unsigned kWindow = 12288;  // counters

// How many counters a window has, the last one fewer; what a launch needs for them.
struct Windows {
  unsigned n_windows, counters;  // gridDim.y; of the largest window
  std::size_t shared_bytes() const { return counters * sizeof(std::uint32_t); }
};
inline Windows windows_for(std::uint32_t n_bins, unsigned window = kWindow) {
  const unsigned n_counters = n_bins + 1;
  return {(n_counters + window - 1) / window, n_counters < window ? n_counters : window};
}

// Blocks for n samples, each with n_counters to clear and to merge: it should see several samples for each of them.
inline unsigned shared_grid(std::uint64_t n, unsigned n_counters, int multiprocessors) {
  constexpr std::uint64_t kSamplesPerCounter = 4, kSamplesPerThread = 32;
  return blocks_for(n, kSamplesPerCounter * n_counters + kSamplesPerThread * kBlock, multiprocessors);
}

// --- Rung 3, task "shared_counts": a histogram per block in shared memory, merged into the global one at the end.
// Reads n samples per window; one shared atomic a sample, one global atomic a counter and block that is not 0.
template <typename T, typename Bins>
__global__ void k03_shared_counts(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): first = blockIdx.y * kWindow is the first of this block's counters, n_here of them lie in
  // its window. Clear s_counts; barrier. Count the samples from global_thread() on whose bin is in the
  // window: bin - first < n_here does for both ends, as unsigned numbers wrap. Barrier. Add what is not 0 to
  // d_counts, each thread every blockDim.x-th counter. (roughly 15 lines)
}

template <typename T, typename Bins>
Status shared_counts(const Job<T, Bins>& job) {
  // TODO(student): clear_counts; then your kernel with a grid of dim3(shared_grid(n, counters, …), n_windows)
  // and shared_bytes() of dynamic shared memory, all of it from windows_for(n_bins). (roughly 6 lines)
  return not_implemented(job);
}

// --- Given, for rung 4: two pieces that you have written in other labs.

inline constexpr unsigned kKeysPerThread = 8;
inline constexpr unsigned kTile = kBlock * kKeysPerThread;  // keys that a block sorts at once: a power of two

// Sorts the kTile keys in shared memory, ascending: a bitonic network, as in the radix sort lab. Every thread must
// call it, after a barrier; it ends with one. 66 rounds of kTile / 2 exchanges.
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
      __syncthreads();  // this round's writes before the next round's reads
    }
  }
}

// What the threads before this one have, added up, and (in `total`) what all have. Every thread of the kBlock must
// call it. Two barriers; calling it again needs no other.
__device__ inline unsigned block_exclusive_sum(unsigned value, unsigned& total) {
  __shared__ unsigned s_warp[kBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned inclusive = value;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const unsigned before = __shfl_up_sync(kFullMask, inclusive, offset);
    if (lane >= offset) inclusive += before;
  }
  if (lane == kWarp - 1) s_warp[warp] = inclusive;
  __syncthreads();  // every warp's total is stored before all read them
  unsigned base = 0;
  total = 0;
  for (unsigned w = 0; w < kBlock / kWarp; ++w) {
    if (w == warp) base = total;
    total += s_warp[w];
  }
  __syncthreads();  // all have read the totals before a next call stores its own
  return base + inclusive - value;
}

inline constexpr std::uint32_t kNoKey = ~0u;  // fills a tile's places that have no sample: sorted to the end

// --- Rung 4, task "sort_reduce": sort the bins of a tile, so that equal ones stand together; count runs, not samples.
// Key: a sample's bin. Value: 1. Reducing by key adds up the values of each run of equal keys, and that is its length.
// One global atomic a run; a tile of 2,048 samples in 256 bins has at most 257 runs.
template <typename T, typename Bins>
__global__ void k04_sort_reduce(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): Tile by tile, the grid's tiles apart. Keys into s_keys (kNoKey past the tile's samples);
  // barrier; sort_tile. Thread t looks at kKeysPerThread keys from t * kKeysPerThread on: a run starts where
  // a key differs from the one before, or at 0, if there is a sample. block_exclusive_sum over the numbers of
  // starts says where its own go in s_starts. Behind the last start goes the number of samples in the tile,
  // so that every run ends where the next one starts; barrier. Then one atomicAdd a run; barrier, before the
  // next tile overwrites the keys. (roughly 30 lines)
}

template <typename T, typename Bins>
Status sort_reduce(const Job<T, Bins>& job) {
  // TODO(student): clear_counts, then your kernel: a block takes kTile samples at a time. (roughly 4 lines)
  return not_implemented(job);
}

// --- Rung 7, task "combined" (bonus): what suits the number of bins.
// Few bins: each lane of a warp counts in a histogram of its own, so that no two lanes of a warp ever meet. Its counter of
// bin b is s_counts[b · 32 + lane]: lane l's counters all lie in bank l. More bins: rung 3.
inline constexpr unsigned kCopies = kWarp;

template <typename T, typename Bins>
__global__ void k07_copies(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  // TODO(student): As rung 3 with one window, but with kCopies counters for each bin. When merging, a thread
  // that adds up one bin's copies would read 32 words of its own, every lane in the same bank: start each
  // lane with another copy. (roughly 15 lines)
}

template <typename T, typename Bins>
Status combined(const Job<T, Bins>& job) {
  // TODO(student): If (n_bins + 1) * kCopies counters fit kWindow: clear_counts, then k07_copies, with a grid
  // as for rung 3. Else what you have found to be best for so many bins; shared_counts will do. (roughly 7
  // lines)
  return not_implemented(job);
}

// --- Given: which function answers which task.
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
