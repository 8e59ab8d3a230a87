// SPDX-License-Identifier: MIT
// Tiles: the items that one block handles at a time, in its threads' registers, loaded and stored 16 bytes at
// a time.
// Read: Pack, Tile (which thread has which items), load_tile, start_loading, store_tile. The top rungs of
// several labs use this file.
// No cache hints: streaming loads and stores (ld.cs, st.cs) made these rungs slower on an H200.
// Invariant: any address, any n. A 16-byte access is used only if the address is a multiple of 16, otherwise
// item by item. Items outside [0, n) are neither read nor written.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>
#include <cstring>

namespace course::device {

inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// Number of tiles for n items; the last one may be partly empty.
__host__ __device__ constexpr std::uint64_t tiles_for(std::uint64_t n, std::uint64_t tile_items) {
  return (n + tile_items - 1) / tile_items;
}

// A 128-bit vector of items: one lane can load or store it with one instruction, at an address that is a
// multiple of 16.
template <typename Value>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(Value);
  Value item[kItems];
};

// The calling thread's share of a tile of a block of kThreads: kRows vectors. A warp's vectors of one row are
// neighbours in memory, and its rows follow each other. So each warp has one contiguous part of the tile, and
// warp w's part comes after warp w - 1's.
template <typename Value, unsigned kThreads_, unsigned kRows_>
struct Tile {
  static constexpr unsigned kThreads = kThreads_, kRows = kRows_;
  static constexpr unsigned kPack = Pack<Value>::kItems;
  static constexpr unsigned kItems = kThreads * kRows * kPack;  // of the whole block
  Pack<Value> row[kRows];

  // Position in the tile of the thread's vector in row r, in vectors.
  static __device__ unsigned pack_of(unsigned r) {
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    return (warp * kRows + r) * kWarp + lane;
  }
  // Index in the array of the first item of that vector, for tile number `index`.
  static __device__ std::uint64_t first_item(std::uint64_t index, unsigned r) {
    return index * kItems + pack_of(r) * kPack;
  }
  // Whether tile number `index` can be loaded and stored as whole vectors.
  static __device__ bool in_packs(const Value* d_items, std::uint64_t n, std::uint64_t index) {
    return reinterpret_cast<std::uintptr_t>(d_items) % sizeof(Pack<Value>) == 0 && (index + 1) * kItems <= n;
  }
};

// Loads tile number `index` of the n items at d_items; positions past n get `padding`.
template <typename Value, unsigned kThreads, unsigned kRows>
__device__ void load_tile(Tile<Value, kThreads, kRows>& tile, const Value* d_items, std::uint64_t n,
                          std::uint64_t index, Value padding) {
  if (tile.in_packs(d_items, n, index)) {
    const auto* d_packs = reinterpret_cast<const Pack<Value>*>(d_items + tile.first_item(index, 0));
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) tile.row[r] = d_packs[r * kWarp];
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const std::uint64_t first = tile.first_item(index, r);
#pragma unroll
    for (unsigned j = 0; j < tile.kPack; ++j)
      tile.row[r].item[j] = first + j < n ? d_items[first + j] : padding;
  }
}

// park stores the thread's vectors in shared memory, unpark loads them back; s_packs has space for the
// block's tile, whose items lie there in their order in the array. Each thread has its own positions, next to
// its neighbours', so no barrier is needed and there are no bank conflicts.
template <typename Value, unsigned kThreads, unsigned kRows>
__device__ void park(const Tile<Value, kThreads, kRows>& tile, Pack<Value>* s_packs) {
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) s_packs[tile.pack_of(r)] = tile.row[r];
}
template <typename Value, unsigned kThreads, unsigned kRows>
__device__ void unpark(Tile<Value, kThreads, kRows>& tile, const Pack<Value>* s_packs) {
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) tile.row[r] = s_packs[tile.pack_of(r)];
}

// Starts to load tile number `index` into the positions that park uses; no register holds what is on its way.
// Every thread must call it, also with an `index` that is not to be loaded (is_wanted false): wait_for_loads
// counts the calls. Unaligned and partly empty tiles are loaded at once.
template <typename Value, unsigned kThreads, unsigned kRows>
__device__ void start_loading(Pack<Value>* s_packs, bool is_wanted, const Value* d_items, std::uint64_t n,
                              std::uint64_t index, Value padding) {
  using Items = Tile<Value, kThreads, kRows>;
  if (is_wanted && Items::in_packs(d_items, n, index)) {
    const auto* d_packs = reinterpret_cast<const Pack<Value>*>(d_items + Items::first_item(index, 0));
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r)
      __pipeline_memcpy_async(s_packs + Items::pack_of(r), d_packs + r * kWarp, sizeof *s_packs);
  } else if (is_wanted) {
    Items tile;
    load_tile(tile, d_items, n, index, padding);
    park(tile, s_packs);
  }
  __pipeline_commit();
}
// Waits until at most the calling thread's last kOnTheirWay calls of start_loading are incomplete. A thread
// may then unpark its own vectors; those of other threads need a barrier as well.
template <unsigned kOnTheirWay>
__device__ void wait_for_loads() {
  __pipeline_wait_prior(kOnTheirWay);
}

// Stores a tile; does not write past n.
template <typename Value, unsigned kThreads, unsigned kRows>
__device__ void store_tile(const Tile<Value, kThreads, kRows>& tile, Value* d_items, std::uint64_t n,
                           std::uint64_t index) {
  if (tile.in_packs(d_items, n, index)) {
    auto* d_packs = reinterpret_cast<uint4*>(d_items + tile.first_item(index, 0));
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      uint4 pack;
      memcpy(&pack, &tile.row[r], sizeof pack);
      __stwb(d_packs + r * kWarp, pack);  // an ordinary store; without it nvcc 13.0 makes four of row 0's
    }
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const std::uint64_t first = tile.first_item(index, r);
#pragma unroll
    for (unsigned j = 0; j < tile.kPack; ++j) {
      if (first + j < n) d_items[first + j] = tile.row[r].item[j];
    }
  }
}

}  // namespace course::device
