// SPDX-License-Identifier: MIT
// Stream compaction: your file.
// Read labs/compaction/lab.hpp (predicates, Job), then handouts/03-compaction.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is a few kernels and the host function that launches them.
// Grade one task with
//   ./lab grade compaction --task three_kernels
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "compaction/lab.hpp"
#include "lab/atomic_access.cuh"

namespace course::compaction {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

#include "compaction/given.cuh"

// Exclusive scan of one value per thread. All kBlock threads must call it; the result is valid in each of
// them.
// Hillis and Steele's algorithm with two buffers does kBlock * log2 kBlock additions in log2 kBlock steps. It
// uses 2 * kBlock Values of shared memory and 1 + log2 kBlock barriers. Two calls need another barrier
// between them.
template <typename Value>
__device__ Scanned<Value> block_scan(Value value) {
  // TODO(student): Use Hillis and Steele's rounds with two shared arrays. (roughly 15 lines)
  return {value, value};
}

// --- Task 1, "three_kernels": a flag for each item, the exclusive scan of the flags, and a move of
// every kept item to its position. Moves 4n (flags) + 4n + 8n (scan) + 16n (offsets) + 12n bytes; besides, it
// reads the items twice and writes the kept ones.
// Limits: bytes_ratio ≤ 12, launches ≤ 7.
template <typename T, typename Keep>
__global__ void k01_flags(const T* d_in, std::uint64_t n, std::uint32_t* d_flags, Keep keep) {
  // TODO(student): Set the flags: 1 for an item that is kept, otherwise 0. (roughly 2 lines)
}

// d_scan[i] = sum of the values before i in the same block; d_totals[block] = sum of the block's values.
// d_scan may be the same array as d_values.
template <typename Value>
__global__ void k01_scan_blocks(const Value* d_values, std::uint64_t n, Index* d_scan, Index* d_totals) {
  // TODO(student): Scan the block's values with block_scan, and store both results. (roughly 4 lines)
}

// Adds d_offsets[block] to the n results of k01_scan_blocks: one offset per block of kBlock results.
__global__ void k01_add_offsets(Index* d_scan, std::uint64_t n, const Index* d_offsets) {
  // TODO(student): Use one value per thread. Compare the global index with n. (roughly 2 lines)
}

// Given: exclusive scan of any number n of values, level by level (lab 7 explains it). Blocks scan their own
// values and store their totals; the totals are scanned in the same way, in place, until one block holds all
// of them; then each block's results get the sum of all blocks before it. d_spare has space for the totals of
// all levels, a little more than n / kBlock numbers.
template <typename Value>
void exclusive_scan(const Value* d_values, std::uint64_t n, Index* d_scan, Index* d_spare,
                    CUstream_st* stream) {
  const std::uint64_t n_blocks = blocks_for(n, kBlock);
  Index* d_totals = d_spare;
  k01_scan_blocks<<<static_cast<unsigned>(n_blocks), kBlock, 0, stream>>>(d_values, n, d_scan, d_totals);
  if (n_blocks == 1) return;
  exclusive_scan(d_totals, n_blocks, d_totals, d_spare + n_blocks, stream);
  k01_add_offsets<<<static_cast<unsigned>(n_blocks), kBlock, 0, stream>>>(d_scan, n, d_totals);
}

// Moves every item whose flag is 1 to its position, and stores how many there are.
template <typename T>
__global__ void k01_scatter(const T* d_in, std::uint64_t n, const std::uint32_t* d_flags,
                            const Index* d_positions, T* d_out, Index* d_count) {
  // TODO(student): Write the kept items and the count. Consider n = 0. (roughly 8 lines)
}

template <typename T, typename Keep>
Status three_kernels(const Job<T, Keep>& job) {
  // TODO(student): Launch the three steps: flags, exclusive_scan, scatter. (roughly 6 lines)
  return not_implemented(job);
}

// --- Task 2, "fused": the flags and their scan stay in the block; only one number per block goes
// through global memory.
// Limits: bytes_ratio ≤ 2.2, launches ≤ 5.
template <typename T, typename Keep>
__global__ void k02_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  // TODO(student): Store how many items the block keeps (__syncthreads_count). (roughly 3 lines)
}

// d_offsets[block]: the position of the block's first kept item in d_out.
template <typename T, typename Keep>
__global__ void k02_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  // TODO(student): Write the block's kept items to their positions. One thread of the grid writes the count.
  // (roughly 8 lines)
}

template <typename T, typename Keep>
Status fused(const Job<T, Keep>& job) {
  // TODO(student): Launch the three steps: count, exclusive_scan of the counts, compact. All numbers are in
  // job.d_spare. (roughly 7 lines)
  return not_implemented(job);
}

// --- Task 3, "warp_aggregated": the flags of a warp are the bits of one word; a tile has kRows items
// per thread.
// Limits: barriers per 1,024 items ≤ 8 (2 for a tile of 2,048 items, 1 in the scan of the counts), launches
//   ≤ 3.
inline constexpr unsigned kRows = 8;
inline constexpr unsigned kTile = kBlock * kRows;  // items per block

// The calling lane's items of a tile, one from each of its warp's kRows rows. A row is 32 neighbouring items;
// lane l has the l-th.
template <typename T>
struct Rows {
  T item[kRows];
  unsigned kept[kRows];  // bit l: lane l's item of this row is kept; the same in all lanes
  unsigned n_kept;       // number of bits set in all of them
};

// Loads the calling warp's rows of a tile and evaluates the predicate. Warp w has the tile's items from w *
// kRows * 32 on. All 32 lanes must call it. The loads are coalesced, because lanes read neighbouring items.
// The function needs no shared memory and no barrier.
template <typename T, typename Keep>
__device__ Rows<T> load_rows(const T* d_in, std::uint64_t n, std::uint64_t tile, Keep keep) {
  // TODO(student): Load the rows with all loads in flight at once, and get the flags with __ballot_sync.
  // (roughly 10 lines)
  return {};
}

// Exclusive scan of one number per warp (n_kept is the same in all its lanes) over the block. All threads
// must call it; the result is valid in each of them. It uses kBlock / 32 words of shared memory and one
// barrier. Two calls need another barrier between them.
__device__ inline Scanned<unsigned> scan_warps(unsigned n_kept) {
  // TODO(student): Exchange the numbers through shared memory. (roughly 10 lines)
  return {n_kept, n_kept};
}

// Moves the kept items of a warp's rows to d_out[position …), in order. All 32 lanes must call it with the
// same position.
template <typename T>
__device__ void scatter_rows(const Rows<T>& rows, Index position, T* d_out) {
  // TODO(student): Write each row's kept items behind those of the rows before it. (roughly 7 lines)
}

template <typename T, typename Keep>
__global__ void k03_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  // TODO(student): Store how many items of tile blockIdx.x are kept. (roughly 3 lines)
}

template <typename T, typename Keep>
__global__ void k03_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  // TODO(student): Write the kept items of tile blockIdx.x to their positions. One thread of the grid writes
  // the count. (roughly 5 lines)
}

template <typename T, typename Keep>
Status warp_aggregated(const Job<T, Keep>& job) {
  // TODO(student): Do the same as for fused, with tiles of kTile items. (roughly 7 lines)
  return not_implemented(job);
}

// --- Task 4, "single_pass" (bonus): a tile finds the start of its output by looking back at the tiles
// before it.
// Limits: bytes_ratio ≤ 1.4, launches ≤ 2.

// Runs before all other kernels: no ticket is taken, and no tile's status is available. Until then the
// workspace is undefined.
__global__ void k04_reset(Index* d_ticket, Index* d_states, std::uint64_t n_tiles) {
  // TODO(student): Reset the ticket and the status of every tile. (roughly 3 lines)
}

// Returns the sum of 32 numbers in every lane, in 5 steps. All lanes of the warp must call it.
__device__ inline Index warp_sum(Index number) {
  // TODO(student): Use shuffles. (roughly 3 lines)
  return number;
}

// Number of kept items of all tiles before `tile`, in every lane. All lanes of one warp must call it, with
// the same tile. Waits until the tiles before have published. Each of them took its ticket earlier, so its
// block is running and will publish. Reads 32 tile statuses at a time, from the nearest tile back to the
// first one whose prefix is available; one step per 32 tiles.
__device__ inline Index look_back(const Index* d_states, std::uint64_t tile) {
  // TODO(student): Add up what the tiles before have published. A prefix already contains all tiles before
  // it. (roughly 10 lines)
  return warp_sum(0);
}

// Publishes the tile's total, looks back, and publishes its prefix; returns the number of items that are kept
// before the tile. All lanes of one warp must call it; the result is valid in each.
__device__ inline Index chain_tile(Index* d_states, std::uint64_t tile, Index total) {
  // TODO(student): Publish the total as early as possible, and the prefix when it is known. (roughly 5 lines)
  return look_back(d_states, tile);
}

template <typename T, typename Keep>
__global__ void k04_single_pass(const T* d_in, std::uint64_t n, Index* d_ticket, Index* d_states, T* d_out,
                                Index* d_count, Keep keep) {
  // TODO(student): Compact one tile per block, in the order of the tickets. One thread of the grid writes the
  // count. (roughly 15 lines)
}

template <typename T, typename Keep>
Status single_pass(const Job<T, Keep>& job) {
  // TODO(student): Launch k04_reset, then k04_single_pass. The ticket and the statuses are in job.d_spare.
  // (roughly 8 lines)
  return not_implemented(job);
}

// --- Given: which function implements which task.
template <typename T, typename Keep>
Status solve(Rung rung, const Job<T, Keep>& job) {
  switch (rung) {
    case Rung::three_kernels: return three_kernels(job);
    case Rung::fused: return fused(job);
    case Rung::warp_aggregated: return warp_aggregated(job);
    case Rung::single_pass: return single_pass(job);
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::compaction
