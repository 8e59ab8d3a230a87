// SPDX-License-Identifier: MIT
// Histogram: the given code, which yours calls. The lab's file includes it inside of its namespace, behind
// its constants.

// --- Helper functions.

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

// The sum of one value per thread over the block, as in the reduction lab. Every thread must call it;
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

// 32-bit counters in a block's shared memory. A block may use 48 KiB of it without asking, which is
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

// --- For task 4: two functions that are similar to those of labs 2 and 4.

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
