// SPDX-License-Identifier: MIT
// Hierarchical scan: your file.
// Read labs/hierarchical_scan/lab.hpp (Job, Kind, sizes), then handouts/07-hierarchical-scan.md.
// The scan of one tile is lab 2; it is given. Read it, because your code calls it. You write the
// levels above it, which combine many tiles into one scan. Work from the top down. Grade one task
// with
//   ./lab grade hierarchical_scan --task recursive
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include <cstring>

#include "hierarchical_scan/lab.hpp"
#include "lab/atomic_access.cuh"

namespace course::hierarchical_scan {

inline constexpr unsigned kBlock = 256;  // threads in a block
inline constexpr unsigned kWarp = 32;    // threads in a warp
inline constexpr unsigned kWarps = kBlock / kWarp;
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// Number of tiles for n items; the last one may be partly empty. For n = 0 there are none, and nothing is
// launched.
constexpr std::uint64_t tiles_for(std::uint64_t n, std::uint64_t tile_items = kTile) {
  return (n + tile_items - 1) / tile_items;
}

// --- Given: one tile, in the registers of one block. The scan of lab 2, but with the items in registers.

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

// --- Rung 1, task "two_levels": scan each tile, scan the tiles' sums, combine each tile with the sum of the
// tiles before it.
// Limits: bytes_ratio ≤ 2.15, launches ≤ 3.
// A block takes the tile with its own number. 4n items go through memory: read, write, read, write.

// Scans tile blockIdx.x on its own; stores its total in d_sums[blockIdx.x], unless d_sums is null (pass a
// null pointer of type Value*, because a template cannot deduce Value from nullptr). May work in place.
template <typename Value, typename Op>
__global__ void k01_scan_tiles(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_sums, Kind kind,
                               Op op) {
  // TODO(student): Scan tile blockIdx.x on its own, with the functions above. (roughly 6 lines)
}

// Combines d_carries[t], the total of everything left of tile t, with each item of tile t, as the left
// operand. Here t is blockIdx.x + 1, since tile 0 has nothing on its left.
template <typename Value, typename Op>
__global__ void k01_add_carries(Value* d_items, std::uint64_t n, const Value* d_carries, Op op) {
  // TODO(student): Combine the carry with every item of the tile. Not every operator is commutative. (roughly
  // 10 lines)
}

template <typename Op>
Status two_levels(const Job<Op>& job) {
  // TODO(student): Scan the tiles, scan their sums, and add the carries. Refuse more than kTwoLevelItems.
  // (roughly 15 lines)
  return not_implemented(job);
}

// --- Rung 2, task "recursive": the sums are an array, too, so scan them in the same way.
// Limits: bytes_ratio ≤ 2.15, launches ≤ 3.

// Scans n items of d_in into d_out (may be the same array), with the sums at d_free: tiles_for(n) Values for
// this level, then those of the levels above.
template <typename Value, typename Op>
void scan_level(const Value* d_in, std::uint64_t n, Value* d_out, Kind kind, Value* d_free, Op op,
                CUstream_st* stream) {
  // TODO(student): Do the same as for two_levels, but scan the sums by the same function. Each level needs
  // sums of its own. (roughly 7 lines)
  static_cast<void>(d_in), static_cast<void>(n), static_cast<void>(d_out), static_cast<void>(kind);
  static_cast<void>(d_free), static_cast<void>(op), static_cast<void>(stream);
}

template <typename Op>
Status recursive(const Job<Op>& job) {
  // TODO(student): If n = 0, there is nothing to do; otherwise call scan_level with the job's data. (roughly
  // 2 lines)
  return not_implemented(job);
}

// --- Rung 3, task "reduce_then_scan": the first pass only reduces; the last pass knows each tile's carry and
// writes once.
// Limits: bytes_ratio ≤ 1.7, launches ≤ 3.

// Stores the total of tile blockIdx.x in d_sums[blockIdx.x].
template <typename Value, typename Op>
__global__ void k03_fold_tiles(const Value* d_in, std::uint64_t n, Value* d_sums, Op op) {
  // TODO(student): Reduce tile blockIdx.x with the functions above. (roughly 4 lines)
}

// Scans tile blockIdx.x, starting with d_carries[blockIdx.x]; a null pointer means no carries. May work in
// place.
template <typename Value, typename Op>
__global__ void k03_scan_tiles(const Value* d_in, std::uint64_t n, Value* d_out, const Value* d_carries,
                               Kind kind, Op op) {
  // TODO(student): Do the same as in k01_scan_tiles, but finish_tile gets the tile's carry, and no sum is
  // stored. (roughly 5 lines)
}

// Like scan_level: scans n items of d_in into d_out (may be the same array), with the sums at d_free.
template <typename Value, typename Op>
void fold_and_scan_level(const Value* d_in, std::uint64_t n, Value* d_out, Kind kind, Value* d_free, Op op,
                         CUstream_st* stream) {
  // TODO(student): Reduce the tiles, scan the sums by the same function, then scan the tiles with their
  // carries. (roughly 9 lines)
  static_cast<void>(d_in), static_cast<void>(n), static_cast<void>(d_out), static_cast<void>(kind);
  static_cast<void>(d_free), static_cast<void>(op), static_cast<void>(stream);
}

template <typename Op>
Status reduce_then_scan(const Job<Op>& job) {
  // TODO(student): If n = 0, there is nothing to do; otherwise call fold_and_scan_level with the job's data.
  // (roughly 2 lines)
  return not_implemented(job);
}

// --- For rungs 4 and 5: communication between running blocks. All of it is given, except draw_tile.
// Job::d_flags holds a ticket counter in word 0 and the flag (the status) of tile t in word 1 + t. Values of
// a flag:
inline constexpr unsigned kEmpty = 0;   // nothing is available yet
inline constexpr unsigned kTotal = 1;   // rung 5: aggregate available, the total of the tile alone
inline constexpr unsigned kPrefix = 2;  // prefix available, the total of everything up to the end of the tile

// Relaxed atomic accesses: each call is one memory access that other blocks can see; the compiler keeps
// nothing in a register. They do not order other accesses; __threadfence() does.
__device__ inline unsigned load_flag(const std::uint32_t* d_flag) {
  return lab::load_relaxed(d_flag);
}
__device__ inline void store_flag(std::uint32_t* d_flag, unsigned state) {
  lab::store_relaxed(d_flag, state);
}

// Sets the words to kEmpty, one word per thread, because the contents of the scratch memory are undefined.
__global__ void k04_clear(std::uint32_t* d_words, std::uint64_t count) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < count) d_words[gid] = kEmpty;
}

// Returns the number of the tile that the calling block takes: 0 for the block that asks first, then 1, 2, …
// So the blocks of all tiles before t are running or done, and the block of tile t may wait for them. CUDA
// does not define the order in which blocks start: the block blockIdx.x - 1 might start only after this one
// ends, so waiting for it could take forever. Every thread must call it. It has one barrier.
__device__ inline unsigned draw_tile(std::uint32_t* d_ticket) {
  // TODO(student): Take the number once per block. (roughly 4 lines)
  return *d_ticket;
}

// --- Rung 4, task "chained": one pass; each tile waits for the prefix of the tile before it.
// Limits: bytes_ratio ≤ 1.15, launches ≤ 2.
template <typename Value, typename Op>
__global__ void k04_chained(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_prefixes,
                            std::uint32_t* d_flags, Kind kind, Op op) {
  // TODO(student): Scan the tile that draw_tile gives. Wait for the prefix of the tile before it, and publish
  // your own. (roughly 20 lines)
}

template <typename Op>
Status chained(const Job<Op>& job) {
  // TODO(student): Launch k04_clear, then k04_chained; job.d_sums takes the prefixes. (roughly 8 lines)
  return not_implemented(job);
}

// --- Rung 5, task "look_back" (bonus): a tile publishes its total at once; a tile that waits adds up the
// totals of the tiles before it.
// Limits: bytes_ratio ≤ 1.15, launches ≤ 2.

// Returns the total of all tiles left of tile `index`, whose own total is `total`. Publishes both, so that
// other tiles can continue. One thread of the block must call it. d_totals and d_prefixes are separate
// arrays, so that no value is overwritten while another thread may read it.
template <typename Op>
__device__ typename Op::Value look_back_by_thread(unsigned index, typename Op::Value total,
                                                  typename Op::Value* d_totals,
                                                  typename Op::Value* d_prefixes, std::uint32_t* d_flag,
                                                  Op op) {
  // TODO(student): Publish the total, combine what the tiles to the left have published, and publish the
  // prefix. A prefix contains all tiles to its left. (roughly 20 lines)
  static_cast<void>(index), static_cast<void>(d_totals);
  static_cast<void>(d_prefixes), static_cast<void>(d_flag);
  return op(total, op.identity());
}

template <typename Value, typename Op>
__global__ void k05_look_back(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_totals,
                              Value* d_prefixes, std::uint32_t* d_flags, Kind kind, Op op) {
  // TODO(student): Do the same as in k04_chained, but thread 0 gets the carry from look_back_by_thread.
  // (roughly 9 lines)
}

template <typename Op>
Status look_back(const Job<Op>& job) {
  // TODO(student): Do the same as for chained. job.d_sums has space for the totals, and for the prefixes
  // behind them. (roughly 8 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename Op>
Status solve(Rung rung, const Job<Op>& job) {
  switch (rung) {
    case Rung::two_levels: return two_levels(job);
    case Rung::recursive: return recursive(job);
    case Rung::reduce_then_scan: return reduce_then_scan(job);
    case Rung::chained: return chained(job);
    case Rung::look_back: return look_back(job);
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::hierarchical_scan
