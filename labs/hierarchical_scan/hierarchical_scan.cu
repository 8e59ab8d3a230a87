// SPDX-License-Identifier: MIT
// Hierarchical scan: your file.
// Read labs/hierarchical_scan/lab.hpp (Job, Kind, sizes), then handouts/07-hierarchical-scan.md.
// The scan of one tile is lab 2; it is given: read given.cuh in the same folder. You write the
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

#include "hierarchical_scan/given.cuh"

// --- Task 1, "two_levels": scan each tile, scan the tiles' sums, combine each tile with the sum of the
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

// --- Task 2, "recursive": the sums are an array, too, so scan them in the same way.
// Limits: bytes_ratio ≤ 2.15, launches ≤ 3.

// Scans n items of d_in into d_out (may be the same array), with the sums at d_free: tiles_for(n) Values for
// this level, then those of the levels above.
template <typename Value, typename Op>
void scan_level(const Value* d_in, std::uint64_t n, Value* d_out, Kind kind, Value* d_free, Op op,
                CUstream_st* stream) {
  // TODO(student): Do the same as for two_levels, but scan the sums by the same function. Each level needs
  // sums of its own. (roughly 7 lines)
}

template <typename Op>
Status recursive(const Job<Op>& job) {
  // TODO(student): If n = 0, there is nothing to do; otherwise call scan_level with the job's data. (roughly
  // 2 lines)
  return not_implemented(job);
}

// --- Task 3, "reduce_then_scan": the first pass only reduces; the last pass knows each tile's carry and
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
}

template <typename Op>
Status reduce_then_scan(const Job<Op>& job) {
  // TODO(student): If n = 0, there is nothing to do; otherwise call fold_and_scan_level with the job's data.
  // (roughly 2 lines)
  return not_implemented(job);
}

// --- For tasks 4 and 5: communication between running blocks. All of it is given, except draw_tile.
// Job::d_flags holds a ticket counter in word 0 and the flag (the status) of tile t in word 1 + t. Values of
// a flag:
inline constexpr unsigned kEmpty = 0;   // nothing is available yet
inline constexpr unsigned kTotal = 1;   // task 5: aggregate available, the total of the tile alone
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

// --- Task 4, "chained" (bonus): one pass; each tile waits for the prefix of the tile before it.
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

// --- Task 5, "look_back" (bonus): a tile publishes its total at once; a tile that waits adds up the
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
