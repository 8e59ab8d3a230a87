// SPDX-License-Identifier: MIT
// Look-back: a block gets the combined value of everything left of its tile, from the blocks that work on the
// tiles to its left while they run.
// Read: TileStatuses (how tiles publish their status), then the two ways to read it: look_back (up to the
// nearest available prefix) and WaveStatuses (a fixed association order, so float sums are the same in every
// run). Both wait only for tiles with smaller numbers, and a block must take its tiles in ascending order.
// look_back needs tiles that are numbered in the order in which blocks start (draw_tile); WaveStatuses needs
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

// Sets words to 0, because the contents of the scratch memory are undefined. A memset takes 3 µs less than a
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

// Waves: for a grid whose blocks all run at the same time. Block b takes tile b of each wave of gridDim.x
// tiles. A tile's carry is the prefix of the wave before, which that wave's last tile publishes, combined
// with the totals of the tiles before it in its own wave; thread i of the block reads the total of tile i.
// There is no serial look-back. The association order depends only on n and the grid: timing decides when a
// carry is available, but not how it was combined, so float sums are the same in every run.
// A block may wait for any other block of the wave, so all of them must run: launch cooperatively
// (device/launch.hpp).
template <typename Value, typename Total = Value>
struct WaveStatuses {
  TileStatuses<Total> totals;
  TileStatuses<Value> prefixes;

  static constexpr std::uint64_t words(std::uint64_t n_tiles) {
    return TileStatuses<Total>::words(n_tiles) + TileStatuses<Value>::words(n_tiles);
  }
  WaveStatuses(Word* d_words, std::uint64_t n_tiles)
      : totals{d_words}, prefixes{d_words + TileStatuses<Total>::words(n_tiles)} {}

  // The shared memory that prefix_of needs.
  template <unsigned kThreads>
  struct Shared {
    Value warp[kThreads / kWarp], before_wave;
  };

  // One thread of the block must call it, as early as possible, because other blocks wait for it.
  __device__ void publish_total(std::uint64_t tile, Total total) const {
    totals.publish(tile, kTotal, total);
  }

  // What the calling thread of block `rank` reads. Thread i < rank reads the total of tile i of the wave; the
  // block's last thread, which has no such tile, reads the prefix of the wave before.
  struct Question {
    Entry<Total> total;
    Entry<Value> prefix;
  };
  // Starts these loads. Every thread must call it before it loads its next items: on the H200, loads that are
  // issued first were measured to return first.
  template <unsigned kThreads>
  __device__ Question ask(std::uint64_t tile) const {
    const std::uint64_t first = tile - blockIdx.x;
    Question question{{kTotal, {}}, {kPrefix, {}}};
    if (threadIdx.x < blockIdx.x) question.total = totals.read(first + threadIdx.x);
    if (threadIdx.x == kThreads - 1 && first > 0) question.prefix = prefixes.read(first / gridDim.x - 1);
    return question;
  }

  // Returns the total of all tiles left of `tile`, in every thread. Every thread of the block must call it,
  // with its own result of ask(tile), and thread 0 with the tile's total; gridDim.x <= kThreads. It has one
  // barrier. Two calls with the same `shared` need another one between them.
  template <unsigned kThreads, typename Op>
  __device__ Value prefix_of(std::uint64_t tile, Total total, Question question, Shared<kThreads>& shared,
                             Op op) const {
    const unsigned rank = blockIdx.x, lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const std::uint64_t first = tile - rank, wave = first / gridDim.x;

    while (question.total.state == kEmpty) question.total = totals.read(first + threadIdx.x);
    const Value found = threadIdx.x < rank ? static_cast<Value>(question.total.value) : op.identity();
    const Value of_warp = warp_fold(found, op);
    if (lane == 0) shared.warp[warp] = of_warp;
    if (threadIdx.x == kThreads - 1) {
      while (question.prefix.state == kEmpty) question.prefix = prefixes.read(wave - 1);
      shared.before_wave = wave == 0 ? op.identity() : question.prefix.value;
    }
    __syncthreads();  // every warp has stored its total before the others read it

    Value carry = shared.before_wave;
#pragma unroll
    for (unsigned w = 0; w < kThreads / kWarp; ++w) carry = op(carry, shared.warp[w]);
    if (threadIdx.x == 0 && rank + 1 == gridDim.x)
      prefixes.publish(wave, kPrefix, op(carry, static_cast<Value>(total)));
    return carry;
  }
};

}  // namespace course::device
