// SPDX-License-Identifier: MIT
// Beyond one GPU: the given code, which yours calls. The lab's file includes it inside of its namespace,
// behind its constants.

// --- The words in which NCCL says what to exchange.

// One value, as NCCL counts it. NCCL moves the 8 bytes of an affine map, but cannot combine two maps.
template <typename Value>
constexpr ncclDataType_t nccl_type() {
  if (std::is_same_v<Value, std::int32_t>) return ncclInt32;
  if (std::is_same_v<Value, float>) return ncclFloat32;
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  return ncclUint64;
}
// For reductions by Sum and Max.
template <typename Op>
constexpr ncclRedOp_t nccl_op() {
  return std::is_same_v<Op, Max<typename Op::Value>> ? ncclMax : ncclSum;
}

// --- One tile, in the registers of one block, as in lab 7.

// Shuffles for Values of 4 or 8 bytes, structures included. All 32 lanes must call them.
template <typename Value, typename Shuffle>
__device__ Value shuffled(Value value, Shuffle shuffle) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return shuffle(value);
  } else {
    static_assert(sizeof(Value) == sizeof(unsigned long long));
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    bits = shuffle(bits);
    memcpy(&value, &bits, sizeof bits);
    return value;
  }
}
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned delta) {
  return shuffled(value, [=](auto x) { return __shfl_up_sync(kFullMask, x, delta); });
}
template <typename Value>
__device__ Value shuffle_from(Value value, unsigned source) {
  return shuffled(value, [=](auto x) { return __shfl_sync(kFullMask, x, source); });
}

// Inclusive scan of a warp's 32 values (Kogge, Stone 1973), in 5 steps. All 32 lanes must call it.
template <typename Op>
__device__ typename Op::Value warp_scan(typename Op::Value value, Op op) {
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const typename Op::Value left = shuffle_up(value, offset);
    if (lane >= offset) value = op(left, value);
  }
  return value;
}

// Index in the tile of the calling thread's item in row r. A warp's rows follow each other.
__device__ inline unsigned index_in_tile(unsigned r) {
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  return (warp * kRows + r) * kWarp + lane;
}

// before[r]: the combination of the tile's items left of item[r]. Returns that of the whole tile in every
// thread. Every thread of the block must call it. kWarps Values of shared memory, two barriers.
template <typename Value, typename Op>
__device__ Value scan_tile(const Value (&item)[kRows], Value (&before)[kRows], Op op) {
  __shared__ Value s_warp[kWarps];
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  Value warp_total = op.identity();
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const Value through = warp_scan(item[r], op);
    const Value left = shuffle_up(through, 1);
    before[r] = lane == 0 ? warp_total : op(warp_total, left);
    warp_total = op(warp_total, shuffle_from(through, kWarp - 1));
  }
  if (lane == 0) s_warp[warp] = warp_total;
  __syncthreads();  // every warp's total is stored before the others read it
  Value total = op.identity(), left_of_warp = op.identity();
#pragma unroll
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == warp) left_of_warp = total;
    total = op(total, s_warp[w]);
  }
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) before[r] = op(left_of_warp, before[r]);
  __syncthreads();  // all have read the totals before the next tile's are stored
  return total;
}

// --- A shard in parts, each a number of whole tiles for one block. An empty shard has no part.
struct Parts {
  std::uint64_t n = 0;           // items of the shard
  std::uint64_t part_items = 1;  // the last parts may have fewer, or none
  unsigned n_parts = 0;          // at most kMaxParts
};
inline Parts parts_of(std::uint64_t n) {
  static_assert(kMaxParts <= kTile);
  const std::uint64_t n_tiles = (n + kTile - 1) / kTile;
  if (n_tiles == 0) return {};
  const std::uint64_t tiles_a_part = (n_tiles + kMaxParts - 1) / kMaxParts;
  return {n, tiles_a_part * kTile, static_cast<unsigned>((n_tiles + tiles_a_part - 1) / tiles_a_part)};
}

// Calls f(first, item) for each tile of the calling block's part. Positions past its end hold the identity.
template <typename Value, typename Op, typename F>
__device__ void for_each_tile(const Value* d_in, Parts parts, Op op, F f) {
  const std::uint64_t begin = blockIdx.x * parts.part_items;
  const std::uint64_t end = min(begin + parts.part_items, parts.n);
  for (std::uint64_t first = begin; first < end; first += kTile) {
    Value item[kRows];
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      const std::uint64_t i = first + index_in_tile(r);
      item[r] = i < end ? d_in[i] : op.identity();
    }
    f(first, item);
  }
}

// d_parts[b] becomes the combination of the items of part b. One block for each part.
template <typename Value, typename Op>
__global__ void k01_reduce_parts(const Value* d_in, Parts parts, Value* d_parts, Op op) {
  Value total = op.identity(), before[kRows];
  for_each_tile(d_in, parts, op, [&](std::uint64_t, const Value(&item)[kRows]) {
    total = op(total, scan_tile(item, before, op));
  });
  if (threadIdx.x == 0) d_parts[blockIdx.x] = total;
}

// *d_total becomes the combination of count values, in their order; the identity if count is 0. One block;
// count <= kTile.
template <typename Value, typename Op>
__global__ void k01_combine(const Value* d_values, unsigned count, Value* d_total, Op op) {
  Value item[kRows], before[kRows];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r)
    item[r] = index_in_tile(r) < count ? d_values[index_in_tile(r)] : op.identity();
  const Value total = scan_tile(item, before, op);
  if (threadIdx.x == 0) *d_total = total;
}

// Launches both for the shard, on its device: d_total gets the combination of its items, d_parts those of its
// parts.
template <typename Value, typename Op>
void reduce_shard(const Shard<Value>& shard, Op op) {
  const Parts parts = parts_of(shard.n);
  cudaSetDevice(shard.device);
  if (parts.n_parts > 0)
    k01_reduce_parts<<<parts.n_parts, kBlock, 0, shard.stream>>>(shard.d_in, parts, shard.d_parts, op);
  k01_combine<<<1, kBlock, 0, shard.stream>>>(shard.d_parts, parts.n_parts, shard.d_total, op);
}

// --- The histogram of one shard, by atomics in global memory.

__global__ void k03_clear(Count* d_counts, std::uint32_t n_padded) {
  const std::uint32_t bin = blockIdx.x * kBlock + threadIdx.x;
  if (bin < n_padded) d_counts[bin] = 0;
}

__global__ void k03_count(const std::uint32_t* d_in, std::uint64_t n, Count* d_counts, std::uint32_t n_bins) {
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kBlock;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += n_threads)
    atomicAdd(&d_counts[bin_of(d_in[i], n_bins)], Count{1});
}

// Launches both for the shard, on its device: d_local gets the counts of its samples, and zeros from n_bins
// on.
inline void count_shard(const HistogramShard& shard, std::uint32_t n_bins, std::uint32_t n_padded) {
  cudaSetDevice(shard.device);
  k03_clear<<<(n_padded + kBlock - 1) / kBlock, kBlock, 0, shard.stream>>>(shard.d_local, n_padded);
  if (shard.n == 0) return;
  const auto n_blocks = static_cast<unsigned>(std::min<std::uint64_t>(
      (shard.n + kBlock - 1) / kBlock, 8u * static_cast<unsigned>(shard.multiprocessors)));
  k03_count<<<n_blocks, kBlock, 0, shard.stream>>>(shard.d_in, shard.n, shard.d_local, n_bins);
}

// --- For task "sort": counting in a sorted array, and merging.

// How many of the sorted keys [begin, end) are less than `key`; with `or_equal`, at most `key`. About
// log2(end - begin) loads.
__device__ inline std::uint64_t count_less(const Key* d_keys, std::uint64_t begin, std::uint64_t end, Key key,
                                           bool or_equal) {
  std::uint64_t low = begin, high = end;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const bool is_before = or_equal ? d_keys[middle] <= key : d_keys[middle] < key;
    low = is_before ? middle + 1 : low;
    high = is_before ? high : middle;
  }
  return low - begin;
}

// Sorted runs one behind the other: run q begins at begin[q] and ends at begin[q + 1].
struct Runs {
  std::uint64_t begin[kMaxRanks + 1] = {};
  unsigned n_runs = 0;
};

// Merges the runs: a key's position is its index in its run, and the number of keys before it in each other
// run. Equal keys keep the order of the runs. One thread per key.
__global__ void k04_merge_runs(const Key* d_in, Runs runs, Key* d_out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= runs.begin[runs.n_runs]) return;
  const Key key = d_in[i];
  std::uint64_t position = 0;
  for (unsigned q = 0; q < runs.n_runs; ++q) {
    const std::uint64_t begin = runs.begin[q], end = runs.begin[q + 1];
    const bool own = begin <= i && i < end;
    position += own ? i - begin : count_less(d_in, begin, end, key, end <= i);
  }
  d_out[position] = key;
}

// Merges each two neighbouring runs of `run` keys, as k04_merge_runs does. One thread per key.
__global__ void k04_merge_pairs(const Key* d_in, std::uint64_t n, std::uint64_t run, Key* d_out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t begin = i / (2 * run) * (2 * run), middle = min(begin + run, n);
  const std::uint64_t end = min(begin + 2 * run, n);
  const Key key = d_in[i];
  const std::uint64_t position = i < middle ? i + count_less(d_in, middle, end, key, false)
                                            : i - middle + begin + count_less(d_in, begin, middle, key, true);
  d_out[position] = key;
}

inline unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>((n + kBlock - 1) / kBlock);
}

// Sorts the shard on its device, from d_in to d_sorted, by merging runs of 1, 2, 4, … keys. d_received is
// used, too.
inline void sort_shard(const SortShard& shard) {
  cudaSetDevice(shard.device);
  if (shard.n == 0) return;
  unsigned n_passes = 1;
  while ((std::uint64_t{1} << n_passes) < shard.n) ++n_passes;
  const Key* d_from = shard.d_in;
  for (unsigned pass = 0; pass < n_passes; ++pass) {
    Key* const d_to = (n_passes - pass) % 2 == 1 ? shard.d_sorted : shard.d_received;
    k04_merge_pairs<<<blocks_for(shard.n), kBlock, 0, shard.stream>>>(d_from, shard.n,
                                                                      std::uint64_t{1} << pass, d_to);
    d_from = d_to;
  }
}

// Where the shards begin in the whole array: boundary j is at first[j]; the array ends at first[n_ranks].
struct Boundaries {
  std::uint64_t first[kMaxRanks + 1] = {};
  unsigned n_ranks = 0;
};
inline Boundaries boundaries_of(const SortJob& job) {
  Boundaries all;
  all.n_ranks = static_cast<unsigned>(job.shards.size());
  for (unsigned r = 0; r < all.n_ranks; ++r) all.first[r + 1] = all.first[r] + job.shards[r].n;
  return all;
}

// Adds the digit to each splitter, the largest one with at most first[j] keys of the whole array
// below. One thread per boundary.
__global__ void k04_choose_digits(const Count* d_below, Boundaries all, unsigned shift, Key* d_splitters) {
  if (threadIdx.x + 1 >= all.n_ranks) return;
  const Count* d_row = d_below + threadIdx.x * kDigitValues;
  unsigned digit = kDigitValues - 1;
  while (digit > 0 && d_row[digit] > all.first[threadIdx.x + 1]) --digit;
  d_splitters[threadIdx.x] |= digit << shift;
}

// d_counts[2 (j - 1)] becomes the number of this shard's keys less than splitter j, and the next one
// that of keys less or equal. One thread per boundary.
__global__ void k04_count_splitters(const Key* d_sorted, std::uint64_t n, const Key* d_splitters,
                                    unsigned n_ranks, Count* d_counts) {
  if (threadIdx.x + 1 >= n_ranks) return;
  const Key splitter = d_splitters[threadIdx.x];
  d_counts[2 * threadIdx.x] = count_less(d_sorted, 0, n, splitter, false);
  d_counts[2 * threadIdx.x + 1] = count_less(d_sorted, 0, n, splitter, true);
}

// The cuts on the host, since NCCL needs to know there how many keys it sends.
struct Cuts {
  std::uint64_t index[kMaxRanks * (kMaxRanks + 1)];
  unsigned n_ranks;
  std::uint64_t first(unsigned from, unsigned to) const { return index[from * (n_ranks + 1) + to]; }
  // Keys that rank `from` sends to rank `to`.
  std::uint64_t count(unsigned from, unsigned to) const { return first(from, to + 1) - first(from, to); }
};

// Copies the cuts from rank 0 to the host, and waits for them. They are the same on all ranks.
inline Cuts read_cuts(const SortJob& job) {
  Cuts cuts;
  cuts.n_ranks = static_cast<unsigned>(job.shards.size());
  const auto& shard = job.shards[0];
  cudaSetDevice(shard.device);
  cudaMemcpyAsync(cuts.index, shard.d_cuts, cuts.n_ranks * (cuts.n_ranks + 1) * sizeof(std::uint64_t),
                  cudaMemcpyDeviceToHost, shard.stream);
  cudaStreamSynchronize(shard.stream);
  return cuts;
}
