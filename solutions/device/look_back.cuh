// SPDX-License-Identifier: MIT
// Look-back: a block gets the combined value of everything left of its tile, from the blocks that work on the
// tiles to its left while they run.
// Read: TileStatuses (how tiles publish their status), then the two ways to read it: look_back (up to the
// nearest available prefix) and WaveTotals (a fixed association order, so float sums are the same in every
// run). Both wait only for tiles with smaller numbers, and a block must take its tiles in ascending order.
// look_back needs tiles that are numbered in the order in which blocks start (draw_tile); WaveTotals needs
// blocks that all run at the same time.
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVR-2016-002).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "device/block_scan.cuh"
#include "lab/atomic_access.cuh"

namespace course::device {

// The status of a tile. kEmpty (nothing is available) is 0, so that it is the status of a cleared word.
inline constexpr unsigned kEmpty = 0;
inline constexpr unsigned kTotal = 1;   // aggregate available: the total of the tile alone
inline constexpr unsigned kPrefix = 2;  // prefix available: the total of everything up to the end of the tile

using Word = unsigned long long;

// Returns the number of the tile that the calling block takes: 0 for the block that asks first, then 1, 2, …
// So the blocks of all tiles before it are running or done, and it may wait for them. Every thread must call
// it. It has one barrier, after which all may read *s_tile. Two calls with the same s_tile need another
// barrier between them.
__device__ inline unsigned draw_tile(unsigned* d_ticket, unsigned* s_tile) {
  if (threadIdx.x == 0) *s_tile = atomicAdd(d_ticket, 1u);
  __syncthreads();  // thread 0 has stored the number before the others read it
  return *s_tile;
}

template <typename Value>
struct Entry {
  unsigned state;
  Value value;
};

// The storage of the tile statuses. A Value is split into 64-bit words, each with 32 bits of the value and 32
// bits of the status. An aligned 64-bit access is never split, so no fence is needed. If a reader finds words
// with different statuses, the tile is just being published; the reader treats it as kEmpty. All words must
// be 0 before the first tile publishes.
template <typename Value>
struct TileStatuses {
  static_assert(sizeof(Value) % 4 == 0);
  static constexpr unsigned kWords = sizeof(Value) / 4;  // per tile
  Word* d_words = nullptr;

  static constexpr std::uint64_t words(std::uint64_t n_tiles) { return n_tiles * kWords; }

  __device__ void publish(std::uint64_t index, unsigned state, Value value) const {
    std::uint32_t half[kWords];
    memcpy(half, &value, sizeof value);
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k)
      lab::store_relaxed(d_words + index * kWords + k, Word{state} << 32 | half[k]);
  }
  __device__ Entry<Value> read(std::uint64_t index) const {
    Word word[kWords];
    std::uint32_t half[kWords];
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) word[k] = lab::load_relaxed(d_words + index * kWords + k);
    auto state = static_cast<unsigned>(word[0] >> 32);
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) {
      half[k] = static_cast<std::uint32_t>(word[k]);
      if (word[k] >> 32 != state) state = kEmpty;
    }
    Entry<Value> entry{state, {}};
    memcpy(&entry.value, half, sizeof half);
    return entry;
  }
};

// Sets words to 0, because the contents of the scratch memory are undefined. A memset takes less time than a
// kernel.
[[maybe_unused]] static void clear_words(Word* d_words, std::uint64_t count, CUstream_st* stream) {
  static_cast<void>(cudaMemsetAsync(d_words, 0, count * sizeof(Word), stream));
}

// Returns the total of all tiles left of tile `index`, in every lane. All lanes of one warp must call it,
// with the same arguments, after the tile's total was published. It reads 32 tiles at a time, the nearest
// first, until it finds an available prefix. Timing decides which one that is, so the association order and
// float sums change from run to run.
template <typename Op>
__device__ typename Op::Value look_back(const TileStatuses<typename Op::Value>& statuses, std::uint64_t index,
                                        Op op) {
  using Value = typename Op::Value;
  const unsigned lane = threadIdx.x % kWarp;
  Value carry = op.identity();  // the total of the tiles right of the 32 that are read
  for (std::uint64_t end = index; end > 0; end = end > kWarp ? end - kWarp : 0) {
    // Lane 0 reads tile end - 1, lane 1 the one left of it … Left of tile 0 the prefix is the identity.
    Entry<Value> entry{kPrefix, op.identity()};
    unsigned prefixes = 0, needed = 0;
    do {
      if (lane < end) entry = statuses.read(end - 1 - lane);
      prefixes = __ballot_sync(kFullMask, entry.state == kPrefix);
      needed = prefixes == 0 ? kFullMask : (prefixes & -prefixes) * 2 - 1;  // up to the nearest prefix
    } while ((__ballot_sync(kFullMask, entry.state == kEmpty) & needed) != 0);

    // Lane 0 gets the total of the needed ones; a higher lane is further left.
    Value value = (needed >> lane & 1) != 0 ? entry.value : op.identity();
#pragma unroll
    for (unsigned offset = 1; offset < kWarp; offset *= 2) value = op(shuffle_down(value, offset), value);
    carry = op(shuffle_from(value, 0), carry);
    if (prefixes != 0) break;
  }
  return carry;
}

// Number of launches so far that publish with tags. Two of them must not run at the same time.
[[maybe_unused]] __device__ static unsigned d_launch;

// The status of a word that is available in this launch, if no launch clears the words. It differs from that
// of earlier launches (of the last 2^30), from that of the word's use before (`use` counts them; its last bit
// is enough), and from kEmpty.
__device__ inline unsigned tag_of(unsigned launch, unsigned use = 0) {
  return 1u << 31 | (launch << 1 & ~(1u << 31)) | (use & 1);
}
// Waves: for a grid whose blocks all run at the same time, and have at least as many threads as the grid has
// blocks. In its step s, block b takes tile s * gridDim.x + b. So the prefix of a tile is the prefix of the
// block's tile before it, combined with the gridDim.x totals from that tile on, and thread i of the block
// reads the i-th of them. Blocks exchange only totals: no tile waits for another tile's prefix. The
// association order depends only on n and the grid, so float sums are the same in every run.
// A block may wait for any other block, so all of them must run: launch cooperatively (device/launch.hpp).
// A block uses its results kLag steps later. It needs totals of one step before that, so no block is more
// than kLag + 2 steps ahead of another, and a total has been read when its block is 2 * kLag + 4 steps on.
inline constexpr unsigned kMaxWaveBlocks = 256, kMaxWaveLag = 4, kMaxWaveWords = 4;
inline constexpr unsigned kWaveSteps = 16;  // for which there are words; a power of two
static_assert(kWaveSteps >= 2 * kMaxWaveLag + 4);
[[maybe_unused]] __device__ static Word d_wave_words[kWaveSteps * kMaxWaveBlocks * kMaxWaveWords];

template <typename Total>
class WaveTotals {
 public:
  // Every thread must call it, with a word of shared memory; it has one barrier.
  __device__ explicit WaveTotals(unsigned* s_launch) {
    static_assert(Statuses::kWords <= kMaxWaveWords);
    if (threadIdx.x == 0) *s_launch = lab::load_relaxed(&d_launch);
    __syncthreads();  // thread 0 has stored the number before the others read it
    launch_ = *s_launch;
  }
  // One thread of the last block must call it when it has the totals before its first tile: all blocks have
  // read the launch's number by then, because their totals are tagged with it.
  __device__ void end() const { lab::store_relaxed(&d_launch, launch_ + 1); }

  // One thread of the block must call it, as early as possible, because other blocks wait for it.
  __device__ void publish(std::uint32_t step, Total total) const {
    Statuses{d_wave_words}.publish(index_of(blockIdx.x, step), tag(step), total);
  }
  // Starts to read the calling thread's total for the block's tile of `step`; the others of the block's
  // threads read the rest. The earlier it is called before of_warp, the less of_warp waits.
  __device__ Entry<Total> ask(std::uint32_t step) const {
    return is_wanted(step) ? read(step) : Entry<Total>{kEmpty, {}};
  }
  // Combines the totals that a warp's threads have asked for; valid in lane 0. All 32 lanes must call it,
  // each with its own result of ask(step). Waits for totals that are not published yet.
  template <typename Op>
  __device__ Total of_warp(std::uint32_t step, Entry<Total> answer, Op op) const {
    const bool wanted = is_wanted(step);
    while (wanted && answer.state != tag(step_of_total(step))) answer = read(step);
    return warp_fold(wanted ? answer.value : op.identity(), op);
  }

 private:
  using Statuses = TileStatuses<Total>;
  unsigned launch_;

  __device__ unsigned tag(std::uint32_t step) const { return tag_of(launch_, step / kWaveSteps); }
  static __device__ unsigned index_of(unsigned block, std::uint32_t step) {
    return step % kWaveSteps * kMaxWaveBlocks + block;
  }
  // The calling thread reads the total of block (blockIdx.x + threadIdx.x) % gridDim.x: of the step before
  // or, if the sum is gridDim.x or more, of this step. There is nothing before tile 0.
  static __device__ std::uint32_t step_of_total(std::uint32_t step) {
    return blockIdx.x + threadIdx.x >= gridDim.x ? step : step - 1;
  }
  static __device__ bool is_wanted(std::uint32_t step) {
    return threadIdx.x < gridDim.x && (step > 0 || blockIdx.x + threadIdx.x >= gridDim.x);
  }
  __device__ Entry<Total> read(std::uint32_t step) const {
    const unsigned block = blockIdx.x + threadIdx.x;
    return Statuses{d_wave_words}.read(
        index_of(block >= gridDim.x ? block - gridDim.x : block, step_of_total(step)));
  }
};

}  // namespace course::device
