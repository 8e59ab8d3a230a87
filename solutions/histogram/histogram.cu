// SPDX-License-Identifier: MIT
//@student // Histogram: your file. Read labs/histogram/lab.hpp (bins, Job), then handouts/05-histogram.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is a kernel and the host function that launches it.
//@student // Grade one task with
//@student //   ./lab grade histogram --task global_atomics
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Histogram: all rungs of the ladder, from one global atomic per sample to copies in shared memory.
// Read from the top. Each rung says what changed, why that should be faster, and what drawbacks remain.
// The lines "Predicted (…)" are for random int32 samples in 256 bins.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py). Rung
// 0, which has a data race, is in grader/mutants/histogram/racy.mutant.
// Invariant: every rung gives the same counts for every (sample type, bins, n), n = 0 included. Counts are
// integers, so the order of additions does not change them.
// Source: V. Podlozhnyuk, "Histogram Calculation in CUDA" (2007) for private and shared histograms; J.
// Gomez-Luna, J. Gonzalez-Linares, J. Benavides, N. Guil, "An Optimized Approach to Histogram Computation on
// GPU" (2013) for copies against conflicts. Here with any kind of bins, up to 65,536 of them, and any
// samples.
//@end
#include "histogram/lab.hpp"
//@reference
#include "device/each_item.cuh"
#include "device/launch.hpp"
#include "lab/atomic_access.cuh"
//@end

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
  //@solution Find the bin with a binary search. A bin contains its lower edge, but not its upper one. A NaN
  //@hint is in no bin.
  //@how First return n_bins for the samples that are in no bin: write the comparison so that a NaN fails
  //@how it. Then do a binary search: keep edge[low] <= x < edge[high] true while you halve the distance,
  //@how until high is low + 1.
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

// --- Task 1, "global_atomics": one atomic increment in global memory per sample.
// Limits: atomics per sample ≤ 1.05, active_lanes ≥ 0.95, launches ≤ 2.
// Reads n samples, does n atomics. Launches: clear, count.
//@reference
// Why: `++d_counts[b]` is a load, an addition and a store. Two threads that load the same old count lose one
// sample (rung 0). atomicAdd does all three as one operation, in the L2 cache.
// Predicted (global_atomics, 2^24 items): 0.2 to 0.5 ms. Measured: 2.69 ms (H200, 2026-11-26).
// Drawback: the 32 samples of a warp access about 25 of the 65 sectors that 257 counts take, and each is
// read and written back. Increments of the same count are done one after the other; if all samples are in one
// bin, this holds for all increments.
//@end
template <typename T, typename Bins>
__global__ void k01_global_atomics(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Count every sample, also those in no bin.
  //@how For every sample from global_thread() on, grid_threads() apart, add Count{1} to the count of its
  //@how bin with atomicAdd. For a sample in no bin, bin_of returns n_bins; count these samples, too.
  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    atomicAdd(&d_counts[bin_of(bins, d_in[i])], Count{1});
  }
  //@end
}

template <typename T, typename Bins>
Status global_atomics(const Job<T, Bins>& job) {
  //@solution Call clear_counts, then launch your kernel on job.stream, with blocks_for(n, kBlock, …) blocks.
  //@instead return not_implemented(job);
  clear_counts(job);
  k01_global_atomics<<<blocks_for(job.n, kBlock, job.multiprocessors), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
}

// --- Task 2, "private_counts": each thread has its own counters.
// Limits: atomics per sample ≤ 0.05, launches ≤ 3.
// Thread t of n_private has n_bins + 1 counters: its counter of bin b is d_private[b · n_private + t], so
// neighbouring threads' counters of the same bin are neighbours. A second kernel adds up the counters of each
// bin.
//@reference
// Changed: each of n_private threads has a column of counters that no other thread accesses.
// Why: there are no atomics, so no increment waits for another one. Sorted, skewed and random samples take
// about the same time.
// Predicted (private_counts, 2^24 items): 0.4 ms. Measured: 495.6 µs (H200, 2026-11-26).
// Drawback: each increment loads and stores a sector for 4 bytes, 64 bytes per sample. (n_bins + 1) ·
// n_private counters must be cleared and added up, so many bins allow only few threads: 96 for 65,536 bins.
//@end
template <typename T, typename Bins>
__global__ void k02_private_counts(const T* d_in, std::uint64_t n, Bins bins, std::uint32_t* d_private,
                                   std::uint32_t n_private) {
  //@solution Count the samples t, t + n_private, … in the calling thread's own counters, which nobody has
  //@hint cleared.
  //@how Threads from n_private on have nothing to do. The other threads clear their own counters (no
  //@how other thread reads them, so no barrier is needed), then count the samples t, t + n_private, …
  //@how with a plain ++. The index of a sample needs 64 bits.
  const std::uint64_t t = global_thread();
  if (t >= n_private) return;
  for (std::uint64_t bin = 0; bin <= bins.n_bins; ++bin) d_private[bin * n_private + t] = 0;
  for (std::uint64_t i = t; i < n; i += n_private) {
    ++d_private[std::uint64_t{bin_of(bins, d_in[i])} * n_private + t];
  }
  //@end
}

// One block per bin, and one for the samples in no bin: d_counts[b] becomes the sum of bin b's n_private
// counters.
__global__ void k02_add_up(const std::uint32_t* d_private, std::uint32_t n_private, Count* d_counts) {
  //@solution Add up the private counters of bin blockIdx.x.
  //@how In block b, each thread adds up every blockDim.x-th counter of bin b, in 64 bits. Then call
  //@how block_sum. Thread 0 writes the sum.
  const std::uint32_t* d_of_bin = d_private + std::uint64_t{blockIdx.x} * n_private;
  Count sum = 0;
  for (std::uint32_t t = threadIdx.x; t < n_private; t += blockDim.x) sum += d_of_bin[t];
  sum = block_sum(sum);
  if (threadIdx.x == 0) d_counts[blockIdx.x] = sum;
  //@end
}

template <typename T, typename Bins>
Status private_counts(const Job<T, Bins>& job) {
  //@solution Launch both kernels, for n_bins + 1 counters.
  //@how Launch enough blocks for job.n_private threads, then launch k02_add_up with n_bins + 1 blocks.
  //@how Its blocks need at most n_private threads, which is a multiple of 32 and may be less than
  //@how kBlock. You need not clear anything, because every count is written.
  //@instead return not_implemented(job);
  const unsigned n_blocks = (job.n_private + kBlock - 1) / kBlock;
  k02_private_counts<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.bins, job.d_private,
                                                          job.n_private);
  const unsigned n_threads = job.n_private < kBlock ? job.n_private : kBlock;
  k02_add_up<<<job.bins.n_bins + 1, n_threads, 0, job.stream>>>(job.d_private, job.n_private, job.d_counts);
  return Status::ok;
  //@end
}

// --- Task 3, "shared_counts": one histogram per block in shared memory, merged into the global one at
// the end.
// Limits: bytes_ratio ≤ 2, launches ≤ 2.
// Reads n samples per window; one shared atomic per sample, and one global atomic per block and counter that
// is not 0.
//@reference
// Changed: increments go to the multiprocessor's own shared memory, and a global count gets one addition per
// block.
// Why: a shared atomic needs no access to the L2 cache, and 132 multiprocessors share the increments of a
// bin.
// Predicted (shared_counts, against global_atomics, 2^24 items): 5× to 10×. Measured: 59× (H200, 2026-11-26).
// Drawback: lanes of a warp that use different words of the same bank are handled one after the other. (Lanes
// that use the same word are not, because an increment is one ATOMS.POPC.INC: skewed samples are not slower.)
// With more than one window, all samples are read again. A load has only 4 bytes.
//@end
template <typename T, typename Bins>
__global__ void k03_shared_counts(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Count the samples of this block's window of counters in dynamic shared memory, then add the
  //@hint counters to d_counts.
  //@how The first of this block's counters is first = blockIdx.y * kWindow, and its window has n_here
  //@how counters. They are in dynamic shared memory: extern __shared__ std::uint32_t s_counts[]. Clear
  //@how them. After a barrier, count the samples from global_thread() on whose bin is in the window: the
  //@how test bin - first < n_here checks both ends, because unsigned numbers wrap around. After another
  //@how barrier, add the counters that are not 0 to d_counts. Each thread takes every blockDim.x-th
  //@how counter.
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWindow ? left : kWindow;

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before any thread counts

  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    const std::uint32_t counter = bin_of(bins, d_in[i]) - first;
    if (counter < n_here) atomicAdd(&s_counts[counter], 1u);
  }
  __syncthreads();  // all threads have counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(&d_counts[first + i], Count{s_counts[i]});
  }
  //@end
}

template <typename T, typename Bins>
Status shared_counts(const Job<T, Bins>& job) {
  //@solution Clear the counts, and launch the kernel with the sizes that windows_for gives.
  //@how Call clear_counts, then launch your kernel with a grid of dim3(shared_grid(n, counters, …),
  //@how n_windows) and shared_bytes() of dynamic shared memory. windows_for(n_bins) gives these numbers.
  //@instead return not_implemented(job);
  clear_counts(job);
  const Windows windows = windows_for(job.bins.n_bins);
  const dim3 grid(shared_grid(job.n, windows.counters, job.multiprocessors), windows.n_windows);
  k03_shared_counts<<<grid, kBlock, windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                          job.d_counts);
  return Status::ok;
  //@end
}

// --- Task 4, "sort_reduce" (bonus): sort the bins of a tile, so that equal ones are neighbours; then count
// runs.
// Limits: atomics per sample ≤ 0.5, bytes_ratio ≤ 4.
// Key: a sample's bin. Value: 1. Reduce-by-key adds up the values of each run of equal keys, which gives its
// length.
// One global atomic per run; a tile of 2,048 samples in 256 bins has at most 257 runs.
//@reference
// Changed: no two increments of a tile go to the same count, whatever the samples are.
// Why: there is one atomic per run instead of one per sample, 8 times fewer for 256 bins, and 2,048 times
// fewer if all samples are equal. There is no contention, and skewed samples are *faster*. A machine without
// atomics has to count in this way.
// Predicted (sort_reduce, against shared_counts, 2^24 items): 0.2× to 0.3×. Measured: 0.09× (H200,
//   2026-11-26).
// Drawback: the sort takes 33 exchanges per key. With 65,536 bins almost every run has length one.
//@end
template <typename T, typename Bins>
__global__ void k04_sort_reduce(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Sort each tile's keys, find its runs, and add the length of each run to the count of its bin.
  //@how The blocks take the tiles in turn, with a stride of one grid. Store the keys in s_keys (kNoKey
  //@how past the tile's samples). After a barrier, call sort_tile. Thread t tests kKeysPerThread keys
  //@how from t * kKeysPerThread on. A run starts at a key that has a sample and that differs from the
  //@how key before it, or is the first key. The block_exclusive_sum of the numbers of starts gives the
  //@how position in s_starts of the thread's first start. After the last start, store the number of
  //@how samples in the tile, so that every run ends where the next one starts. After a barrier, do one
  //@how atomicAdd per run. Wait at another barrier before the next tile overwrites the keys.
  __shared__ std::uint32_t s_keys[kTile];
  __shared__ std::uint32_t s_starts[kTile + 1];
  const unsigned tid = threadIdx.x;

  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTile; first < n;
       first += std::uint64_t{gridDim.x} * kTile) {
    const unsigned n_here = n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
    for (unsigned i = tid; i < kTile; i += kBlock)
      s_keys[i] = i < n_here ? bin_of(bins, d_in[first + i]) : kNoKey;
    __syncthreads();  // the tile's keys are stored before they are sorted
    sort_tile(s_keys);

    // Find the starts of runs: bit k is for the key at begin + k.
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
    __syncthreads();  // all starts are stored before the lengths are computed

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
  //@solution Call clear_counts, then launch your kernel. A block takes kTile samples at a time.
  //@instead return not_implemented(job);
  clear_counts(job);
  k04_sort_reduce<<<blocks_for(job.n, kTile, job.multiprocessors), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 4b: one histogram per warp.
// Changed: the block's 8 warps count in 8 histograms, which are merged in the block before they go to global
// memory.
// Why: only the lanes of one warp share counters, so 8 times fewer threads use the same one.
// It should be only a little faster than rung 3, because the hardware handles shared atomics of different
// warps one after the other anyway.
// Predicted (per_warp, against shared_counts, 2^24 items): 1.1×. Measured: 0.99× (H200, 2026-11-26).
// Drawback: it needs 8 times the shared memory, so a window has 1,536 counters, and 65,536 bins need 43 reads
// of the samples. Lanes of a warp still share counters, which costs nothing (rung 3).
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kWarpWindow = kWindow / kWarps;

template <typename T, typename Bins>
__global__ void k04b_per_warp(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWarpWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWarpWindow ? left : kWarpWindow;
  std::uint32_t* s_mine = s_counts + threadIdx.x / kWarp * n_here;

  for (std::uint32_t i = threadIdx.x; i < kWarps * n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before any thread counts

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
  k04b_per_warp<<<grid, kBlock, kWarps * windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                               job.d_counts);
  return Status::ok;
}

// --- Rung 4c: a run of equal bins becomes one addition.
// Changed: a thread takes neighbouring samples. When the bin changes, it adds the length of the whole run to
// a counter. It also uses 16-byte loads.
// Why: sorted samples, or samples of which nine of ten are equal, have long runs: 4 times fewer atomics (the
// vectors of a thread are far apart, so in sorted samples a run is one vector), and almost none if all
// samples are equal. Lanes add at different times, so fewer use the same counter at once.
// Predicted (run_lengths, against shared_counts, 2^24 items): no prediction. Measured: 1.4× (H200,
//   2026-11-26).
// Drawback: each sample needs a comparison, which does not help if samples are random. The other lanes wait
// while some lanes add. Adding a length is an ATOMS.ADD, in which lanes with the same address take turns.
template <typename T, typename Bins>
__global__ void k04c_run_lengths(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t first = blockIdx.y * kWindow;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < kWindow ? left : kWindow;

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before any thread counts

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
  __syncthreads();  // all threads have counted before the counters are merged

  for (std::uint32_t i = threadIdx.x; i < n_here; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(&d_counts[first + i], Count{s_counts[i]});
  }
}

template <typename T, typename Bins>
Status run_lengths(const Job<T, Bins>& job) {
  clear_counts(job);
  const Windows windows = windows_for(job.bins.n_bins);
  const dim3 grid(shared_grid(job.n, windows.counters, job.multiprocessors), windows.n_windows);
  k04c_run_lengths<<<grid, kBlock, windows.shared_bytes(), job.stream>>>(job.d_in, job.n, job.bins,
                                                                         job.d_counts);
  return Status::ok;
}

//@end
// --- Task 5, "combined" (bonus): a different method for few and for many bins.
// Limits: contention per sample ≤ 0.1 (the lanes that wait for another one of their warp), bytes_ratio ≤ 2.
// Few bins: each lane of a warp counts in its own histogram, so no two lanes of a warp use the same counter.
// A lane's counter of bin b is s_counts[b · 32 + lane]: all counters of lane l are in bank l. More bins: rung
// 3.
//@reference
// Changed: there are 32 copies of each counter, as long as they fit.
// Why: a warp's 32 increments go to 32 addresses in 32 banks and take one wavefront, whatever the samples
// are. 32 copies of more than 383 bins do not fit into 48 KiB, but with so many bins, random samples rarely
// use the same counter.
// Predicted (combined, against shared_counts, 2^24 items): 3×. Measured: 0.69× (H200, 2026-11-26).
// Skewed samples take the same time, in rung 3 as well, because an increment is one ATOMS.POPC.INC: the
// copies avoid turns that the hardware does not take. They would help if each sample had a weight. A grid
// with only as many blocks as fit at once is faster, but not faster than rung 3.
// Drawback: 4-byte loads, one in flight; it uses only 48 KiB of shared memory, and rung 3 for many bins.
//@end
inline constexpr unsigned kCopies = kWarp;

template <typename T, typename Bins>
__global__ void k05_copies(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  //@solution Do the same as in task 3 with one window, but with kCopies counters per bin. Avoid bank
  //@hint conflicts.
  //@how Do the same as in task 3 with one window, but with kCopies counters per bin. If one thread adds
  //@how up the copies of one bin when merging, it reads 32 consecutive words, so all lanes would use the
  //@how same bank. Therefore let each lane start with another copy.
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t n_counters = bins.n_bins + 1;
  const unsigned lane = threadIdx.x % kWarp;

  for (std::uint32_t i = threadIdx.x; i < n_counters * kCopies; i += blockDim.x) s_counts[i] = 0;
  __syncthreads();  // every counter is cleared before any thread counts

  for (std::uint64_t i = global_thread(); i < n; i += grid_threads()) {
    atomicAdd(&s_counts[bin_of(bins, d_in[i]) * kCopies + lane], 1u);  // warps of the block share the copies
  }
  __syncthreads();  // all threads have counted before the counters are merged

  for (std::uint32_t bin = threadIdx.x; bin < n_counters; bin += blockDim.x) {
    Count sum = 0;
    for (unsigned k = 0; k < kCopies; ++k) sum += s_counts[bin * kCopies + (lane + k) % kCopies];
    if (sum != 0) atomicAdd(&d_counts[bin], sum);
  }
  //@end
}

template <typename T, typename Bins>
Status combined(const Job<T, Bins>& job) {
  //@solution Launch k05_copies if its counters fit into kWindow, otherwise the method that you found to be
  //@hint the fastest.
  //@how If (n_bins + 1) * kCopies counters fit into kWindow, call clear_counts and launch k05_copies,
  //@how with a grid as for task 3. Otherwise use the method that you found to be the fastest for so many
  //@how bins; shared_counts is good enough.
  //@instead return not_implemented(job);
  const unsigned n_counters = job.bins.n_bins + 1;
  if (n_counters * kCopies > kWindow) return shared_counts(job);
  clear_counts(job);
  const unsigned n_blocks = shared_grid(job.n, n_counters, job.multiprocessors);
  k05_copies<<<n_blocks, kBlock, n_counters * kCopies * sizeof(std::uint32_t), job.stream>>>(
      job.d_in, job.n, job.bins, job.d_counts);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 6: as fast as the memory.
// Changed: it uses all of the shared memory, 227 KiB per multiprocessor instead of 48 per block, so one
// window is enough for up to 58,111 bins. There are a few copies of the counters, and no runs. Every thread
// has two 16-byte loads in flight. Explicit edges are searched in shared memory. Some blocks clear the counts
// while the others count, so there is one launch. Samples of one byte are counted by their value (k06_bytes).
// With more bins, long arrays are counted in counters of 16 bits (k06_packed), so they are read once, too.
// Why: a warp must finish its work for 32 samples in the time in which their 128 bytes arrive: 32 cycles of a
// multiprocessor's four schedulers.
// Predicted: 32 copies and runs help, because no two lanes of a warp use the same counter. Neither does: the
// comparisons and branches of runs cost more than they save, and the number of copies hardly matters. An
// atomicAdd of 1 whose result is not used is one instruction, ATOMS.POPC.INC, which counts the lanes that
// have the same address, so skewed samples are not slower. 8 copies are best if n is small.
// Tried and slower: testing the window even if there is only one (5 more instructions per sample); two
// windows for 65,536 bins; counters of 16 bits without the test whether neighbours are equal, if many samples
// are equal, because ATOMS.POPC.INC can't add to half a word. With samples of one byte, adding 16 equal
// samples at once saved nothing.
// Drawback: a shared atomic per byte takes longer than the memory.
inline constexpr unsigned kWideBlock = 1024;
inline constexpr unsigned kLog2MostCopies = 3;
inline constexpr unsigned kEdgesInShared = 4096;  // so many edges can be stored as well: 16 KiB

// Words of shared memory that a block can have: the only block of a multiprocessor, or one of two.
struct Space {
  unsigned whole, half;
};
inline Space space() {
  const auto words = [](cudaDeviceAttr which) { return static_cast<unsigned>(device::attribute(which)) / 4; };
  constexpr unsigned kReserved = 1024 / 4;  // by the system, of each block
  return {words(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          words(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 - kReserved};
}

struct Layout {
  unsigned n_windows, window;     // counters of a window; all windows are equal except the last
  unsigned log2_copies;           // of each counter
  unsigned blocks_per_processor;  // blocks that fit at once
};
inline Layout layout_for(unsigned n_counters, unsigned n_edges_in_shared, Space space) {
  const unsigned half = space.half - n_edges_in_shared, whole = space.whole - n_edges_in_shared;
  Layout layout{(n_counters + whole - 1) / whole, 0, 0, 1};
  layout.window = (n_counters + layout.n_windows - 1) / layout.n_windows;
  while (layout.log2_copies < kLog2MostCopies && layout.window << (layout.log2_copies + 1) <= half)
    ++layout.log2_copies;
  if (layout.window << layout.log2_copies <= half) layout.blocks_per_processor = 2;
  return layout;
}

// The bins that a kernel searches: the given ones, or a copy of the edges in shared memory, which is on its
// way. Every thread must wait for its part (device::wait_for_loads<0>), then at a barrier, before any of them
// searches.
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
  for (std::uint32_t i = threadIdx.x; i <= bins.n_bins; i += blockDim.x)
    __pipeline_memcpy_async(&s_edges[i], &bins.d_edges[i], sizeof *s_edges);
  __pipeline_commit();
  return {bins.n_bins, s_edges};
}

// Clearing without a launch of its own: the first blocks set the counts to 0 while the others count, and all
// wait for them before they add to the counts. All blocks of the grid must be able to run at the same time,
// and two launches must not. A launch raises d_arrivals by kArrivals, 1 for each block and the rest for block
// 0, so what a block finds there, divided by kArrivals, is the launch's number. In the same way the blocks
// that clear raise d_cleared when they have done so.
inline constexpr unsigned long long kArrivals = 1 << 16;
inline constexpr std::uint32_t kClearedByOne = 4096;  // counts; if there are more, more blocks clear
__device__ unsigned long long d_arrivals, d_cleared;

// Returns the launch's number, in thread 0. Every thread must call it before the block's first barrier.
__device__ inline unsigned long long begin_to_clear(Count* d_counts, std::uint32_t n_counters) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, n_blocks = gridDim.x * gridDim.y;
  const unsigned n_clearing = min(n_counters / kClearedByOne + 1, n_blocks);
  unsigned long long launch = 0;
  if (threadIdx.x == 0) launch = atomicAdd(&d_arrivals, block > 0 ? 1 : kArrivals + 1 - n_blocks) / kArrivals;
  if (block >= n_clearing) return launch;
  for (std::uint32_t i = block * blockDim.x + threadIdx.x; i < n_counters; i += n_clearing * blockDim.x)
    d_counts[i] = 0;
  __syncthreads();  // every thread has cleared before thread 0 says so
  // A release like that of store_release; an atomicAdd after a __threadfence takes longer.
  if (threadIdx.x == 0)
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&d_cleared)),
                 "l"(block > 0 ? 1 : kArrivals + 1 - n_clearing)
                 : "memory");
  return launch;
}
// Returns when the counts are 0. Every thread must call it; it has one barrier.
__device__ inline void wait_until_cleared(unsigned long long launch) {
  if (threadIdx.x == 0) {
    while (lab::load_acquire(&d_cleared) != (launch + 1) * kArrivals) {
    }
  }
  __syncthreads();  // thread 0 has seen that the counts are cleared before any thread adds to them
}

template <bool kOneWindow, typename T, typename Bins>
__global__ void __launch_bounds__(kWideBlock, 2)
    k06_state_of_the_art(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts, Layout layout) {
  extern __shared__ std::uint32_t s_counts[];
  const unsigned long long launch = begin_to_clear(d_counts, bins.n_bins + 1);
  const std::uint32_t first = blockIdx.y * layout.window;
  const std::uint32_t left = bins.n_bins + 1 - first;
  const std::uint32_t n_here = left < layout.window ? left : layout.window;
  const unsigned copies = 1u << layout.log2_copies, lane = threadIdx.x % kWarp;

  for (std::uint32_t i = threadIdx.x; i < n_here << layout.log2_copies; i += kWideBlock) s_counts[i] = 0;
  const Bins here = staged(bins, s_counts + (layout.window << layout.log2_copies));
  device::wait_for_loads<0>();
  __syncthreads();  // counters are cleared and edges copied before any thread counts

  std::uint32_t* const s_copy = s_counts + (lane & (copies - 1));
  device::for_each_item(d_in, n, [&](T sample) {
    const std::uint32_t counter = bin_of(here, sample) - (kOneWindow ? 0 : first);
    if (kOneWindow || counter < n_here) atomicAdd(&s_copy[counter << layout.log2_copies], 1u);
  });
  wait_until_cleared(launch);  // its barrier also comes between counting and merging

  for (std::uint32_t i = threadIdx.x; i < n_here; i += kWideBlock) {
    Count sum = 0;
    for (unsigned k = 0; k < copies; ++k)
      sum += s_counts[(i << layout.log2_copies) + ((lane + k) & (copies - 1))];
    if (sum != 0) atomicAdd(&d_counts[first + i], sum);
  }
}

// --- Samples of one byte: the kernel counts the 256 values, and finds the bin of each value only once, when
// it merges the counts.
inline constexpr unsigned kValues = 256;
inline constexpr unsigned kLog2ByteCopies = 3;  // of each counter

template <unsigned kThreads, typename Bins>
__global__ void __launch_bounds__(kThreads, 2 * kWideBlock / kThreads)
    k06_bytes(const std::uint8_t* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  constexpr unsigned kByteCopies = 1u << kLog2ByteCopies;
  __shared__ std::uint32_t s_of_value[kValues * kByteCopies];
  __shared__ std::uint32_t s_of_bin[kValues + 1];
  extern __shared__ std::uint32_t s_edges[];
  const unsigned long long launch = begin_to_clear(d_counts, bins.n_bins + 1);
  const bool few = bins.n_bins <= kValues;  // values that share a bin are then added up in shared memory
  for (unsigned i = threadIdx.x; i < kValues * kByteCopies; i += kThreads) s_of_value[i] = 0;
  for (unsigned bin = threadIdx.x; few && bin <= bins.n_bins; bin += kThreads) s_of_bin[bin] = 0;
  const Bins here = staged(bins, s_edges);
  __syncthreads();  // counters are cleared before any thread counts

  std::uint32_t* const s_copy = s_of_value + threadIdx.x % kByteCopies;
  device::for_each_item(d_in, n,
                        [&](std::uint8_t value) { atomicAdd(&s_copy[value << kLog2ByteCopies], 1u); });
  device::wait_for_loads<0>();  // the edges, which arrive while the values are counted
  wait_until_cleared(launch);   // its barrier also comes between counting and merging, copying and searching

  for (unsigned value = threadIdx.x; value < kValues; value += kThreads) {
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < kByteCopies; ++k)
      sum += s_of_value[(value << kLog2ByteCopies) + (threadIdx.x + k) % kByteCopies];
    if (sum == 0) continue;
    const std::uint32_t bin = bin_of(here, static_cast<std::uint8_t>(value));
    if (few)
      atomicAdd(&s_of_bin[bin], sum);
    else
      atomicAdd(&d_counts[bin], Count{sum});
  }
  if (!few) return;
  __syncthreads();  // the bins of the block are complete before they are merged
  for (unsigned bin = threadIdx.x; bin <= bins.n_bins; bin += kThreads) {
    if (s_of_bin[bin] != 0) atomicAdd(&d_counts[bin], Count{s_of_bin[bin]});
  }
}

// --- More bins than one window has: a word holds two counters of 16 bits, for bins i and i + n_words. The
// addition that raises a counter to kFull or above takes kFull from it and adds it to the count in global
// memory. Until then other threads go on counting, but a thread adds at most kFull / kWideBlock - 1 samples
// between two barriers, so no counter gets to 2 * kFull = 2^16.
inline constexpr std::uint32_t kFull = 1u << 15;
inline constexpr std::uint64_t kPackedFrom = 1u << 24;  // samples; below, two windows are faster
// The same if each sample's bin is searched in global memory: two windows search for each sample twice.
inline constexpr std::uint64_t kPackedSearchesFrom = 1u << 22;

template <typename T, typename Bins>
__global__ void __launch_bounds__(kWideBlock, 1)
    k06_packed(const T* d_in, std::uint64_t n, Bins bins, Count* d_counts) {
  using Samples = device::Pack<T>;
  constexpr unsigned kMax = (kFull / kWideBlock - 1) / Samples::kItems, kPacks = kMax < 7 ? kMax : 7;
  extern __shared__ std::uint32_t s_counts[];
  const std::uint32_t n_counters = bins.n_bins + 1, n_words = (n_counters + 1) / 2;
  const unsigned long long launch = begin_to_clear(d_counts, n_counters);
  for (std::uint32_t i = threadIdx.x; i < n_words; i += kWideBlock) s_counts[i] = 0;
  wait_until_cleared(launch);  // its barrier also comes between clearing the counters and counting

  const auto add = [&](std::uint32_t bin, std::uint32_t samples) {
    const unsigned shift = bin < n_words ? 0 : 16;
    std::uint32_t* const s_word = &s_counts[bin < n_words ? bin : bin - n_words];
    const std::uint32_t before = atomicAdd(s_word, samples << shift) >> shift & 0xffff;
    if (before < kFull && before + samples >= kFull) {
      atomicSub(s_word, kFull << shift);
      atomicAdd(&d_counts[bin], Count{kFull});
    }
  };
  // Additions to one address are done one after the other; so if all have one bin, they are added at once.
  const auto count = [&](const Samples& samples) {
    std::uint32_t bin[Samples::kItems];
    bool are_equal = true;
#pragma unroll
    for (unsigned k = 0; k < Samples::kItems; ++k) {
      bin[k] = bin_of(bins, samples.item[k]);
      are_equal = are_equal && bin[k] == bin[0];
    }
    if (are_equal) {
      add(bin[0], Samples::kItems);
    } else {
#pragma unroll
      for (unsigned k = 0; k < Samples::kItems; ++k) add(bin[k], 1);
    }
  };

  // A round: kPacks vectors per thread. Those of the next round are loaded before the barrier.
  const device::InPacks<T> in = device::in_packs(d_in, n);
  constexpr std::uint64_t kRound = kPacks * kWideBlock;
  Samples samples[kPacks];
  const auto load = [&](std::uint64_t first) {
#pragma unroll
    for (unsigned k = 0; k < kPacks; ++k) {
      if (first + k * kWideBlock < in.n_packs) samples[k] = in.d_packs[first + k * kWideBlock];
    }
  };
  std::uint64_t round = blockIdx.x;
  load(round * kRound + threadIdx.x);
  for (; round * kRound < in.n_packs; round += gridDim.x) {
#pragma unroll
    for (unsigned k = 0; k < kPacks; ++k) {
      if (round * kRound + k * kWideBlock + threadIdx.x < in.n_packs) count(samples[k]);
    }
    load((round + gridDim.x) * kRound + threadIdx.x);
    __syncthreads();  // all threads have counted: every counter is below kFull again
  }
  const std::uint64_t gid = global_thread();
  if (gid < in.n_head) atomicAdd(&d_counts[bin_of(bins, d_in[gid])], Count{1});
  if (in.tail + gid < n) atomicAdd(&d_counts[bin_of(bins, d_in[in.tail + gid])], Count{1});

  for (std::uint32_t i = threadIdx.x; i < n_words; i += kWideBlock) {
    const std::uint32_t word = s_counts[i];
    if ((word & 0xffff) != 0) atomicAdd(&d_counts[i], Count{word & 0xffff});
    if (word >> 16 != 0) atomicAdd(&d_counts[i + n_words], Count{word >> 16});
  }
}

// Launches a kernel that clears the counts and adds to them. A block may use more than 48 KiB only if that is
// asked for.
template <unsigned kThreads = kWideBlock, typename T, typename Bins, typename Kernel, typename... More>
Status count_with(const Job<T, Bins>& job, Kernel kernel, dim3 grid, unsigned shared_words, More... more) {
  const std::size_t shared_bytes = shared_words * sizeof(std::uint32_t);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  kernel<<<grid, kThreads, shared_bytes, job.stream>>>(job.d_in, job.n, job.bins, job.d_counts, more...);
  return Status::ok;
}
// Blocks that have `samples` samples each, but at most `at_once`, and at least one.
inline unsigned wide_blocks(std::uint64_t n, std::uint64_t samples, std::uint64_t at_once) {
  const std::uint64_t worthwhile = n / samples + 1, most = at_once > 0 ? at_once : 1;
  return static_cast<unsigned>(worthwhile < most ? worthwhile : most);
}

// A thread gets two vectors, 32 bytes. So that a short array has more blocks, they are smaller, until half of
// the multiprocessors have one.
template <unsigned kThreads = 256, typename Bins>
Status count_values(const Job<std::uint8_t, Bins>& job) {
  const auto multiprocessors = static_cast<std::uint64_t>(job.multiprocessors);
  constexpr unsigned kBytes = 32 * kThreads;
  if constexpr (kThreads < kWideBlock)
    if (job.n / kBytes > multiprocessors / 2) return count_values<2 * kThreads>(job);
  const std::uint64_t at_once = 2 * kWideBlock / kThreads * multiprocessors;
  return count_with<kThreads>(job, &k06_bytes<kThreads, Bins>, wide_blocks(job.n, kBytes, at_once),
                              edges_in_shared(job.bins));
}

template <typename T, typename Bins>
Status count_packed(const Job<T, Bins>& job) {
  const auto at_once = static_cast<std::uint64_t>(job.multiprocessors);
  return count_with(job, &k06_packed<T, Bins>, wide_blocks(job.n, kFull, at_once), (job.bins.n_bins + 2) / 2);
}

template <typename T, typename Bins>
Status state_of_the_art(const Job<T, Bins>& job) {
  if constexpr (std::is_same_v<T, std::uint8_t>) return count_values(job);
  const unsigned n_counters = job.bins.n_bins + 1, n_edges = edges_in_shared(job.bins);
  const Space shared = space();
  const Layout layout = layout_for(n_counters, n_edges, shared);
  const bool searches_far = std::is_same_v<Bins, EdgeBins<T>> && n_edges == 0;
  if (layout.n_windows > 1 && (n_counters + 1) / 2 <= shared.whole &&
      job.n >= (searches_far ? kPackedSearchesFrom : kPackedFrom))
    return count_packed(job);

  // The windows share the multiprocessors equally, so that all blocks run at once.
  const std::uint64_t at_once = std::uint64_t{layout.blocks_per_processor} *
                                static_cast<std::uint64_t>(job.multiprocessors) / layout.n_windows;
  // A thread's searches in global memory follow each other, so it gets few samples, though more blocks merge.
  const std::uint64_t samples = searches_far ? 2 * kWideBlock : layout.window + 8 * kWideBlock;
  const dim3 grid(wide_blocks(job.n, samples, at_once), layout.n_windows);
  return count_with(
      job,
      layout.n_windows == 1 ? &k06_state_of_the_art<true, T, Bins> : &k06_state_of_the_art<false, T, Bins>,
      grid, (layout.window << layout.log2_copies) + n_edges, layout);
}

//@end
// --- Given: which function implements which task.
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
