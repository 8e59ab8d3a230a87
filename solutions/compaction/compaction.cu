// SPDX-License-Identifier: MIT
//@student // Stream compaction: your file.
//@student // Read labs/compaction/lab.hpp (predicates, Job), then handouts/03-compaction.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is a few kernels and the host function that launches them.
//@student // Grade one task with
//@student //   ./lab grade compaction --task three_kernels
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Stream compaction: all rungs of the ladder, from three kernels over arrays of flags and positions to one
// pass near the memory's speed.
// Read from the top. Each rung says what changed, why that should be faster, and what drawbacks remain.
// The lines "Predicted (…)" are for int32 items of which half are kept.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariant: every rung gives the same output for every (item type, predicate, n), n = 0 included. No rung
// writes d_in, or d_out past the kept items.
// Source: flags, scan, scatter: G. Blelloch, "Prefix Sums and Their Applications" (1990), section 1.3;
// ballots: M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures" (2009); look-back: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back" (2016).
//@end
#include "compaction/lab.hpp"
#include "lab/atomic_access.cuh"
//@reference
#include "compaction/state_of_the_art.cuh"  // rung 6
//@end

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
  //@solution Use Hillis and Steele's rounds with two shared arrays.
  //@how Store the value in one of two shared arrays of kBlock Values, then wait at a barrier. Do a round
  //@how for each stride 1, 2, 4 …: add to your sum the value of the thread `stride` below you (if it
  //@how exists), and store the sum in the *other* array. After a barrier, the arrays exchange their
  //@how roles. At the end the sums are inclusive, so the sum before you is your sum minus your own
  //@how value. The total is the last thread's sum.
  //@instead return {value, value};
  __shared__ Value s_scan_a[kBlock], s_scan_b[kBlock];
  Value *s_from = s_scan_a, *s_to = s_scan_b;
  const unsigned tid = threadIdx.x;
  Value sum = value;
  s_from[tid] = sum;
  __syncthreads();  // every value is stored before a thread above reads it

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    if (tid >= stride) sum += s_from[tid - stride];
    s_to[tid] = sum;
    Value* const s_read = s_from;
    s_from = s_to;
    s_to = s_read;
    __syncthreads();  // this round's accesses come before the next round's accesses
  }
  return {sum - value, s_from[kBlock - 1]};
  //@end
}

// --- Task 1, "three_kernels": a flag for each item, the exclusive scan of the flags, and a move of
// every kept item to its position. Moves 4n (flags) + 4n + 8n (scan) + 16n (offsets) + 12n bytes; besides, it
// reads the items twice and writes the kept ones.
// Limits: bytes_ratio ≤ 12, launches ≤ 7.
//@reference
// Rung 0 is the CPU's loop (labs/compaction/baseline.hpp).
// Changed: in the loop, `count++` makes every item wait for the one before it. A scan of ⌈log2 n⌉ steps
// replaces it.
// Why: all items are tested and moved in parallel, and their positions are computed in parallel.
// Predicted (three_kernels, 2^24 items): 250 µs. Measured: 328.3 µs (H200, 2026-11-26).
// Drawback: it moves 9 times as many bytes as necessary. Flags and positions go through global memory up to
// four times; a flag is one bit of information, but it takes 4 bytes, and its position takes 8.
//@end
template <typename T, typename Keep>
__global__ void k01_flags(const T* d_in, std::uint64_t n, std::uint32_t* d_flags, Keep keep) {
  //@solution Set the flags: 1 for an item that is kept, otherwise 0.
  //@how Use one item per thread. Its flag is 1 if keep returns true, otherwise 0. Compare the global
  //@how index with n.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_flags[gid] = keep(d_in[gid]) ? 1 : 0;
  //@end
}

// d_scan[i] = sum of the values before i in the same block; d_totals[block] = sum of the block's values.
// d_scan may be the same array as d_values.
template <typename Value>
__global__ void k01_scan_blocks(const Value* d_values, std::uint64_t n, Index* d_scan, Index* d_totals) {
  //@solution Scan the block's values with block_scan, and store both results.
  //@how Use one value per thread (0 past n), as an Index. Call block_scan and store the sum before the
  //@how value. Thread 0 stores the total.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const Scanned<Index> scanned = block_scan(gid < n ? Index{d_values[gid]} : Index{0});
  if (gid < n) d_scan[gid] = scanned.before;
  if (threadIdx.x == 0) d_totals[blockIdx.x] = scanned.total;
  //@end
}

// Adds d_offsets[block] to the n results of k01_scan_blocks: one offset per block of kBlock results.
__global__ void k01_add_offsets(Index* d_scan, std::uint64_t n, const Index* d_offsets) {
  //@solution Use one value per thread. Compare the global index with n.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_scan[gid] += d_offsets[blockIdx.x];
  //@end
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
  //@solution Write the kept items and the count. Consider n = 0.
  //@how Use one item per thread. If its flag is set, d_out[d_positions[gid]] = d_in[gid]. The thread of
  //@how the *last item* can compute the count: the number of kept items before it, plus one if it is
  //@how kept itself. If n = 0, there is no such thread; then any one thread writes 0.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) {
    const bool kept = d_flags[gid] != 0;
    const Index position = d_positions[gid];
    if (kept) d_out[position] = d_in[gid];
    if (gid + 1 == n) *d_count = position + (kept ? 1 : 0);
  }
  if (n == 0 && gid == 0) *d_count = 0;
  //@end
}

template <typename T, typename Keep>
Status three_kernels(const Job<T, Keep>& job) {
  //@solution Launch the three steps: flags, exclusive_scan, scatter.
  //@how Launch k01_flags, call exclusive_scan from job.d_flags to job.d_positions, then launch
  //@how k01_scatter.
  //@instead return not_implemented(job);
  const auto n_blocks = static_cast<unsigned>(blocks_for(job.n, kBlock));
  k01_flags<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_flags, job.keep);
  exclusive_scan(job.d_flags, job.n, job.d_positions, job.d_spare, job.stream);
  k01_scatter<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_flags, job.d_positions, job.d_out,
                                                   job.d_count);
  return Status::ok;
  //@end
}

// --- Task 2, "fused": the flags and their scan stay in the block; only one number per block goes
// through global memory.
// Limits: bytes_ratio ≤ 2.2, launches ≤ 5.
//@reference
// Changed: a first kernel counts the kept items of each block; the scan of the counts gives the start of each
// block's output; a second kernel computes the flags again, scans them in shared memory and moves the items.
// Why: it moves 12 bytes per item instead of 56. The items are read twice, because it is cheaper to evaluate
// the predicate again than to store its result.
// Predicted (fused, against three_kernels, 2^24 items): 2.5× to 4×. Measured: 2.4× (H200, 2026-11-26).
// Drawback: the scan of one bit per thread goes through shared memory 8 times, and all 8 warps wait for
// each other at 9 barriers.
//@end
template <typename T, typename Keep>
__global__ void k02_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  //@solution Store how many items the block keeps (__syncthreads_count).
  //@how Use one item per thread. __syncthreads_count(condition) is a barrier that returns, in every
  //@how thread, the number of threads of the block for which the condition is true. All threads must
  //@how call it. Thread 0 stores the block's number.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const int n_kept = __syncthreads_count(gid < n && keep(d_in[gid]));
  if (threadIdx.x == 0) d_totals[blockIdx.x] = static_cast<Index>(n_kept);
  //@end
}

// d_offsets[block]: the position of the block's first kept item in d_out.
template <typename T, typename Keep>
__global__ void k02_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  //@solution Write the block's kept items to their positions. One thread of the grid writes the count.
  //@how Load one item per thread; its flag is 0 past n. The block_scan of the flags (as unsigned) gives
  //@how each item its rank in the block. Its position is the block's offset plus the rank. One thread of
  //@how the last block writes the count, which is the block's offset plus its total.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  T item{};
  if (gid < n) item = d_in[gid];
  const bool kept = gid < n && keep(item);
  const Scanned<unsigned> rank = block_scan(kept ? 1u : 0u);
  const Index offset = d_offsets[blockIdx.x];
  if (kept) d_out[offset + rank.before] = item;
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *d_count = offset + rank.total;
  //@end
}

template <typename T, typename Keep>
Status fused(const Job<T, Keep>& job) {
  //@solution Launch the three steps: count, exclusive_scan of the counts, compact. All numbers are in
  //@hint job.d_spare.
  //@how Launch k02_count with job.d_spare as output. Call exclusive_scan on these counts, in place; the
  //@how scan's own spare space begins behind them. Then launch k02_compact.
  //@instead return not_implemented(job);
  const std::uint64_t n_blocks = blocks_for(job.n, kBlock);
  Index* d_totals = job.d_spare;
  const auto grid = static_cast<unsigned>(n_blocks);
  k02_count<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.keep);
  exclusive_scan(d_totals, n_blocks, d_totals, d_totals + n_blocks, job.stream);
  k02_compact<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
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
  //@solution Load the rows with all loads in flight at once, and get the flags with __ballot_sync.
  //@how First load item r of all rows r (if it exists), then call __ballot_sync for each row: it is
  //@how faster to have kRows loads in flight at once than one at a time. __popc counts the bits of a
  //@how ballot.
  //@instead return {};
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const std::uint64_t first = tile * kTile + warp * (kRows * kWarp) + lane;
  Rows<T> rows;
  rows.n_kept = 0;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) rows.item[r] = first + r * kWarp < n ? d_in[first + r * kWarp] : T{};
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    rows.kept[r] = __ballot_sync(kFullMask, first + r * kWarp < n && keep(rows.item[r]));
    rows.n_kept += __popc(rows.kept[r]);
  }
  return rows;
  //@end
}

// Exclusive scan of one number per warp (n_kept is the same in all its lanes) over the block. All threads
// must call it; the result is valid in each of them. It uses kBlock / 32 words of shared memory and one
// barrier. Two calls need another barrier between them.
__device__ inline Scanned<unsigned> scan_warps(unsigned n_kept) {
  //@solution Exchange the numbers through shared memory.
  //@how Lane 0 of each warp stores the number. After a barrier, every thread adds up the numbers of the
  //@how warps before its own, and the numbers of all warps. There are only kBlock / 32 of them.
  //@instead return {n_kept, n_kept};
  __shared__ unsigned s_warp[kBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  if (lane == 0) s_warp[warp] = n_kept;
  __syncthreads();  // every warp's number is stored before the threads read them
  Scanned<unsigned> scanned{0, 0};
#pragma unroll
  for (unsigned w = 0; w < kBlock / kWarp; ++w) {
    if (w < warp) scanned.before += s_warp[w];
    scanned.total += s_warp[w];
  }
  return scanned;
  //@end
}

// Moves the kept items of a warp's rows to d_out[position …), in order. All 32 lanes must call it with the
// same position.
template <typename T>
__device__ void scatter_rows(const Rows<T>& rows, Index position, T* d_out) {
  //@solution Write each row's kept items behind those of the rows before it.
  //@how Within a row, a kept item's rank is the number of bits below its lane's: __popc(kept & ((1u <<
  //@how lane) - 1)). The output of the next row begins after this row's kept items.
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned lanes_below = (1u << lane) - 1;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    if ((rows.kept[r] >> lane & 1) != 0) d_out[position + __popc(rows.kept[r] & lanes_below)] = rows.item[r];
    position += __popc(rows.kept[r]);
  }
  //@end
}

//@reference
// Changed: __ballot_sync gives a warp its 32 flags in one word; the number of set bits below a lane *is* the
// exclusive scan. Eight items per thread share one barrier.
// Why: two instructions per row, and one barrier per 2,048 items, replace 8 rounds through shared memory and
// 9 barriers. Each thread has eight loads in flight, and there are eight times fewer counts to scan.
// Predicted (warp_aggregated, against fused, 2^24 items): 1.5× to 2×. Measured: 2.4× (H200, 2026-11-26).
// Drawback: items are still read twice.
//@end
template <typename T, typename Keep>
__global__ void k03_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  //@solution Store how many items of tile blockIdx.x are kept.
  //@how Call load_rows for tile blockIdx.x, then scan_warps. Thread 0 stores the total.
  const Rows<T> rows = load_rows(d_in, n, blockIdx.x, keep);
  const Scanned<unsigned> warps = scan_warps(rows.n_kept);
  if (threadIdx.x == 0) d_totals[blockIdx.x] = warps.total;
  //@end
}

template <typename T, typename Keep>
__global__ void k03_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  //@solution Write the kept items of tile blockIdx.x to their positions. One thread of the grid writes the
  //@hint count.
  //@how Call load_rows and scan_warps. Then call scatter_rows; the position is the block's offset plus
  //@how the number of items that the warps before keep. One thread of the last block writes the count.
  const Rows<T> rows = load_rows(d_in, n, blockIdx.x, keep);
  const Scanned<unsigned> warps = scan_warps(rows.n_kept);
  const Index offset = d_offsets[blockIdx.x];
  scatter_rows(rows, offset + warps.before, d_out);
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *d_count = offset + warps.total;
  //@end
}

template <typename T, typename Keep>
Status warp_aggregated(const Job<T, Keep>& job) {
  //@solution Do the same as for fused, with tiles of kTile items.
  //@instead return not_implemented(job);
  const std::uint64_t n_tiles = blocks_for(job.n, kTile);
  Index* d_totals = job.d_spare;
  const auto grid = static_cast<unsigned>(n_tiles);
  k03_count<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.keep);
  exclusive_scan(d_totals, n_tiles, d_totals, d_totals + n_tiles, job.stream);
  k03_compact<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
}

// --- Task 4, "single_pass" (bonus): a tile finds the start of its output by looking back at the tiles
// before it.
// Limits: bytes_ratio ≤ 1.4, launches ≤ 2.

// Runs before all other kernels: no ticket is taken, and no tile's status is available. Until then the
// workspace is undefined.
__global__ void k04_reset(Index* d_ticket, Index* d_states, std::uint64_t n_tiles) {
  //@solution Reset the ticket and the status of every tile.
  //@how Each thread sets one status to state_of(kNothing, 0); the first thread also resets the ticket.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid == 0) *d_ticket = 0;
  if (gid < n_tiles) d_states[gid] = state_of(kNothing, 0);
  //@end
}

// Returns the sum of 32 numbers in every lane, in 5 steps. All lanes of the warp must call it.
__device__ inline Index warp_sum(Index number) {
  //@solution Use shuffles.
  //@how Do five rounds of __shfl_xor_sync, or use lab 1's warp_fold and broadcast its result.
  //@instead return number;
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
    number += __shfl_xor_sync(kFullMask, number, offset);
  return number;
  //@end
}

// Number of kept items of all tiles before `tile`, in every lane. All lanes of one warp must call it, with
// the same tile. Waits until the tiles before have published. Each of them took its ticket earlier, so its
// block is running and will publish. Reads 32 tile statuses at a time, from the nearest tile back to the
// first one whose prefix is available; one step per 32 tiles.
__device__ inline Index look_back(const Index* d_states, std::uint64_t tile) {
  //@solution Add up what the tiles before have published. A prefix already contains all tiles before it.
  //@how Lane l reads the status of the tile l + 1 positions back; before tile 0 there is a prefix of 0.
  //@how Read again while any lane sees kNothing. If some lane sees a prefix (__ballot_sync, __ffs), use
  //@how the nearest one: add up the numbers of the lanes up to it, ignore the lanes behind it, and
  //@how return. Otherwise add up all 32 and continue 32 tiles further back.
  //@instead return warp_sum(0);
  const unsigned lane = threadIdx.x % kWarp;
  Index before = 0;
  for (std::uint64_t n_left = tile;; n_left -= kWarp) {  // number of tiles that are not added up yet
    Index state;
    do {
      state = lane < n_left ? look_at(d_states + (n_left - 1 - lane)) : state_of(kPrefix, 0);
    } while (__any_sync(kFullMask, known_of(state) == kNothing));

    const unsigned prefixes = __ballot_sync(kFullMask, known_of(state) == kPrefix);
    const unsigned nearest = prefixes != 0 ? __ffs(static_cast<int>(prefixes)) - 1 : kWarp - 1;
    before += warp_sum(lane <= nearest ? number_of(state) : 0);
    if (prefixes != 0) return before;
  }
  //@end
}

// Publishes the tile's total, looks back, and publishes its prefix; returns the number of items that are kept
// before the tile. All lanes of one warp must call it; the result is valid in each.
__device__ inline Index chain_tile(Index* d_states, std::uint64_t tile, Index total) {
  //@solution Publish the total as early as possible, and the prefix when it is known.
  //@how Publish kTotal first, so that no other tile waits for your look_back. Then call look_back. Then
  //@how publish kPrefix, which is the number of items before the tile plus its own total. Only one lane
  //@how publishes.
  //@instead return look_back(d_states, tile);
  const unsigned lane = threadIdx.x % kWarp;
  if (lane == 0) publish(d_states + tile, state_of(kTotal, total));
  const Index before = look_back(d_states, tile);
  if (lane == 0) publish(d_states + tile, state_of(kPrefix, before + total));
  return before;
  //@end
}

//@reference
// Changed: there are no kernels that count or scan. Each tile publishes its count and adds up the counts of
// the tiles before it, back to the nearest one whose prefix is available. Tiles get their numbers from a
// ticket, in the order in which blocks start, so a block waits only for blocks that are running, on any
// device. Status and number share one word, so no fence is needed between them.
// Why: items are read once, 7 bytes per item instead of 11, and only two launches are left.
// Predicted (single_pass, against warp_aggregated, 2^24 items): 1.4×. Measured: 0.74× (H200, 2026-11-26).
// Predicted (single_pass, against warp_aggregated, 2^20 items): no prediction. Measured: 1.3× (H200,
//   2026-11-26).
// Drawback: 32 lanes store about 16 items that can begin anywhere, so almost every store touches one more
// sector than it fills. The whole block waits while its first warp looks back.
//@end
template <typename T, typename Keep>
__global__ void k04_single_pass(const T* d_in, std::uint64_t n, Index* d_ticket, Index* d_states, T* d_out,
                                Index* d_count, Keep keep) {
  //@solution Compact one tile per block, in the order of the tickets. One thread of the grid writes the
  //@hint count.
  //@how Thread 0 takes a ticket and stores it in shared memory for the block. The ticket, not
  //@how blockIdx.x, is the tile's number. Call load_rows and scan_warps. Warp 0 calls chain_tile and
  //@how stores in shared memory how many items come before the tile. The block with the last tile writes
  //@how the count. Finally call scatter_rows.
  __shared__ std::uint64_t s_tile;
  __shared__ Index s_before;
  if (threadIdx.x == 0) s_tile = draw_ticket(d_ticket);
  __syncthreads();  // the ticket is stored before any thread reads it
  const std::uint64_t tile = s_tile;

  const Rows<T> rows = load_rows(d_in, n, tile, keep);
  const Scanned<unsigned> warps = scan_warps(rows.n_kept);
  if (threadIdx.x < kWarp) {
    const Index before = chain_tile(d_states, tile, warps.total);
    if (threadIdx.x == 0) {
      s_before = before;
      if (tile + 1 == gridDim.x) *d_count = before + warps.total;
    }
  }
  __syncthreads();  // warp 0 has stored the tile's start before the others read it
  scatter_rows(rows, s_before + warps.before, d_out);
  //@end
}

template <typename T, typename Keep>
Status single_pass(const Job<T, Keep>& job) {
  //@solution Launch k04_reset, then k04_single_pass. The ticket and the statuses are in job.d_spare.
  //@how Use the first number of job.d_spare as the ticket; the tile statuses begin behind it. Launch
  //@how k04_reset, then k04_single_pass with one block per tile of kTile items.
  //@instead return not_implemented(job);
  const std::uint64_t n_tiles = blocks_for(job.n, kTile);
  Index* d_ticket = job.d_spare;
  Index* d_states = job.d_spare + 1;
  k04_reset<<<static_cast<unsigned>(blocks_for(n_tiles, kBlock)), kBlock, 0, job.stream>>>(d_ticket, d_states,
                                                                                           n_tiles);
  k04_single_pass<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      job.d_in, job.n, d_ticket, d_states, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 5: vector loads and stores.
// Changed: (1) loads and stores have 16 bytes and are aligned, for arrays at any address; (2) one warp scan
// counts four rows at a time, in the four bytes of a word; (3) the count is published at once, and while the
// first warp looks back, the others already move their items together in shared memory; (4) from there the
// tile's output is stored as one contiguous run.
// Why: it needs 4 times fewer memory instructions, and 4 times fewer scan instructions than with ballots.
// Only the two ends of a run write a part of a sector: 6 bytes per item, and two launches.
// Predicted (packed, against single_pass, 2^24 items): 1.7×. Measured: 1.6× (H200, 2026-11-26).
// Drawback: a tile's loads start only after its ticket has arrived.
inline constexpr unsigned kPackRows = 4;        // 16-byte loads per thread, all in flight at once
inline constexpr unsigned kResidentBlocks = 5;  // per multiprocessor: 80 KB in flight, no register spills

// A 128-bit vector of items: one lane can load or store it with one instruction, at an address that is a
// multiple of 16.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(T);
  T item[kItems];
};

// Number of items between d_items and the last aligned address that is not after it.
template <typename T>
__host__ __device__ unsigned misaligned_items(const T* d_items) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d_items) % 16 / sizeof(T));
}

// Items per tile. Tiles begin at aligned addresses, so the first one may begin before d_in, at
// -misaligned_items(d_in).
template <typename T>
inline constexpr unsigned kPackTile = kBlock* kPackRows* Pack<T>::kItems;

// The calling lane's items of a tile: warp w has the rows of 32 vectors from vector w * kPackRows * 32 on;
// lane l has the l-th vector of each row.
template <typename T>
struct PackRows {
  Pack<T> pack[kPackRows];
  unsigned kept;  // bit r * kItems + j: item j of vector r is kept
};

// first: index of the tile's first item, -kItems < first. Items outside [0, n) are neither read nor kept.
template <typename T, typename Keep>
__device__ PackRows<T> load_packs(const T* d_in, std::uint64_t n, std::int64_t first, Keep keep) {
  constexpr unsigned kItems = Pack<T>::kItems;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  PackRows<T> rows;
  rows.kept = 0;
  const auto end = static_cast<std::int64_t>(n);
  if (first >= 0 && first + kPackTile<T> <= end) {
    const auto* d_packs = reinterpret_cast<const Pack<T>*>(d_in + first) + warp * (kPackRows * kWarp) + lane;
#pragma unroll
    for (unsigned r = 0; r < kPackRows; ++r) rows.pack[r] = d_packs[r * kWarp];
#pragma unroll
    for (unsigned r = 0; r < kPackRows; ++r) {
#pragma unroll
      for (unsigned j = 0; j < kItems; ++j) {
        if (keep(rows.pack[r].item[j])) rows.kept |= 1u << (r * kItems + j);
      }
    }
  } else {  // the array's first or last tile
#pragma unroll
    for (unsigned r = 0; r < kPackRows; ++r) {
#pragma unroll
      for (unsigned j = 0; j < kItems; ++j) {
        const std::int64_t i = first + ((warp * kPackRows + r) * kWarp + lane) * kItems + j;
        rows.pack[r].item[j] = i >= 0 && i < end ? d_in[i] : T{};
        if (i >= 0 && i < end && keep(rows.pack[r].item[j])) rows.kept |= 1u << (r * kItems + j);
      }
    }
  }
  return rows;
}

// Number of kept items in the lane's vectors, one byte per row. A row of 32 vectors keeps at most 128 items,
// so the bytes of a sum over the warp's lanes do not overflow, and one scan of words is four scans.
template <unsigned kItems>
__device__ unsigned counts_by_row(unsigned kept) {
  static_assert(kPackRows == 4 && kItems * kWarp <= 255);
  unsigned counts = 0;
#pragma unroll
  for (unsigned r = 0; r < kPackRows; ++r) {
    counts |= __popc(kept >> (r * kItems) & ((1u << kItems) - 1)) << (8 * r);
  }
  return counts;
}

// Stores the n_run items at s_run to d_out, as aligned vectors except at the ends. The whole block must call
// it. s_run is aligned to 16 bytes, with space for one vector after the run, whose contents do not matter.
template <typename T>
__device__ void store_run(const T* s_run, unsigned n_run, T* d_out) {
  constexpr unsigned kItems = Pack<T>::kItems;
  unsigned n_head = (kItems - misaligned_items(d_out)) % kItems;
  if (n_head > n_run) n_head = n_run;
  const unsigned n_packs = (n_run - n_head) / kItems;
  const unsigned tail = n_head + n_packs * kItems;
  if (threadIdx.x < n_head) d_out[threadIdx.x] = s_run[threadIdx.x];
  if (tail + threadIdx.x < n_run) d_out[tail + threadIdx.x] = s_run[tail + threadIdx.x];

  // Vector k of d_out lies across vectors k and k + 1 of shared memory, so it takes two aligned reads.
  // `shift` is a compile-time constant in each unrolled iteration, so `out` stays in registers.
  const auto* s_packs = reinterpret_cast<const Pack<T>*>(s_run);
  auto* d_packs = reinterpret_cast<Pack<T>*>(d_out + n_head);
#pragma unroll
  for (unsigned shift = 0; shift < kItems; ++shift) {
    if (shift != n_head) continue;
    for (unsigned k = threadIdx.x; k < n_packs; k += kBlock) {
      const Pack<T> low = s_packs[k], high = shift == 0 ? low : s_packs[k + 1];
      Pack<T> out;
#pragma unroll
      for (unsigned j = 0; j < kItems; ++j) {
        out.item[j] = j + shift < kItems ? low.item[j + shift] : high.item[j + shift - kItems];
      }
      d_packs[k] = out;
    }
  }
}

template <typename T, typename Keep>
__global__ void __launch_bounds__(kBlock, kResidentBlocks)
    k05_packed(const T* d_in, std::uint64_t n, Index* d_ticket, Index* d_states, T* d_out, Index* d_count,
               Keep keep) {
  constexpr unsigned kItems = Pack<T>::kItems;
  __shared__ Pack<T> s_packs[kPackTile<T> / kItems + 1];
  __shared__ std::uint64_t s_tile;
  __shared__ Index s_before;
  T* s_run = s_packs[0].item;
  const unsigned lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) s_tile = draw_ticket(d_ticket);
  __syncthreads();  // the ticket is stored before any thread reads it
  const std::uint64_t tile = s_tile;

  // Count: an inclusive scan over the lanes, of four rows at once.
  const auto first = static_cast<std::int64_t>(tile * kPackTile<T>) - misaligned_items(d_in);
  const PackRows<T> rows = load_packs(d_in, n, first, keep);
  const unsigned mine = counts_by_row<kItems>(rows.kept);
  unsigned up_to_me = mine;
#pragma unroll
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const unsigned below = __shfl_up_sync(kFullMask, up_to_me, offset);
    if (lane >= offset) up_to_me += below;
  }
  const unsigned by_row = __shfl_sync(kFullMask, up_to_me, kWarp - 1);
  unsigned n_warp = 0;
#pragma unroll
  for (unsigned r = 0; r < kPackRows; ++r) n_warp += by_row >> (8 * r) & 255;
  const Scanned<unsigned> warps = scan_warps(n_warp);
  if (threadIdx.x == 0) publish(d_states + tile, state_of(tile == 0 ? kPrefix : kTotal, warps.total));

  // Compact in shared memory: each kept item moves to its rank in the tile.
  unsigned row_begins = warps.before;
#pragma unroll
  for (unsigned r = 0; r < kPackRows; ++r) {
    unsigned rank = row_begins + ((up_to_me - mine) >> (8 * r) & 255);
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      if ((rows.kept >> (r * kItems + j) & 1) != 0) s_run[rank++] = rows.pack[r].item[j];
    }
    row_begins += by_row >> (8 * r) & 255;
  }

  // The start of the run in d_out.
  if (threadIdx.x < kWarp) {
    const Index before = look_back(d_states, tile);
    if (threadIdx.x == 0) {
      if (tile != 0) publish(d_states + tile, state_of(kPrefix, before + warps.total));
      s_before = before;
      if (tile + 1 == gridDim.x) *d_count = before + warps.total;
    }
  }
  __syncthreads();  // the run and its position are in shared memory before any warp reads them
  store_run(s_run, warps.total, d_out + s_before);
}

template <typename T, typename Keep>
Status packed(const Job<T, Keep>& job) {
  const std::uint64_t n_tiles = blocks_for(job.n + misaligned_items(job.d_in), kPackTile<T>);
  Index* d_ticket = job.d_spare;
  Index* d_states = job.d_spare + 1;
  k04_reset<<<static_cast<unsigned>(blocks_for(n_tiles, kBlock)), kBlock, 0, job.stream>>>(d_ticket, d_states,
                                                                                           n_tiles);
  k05_packed<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(job.d_in, job.n, d_ticket, d_states,
                                                                        job.d_out, job.d_count, job.keep);
  return Status::ok;
}

//@end
// --- Given: which function implements which task.
template <typename T, typename Keep>
Status solve(Rung rung, const Job<T, Keep>& job) {
  switch (rung) {
    case Rung::three_kernels: return three_kernels(job);
    case Rung::fused: return fused(job);
    case Rung::warp_aggregated: return warp_aggregated(job);
    case Rung::single_pass: return single_pass(job);
    //@reference
    case Rung::packed: return packed(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::compaction
