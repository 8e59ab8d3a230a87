// SPDX-License-Identifier: MIT
// Hierarchical scan: the given code, which yours calls. The lab's file includes it inside of its namespace,
// behind its constants.

// Number of tiles for n items; the last one may be partly empty. For n = 0 there are none, and nothing is
// launched.
constexpr std::uint64_t tiles_for(std::uint64_t n, std::uint64_t tile_items = kTile) {
  return (n + tile_items - 1) / tile_items;
}

// --- One tile, in the registers of one block. The scan of lab 2, but with the items in registers.

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
// The value of the lane `delta` below; the lowest `delta` lanes get their own value.
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned delta) {
  return shuffled(value, [=](auto x) { return __shfl_up_sync(kFullMask, x, delta); });
}
// The value of lane `source`.
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

// A 128-bit vector of items: one lane can load or store it with one instruction, at an address that is a
// multiple of 16.
template <typename Value>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(Value);
  Value item[kItems];
};

// The calling thread's share of a tile: kRows vectors. A warp's vectors of one row are neighbours in memory,
// and its rows follow each other. So each warp has one contiguous part of the tile, and warp w's part comes
// after warp w - 1's.
template <typename Value, unsigned kRows_ = kTile / (kBlock * Pack<Value>::kItems)>
struct Tile {
  static constexpr unsigned kRows = kRows_;
  static constexpr unsigned kPack = Pack<Value>::kItems;
  static constexpr unsigned kItems = kBlock * kPack * kRows;  // of the whole block
  Pack<Value> row[kRows];
  Value before[kRows];  // set by scan_packs: the total of the tile's items left of the vector

  // Index in the array of the first item of the thread's vector in row r of tile number `index`.
  static __device__ std::uint64_t first_item(std::uint64_t index, unsigned r) {
    const unsigned lane = threadIdx.x % kWarp;
    const unsigned warp = threadIdx.x / kWarp;
    return index * kItems + ((warp * kRows + r) * kWarp + lane) * kPack;
  }
  // Whether tile number `index` can be loaded and stored as whole vectors.
  static __device__ bool in_packs(const Value* d_items, std::uint64_t n, std::uint64_t index) {
    return reinterpret_cast<std::uintptr_t>(d_items) % sizeof(Pack<Value>) == 0 && (index + 1) * kItems <= n;
  }
};

// Loads tile number `index` of the n items at d_items; positions past n get the identity. Works for any
// alignment: 16 bytes per lane if possible, otherwise item by item.
template <typename Value, unsigned kRows, typename Op>
__device__ void load_tile(Tile<Value, kRows>& tile, const Value* d_items, std::uint64_t n,
                          std::uint64_t index, Op op) {
  constexpr unsigned kPack = Pack<Value>::kItems;
  if (tile.in_packs(d_items, n, index)) {
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r)
      tile.row[r] = *reinterpret_cast<const Pack<Value>*>(d_items + tile.first_item(index, r));
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const std::uint64_t first = tile.first_item(index, r);
#pragma unroll
    for (unsigned j = 0; j < kPack; ++j)
      tile.row[r].item[j] = first + j < n ? d_items[first + j] : op.identity();
  }
}

// Stores a tile; does not write past n.
template <typename Value, unsigned kRows>
__device__ void store_tile(const Tile<Value, kRows>& tile, Value* d_items, std::uint64_t n,
                           std::uint64_t index) {
  constexpr unsigned kPack = Pack<Value>::kItems;
  if (tile.in_packs(d_items, n, index)) {
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r)
      *reinterpret_cast<Pack<Value>*>(d_items + tile.first_item(index, r)) = tile.row[r];
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const std::uint64_t first = tile.first_item(index, r);
#pragma unroll
    for (unsigned j = 0; j < kPack; ++j) {
      if (first + j < n) d_items[first + j] = tile.row[r].item[j];
    }
  }
}

// First half of a tile's scan: fills tile.before, does not change the items, and returns the total of the
// whole tile in every thread. Every thread of the block must call it. It uses kWarps Values of shared memory,
// one barrier and at most 3 + 5 + kRows + kWarps steps. Two calls need a barrier between them.
template <typename Value, unsigned kRows, typename Op>
__device__ Value scan_packs(Tile<Value, kRows>& tile, Op op) {
  __shared__ Value s_warp[kWarps];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;

  Value warp_total = op.identity();
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    Value sum = tile.row[r].item[0];
#pragma unroll
    for (unsigned j = 1; j < Pack<Value>::kItems; ++j) sum = op(sum, tile.row[r].item[j]);
    const Value through = warp_scan(sum, op);
    const Value left = shuffle_up(through, 1);
    tile.before[r] = lane == 0 ? warp_total : op(warp_total, left);
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
  for (unsigned r = 0; r < kRows; ++r) tile.before[r] = op(left_of_warp, tile.before[r]);
  return total;
}

// Second half: turns the thread's items into their prefixes. `carry` is the tile's exclusive prefix: the
// total of everything left of the tile.
template <typename Value, unsigned kRows, typename Op>
__device__ void finish_tile(Tile<Value, kRows>& tile, Value carry, Kind kind, Op op) {
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    Value prefix = op(carry, tile.before[r]);
#pragma unroll
    for (unsigned j = 0; j < Pack<Value>::kItems; ++j) {
      const Value next = op(prefix, tile.row[r].item[j]);
      tile.row[r].item[j] = kind == Kind::inclusive ? next : prefix;
      prefix = next;
    }
  }
}
