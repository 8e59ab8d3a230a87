// SPDX-License-Identifier: MIT
//@student // Histogram: your file. Read labs/histogram/lab.hpp first (bins, Job), then handouts/05-histogram.md.
//@student // Work from the top down: each task is a kernel and the host function that launches it. Grade one task with
//@student //   ./lab grade histogram --task global_atomics
//@student // Until you write it, a task answers "not implemented". Do not change the given lines at the end.
//@reference
// Histogram: the whole ladder, from one atomic a sample to one histogram a lane.
// Read from the top: each rung says what changed, why that should be faster, what it still wastes; predictions are
// for 2^24 int32 samples on a device of the H200's class. Lines that start with //@ steer the generator of the
// students' file (common/tools/make_skeleton.py). Rung 0, the racy one, is in grader/mutants/histogram/racy.mutant.
// Invariant: every rung gives the same counts for every (sample type, bins, n), n = 0 included; counts are whole
// numbers and addition is exact, so the order in which threads add does not show.
// Source: V. Podlozhnyuk, "Histogram Calculation in CUDA" (2007) for private and shared histograms; J. Gomez-Luna,
// J. Gonzalez-Linares, J. Benavides, N. Guil, "An Optimized Approach to Histogram Computation on GPU" (2013) for
// copies against conflicts. Here with any bins, up to 65,536 of them, and any samples.
//@end
#include "histogram/lab.hpp"
//@reference
#include "device/each_item.cuh"
//@end

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
  //@solution First the samples that lie in no bin: turn the comparison round, so that a NaN is among them. Then a binary search:
  //@hint keep edge[low] <= x < edge[high] true while you halve the distance, until high is low + 1.
  //@instead static_cast<void>(sample);
  //@instead return bins.n_bins;
  const Edge<T> x = static_cast<Edge<T>>(sample);
  if (!(x >= bins.d_edges[0] && x < bins.d_edges[bins.n_bins])) return bins.n_bins;
  std::uint32_t low = 0, high = bins.n_bins;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    if (x < bins.d_edges[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
  //@end
}

// --- Rung 1, task "global_atomics": one atomic increment in global memory for each sample.
// Reads n samples, makes n atomics; launches: clear, count.
//@reference
// Why: `++d_counts[b]` is a load, an addition and a store, and two threads that load the same old count lose one
// sample (rung 0); atomicAdd makes the three one, at the L2 cache. Wastes: 32 samples of a warp touch about 25 of the 65
// sectors that 257 counts take, each read and written back; and all increments of one count queue up: with all samples
// in one bin nothing is parallel any more. Expect 0.2 to 0.5 ms for 256 bins, and several times that when all
// samples fall in one.
//@end
template <typename T, typename Bins>
__global__ void k01_global_atomics(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Every sample from global_thread() on, grid_threads() apart: atomicAdd of Count{1} to its bin's count. bin_of gives n_bins
  //@hint for a sample in no bin: there is a count for those as well.
  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    atomicAdd(&d_counts[bin_of(bins, d_in[i])], Count{1});
  }
  //@end
}

template <typename T, typename Bins>
Status global_atomics(const Job<T, Bins>& job) {
  //@solution clear_counts, then your kernel on job.stream, with blocks_for(n, kBlock, …) blocks.
  //@instead return not_implemented(job);
  clear_counts(job);
  k01_global_atomics<<<blocks_for(job.n, kBlock, job.multiprocessors), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
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
//@reference
// Changed: n_private threads, each with a column of counters that nobody else touches. Why: no atomic, so no queue
// however the samples fall: sorted, skewed and random ones take the same time. Wastes: each increment is a load and
// a store of a sector for 4 bytes, 64 bytes a sample; (n_bins + 1) · n_private counters have to be cleared and added
// up, so many bins leave few threads. Expect 0.4 ms for 256 bins; for 65,536 only 96 threads are left.
//@end
template <typename T, typename Bins>
__global__ void k02_private_counts(const T* d_in, std::uint64_t n, Bins bins, std::uint32_t* d_private,
                                   std::uint32_t n_private) {
  //@solution Threads from n_private on have nothing to do. The others clear their own counters (nobody else looks at them, so there is
  //@hint no barrier), then count samples t, t + n_private, … with a plain ++. Mind that the index of a counter needs 64 bits.
  const std::uint64_t t = global_thread();
  if (t >= n_private) return;
  for (std::uint64_t bin = 0; bin <= bins.n_bins; ++bin) d_private[bin * n_private + t] = 0;
  for (std::uint64_t i = t; i < n; i += n_private) {
    ++d_private[std::uint64_t{bin_of(bins, d_in[i])} * n_private + t];
  }
  //@end
}

// One block for each bin, and one for what lies in none: d_counts[b] becomes the sum of bin b's n_private counters.
__global__ void k02_add_up(const std::uint32_t* d_private, std::uint32_t n_private, Count* d_counts) {
  //@solution Block b: each thread adds up every blockDim.x-th of the bin's counters, in 64 bits; then block_sum; thread 0 writes.
  const std::uint32_t* d_of_bin = d_private + std::uint64_t{blockIdx.x} * n_private;
  Count sum = 0;
  for (std::uint32_t t = threadIdx.x; t < n_private; t += blockDim.x) sum += d_of_bin[t];
  sum = block_sum(sum);
  if (threadIdx.x == 0) d_counts[blockIdx.x] = sum;
  //@end
}

template <typename T, typename Bins>
Status private_counts(const Job<T, Bins>& job) {
  //@solution Enough blocks for job.n_private threads; then k02_add_up with n_bins + 1 blocks. Its blocks need no more threads than
  //@hint n_private, which is a multiple of 32 and may be less than kBlock. Nothing to clear: every count is written.
  //@instead return not_implemented(job);
  const unsigned n_blocks = (job.n_private + kBlock - 1) / kBlock;
  k02_private_counts<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.bins, job.d_private,
                                                          job.n_private);
  const unsigned n_threads = job.n_private < kBlock ? job.n_private : kBlock;
  k02_add_up<<<job.bins.n_bins + 1, n_threads, 0, job.stream>>>(job.d_private, job.n_private, job.d_counts);
  return Status::ok;
  //@end
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
//@reference
// Changed: increments go to the multiprocessor's own memory, and a global count gets one addition per block. Why: a
// shared atomic needs no trip to the L2, and the queues are 132 times shorter, one for each multiprocessor: 5 to 10
// times rung 1 for 256 bins. Wastes: lanes of a warp that meet on one address, or one bank, go one after the other: up to
// 32 times slower on skewed samples; with more than one window everything is read again; 4-byte loads.
//@end
template <typename T, typename Bins>
__global__ void k03_shared_counts(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution first = blockIdx.y * kWindow is the first of this block's counters, n_here of them lie in its window. Clear s_counts; barrier.
  //@hint Count the samples from global_thread() on whose bin is in the window: bin - first < n_here does for both ends, as
  //@hint unsigned numbers wrap. Barrier. Add what is not 0 to d_counts, each thread every blockDim.x-th counter.
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWindow ? left : kWindow;

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before anybody counts

  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    const std::uint32_t counter = bin_of(bins, d_in[i]) - first;
    if (counter < n_here) atomicAdd(&s_counts[counter], 1u);
  }
  __syncthreads();  // everybody has counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(&d_counts[first + i], Count{s_counts[i]});
  }
  //@end
}

template <typename T, typename Bins>
Status shared_counts(const Job<T, Bins>& job) {
  //@solution clear_counts; then your kernel with a grid of dim3(shared_grid(n, counters, …), n_windows) and shared_bytes() of dynamic
  //@hint shared memory, all of it from windows_for(n_bins).
  //@instead return not_implemented(job);
  clear_counts(job);
  const Windows windows = windows_for(job.bins.n_bins);
  const dim3 grid(shared_grid(job.n, windows.counters, job.multiprocessors), windows.n_windows);
  k03_shared_counts<<<grid, kBlock, windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                          job.d_counts);
  return Status::ok;
  //@end
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
//@reference
// Changed: no two increments of a tile go to the same count, whatever the samples are. Why: an atomic a run instead of a
// sample, 8 times fewer for 256 bins, 2,048 times fewer when all are equal: contention is gone, skew is *good*. This
// is what a machine without atomics has to do. Wastes: the sort, 33 exchanges a key: 3 to 5 times slower than rung 3; with
// 65,536 bins hardly a run is longer than one.
//@end
template <typename T, typename Bins>
__global__ void k04_sort_reduce(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Tile by tile, the grid's tiles apart. Keys into s_keys (kNoKey past the tile's samples); barrier; sort_tile. Thread t looks at
  //@hint kKeysPerThread keys from t * kKeysPerThread on: a run starts where a key differs from the one before, or at 0, if there is
  //@hint a sample. block_exclusive_sum over the numbers of starts says where its own go in s_starts. Behind the last start goes
  //@hint the number of samples in the tile, so that every run ends where the next one starts; barrier. Then one atomicAdd a run;
  //@hint barrier, before the next tile overwrites the keys.
  __shared__ std::uint32_t s_keys[kTile];
  __shared__ std::uint32_t s_starts[kTile + 1];
  const unsigned tid = threadIdx.x;

  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTile; first < n;
       first += std::uint64_t{gridDim.x} * kTile) {
    const unsigned n_here = n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
    for (unsigned i = tid; i < kTile; i += kBlock)
      s_keys[i] = i < n_here ? bin_of(bins, d_in[first + i]) : kNoKey;
    __syncthreads();  // the tile's keys are there before they are sorted
    sort_tile(s_keys);

    // Where runs start: bit k for the key at begin + k.
    const unsigned begin = tid * kKeysPerThread;
    unsigned starts = 0;
    for (unsigned k = 0; k < kKeysPerThread; ++k) {
      const unsigned i = begin + k;
      if (i < n_here && (i == 0 || s_keys[i] != s_keys[i - 1])) starts |= 1u << k;
    }
    unsigned n_runs = 0;
    unsigned run = block_exclusive_sum(static_cast<unsigned>(__popc(starts)), n_runs);
    for (unsigned k = 0; k < kKeysPerThread; ++k) {
      if ((starts >> k & 1) != 0) s_starts[run++] = begin + k;
    }
    if (tid == 0) s_starts[n_runs] = n_here;
    __syncthreads();  // all starts are written before lengths are taken

    for (unsigned r = tid; r < n_runs; r += kBlock) {
      const unsigned start = s_starts[r];
      atomicAdd(&d_counts[s_keys[start]], Count{s_starts[r + 1] - start});
    }
    __syncthreads();  // keys and starts have been read before the next tile overwrites them
  }
  //@end
}

template <typename T, typename Bins>
Status sort_reduce(const Job<T, Bins>& job) {
  //@solution clear_counts, then your kernel: a block takes kTile samples at a time.
  //@instead return not_implemented(job);
  clear_counts(job);
  k04_sort_reduce<<<blocks_for(job.n, kTile, job.multiprocessors), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 5: a histogram per warp.
// Changed: the block's 8 warps count in 8 histograms, merged in the block before they go out. Why: only lanes of one
// warp can still meet, 8 times fewer threads per counter; expect 1.1 times rung 3 for 256 uniform bins: the hardware's
// shared atomics do not mind different warps much, since they come one after the other anyhow. Wastes: 8 times the shared
// memory, so windows of 1,536 counters and 43 readings of the samples for 65,536 bins; lanes of a warp still meet.
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kWarpWindow = kWindow / kWarps;

template <typename T, typename Bins>
__global__ void k05_per_warp(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWarpWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWarpWindow ? left : kWarpWindow;
  std::uint32_t* s_mine = s_counts + threadIdx.x / kWarp * n_here;

  for (std::uint32_t i = threadIdx.x; i < kWarps * n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before anybody counts

  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    const std::uint32_t counter = bin_of(bins, d_in[i]) - first;
    if (counter < n_here) atomicAdd(&s_mine[counter], 1u);
  }
  __syncthreads();  // every warp has counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) {
    Count sum = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) sum += s_counts[warp * n_here + i];
    if (sum != 0) atomicAdd(&d_counts[first + i], sum);
  }
}

template <typename T, typename Bins>
Status per_warp(const Job<T, Bins>& job) {
  clear_counts(job);
  const Windows windows = windows_for(job.bins.n_bins, kWarpWindow);
  const dim3 grid(shared_grid(job.n, windows.counters, job.multiprocessors), windows.n_windows);
  k05_per_warp<<<grid, kBlock, kWarps * windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                              job.d_counts);
  return Status::ok;
}

// --- Rung 6: runs of equal bins become one addition.
// Changed: a thread takes neighbouring samples and adds to a counter when the bin changes, all of the run at once. Why:
// samples that are nine in ten alike, or sorted, make runs: 4 times fewer atomics (as a thread's packs lie far apart, a
// sorted run is a pack), hardly any when all are equal; and lanes flush at different times, so fewer meet. 16-byte loads
// besides. Wastes: a comparison a sample for nothing when samples are random; lanes that flush leave the others waiting.
template <typename T, typename Bins>
__global__ void k06_run_lengths(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWindow ? left : kWindow;

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before anybody counts

  std::uint32_t counter = 0, length = 0;  // the current run
  const auto flush = [&] {
    if (length > 0 && counter < n_here) atomicAdd(&s_counts[counter], length);
  };
  device::for_each_item(d_in, n, [&](T sample) {
    const std::uint32_t next = bin_of(bins, sample) - first;
    if (next != counter) {
      flush();
      counter = next;
      length = 0;
    }
    ++length;
  });
  flush();
  __syncthreads();  // everybody has counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(&d_counts[first + i], Count{s_counts[i]});
  }
}

template <typename T, typename Bins>
Status run_lengths(const Job<T, Bins>& job) {
  clear_counts(job);
  const Windows windows = windows_for(job.bins.n_bins);
  const dim3 grid(shared_grid(job.n, windows.counters, job.multiprocessors), windows.n_windows);
  k06_run_lengths<<<grid, kBlock, windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                        job.d_counts);
  return Status::ok;
}

//@end
// --- Rung 7, task "combined" (bonus): what suits the number of bins.
// Few bins: each lane of a warp counts in a histogram of its own, so that no two lanes of a warp ever meet. Its counter of
// bin b is s_counts[b · 32 + lane]: lane l's counters all lie in bank l. More bins: rung 3.
//@reference
// Changed: 32 copies as long as they fit. Why: a warp's 32 increments go to 32 addresses in 32 banks and take one pass,
// whatever the samples are: about 3 times rung 3 for few uniform bins, 20 times on skewed ones. Beyond 383 bins the copies
// do not fit 48 KiB, and with so many bins uniform samples seldom meet. Wastes: 4-byte loads, one in flight; 48 KiB
// although the chip has more; skewed samples in many bins.
//@end
inline constexpr unsigned kCopies = kWarp;

template <typename T, typename Bins>
__global__ void k07_copies(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution As rung 3 with one window, but with kCopies counters for each bin. When merging, a thread that adds up one bin's copies
  //@hint would read 32 words of its own, every lane in the same bank: start each lane with another copy.
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t n_counters = bins.n_bins + 1;
  const unsigned lane = threadIdx.x % kWarp;

  for (std::uint32_t i = threadIdx.x; i < n_counters * kCopies; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before anybody counts

  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    atomicAdd(&s_counts[bin_of(bins, d_in[i]) * kCopies + lane], 1u);  // warps of the block share the copies
  }
  __syncthreads();  // everybody has counted before the counters are merged

  for (std::uint32_t bin = threadIdx.x; bin < n_counters; bin += blockDim.x) {
    Count sum = 0;
    for (unsigned k = 0; k < kCopies; ++k) sum += s_counts[bin * kCopies + (lane + k) % kCopies];
    if (sum != 0) atomicAdd(&d_counts[bin], sum);
  }
  //@end
}

template <typename T, typename Bins>
Status combined(const Job<T, Bins>& job) {
  //@solution If (n_bins + 1) * kCopies counters fit kWindow: clear_counts, then k07_copies, with a grid as for rung 3. Else what you
  //@hint have found to be best for so many bins; shared_counts will do.
  //@instead return not_implemented(job);
  const unsigned n_counters = job.bins.n_bins + 1;
  if (n_counters * kCopies > kWindow) return shared_counts(job);
  clear_counts(job);
  const unsigned n_blocks = shared_grid(job.n, n_counters, job.multiprocessors);
  k07_copies<<<n_blocks, kBlock, n_counters * kCopies * sizeof(std::uint32_t), job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 8: as fast as the memory is.
// Changed: all of the chip's shared memory, 227 KiB a multiprocessor instead of 48 a block: one window for up to 57,343 bins; a
// few copies of the counters, no runs; two 16-byte loads of every thread under way; explicit edges searched in shared memory.
// Why: what a warp does for a sample must fit into the time in which its 128 bytes arrive: 32 cycles of a multiprocessor's
// four schedulers. Expected were 32 copies and runs to pay, since then no two lanes ever meet: 78 % of the memory's rate for 256
// bins, 70 % for 4,096 were measured so, and 95 % for both without runs: the comparisons and branches cost more than they
// save. Copies hardly matter either (1, 8, 32 copies on an H200, 2^28 samples in 256 bins: 244, 245, 248 µs; 90 % alike: 244,
// 244, 248): an atomicAdd of 1 whose result nobody wants is one instruction that counts lanes with the same address itself
// (ATOMS.POPC.INC), so skew is no slower. 8 copies are the best of it where n is small: 25.8 µs against 27.5 at 2^24.
// This kernel, when it asked for the window even if there is but one: 322 µs at 2^28 for 16 to 4,096 bins, whatever the samples, 75 % of the memory's rate (CUB: 1.2 to 3.9 ms). The figures
// above are of one without windows whose number of copies is known to the compiler: 5 instructions a sample less, 95 %. 65,536
// bins: 0.70 ms (CUB 13.8); counters of 16 bits in one window would take 0.44.
// Wastes: instructions, with samples of one byte: 10 for each.
inline constexpr unsigned kWideBlock = 1024;
inline constexpr unsigned kLog2MostCopies = 3;
inline constexpr unsigned kHalfProcessor = 28 * 1024;  // counters in the shared memory of one of two blocks …
inline constexpr unsigned kWholeProcessor = 56 * 1024;  // … or of the only one on a multiprocessor
inline constexpr unsigned kEdgesInShared = 4096;        // that many can be kept besides: 16 KiB

struct Layout {
  unsigned n_windows, window;     // counters of a window, all windows alike but the last
  unsigned log2_copies;           // of each counter
  unsigned blocks_per_processor;  // that fit at once
};
inline Layout layout_for(unsigned n_counters, unsigned n_edges_in_shared) {
  const unsigned half = kHalfProcessor - n_edges_in_shared, whole = kWholeProcessor - n_edges_in_shared;
  Layout layout{(n_counters + whole - 1) / whole, 0, 0, 1};
  layout.window = (n_counters + layout.n_windows - 1) / layout.n_windows;
  while (layout.log2_copies < kLog2MostCopies && layout.window << (layout.log2_copies + 1) <= half)
    ++layout.log2_copies;
  if (layout.window << layout.log2_copies <= half) layout.blocks_per_processor = 2;
  return layout;
}

// Where bins are looked up: as they are, or from a copy of the edges in shared memory. A barrier must follow.
template <typename T>
unsigned edges_in_shared(const EvenBins<T>&) {
  return 0;
}
template <typename T>
unsigned edges_in_shared(const EdgeBins<T>& bins) {
  return bins.n_bins + 1 <= kEdgesInShared ? bins.n_bins + 1 : 0;
}
template <typename T>
__device__ EvenBins<T> staged(const EvenBins<T>& bins, std::uint32_t*) {
  return bins;
}
template <typename T>
__device__ EdgeBins<T> staged(const EdgeBins<T>& bins, std::uint32_t* s_words) {
  static_assert(sizeof(Edge<T>) == sizeof(std::uint32_t));
  if (bins.n_bins + 1 > kEdgesInShared) return bins;
  Edge<T>* s_edges = reinterpret_cast<Edge<T>*>(s_words);
  for (std::uint32_t i = threadIdx.x; i <= bins.n_bins; i += blockDim.x) s_edges[i] = bins.d_edges[i];
  return {bins.n_bins, s_edges};
}

template <bool kOneWindow, typename T, typename Bins>
__global__ void __launch_bounds__(kWideBlock, 2)
    k08_state_of_the_art(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts, Layout layout) {
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * layout.window;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < layout.window ? left : layout.window;
  const unsigned copies = 1u << layout.log2_copies, lane = threadIdx.x % kWarp;

  for (std::uint32_t i = threadIdx.x; i < n_here << layout.log2_copies; i += kWideBlock) s_counts[i] = 0;
  const Bins here = staged(bins, s_counts + (layout.window << layout.log2_copies));
  __syncthreads();  // counters are cleared and edges copied before anybody counts

  std::uint32_t* const s_copy = s_counts + (lane & (copies - 1));
  device::for_each_item(d_in, n, [&](T sample) {
    const std::uint32_t counter = bin_of(here, sample) - (kOneWindow ? 0 : first);
    if (kOneWindow || counter < n_here) atomicAdd(&s_copy[counter << layout.log2_copies], 1u);
  });
  __syncthreads();  // everybody has counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += kWideBlock) {
    Count sum = 0;
    for (unsigned k = 0; k < copies; ++k)
      sum += s_counts[(i << layout.log2_copies) + ((lane + k) & (copies - 1))];
    if (sum != 0) atomicAdd(&d_counts[first + i], sum);
  }
}

template <typename T, typename Bins>
Status state_of_the_art(const Job<T, Bins>& job) {
  const unsigned n_counters = job.bins.n_bins + 1, n_edges = edges_in_shared(job.bins);
  const Layout layout = layout_for(n_counters, n_edges);
  const int shared_bytes =
      static_cast<int>(((layout.window << layout.log2_copies) + n_edges) * sizeof(std::uint32_t));
  // Half of the multiprocessors take each window when there are two: all blocks run at once.
  const std::uint64_t resident = std::uint64_t{layout.blocks_per_processor} *
                                 static_cast<std::uint64_t>(job.multiprocessors) / layout.n_windows;
  const std::uint64_t worthwhile = job.n / (layout.window + 8 * kWideBlock) + 1;
  const std::uint64_t most = resident > 0 ? resident : 1;
  const dim3 grid(static_cast<unsigned>(worthwhile < most ? worthwhile : most), layout.n_windows);

  // More than 48 KiB for a block have to be asked for.
  const auto kernel =
      layout.n_windows == 1 ? &k08_state_of_the_art<true, T, Bins> : &k08_state_of_the_art<false, T, Bins>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  clear_counts(job);
  kernel<<<grid, kWideBlock, shared_bytes, job.stream>>>(job.d_in, job.n, job.bins, job.d_counts, layout);
  return Status::ok;
}

//@end
// --- Given: which function answers which task.
template <typename T, typename Bins>
Status solve(Rung rung, const Job<T, Bins>& job) {
  switch (rung) {
    case Rung::global_atomics: return global_atomics(job);
    case Rung::private_counts: return private_counts(job);
    case Rung::shared_counts: return shared_counts(job);
    case Rung::sort_reduce: return sort_reduce(job);
    case Rung::combined: return combined(job);
    //@reference
    case Rung::per_warp: return per_warp(job);
    case Rung::run_lengths: return run_lengths(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::histogram
