// SPDX-License-Identifier: MIT
// What lies left of a tile, learnt from the blocks that work on the tiles to its left while they run.
// Read: Ledger (how tiles tell), then the two ways of asking: look_back (the nearest known prefix, whichever it is) and
// WaveLedger (fixed brackets: floats come out the same in every run). Both wait only for tiles with smaller numbers, and a
// block must take its tiles in ascending order. look_back needs tiles that are numbered in the order in which blocks start
// (draw_tile); WaveLedger blocks that all run at the same time.
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVR-2016-002).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "device/block_scan.cuh"

namespace course::device {

// How much is known of a tile. 0, so that a cleared word knows nothing.
inline constexpr unsigned kEmpty = 0;
inline constexpr unsigned kTotal = 1;   // the fold of the tile alone
inline constexpr unsigned kPrefix = 2;  // the fold of everything up to the tile's end

// Strong accesses: each call is one access to memory, which other blocks see. They order no other access.
using Word = unsigned long long;
__device__ inline Word load_strong(const Word* d_word) {
  return *static_cast<const volatile Word*>(d_word);
}
__device__ inline void store_strong(Word* d_word, Word word) {
  *static_cast<volatile Word*>(d_word) = word;
}

// The number of the tile that the calling block takes: 0 for the block that asks first, then 1, 2, … So the blocks of all tiles
// before it are running or done, and may be waited for. Every thread must call it; one barrier, after which all may read
// *s_tile. Calling it again with the same s_tile needs another barrier before.
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

// Where tiles publish. A Value travels in words of 64 bits, 32 of its own beside 32 of state: an aligned word is never torn, so
// no fence is needed; who finds words of different states has come in the middle of a change, and takes it for kEmpty. A word
// must be 0 before the first tile publishes.
template <typename Value>
struct Ledger {
  static_assert(sizeof(Value) % 4 == 0);
  static constexpr unsigned kWords = sizeof(Value) / 4;  // of a tile
  Word* d_words = nullptr;

  static constexpr std::uint64_t words(std::uint64_t n_tiles) { return n_tiles * kWords; }

  __device__ void publish(std::uint64_t index, unsigned state, Value value) const {
    std::uint32_t half[kWords];
    memcpy(half, &value, sizeof value);
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k)
      store_strong(d_words + index * kWords + k, Word{state} << 32 | half[k]);
  }
  __device__ Entry<Value> read(std::uint64_t index) const {
    Word word[kWords];
    std::uint32_t half[kWords];
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) word[k] = load_strong(d_words + index * kWords + k);
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

// Sets words to 0: whatever was in the scratch memory, it was nothing that a tile has published. 3 us less than a kernel takes for it.
[[maybe_unused]] static void clear_words(Word* d_words, std::uint64_t count, CUstream_st* stream) {
  static_cast<void>(cudaMemsetAsync(d_words, 0, count * sizeof(Word), stream));
}

// The fold of all tiles left of tile `index`, in every lane; to be called by all lanes of one warp, with the same arguments,
// after the tile's total was published. A window of 32 tiles at a time, the nearest first, up to one that knows its
// prefix. Which one that is depends on timing: float sums get their brackets from run to run anew.
template <typename Op>
__device__ typename Op::Value look_back(const Ledger<typename Op::Value>& ledger, std::uint64_t index,
                                        Op op) {
  using Value = typename Op::Value;
  const unsigned lane = threadIdx.x % kWarp;
  Value carry = op.identity();  // of the tiles right of the window
  for (std::uint64_t end = index; end > 0; end = end > kWarp ? end - kWarp : 0) {
    // Lane 0 looks at tile end - 1, lane 1 at the one left of it … Left of tile 0 everything is known.
    Entry<Value> entry{kPrefix, op.identity()};
    unsigned prefixes = 0, needed = 0;
    do {
      if (lane < end) entry = ledger.read(end - 1 - lane);
      prefixes = __ballot_sync(kFullMask, entry.state == kPrefix);
      needed = prefixes == 0 ? kFullMask : (prefixes & -prefixes) * 2 - 1;  // up to the nearest prefix
    } while ((__ballot_sync(kFullMask, entry.state == kEmpty) & needed) != 0);

    // Lane 0 folds the needed ones; a higher lane is further left.
    Value value = (needed >> lane & 1) != 0 ? entry.value : op.identity();
#pragma unroll
    for (unsigned offset = 1; offset < kWarp; offset *= 2) value = op(shuffle_down(value, offset), value);
    carry = op(shuffle_from(value, 0), carry);
    if (prefixes != 0) break;
  }
  return carry;
}

// Waves: for a grid whose blocks all run at the same time, and take the tiles in turns: block b has tile b of each wave of
// gridDim.x tiles. A tile's carry is the prefix of the wave before, which that wave's last tile publishes, and the totals of the
// tiles before it in its own wave; thread i of the block asks for tile i's. Nobody walks, and the brackets are set by n and the
// grid alone: timing decides when a carry is known, never how it was put together, so that floats come out the same in every run.
// A block that waits needs others of the wave, started or not: launch cooperatively (device/launch.hpp).
template <typename Value, typename Total = Value>
struct WaveLedger {
  Ledger<Total> totals;
  Ledger<Value> prefixes;

  static constexpr std::uint64_t words(std::uint64_t n_tiles) {
    return Ledger<Total>::words(n_tiles) + Ledger<Value>::words(n_tiles);
  }
  WaveLedger(Word* d_words, std::uint64_t n_tiles)
      : totals{d_words}, prefixes{d_words + Ledger<Total>::words(n_tiles)} {}

  // Room in shared memory that carry_of needs.
  template <unsigned kThreads>
  struct Shared {
    Value warp[kThreads / kWarp], before_wave;
  };

  // To be called by one thread of the block, as early as can be: others wait for it.
  __device__ void publish_total(std::uint64_t tile, Total total) const {
    totals.publish(tile, kTotal, total);
  }

  // What the calling thread of block `rank` looks for: thread i < rank the total of tile i of the wave; the block's last thread, which
  // has none to look for, the prefix of the wave before.
  struct Question {
    Entry<Total> total;
    Entry<Value> prefix;
  };
  // Sends for the answers. To be called by every thread before it loads what it needs later: loads of a multiprocessor come back
  // in the order in which they went.
  template <unsigned kThreads>
  __device__ Question ask(std::uint64_t tile) const {
    const std::uint64_t first = tile - blockIdx.x;
    Question question{{kTotal, {}}, {kPrefix, {}}};
    if (threadIdx.x < blockIdx.x) question.total = totals.read(first + threadIdx.x);
    if (threadIdx.x == kThreads - 1 && first > 0) question.prefix = prefixes.read(first / gridDim.x - 1);
    return question;
  }

  // The fold of all tiles left of `tile`, in every thread. Every thread of the block must call it, with what it was told by ask(tile);
  // gridDim.x <= kThreads. One barrier; calling it again with the same `shared` needs another in between.
  template <unsigned kThreads, typename Op>
  __device__ Value carry_of(std::uint64_t tile, Total total, Question question, Shared<kThreads>& shared,
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
    __syncthreads();  // every warp has stored what it found before the others read it

    Value carry = shared.before_wave;
#pragma unroll
    for (unsigned w = 0; w < kThreads / kWarp; ++w) carry = op(carry, shared.warp[w]);
    if (threadIdx.x == 0 && rank + 1 == gridDim.x)
      prefixes.publish(wave, kPrefix, op(carry, static_cast<Value>(total)));
    return carry;
  }
};

}  // namespace course::device
