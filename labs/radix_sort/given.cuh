// SPDX-License-Identifier: MIT
// Radix sort: the given code, which yours calls. The lab's file includes it inside of its namespace, behind
// its constants.

// Number of blocks that cover n items.
constexpr unsigned blocks_for(std::uint64_t n, std::uint64_t items_per_block) {
  return static_cast<unsigned>((n + items_per_block - 1) / items_per_block);
}

// A tile consists of rows: warp w of a block has n_rows rows of 32 neighbouring items, and lane l has the
// l-th item of each row. So the loads of a row are coalesced, and the items of a warp are neighbours. Returns
// the index in the tile of the calling thread's first item; its other items follow 32 apart.
__device__ unsigned first_place(unsigned n_rows) {
  return threadIdx.x / kWarp * (n_rows * kWarp) + threadIdx.x % kWarp;
}

// --- Scans. Lab 2 explains them; this lab only uses them.

// The sum of `value` over the lanes up to and including the calling one. All 32 lanes must call it.
__device__ std::uint32_t warp_inclusive_sum(std::uint32_t value) {
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const std::uint32_t below = __shfl_up_sync(kFullMask, value, offset);
    if (threadIdx.x % kWarp >= offset) value += below;
  }
  return value;
}

// The sum of `value` over the block's threads below the calling one; `total` becomes the sum over all
// threads. Every thread of a block of kBlock threads must call it. It uses 32 bytes of shared memory and two
// barriers, so data that was written to shared memory before the call may be read after it.
__device__ std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t& total) {
  __shared__ std::uint32_t s_warp_sums[kWarps];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const std::uint32_t inclusive = warp_inclusive_sum(value);
  if (lane == kWarp - 1) s_warp_sums[warp] = inclusive;
  __syncthreads();  // every warp's sum is stored before the others read it
  std::uint32_t before = 0;
  total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w < warp) before += s_warp_sums[w];
    total += s_warp_sums[w];
  }
  __syncthreads();  // the sums are read before the next call overwrites them
  return before + inclusive - value;
}

inline constexpr unsigned kScanRows = 4;                   // rows of 32 words per warp
inline constexpr unsigned kScanTile = kBlock * kScanRows;  // words per block

// Scans a tile of words on its own, and stores its sum in d_sums[blockIdx.x]. d_out may be d_in.
__global__ void scan_tiles(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n,
                           std::uint32_t* d_sums) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kScanTile + first_place(kScanRows);
  std::uint32_t before[kScanRows];  // for each of the thread's words: the sum before it in the warp
  std::uint32_t carry = 0;
  for (unsigned row = 0; row < kScanRows; ++row) {
    const std::uint64_t i = first + row * kWarp;
    const std::uint32_t value = i < n ? d_in[i] : 0;
    const std::uint32_t inclusive = warp_inclusive_sum(value);
    before[row] = carry + inclusive - value;
    carry += __shfl_sync(kFullMask, inclusive, kWarp - 1);
  }
  std::uint32_t total;
  const std::uint32_t before_lane = block_exclusive_sum(lane == kWarp - 1 ? carry : 0, total);
  const std::uint32_t before_warp = __shfl_sync(kFullMask, before_lane, 0);
  for (unsigned row = 0; row < kScanRows; ++row) {
    const std::uint64_t i = first + row * kWarp;
    if (i < n) d_out[i] = before_warp + before[row];
  }
  if (threadIdx.x == 0) d_sums[blockIdx.x] = total;
}

__global__ void add_sums(std::uint32_t* d_out, std::uint64_t n, const std::uint32_t* d_sums) {
  for (unsigned row = 0; row < kScanRows; ++row) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * kScanTile + row * kBlock + threadIdx.x;
    if (i < n) d_out[i] += d_sums[blockIdx.x];
  }
}

// d_out[i] = d_in[0] + … + d_in[i - 1] for the n words at d_in, n > 0; d_out may be d_in. d_sums: the job's.
// One launch for up to 1,024 words, three for up to 1,024 · 1,024, otherwise five.
void exclusive_scan(const std::uint32_t* d_in, std::uint32_t* d_out, std::uint64_t n, std::uint32_t* d_sums,
                    CUstream_st* stream) {
  const unsigned n_tiles = blocks_for(n, kScanTile);
  scan_tiles<<<n_tiles, kBlock, 0, stream>>>(d_in, d_out, n, d_sums);
  if (n_tiles == 1) return;
  exclusive_scan(d_sums, d_sums, n_tiles, d_sums + n_tiles, stream);
  add_sums<<<n_tiles, kBlock, 0, stream>>>(d_out, n, d_sums);
}

inline constexpr unsigned kDigitBits = 8;
inline constexpr unsigned kDigits = 1u << kDigitBits;
static_assert(kDigits == kBlock, "one thread per digit");

// Keys that a thread takes in a pass, one per row: 64 bytes of them.
template <typename Bits>
inline constexpr unsigned kRows = 64 / sizeof(Bits);
template <typename Bits>
inline constexpr unsigned kPassTile = kBlock* kRows<Bits>;  // keys per block

// The bits of a key to flip so that keys of its kind sort like unsigned numbers: one set of bits for keys
// whose top bit is 0, one for the others.
template <typename Bits>
struct Flips {
  Bits of_positive, of_negative;
  __device__ Bits operator()(Bits key) const {
    return key ^ (key >> (8 * sizeof(Bits) - 1) != 0 ? of_negative : of_positive);
  }
};

// Extracts the bits first_bit … first_bit + n_bits - 1 of a key, after the flips.
template <typename Bits>
struct DigitOf {
  Flips<Bits> flips;
  unsigned first_bit, n_bits;
  __device__ unsigned last() const { return (1u << n_bits) - 1; }
  __device__ unsigned operator()(Bits key) const {
    return static_cast<unsigned>(flips(key) >> first_bit) & last();
  }
};

// D_counts[digit * n_tiles + tile] is how many of the tile's keys have the digit, for all digits up to
// digit_of.last(). One block per tile.
template <typename Bits>
__global__ void k04_histogram(const Bits* d_keys, std::uint64_t n, DigitOf<Bits> digit_of,
                              std::uint32_t* d_counts) {
  __shared__ std::uint32_t s_counts[kDigits];
  const unsigned digit = threadIdx.x;
  s_counts[digit] = 0;
  __syncthreads();  // counters are 0 before any thread counts
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kPassTile<Bits> + threadIdx.x;
  for (unsigned row = 0; row < kRows<Bits>; ++row) {
    const std::uint64_t i = first + row * kBlock;
    if (i < n) atomicAdd(&s_counts[digit_of(d_keys[i])], 1u);
  }
  __syncthreads();  // all keys are counted before the counts are read
  if (digit <= digit_of.last()) d_counts[std::uint64_t{digit} * gridDim.x + blockIdx.x] = s_counts[digit];
}

// Moves a tile's items to their output positions through shared memory, so that each digit's keys are
// stored to consecutive addresses. The item with rank j and digit d goes to s_offset[d] + j (modulo 2^32);
// ranks from n_here on have no item. Every thread must call it, after a barrier that follows the writes to
// s_offset. d_values_in: the tile's values.
template <typename Bits, typename Value>
__device__ void exchange_and_store(const Bits (&key)[kRows<Bits>], const std::uint32_t (&rank)[kRows<Bits>],
                                   std::uint64_t n_here, DigitOf<Bits> digit_of,
                                   const std::uint32_t* s_offset, const Value* d_values_in,
                                   const Items<Bits, Value>& to) {
  __shared__ Bits s_keys[kPassTile<Bits>];
  for (unsigned row = 0; row < kRows<Bits>; ++row) s_keys[rank[row]] = key[row];
  __syncthreads();  // keys are in order before they are read
  std::uint32_t place[kRows<Bits>];
  for (unsigned row = 0; row < kRows<Bits>; ++row) {
    const unsigned j = row * kBlock + threadIdx.x;
    if (j >= n_here) continue;
    const Bits moved = s_keys[j];
    place[row] = s_offset[digit_of(moved)] + j;
    to.d_keys[place[row]] = moved;
  }
  if constexpr (kHasValues<Value>) {
    __shared__ Value s_values[kPassTile<Bits>];
    const unsigned own = first_place(kRows<Bits>);
    for (unsigned row = 0; row < kRows<Bits>; ++row) {
      const unsigned i = own + row * kWarp;
      if (i < n_here) s_values[rank[row]] = d_values_in[i];
    }
    __syncthreads();  // values are in order before they are read
    for (unsigned row = 0; row < kRows<Bits>; ++row) {
      const unsigned j = row * kBlock + threadIdx.x;
      if (j < n_here) to.d_values[place[row]] = s_values[j];
    }
  }
}

inline constexpr unsigned kMaxPasses = 64 / kDigitBits;

// The status of a tile for one digit, in one word, so a reader always sees a status and its count together:
// 0, nothing is available; kOwn, the count of the tile's own keys (aggregate available); kAll, the count of
// the tile and all tiles before it (prefix available).
inline constexpr std::uint32_t kOwn = 1u << 30, kAll = 2u << 30, kCountMask = kOwn - 1;

// The parts of job.d_counts, all of which must be 0 when the sort begins.
struct Sweep {
  std::uint32_t* d_starts;   // [pass][digit]: keys of the digit; then where they start in the pass's output
  std::uint32_t* d_tickets;  // [pass]: how many tiles have been taken
  std::uint32_t* d_words;    // [pass][tile][digit]
  std::uint64_t n_words;     // of all parts together
};
inline Sweep sweep_in(std::uint32_t* d_counts, std::uint64_t n_passes, std::uint64_t n_tiles) {
  Sweep sweep{};
  sweep.d_starts = d_counts;
  sweep.d_tickets = sweep.d_starts + n_passes * kDigits;
  sweep.d_words = sweep.d_tickets + n_passes;
  sweep.n_words = n_passes * kDigits + n_passes + n_passes * n_tiles * kDigits;
  return sweep;
}
