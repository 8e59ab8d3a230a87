// SPDX-License-Identifier: MIT
// Rungs 7 and 8 of the radix sort. radix_sort.cu includes this file inside its namespace, after rung 6,
// because these rungs continue the ones before: they use the passes, the digits and the words of the sweep
// that are explained there. Read: k07_sweep; then, for rung 8, Shape, sweep_tile and state_of_the_art.
#include "device/each_item.cuh"
#include "device/launch.hpp"
#include "lab/atomic_access.cuh"
#include "radix_sort/lab.hpp"

// --- Rung 7: counts first, longer runs.
// Changed, compared with rung 6:
// - Counts first: one shared atomic per key makes the warps' histograms, so a tile publishes before it ranks,
//   and its counts are ready when later tiles need them.
// - Lanes with the same digit find each other with an atomicOr to the warp's word of that digit instead of 8
//   ballots. Counters start at the digit's position in the tile, so a rank is final when it is found.
// - 384 threads with 20 keys each: longer runs of every digit in the output, and half as many look-back words
//   per key.
// - The look-back comes last, when the keys are already in order in shared memory.
// Why: rung 6 is bound by instructions. A third of them are saved.
// The published run does not time it on the same case as rung 6, so it has no measured factor.
// Drawback: the ranking needs many accesses to shared memory, most of all if all keys are equal: then 32
// lanes do atomics on one word.
// Source: Adinets and Merrill 2022.
inline constexpr unsigned kWideBlock = 384;
inline constexpr unsigned kWideWarps = kWideBlock / kWarp;

template <typename Bits>
inline constexpr unsigned kWideRows = 80 / sizeof(Bits);
template <typename Bits>
inline constexpr unsigned kWideTile = kWideBlock* kWideRows<Bits>;

// A block's shared memory: counters while ranks are computed, then keys, then values, in the same memory.
template <typename Bits, typename Value>
union WideSpace {
  struct {
    std::uint32_t count[kWideWarps]
                       [kDigits];  // keys of each warp by digit; then the tile position of its next one
    std::uint32_t lanes[kWideWarps][kDigits];  // lanes of the row that have the digit
  } rank;
  Bits keys[kWideTile<Bits>];
  Value values[kWideTile<Bits>];
};

template <typename Bits, typename Value>
__global__ void __launch_bounds__(kWideBlock)
    k07_sweep(Items<const Bits, const Value> from, std::uint64_t n, DigitOf<Bits> digit_of,
              const std::uint32_t* d_starts, std::uint32_t* d_ticket, std::uint32_t* d_words,
              Items<Bits, Value> to) {
  constexpr unsigned kRowsHere = kWideRows<Bits>, kTileHere = kWideTile<Bits>;
  __shared__ WideSpace<Bits, Value> s;
  __shared__ std::uint32_t s_offset[kDigits];
  __shared__ std::uint32_t s_warp_sums[kDigits / kWarp];
  __shared__ unsigned s_tile;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned below = (1u << lane) - 1;
  if (threadIdx.x == 0) s_tile = atomicAdd(d_ticket, 1u);
  for (unsigned d = lane; d < kDigits; d += kWarp) s.rank.count[warp][d] = s.rank.lanes[warp][d] = 0;
  __syncthreads();  // the tile's number is stored before it is read; the counters are 0
  const unsigned tile = s_tile;
  const std::uint64_t tile_first = std::uint64_t{tile} * kTileHere;
  const auto n_here = static_cast<unsigned>(n - tile_first < kTileHere ? n - tile_first : kTileHere);
  const unsigned own = first_place(kRowsHere);

  // The warps' histograms. rank[row] holds the digit of a key until its rank is known.
  Bits key[kRowsHere];
  std::uint32_t rank[kRowsHere];
#pragma unroll
  for (unsigned row = 0; row < kRowsHere; ++row) {
    const unsigned i = own + row * kWarp;
    key[row] = i < n_here ? from.d_keys[tile_first + i] : Bits{0};
  }
#pragma unroll
  for (unsigned row = 0; row < kRowsHere; ++row) {
    rank[row] = own + row * kWarp < n_here ? digit_of(key[row]) : digit_of.last();
    atomicAdd(&s.rank.count[warp][rank[row]], 1u);
  }
  __syncthreads();  // all warps have counted

  // One thread per digit: publish; then compute the position in the tile where each warp's keys of the digit
  // begin.
  std::uint32_t of_digit = 0, count = 0;
  if (threadIdx.x < kDigits) {
    for (unsigned w = 0; w < kWideWarps; ++w) of_digit += s.rank.count[w][threadIdx.x];
    count = threadIdx.x == digit_of.last() ? of_digit - (kTileHere - n_here) : of_digit;
    lab::store_relaxed(&d_words[std::uint64_t{tile} * kDigits + threadIdx.x], kOwn | count);
  }
  const std::uint32_t inclusive = warp_inclusive_sum(of_digit);
  if (threadIdx.x < kDigits && lane == kWarp - 1) s_warp_sums[warp] = inclusive;
  __syncthreads();                             // every warp's sum is stored before the others read it
  std::uint32_t start = inclusive - of_digit;  // of the digit in the tile
  if (threadIdx.x < kDigits) {
    for (unsigned w = 0; w < warp; ++w) start += s_warp_sums[w];
    std::uint32_t next = start;
    for (unsigned w = 0; w < kWideWarps; ++w) {
      const std::uint32_t of_warp = s.rank.count[w][threadIdx.x];
      s.rank.count[w][threadIdx.x] = next;
      next += of_warp;
    }
  }
  __syncthreads();  // positions are stored before keys use them

  // Ranks, one row at a time.
#pragma unroll
  for (unsigned row = 0; row < kRowsHere; ++row) {
    std::uint32_t& lanes = s.rank.lanes[warp][rank[row]];
    std::uint32_t& next = s.rank.count[warp][rank[row]];
    atomicOr(&lanes, 1u << lane);
    __syncwarp();  // every lane has set its bit before one reads the word
    const unsigned peers = lanes;
    rank[row] = next + __popc(peers & below);
    __syncwarp();  // both words are read before they change
    if ((peers & below) == 0) {
      next += __popc(peers);
      lanes = 0;
    }
    __syncwarp();  // both words are changed before the next row
  }
  __syncthreads();  // ranks are found before keys overwrite the counters

#pragma unroll
  for (unsigned row = 0; row < kRowsHere; ++row) s.keys[rank[row]] = key[row];
  if (threadIdx.x < kDigits)
    s_offset[threadIdx.x] = d_starts[threadIdx.x] + look_back(d_words, tile, count) - start;
  __syncthreads();  // keys are in order, and offsets are stored, before they are read

  std::uint32_t place[kRowsHere];
#pragma unroll
  for (unsigned row = 0; row < kRowsHere; ++row) {
    const unsigned j = row * kWideBlock + threadIdx.x;
    if (j >= n_here) continue;
    const Bits moved = s.keys[j];
    place[row] = s_offset[digit_of(moved)] + j;
    to.d_keys[place[row]] = moved;
  }
  if constexpr (kHasValues<Value>) {
    __syncthreads();  // keys are read before values overwrite them
#pragma unroll
    for (unsigned row = 0; row < kRowsHere; ++row) {
      const unsigned i = own + row * kWarp;
      if (i < n_here) s.values[rank[row]] = from.d_values[tile_first + i];
    }
    __syncthreads();  // values are in order before they are read
#pragma unroll
    for (unsigned row = 0; row < kRowsHere; ++row) {
      const unsigned j = row * kWideBlock + threadIdx.x;
      if (j < n_here) to.d_values[place[row]] = s.values[j];
    }
  }
}

template <typename Bits, typename Value>
Status counts_first(const Job<Bits, Value>& job) {
  return sweep_by_digits(job, kWideTile<Bits>, [&](unsigned n_tiles, auto... arguments) {
    k07_sweep<Bits, Value><<<n_tiles, kWideBlock, 0, job.stream>>>(arguments...);
  });
}

// --- Rung 8: as fast as the multiprocessors.
// Changed, compared with rung 7:
// - A tile's keys do not stay in registers while their digits are counted. They are read a second time, a few
//   rows at once, when they are ranked, from the L1 or L2 cache. So keys alone need fewer registers, which
//   leaves room for more warps (handouts/04-radix-sort-deeper.md has the table), and a tile can have any
//   number of rows: 12,288 keys.
// - Lanes with the same digit find each other with 8 ballots again, but with 3 instructions per ballot
//   (lanes_of_byte), because rung 7's accesses to shared memory would be the next limiter.
// - As soon as its rank is known, a key goes to its position in shared memory, which the counters no longer
//   share. Ranks need no registers, and values, in their own memory, need no two barriers.
// - Full tiles, all but the last one, need no bounds checks; digits of unsigned and signed keys need one XOR
//   with a constant instead of flips by the sign.
// - A tile whose keys all have the same digit is in order already, so it is not ranked.
// - In the look-back a thread reads up to 4 tiles at once. Tile 0 finds where each digit begins and adds it
//   for all tiles, so no kernel is needed for the starts.
// - A short array has smaller tiles: as many rows for each thread as leave a tile for every multiprocessor.
// - Every kernel but the first starts while the one before it ends (programmatic dependent launch): its
//   blocks clear their counters, or count keys, and then wait for the results.
// - The counting kernel loads 16 bytes per lane and has one copy of its counters per lane (64-bit keys: per
//   two lanes). It finds a counter with two instructions. Before, they were more per digit, and the profiler
//   named their number as the limiter.
// - One block sorts a short array in one launch (k08_one_block). If no bits are to be sorted, the items are
//   copied (k08_copy).
// Why: rung 7 issues fewer instructions per key than CUB's kernel, but its schedulers have no eligible warp
// in most cycles.
// Predicted (state_of_the_art, against counts_first, 2^28 items): no prediction. Measured: 1.8× (H200,
//   2026-11-26).
// Tried and slower: keys in registers, rung 7's ranking, __match_any_sync (most of all), 16 tiles at once in
// the look-back, and the look-back before the ranking. Values are loaded in batches; loading each one alone,
// with the ranking of its key, is much slower. A reduced version for full tiles of 32-bit keys is faster,
// because this one handles any range of bits, any type and any length. Other shapes for long arrays of pairs,
// and stores that may leave the cache first, were slower or equal (H200, 2026-12-01).
// Drawback: it does ballots for 8 bits, although most digits occur only once in their row.
// Source: Adinets and Merrill 2022, except for the second reading.

// The shape of a tile, and how many blocks a multiprocessor holds at least. Rows are read `batch` at a time.
// Long arrays of pairs can have large tiles: then a tile has about 80 neighbours for each digit instead of 45
// (54 instead of 24, with 64-bit keys), which reach the memory in longer pieces. On short arrays too few
// blocks would have work. Large tiles of 32-bit keys are faster on an H100 and slower on an H200, whose
// memory is faster; takes_large_tiles tells them apart.
struct Shape {
  unsigned threads, rows, batch, blocks;
  COURSE_HD constexpr unsigned warps() const { return threads / kWarp; }
  COURSE_HD constexpr unsigned tile() const { return threads * rows; }
};
template <typename Bits, typename Value, bool kLarge = false>
inline constexpr Shape kShape = sizeof(Bits) == 8    ? (!kHasValues<Value> ? Shape{384, 16, 8, 3}
                                                        : kLarge           ? Shape{768, 18, 9, 1}
                                                                           : Shape{384, 16, 8, 2})
                                : !kHasValues<Value> ? Shape{384, 32, 8, 3}
                                : kLarge             ? Shape{768, 26, 13, 1}
                                                     : Shape{576, 20, 10, 2};
inline constexpr std::uint64_t kLargeFrom = 1u << 22;  // pairs

// The digit if all keys have the same bits flipped: unsigned and signed keys, ascending or descending.
template <typename Bits>
struct PlainDigit {
  unsigned first_bit, mask, flip;
  __device__ unsigned last() const { return mask; }
  __device__ unsigned operator()(Bits key) const {
    return (static_cast<unsigned>(key >> first_bit) & mask) ^ flip;
  }
};

// The lanes whose digit (8 bits) equals that of the calling one; all 32 lanes must call it. lanes_of_digit in
// PTX: a ballot, a select and one logic operation per bit, where the compiler makes five instructions of the
// C++ code.
__device__ unsigned lanes_of_byte(unsigned digit) {
  unsigned peers = kFullMask;
#pragma unroll
  for (unsigned bit = 0; bit < kDigitBits; ++bit) {
    asm volatile(
        "{\n .reg .pred set;\n .reg .b32 masked, votes, unlike;\n"
        " and.b32 masked, %1, %2;\n setp.ne.u32 set, masked, 0;\n"
        " vote.sync.ballot.b32 votes, set, 0xffffffff;\n selp.b32 unlike, 0, -1, set;\n"
        " lop3.b32 %0, %0, votes, unlike, 0x60;\n}"  // peers & (votes ^ unlike)
        : "+r"(peers)
        : "r"(digit), "r"(1u << bit));
  }
  return peers;
}

// A block's shared memory.
template <typename Bits, typename Value, bool kLarge = false>
struct SweepSpace {
  static constexpr Shape kIts = kShape<Bits, Value, kLarge>;
  Bits keys[kIts.tile()];  // in order
  Value values[kHasValues<Value> ? kIts.tile() : 1];
  std::uint32_t next[kIts.warps()][kDigits];  // keys of each warp by digit; then where its next one goes
  std::uint32_t own[kDigits];                 // keys of the digit in the tile
  std::uint32_t offset[kDigits];  // added to a position in the tile, it gives the position in the output
  std::uint32_t warp_sums[kDigits / kWarp];
  unsigned tile;
  bool is_in_order;  // all keys of the tile have the same digit
};

// Of how many tiles a thread reads the words at once. With several times as many tiles as run at the same
// time, the nearest one mostly has its prefix already; then a thread asks for one after the other, in the
// shape in which this was measured to be faster.
inline constexpr unsigned kTilesAtOnce = 4, kManyTiles = 1024;

// The status of a tile for one digit. It needs no status bits, so positions can use almost all 32 bits. There
// are three kinds of words. 0 means that nothing is available. A word below kPlacesFrom is the number of the
// tile's own keys plus 1. Other words are kPlacesFrom plus the position after its last key of the digit.
inline constexpr std::uint32_t kPlacesFrom = 1u << 16;
inline constexpr std::uint64_t kMaxPlacedKeys = (std::uint64_t{1} << 32) - kPlacesFrom - 1;

// Like look_back, but it reads the words of `at_once` tiles (1 … kTilesAtOnce) at once: the output position
// of the tile's first key of the digit. Publishes nothing. `tile` > 0.
__device__ std::uint32_t keys_before(const std::uint32_t* d_words, unsigned tile, unsigned at_once) {
  const unsigned digit = threadIdx.x;
  std::uint32_t before = 0;
  for (unsigned end = tile;;) {  // the tiles from `end` on are added up
    std::uint32_t word[kTilesAtOnce];
#pragma unroll
    for (unsigned k = 0; k < kTilesAtOnce; ++k) {
      const std::uint64_t asked = k < end ? end - 1 - k : 0;
      word[k] = k < at_once ? lab::load_relaxed(&d_words[asked * kDigits + digit]) : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kTilesAtOnce; ++k) {
      if (word[k] == 0) break;  // not published yet: read again, from this one on
      if (word[k] >= kPlacesFrom) return before + (word[k] - kPlacesFrom);  // tile 0 always has one
      before += word[k] - 1;
      --end;
    }
  }
}

// The position in the pass's output where the calling thread's digit begins, from the pass's counts. All
// threads of the block must call it; valid in the first kDigits threads.
__device__ std::uint32_t start_of_digit(const std::uint32_t* d_counts, std::uint32_t* s_warp_sums) {
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint32_t count = threadIdx.x < kDigits ? d_counts[threadIdx.x] : 0;
  const std::uint32_t inclusive = warp_inclusive_sum(count);
  if (threadIdx.x < kDigits && threadIdx.x % kWarp == kWarp - 1) s_warp_sums[warp] = inclusive;
  __syncthreads();  // every warp's sum is stored before the others read it
  std::uint32_t start = inclusive - count;
  for (unsigned w = 0; w < kDigits / kWarp && w < warp; ++w) start += s_warp_sums[w];
  return start;
}

// One tile of a pass, with n_rows rows of keys for each thread. kFull: the tile has all its keys, n_here =
// n_rows * kIts.threads. d_counts: all keys by digit.
template <bool kFull, typename Bits, typename Value, bool kLarge, typename Digit>
__device__ void sweep_tile(SweepSpace<Bits, Value, kLarge>& s, Items<const Bits, const Value> from,
                           unsigned n_rows, unsigned n_here, Digit digit_of, const std::uint32_t* d_counts,
                           std::uint32_t* d_words, Items<Bits, Value> to) {
  constexpr Shape kIts = kShape<Bits, Value, kLarge>;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned below = (1u << lane) - 1, above = ~below & ~(1u << lane);
  const unsigned tile = s.tile;
  const unsigned n_tile = n_rows * kIts.threads, own = first_place(n_rows);
  const std::uint64_t first = std::uint64_t{tile} * n_tile + own;
  const auto is_there = [&](unsigned row) { return kFull || own + row * kWarp < n_here; };
  // Calls f(key, value, digit) for the thread's rows, in order; values are read only if requested. Positions
  // past n act like keys of the last digit.
  const auto for_each_row = [&](auto with_values, auto f) {
    constexpr bool kReadsValues = kHasValues<Value> && decltype(with_values)::value;
#pragma unroll 1
    for (unsigned from_row = 0; from_row < n_rows; from_row += kIts.batch) {
      Bits key[kIts.batch];
      Value value[kIts.batch];
#pragma unroll
      for (unsigned b = 0; b < kIts.batch; ++b) {
        const std::uint64_t i = first + (from_row + b) * kWarp;
        key[b] = is_there(from_row + b) ? from.d_keys[i] : Bits{0};
        if constexpr (kReadsValues) value[b] = is_there(from_row + b) ? from.d_values[i] : Value{};
      }
#pragma unroll
      for (unsigned b = 0; b < kIts.batch; ++b)
        f(key[b], value[b], is_there(from_row + b) ? digit_of(key[b]) : digit_of.last());
    }
  };

  // First reading: the warps' histograms.
  for_each_row(std::false_type{},
               [&](Bits, const Value&, unsigned digit) { atomicAdd(&s.next[warp][digit], 1u); });
  __syncthreads();  // all warps have counted

  // One thread per digit: publish; then compute the position in the tile where each warp's keys of the digit
  // begin.
  std::uint32_t of_digit = 0;
  const unsigned mine = threadIdx.x;
  if (mine < kDigits) {
    for (unsigned w = 0; w < kIts.warps(); ++w) of_digit += s.next[w][mine];
    const std::uint32_t there = kFull || mine != digit_of.last() ? of_digit : of_digit - (n_tile - n_here);
    s.own[mine] = there;
    if (there == n_here) s.is_in_order = true;
    if (tile > 0) lab::store_relaxed(&d_words[std::uint64_t{tile} * kDigits + mine], there + 1);
    const std::uint32_t inclusive = warp_inclusive_sum(of_digit);
    if (lane == kWarp - 1) s.warp_sums[warp] = inclusive;
    s.offset[mine] = inclusive - of_digit;
  }
  __syncthreads();  // every warp's sum is stored before the others read it
  if (mine < kDigits) {
    std::uint32_t start = s.offset[mine];  // of the digit in the tile
    for (unsigned w = 0; w < warp; ++w) start += s.warp_sums[w];
    s.offset[mine] = 0 - start;
    for (unsigned w = 0; w < kIts.warps(); ++w) {
      const std::uint32_t of_warp = s.next[w][mine];
      s.next[w][mine] = start;
      start += of_warp;
    }
  }
  __syncthreads();  // positions are stored before keys use them

  // Second reading: every key goes to its position in the tile.
  const auto rank = [&](Bits key, const Value& value, unsigned digit) {
    const unsigned peers = lanes_of_byte(digit);
    const std::uint32_t place = s.next[warp][digit] + __popc(peers & below);
    __syncwarp();  // every lane has read the counter before one lane changes it
    if ((peers & above) == 0) s.next[warp][digit] = place + 1;
    __syncwarp();  // the counter is changed before the next row reads it
    s.keys[place] = key;
    if constexpr (kHasValues<Value>) s.values[place] = value;
  };
  if (!s.is_in_order) for_each_row(std::true_type{}, rank);

  // The look-back comes late, when the prefixes of most tiles before are available.
  const std::uint32_t start = tile == 0 ? start_of_digit(d_counts, s.warp_sums) : 0;
  if (mine < kDigits) {
    const bool asks_one = kHasValues<Value> && sizeof(Bits) == 4 && !kLarge && gridDim.x >= kManyTiles;
    const std::uint32_t before = tile == 0 ? start : keys_before(d_words, tile, asks_one ? 1 : kTilesAtOnce);
    lab::store_relaxed(&d_words[std::uint64_t{tile} * kDigits + mine], kPlacesFrom + before + s.own[mine]);
    s.offset[mine] += before;
  }
  __syncthreads();  // keys are in order, and offsets are stored, before they are read

  if (s.is_in_order) {  // straight from the input
    unsigned j = own;
    for_each_row(std::true_type{}, [&](Bits key, const Value& value, unsigned digit) {
      if (kFull || j < n_here) {
        to.d_keys[s.offset[digit] + j] = key;
        if constexpr (kHasValues<Value>) to.d_values[s.offset[digit] + j] = value;
      }
      j += kWarp;
    });
    return;
  }
#pragma unroll 4
  for (unsigned j = threadIdx.x; j < (kFull ? n_tile : n_here); j += kIts.threads) {
    const Bits key = s.keys[j];
    const std::uint32_t place = s.offset[digit_of(key)] + j;
    to.d_keys[place] = key;
    if constexpr (kHasValues<Value>) to.d_values[place] = s.values[j];
  }
}

template <typename Bits, typename Value, typename Digit, bool kLarge = false>
__global__ void __launch_bounds__(kShape<Bits, Value, kLarge>.threads, kShape<Bits, Value, kLarge>.blocks)
    k08_sweep(Items<const Bits, const Value> from, std::uint64_t n, unsigned n_rows, Digit digit_of,
              const std::uint32_t* d_counts, std::uint32_t* d_ticket, std::uint32_t* d_words,
              Items<Bits, Value> to) {
  constexpr Shape kIts = kShape<Bits, Value, kLarge>;
  extern __shared__ __align__(16) unsigned char s_bytes[];
  auto& s = *reinterpret_cast<SweepSpace<Bits, Value, kLarge>*>(s_bytes);
  for (unsigned i = threadIdx.x; i < kIts.warps() * kDigits; i += kIts.threads)
    s.next[i / kDigits][i % kDigits] = 0;
  device::wait_for_previous_kernel();
  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    s.tile = atomicAdd(d_ticket, 1u);
    s.is_in_order = false;
  }
  __syncthreads();  // the tile's number is stored before it is read; the counters are 0
  const unsigned n_tile = n_rows * kIts.threads;
  const std::uint64_t left = n - std::uint64_t{s.tile} * n_tile;
  if (left >= n_tile) {
    sweep_tile<true>(s, from, n_rows, n_tile, digit_of, d_counts, d_words, to);
  } else {
    sweep_tile<false>(s, from, n_rows, static_cast<unsigned>(left), digit_of, d_counts, d_words, to);
  }
}

// Sets the words of a sort to 0, while k08_histograms counts already. `d_words` is aligned to 16 bytes; as
// many words as fill the last 16 are written.
inline constexpr unsigned kClearingBlock = 256;
__global__ void k08_clear(std::uint32_t* d_words, std::uint64_t n_words) {
  device::let_next_kernel_start();
  const std::uint64_t n_threads = std::uint64_t{gridDim.x} * kClearingBlock;
  auto* const d_packs = reinterpret_cast<uint4*>(d_words);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kClearingBlock + threadIdx.x; i < (n_words + 3) / 4;
       i += n_threads)
    d_packs[i] = uint4{};
}

// Like k06_histograms. The copies of a counter are in neighbouring banks, one per lane (64-bit keys: one per
// two lanes). A counter's address takes a shift and an operation of three operands (LOP3): the digit is
// masked where its distance to the first counter has it, and the lane's copy is in bits that are 0 then.
inline constexpr unsigned kCountingBlock = 1024;
template <typename Bits>
inline constexpr unsigned kPassesOf = 8 * sizeof(Bits) / kDigitBits;
template <typename Bits>
inline constexpr unsigned kLog2Copies = sizeof(Bits) == 8 ? 4 : 5;
template <typename Bits>
inline constexpr unsigned kCountersSpace = (kPassesOf<Bits> * kDigits * sizeof(std::uint32_t))
                                           << kLog2Copies<Bits>;  // 128 KB

template <typename Bits>
__global__ void __launch_bounds__(kCountingBlock)
    k08_histograms(const Bits* d_keys, std::uint64_t n, Flips<Bits> flips, unsigned begin_bit,
                   unsigned end_bit, std::uint32_t* d_counts) {
  extern __shared__ std::uint32_t s_counts[];  // [pass][digit][copy]
  device::let_next_kernel_start();
  constexpr unsigned kPasses = kPassesOf<Bits>, kEach = 1u << kLog2Copies<Bits>;
  constexpr unsigned kShift = kLog2Copies<Bits> + 2;  // a digit's counters take 2^kShift bytes
  for (unsigned i = threadIdx.x; i < kPasses * kDigits * kEach; i += kCountingBlock) s_counts[i] = 0;
  __syncthreads();  // counters are 0 before any thread counts

  unsigned mask[kPasses];  // 0: no bit of this digit is sorted
#pragma unroll
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    const unsigned bit = begin_bit + pass * kDigitBits;
    const unsigned n_bits = bit >= end_bit ? 0 : end_bit - bit < kDigitBits ? end_bit - bit : kDigitBits;
    mask[pass] = ((1u << n_bits) - 1) << kShift;
  }
  const unsigned own = threadIdx.x % kEach * sizeof(std::uint32_t);
  auto* const s_bytes = reinterpret_cast<unsigned char*>(s_counts);
  const auto count_keys = [&](auto all) {
    device::for_each_item(d_keys, n, [&](Bits key) {
      const Bits sorted = flips(key) >> begin_bit;
#pragma unroll
      for (unsigned pass = 0; pass < kPasses; ++pass) {
        if (!decltype(all)::value && mask[pass] == 0) break;
        const Bits digit = pass == 0 ? sorted << kShift : sorted >> (pass * kDigitBits - kShift);
        const unsigned place = (static_cast<unsigned>(digit) & mask[pass]) | own;
        atomicAdd(reinterpret_cast<std::uint32_t*>(s_bytes + (pass * kDigits << kShift) + place), 1u);
      }
    });
  };
  if (mask[kPasses - 1] != 0) {
    count_keys(std::true_type{});
  } else {
    count_keys(std::false_type{});
  }
  device::wait_for_previous_kernel();  // the words in global memory are 0
  __syncthreads();                     // all keys are counted before the counts are read
  for (unsigned i = threadIdx.x; i < kPasses * kDigits; i += kCountingBlock) {
    std::uint32_t count = 0;
    for (unsigned k = 0; k < kEach; ++k) count += s_counts[i * kEach + (threadIdx.x + k) % kEach];
    if (count != 0) atomicAdd(&d_counts[i], count);
  }
}

// --- Short arrays: one block runs all passes, from one half of its shared memory to the other. So there is
// one launch, instead of one that clears, one that counts and one per pass, and no tile waits for another
// one. The limiter is the shared memory: 32 lanes with random digits and positions use a bank 3 or 4 at a
// time.
inline constexpr unsigned kOneBlock = 512;  // threads at most
inline constexpr unsigned kOneBlockBytes =
    40 * 1024;  // of items. Twice that and the counters: any GPU since sm_80
template <typename Bits, typename Value>
inline constexpr unsigned kMaxInOneBlock =
    kOneBlockBytes / (sizeof(Bits) + (kHasValues<Value> ? sizeof(Value) : 0)) / kOneBlock* kOneBlock;

inline constexpr unsigned kRowsOfShort =
    2;  // a block gets more threads only if they have more rows than this

// Position of counter i in shared memory. One word in 33 is unused, so that the lanes of a warp use different
// banks, also if their counters are 8 apart, or one per digit.
COURSE_HD constexpr unsigned padded(unsigned i) {
  return i + i / kWarp;
}
// The parts of the shared memory for a block with so many warps.
template <typename Bits, typename Value>
struct OneBlockSpace {
  Items<Bits, Value> items[2];
  std::uint32_t* next;  // [digit][warp], padded: like SweepSpace::next
  std::uint32_t* warp_sums;
  COURSE_HD static constexpr unsigned bytes(unsigned places, unsigned n_warps) {
    return 2 * places * (sizeof(Bits) + (kHasValues<Value> ? sizeof(Value) : 0)) +
           (padded(kDigits * n_warps) + kWarp) * sizeof(std::uint32_t);
  }
  __device__ OneBlockSpace(unsigned char* s_bytes, unsigned places, unsigned n_warps) {
    auto* s_keys = reinterpret_cast<Bits*>(s_bytes);
    auto* s_words = reinterpret_cast<std::uint32_t*>(s_keys + 2 * places);
    items[0].d_keys = s_keys;
    items[1].d_keys = s_keys + places;
    if constexpr (kHasValues<Value>) {
      items[0].d_values = s_words;
      items[1].d_values = s_words + places;
      s_words += 2 * places;
    }
    next = s_words;
    warp_sums = next + padded(kDigits * n_warps);
  }
};

// Flips the bits of a flipped key back. Both flips change the top bit, or neither does.
template <typename Bits>
__device__ Bits unflipped(Flips<Bits> flips, Bits key) {
  const bool was_positive = (key ^ flips.of_positive) >> (8 * sizeof(Bits) - 1) == 0;
  return key ^ (was_positive ? flips.of_positive : flips.of_negative);
}

// Replaces the counters of all digits and warps by their exclusive sums, in the order of the digits, then of
// the warps. Each thread has kDigits / kWarp neighbouring counters, whatever the number of warps is.
__device__ void scan_counters(std::uint32_t* s_counters, std::uint32_t* s_warp_sums) {
  constexpr unsigned kOwn = kDigits / kWarp;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  std::uint32_t own[kOwn], sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kOwn; ++k) {
    own[k] = s_counters[padded(threadIdx.x * kOwn + k)];
    sum += own[k];
  }
  const std::uint32_t inclusive = warp_inclusive_sum(sum);
  if (lane == kWarp - 1) s_warp_sums[warp] = inclusive;
  __syncthreads();  // every warp's sum is stored before the others read it
  std::uint32_t before = inclusive - sum;
#pragma unroll
  for (unsigned w = 0; w < kOneBlock / kWarp; ++w) {
    if (w < warp) before += s_warp_sums[w];
  }
#pragma unroll
  for (unsigned k = 0; k < kOwn; ++k) {
    s_counters[padded(threadIdx.x * kOwn + k)] = before;
    before += own[k];
  }
}

// n_rows: rows of 32 items per warp.
template <typename Bits, typename Value>
__global__ void __launch_bounds__(kOneBlock)
    k08_one_block(Items<const Bits, const Value> in, unsigned n, unsigned n_rows, Flips<Bits> flips,
                  unsigned begin_bit, unsigned end_bit, Items<Bits, Value> out) {
  extern __shared__ __align__(16) unsigned char s_bytes[];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, n_warps = blockDim.x / kWarp;
  const unsigned below = (1u << lane) - 1, above = ~below & ~(1u << lane);
  const unsigned first = first_place(n_rows);
  const OneBlockSpace<Bits, Value> s(s_bytes, n_rows * blockDim.x, n_warps);
  // The counters of a warp are used by no other warp, except in the scan.
  const auto own_counter = [&](unsigned digit) -> std::uint32_t& {
    return s.next[padded(digit * n_warps + warp)];
  };
  const auto clear_own_counters = [&] {
#pragma unroll
    for (unsigned digit = lane; digit < kDigits; digit += kWarp) own_counter(digit) = 0;
    __syncwarp();  // the warp's counters are 0 before it counts
  };

  // Keys are flipped once, here, and back at the end. Positions past n get the last key of all; as every pass
  // is stable, they stay behind the items.
  Items<Bits, Value> from = s.items[0], to = s.items[1];
  constexpr unsigned kBatch = 4;  // rows that are loaded at once
  for (unsigned from_row = 0; from_row < n_rows; from_row += kBatch) {
    Bits key[kBatch];
    Value value[kBatch];
#pragma unroll
    for (unsigned b = 0; b < kBatch; ++b) {
      const unsigned row = from_row + b, i = first + row * kWarp;
      const bool is_there = row < n_rows && i < n;
      key[b] = is_there ? in.d_keys[i] : unflipped(flips, ~Bits{0});
      if constexpr (kHasValues<Value>) value[b] = is_there ? in.d_values[i] : Value{};
    }
#pragma unroll
    for (unsigned b = 0; b < kBatch; ++b) {
      const unsigned row = from_row + b, i = first + row * kWarp;
      if (row == n_rows) break;
      from.d_keys[i] = flips(key[b]);
      if constexpr (kHasValues<Value>) from.d_values[i] = value[b];
    }
  }
  clear_own_counters();

  for (unsigned bit = begin_bit; bit < end_bit; bit += kDigitBits) {
    const unsigned last = end_bit - bit < kDigitBits ? (1u << (end_bit - bit)) - 1 : kDigits - 1;
    const auto digit_of = [&](Bits key) { return static_cast<unsigned>(key >> bit) & last; };

#pragma unroll 4
    for (unsigned row = 0; row < n_rows; ++row)
      atomicAdd(&own_counter(digit_of(from.d_keys[first + row * kWarp])), 1u);
    __syncthreads();  // all warps have counted
    scan_counters(s.next, s.warp_sums);
    __syncthreads();  // positions are stored before keys use them

#pragma unroll 2
    for (unsigned row = 0; row < n_rows; ++row) {
      const unsigned i = first + row * kWarp;
      const Bits key = from.d_keys[i];
      const unsigned digit = digit_of(key);
      const unsigned peers = lanes_of_byte(digit);
      std::uint32_t& next = own_counter(digit);
      const std::uint32_t place = next + __popc(peers & below);
      __syncwarp();  // every lane has read the counter before one lane changes it
      if ((peers & above) == 0) next = place + 1;
      __syncwarp();  // the counter is changed before the next row reads it
      to.d_keys[place] = key;
      if constexpr (kHasValues<Value>) to.d_values[place] = from.d_values[i];
    }
    clear_own_counters();
    __syncthreads();  // items are in order before the next pass reads them
    const Items<Bits, Value> done = to;
    to = from;
    from = done;
  }

  for (unsigned row = 0; row < n_rows; ++row) {
    const unsigned i = first + row * kWarp;
    if (i >= n) break;
    out.d_keys[i] = unflipped(flips, from.d_keys[i]);
    if constexpr (kHasValues<Value>) out.d_values[i] = from.d_values[i];
  }
}

template <typename Bits, typename Value>
Status sort_in_one_block(const Job<Bits, Value>& job, Flips<Bits> flips) {
  const unsigned n = static_cast<unsigned>(job.n);
  const unsigned wanted = blocks_for(n, kWarp * kRowsOfShort);
  const unsigned n_warps = wanted < kOneBlock / kWarp ? wanted : kOneBlock / kWarp;
  const unsigned n_rows = blocks_for(n, n_warps * kWarp);
  const unsigned n_bytes = OneBlockSpace<Bits, Value>::bytes(n_rows * n_warps * kWarp, n_warps);
  cudaFuncSetAttribute(k08_one_block<Bits, Value>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(n_bytes));
  k08_one_block<<<1, n_warps * kWarp, n_bytes, job.stream>>>(job.in, n, n_rows, flips, job.begin_bit,
                                                             job.end_bit, job.out);
  return Status::ok;
}

// --- No bits: all keys are equal, so the result is a copy.
inline constexpr unsigned kCopyRows = 1;
template <typename Item>
using CopyTile = device::Tile<Item, 256, kCopyRows>;

template <typename Item>
__device__ void copy_tile(const Item* d_in, std::uint64_t n, Item* d_out) {
  CopyTile<Item> tile;
  device::load_tile(tile, d_in, n, blockIdx.x, Item{});
  device::store_tile(tile, d_out, n, blockIdx.x);
}

// One block per tile of keys. A tile of values has at least as many items.
template <typename Bits, typename Value>
__global__ void k08_copy(Items<const Bits, const Value> in, std::uint64_t n, Items<Bits, Value> out) {
  copy_tile(in.d_keys, n, out.d_keys);
  if constexpr (kHasValues<Value>) copy_tile(in.d_values, n, out.d_values);
}

// The array is sorted by passes, in tiles of one shape.
template <bool kLarge, typename Bits, typename Value>
Status sort_by_sweeps(const Job<Bits, Value>& job) {
  constexpr Shape kIts = kShape<Bits, Value, kLarge>;
  static_assert(kIts.tile() + 1 < kPlacesFrom);
  const Flips<Bits> flips = flips_for<Bits>(job.kind, job.descending);
  // A short array has tiles of fewer rows, so that more multiprocessors have one.
  const auto multiprocessors = static_cast<unsigned>(job.multiprocessors);
  unsigned n_rows = kIts.rows;
  while (n_rows > kIts.batch && blocks_for(job.n, n_rows * kIts.threads) < multiprocessors)
    n_rows -= kIts.batch;
  const unsigned n_tiles = blocks_for(job.n, n_rows * kIts.threads);
  // There are counters for passes over all bits of a key; if fewer bits are sorted, the last counters stay 0.
  const Sweep sweep = sweep_in(job.d_counts, kPassesOf<Bits>, n_tiles);
  const unsigned fills = kBlocksPerProcessor * multiprocessors;
  const unsigned wanted = blocks_for(sweep.n_words, 4 * kClearingBlock);
  const unsigned n_clearing = wanted < fills ? wanted : fills;
  k08_clear<<<n_clearing, kClearingBlock, 0, job.stream>>>(sweep.d_starts, sweep.n_words);

  cudaFuncSetAttribute(k08_histograms<Bits>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kCountersSpace<Bits>);
  constexpr unsigned kKeysOfThread = 8;
  unsigned n_counting = blocks_for(job.n, kCountingBlock * kKeysOfThread);
  if (n_counting > multiprocessors) n_counting = multiprocessors;
  device::launch_early(k08_histograms<Bits>, n_counting, kCountingBlock, kCountersSpace<Bits>, job.stream,
                       job.in.d_keys, job.n, flips, job.begin_bit, job.end_bit, sweep.d_starts);

  constexpr int kSpace = sizeof(SweepSpace<Bits, Value, kLarge>);
  unsigned pass = 0;
  return by_passes(
      job, kDigitBits, [&](const auto& from, const auto& to, unsigned first_bit, unsigned n_bits) {
        const auto launch = [&](auto digit_of) {
          const auto kernel = k08_sweep<Bits, Value, decltype(digit_of), kLarge>;
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSpace);
          device::launch_early(kernel, n_tiles, kIts.threads, kSpace, job.stream,
                               Items<const Bits, const Value>{from.d_keys, from.d_values}, job.n, n_rows,
                               digit_of, sweep.d_starts + pass * kDigits, sweep.d_tickets + pass,
                               sweep.d_words + std::uint64_t{pass} * n_tiles * kDigits, to);
        };
        const unsigned last = (1u << n_bits) - 1;
        if (flips.of_positive == flips.of_negative) {
          launch(PlainDigit<Bits>{first_bit, last,
                                  static_cast<unsigned>(flips.of_positive >> first_bit) & last});
        } else {
          launch(DigitOf<Bits>{flips, first_bit, n_bits});
        }
        ++pass;
      });
}

template <typename Bits, typename Value>
bool takes_large_tiles(const Job<Bits, Value>& job, std::size_t shared) {
  if (job.n < kLargeFrom || shared < sizeof(SweepSpace<Bits, Value, true>)) return false;
  if (sizeof(Bits) == 8) return true;
  // Bits that the memory can deliver per cycle of a multiprocessor: 103 on an H100, 151 on an H200.
  constexpr double kFew = 128;
  const double bits_per_us = 2.0 * device::attribute(cudaDevAttrMemoryClockRate) / 1000 *
                             device::attribute(cudaDevAttrGlobalMemoryBusWidth);
  return bits_per_us < kFew * job.multiprocessors * device::attribute(cudaDevAttrClockRate) / 1000;
}

template <typename Bits, typename Value>
Status state_of_the_art(const Job<Bits, Value>& job) {
  if (job.n == 0) return Status::ok;
  if (job.n > kMaxPlacedKeys) return Status::unsupported;
  if (job.begin_bit == job.end_bit) {
    k08_copy<<<blocks_for(job.n, CopyTile<Bits>::kItems), CopyTile<Bits>::kThreads, 0, job.stream>>>(
        job.in, job.n, job.out);
    return Status::ok;
  }
  const auto shared = static_cast<std::size_t>(device::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (job.n <= kMaxInOneBlock<Bits, Value> &&
      shared >= OneBlockSpace<Bits, Value>::bytes(kMaxInOneBlock<Bits, Value>, kOneBlock / kWarp))
    return sort_in_one_block(job, flips_for<Bits>(job.kind, job.descending));
  // Consumer GPUs have too little shared memory for these kernels: 64 or 100 KB on a multiprocessor.
  static_assert(sizeof(SweepSpace<Bits, Value>) <= kCountersSpace<Bits>);
  if (shared < kCountersSpace<Bits>) return counts_first(job);
  if constexpr (kHasValues<Value>)
    if (takes_large_tiles(job, shared)) return sort_by_sweeps<true>(job);
  return sort_by_sweeps<false>(job);
}
