// SPDX-License-Identifier: MIT
//@student // Stream compaction: your file. Read labs/compaction/lab.hpp first (predicates, Job), then handouts/03-compaction.md.
//@student // Work from the top down: each task is a few kernels and the host function that launches them. Grade one task with
//@student //   ./lab grade compaction --task three_kernels
//@student // Until you write it, a task answers "not implemented". Do not change the given lines at the end.
//@reference
// Stream compaction: the whole ladder, from three kernels over arrays of flags and positions to one pass at
// the memory's speed.
// Read from the top: each rung says what changed, why that should be faster, what it still wastes;
// predictions are for 2^24 int32 items of which half are kept, on a device that copies 4.2 TB/s and takes 2
// to 3 µs a launch. Lines that start with //@ steer the generator of the students' file
// (common/tools/make_skeleton.py).
// Invariant: every rung gives the same output for every (item type, predicate, n), n = 0 included; no rung
// writes d_in, or d_out past the kept items.
// Source: flags, scan, scatter: G. Blelloch, "Prefix Sums and Their Applications" (1990), section 1.3;
// ballots: M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures" (2009); looking back: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back" (2016).
//@end
#include "compaction/lab.hpp"
//@reference
#include "compaction/state_of_the_art.cuh"  // rung 7
//@end

namespace course::compaction {

inline constexpr unsigned kBlock = 256;     // threads in a block: a power of two
inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part

// Blocks that are needed to cover n items; at least one, so that n = 0 is answered too.
constexpr std::uint64_t blocks_for(std::uint64_t n, std::uint64_t items_per_block) {
  return n == 0 ? 1 : (n + items_per_block - 1) / items_per_block;
}

// What a thread learns from an exclusive scan over the threads of its block.
template <typename Value>
struct Scanned {
  Value before;  // sum of the values of the threads before this one
  Value total;   // sum of all of them
};

// Exclusive scan of one value per thread. All kBlock threads must call it; the result is valid in each of
// them. Hillis-Steele between two buffers: kBlock * log2 kBlock additions in log2 kBlock steps. 2 * kBlock
// Values of shared memory, 1 + log2 kBlock barriers. Calling it again needs a barrier in between.
template <typename Value>
__device__ Scanned<Value> block_scan(Value value) {
  //@solution Store the value in one of two shared arrays of kBlock Values; barrier. For stride 1, 2, 4 …: add to your sum what the
  //@hint thread `stride` below you holds (if there is one), store the sum in the *other* array; barrier; swap. At the end the
  //@hint sums are inclusive: what is before you is your sum less your own value; the total is the last thread's sum.
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
    __syncthreads();  // this round's writes before the next one's reads, and its reads before the next one's writes
  }
  return {sum - value, s_from[kBlock - 1]};
  //@end
}

// --- Rung 2, task "three_kernels": a flag for each item, the exclusive scan of the flags, every kept item to
// its place. Moves 4n (flags) + 4n + 8n (scan) + 16n (offsets) + 12n bytes besides reading the items twice
// and writing the kept ones.
//@reference
// Rung 1 is the CPU's (labs/compaction/baseline.hpp). Changed: the loop's `count++`, through which every item
// waits for the one before it, becomes a scan of ⌈log2 n⌉ steps. Why: all items are looked at, placed and
// moved at once; 250 µs against 60 ms for one core. Wastes: 9 bytes of memory traffic for each one that must
// move: flags and positions go through global memory up to four times, and a flag of one bit takes 4 bytes,
// then 8.
//@end
template <typename T, typename Keep>
__global__ void k02_flags(const T* d_in, std::uint64_t n, std::uint32_t* d_flags, Keep keep) {
  //@solution One item per thread: its flag is 1 if keep says so, else 0. Guard with the global index.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_flags[gid] = keep(d_in[gid]) ? 1 : 0;
  //@end
}

// d_scan[i] = sum of the values of i's block before i; d_totals[block] = sum of the block's values. d_scan
// may be d_values.
template <typename Value>
__global__ void k02_scan_blocks(const Value* d_values, std::uint64_t n, Index* d_scan, Index* d_totals) {
  //@solution One value per thread (past n: 0), as an Index; block_scan; store what is before it; thread 0 stores the total.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const Scanned<Index> scanned = block_scan(gid < n ? Index{d_values[gid]} : Index{0});
  if (gid < n) d_scan[gid] = scanned.before;
  if (threadIdx.x == 0) d_totals[blockIdx.x] = scanned.total;
  //@end
}

// Adds d_offsets[block] to the n values that k02_scan_blocks left: one for each block of kBlock.
__global__ void k02_add_offsets(Index* d_scan, std::uint64_t n, const Index* d_offsets) {
  //@solution One value per thread. Guard with the global index.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid < n) d_scan[gid] += d_offsets[blockIdx.x];
  //@end
}

// Given: exclusive scan of n values of any number, level by level (lab 7 takes this apart). Blocks scan their
// own values and leave their totals; the totals are scanned in the same way, in place, until one block holds
// them all; then each block's values get what all blocks before it add up to. d_spare: room for the totals of
// all levels, a little more than n / kBlock numbers.
template <typename Value>
void exclusive_scan(const Value* d_values, std::uint64_t n, Index* d_scan, Index* d_spare,
                    CUstream_st* stream) {
  const std::uint64_t n_blocks = blocks_for(n, kBlock);
  Index* d_totals = d_spare;
  k02_scan_blocks<<<static_cast<unsigned>(n_blocks), kBlock, 0, stream>>>(d_values, n, d_scan, d_totals);
  if (n_blocks == 1) return;
  exclusive_scan(d_totals, n_blocks, d_totals, d_spare + n_blocks, stream);
  k02_add_offsets<<<static_cast<unsigned>(n_blocks), kBlock, 0, stream>>>(d_scan, n, d_totals);
}

// Moves every item whose flag is 1 to its position, and says how many there are.
template <typename T>
__global__ void k02_scatter(const T* d_in, std::uint64_t n, const std::uint32_t* d_flags,
                            const Index* d_positions, T* d_out, Index* d_count) {
  //@solution One item per thread: d_out[d_positions[gid]] = d_in[gid] if its flag is set. The thread of the *last item* knows the
  //@hint count: the items before it, and itself if it is kept. For n = 0 there is no such thread: any one writes 0.
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
  //@solution Launch k02_flags, call exclusive_scan from job.d_flags to job.d_positions, launch k02_scatter.
  //@instead return not_implemented(job);
  const auto n_blocks = static_cast<unsigned>(blocks_for(job.n, kBlock));
  k02_flags<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_flags, job.keep);
  exclusive_scan(job.d_flags, job.n, job.d_positions, job.d_spare, job.stream);
  k02_scatter<<<n_blocks, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_flags, job.d_positions, job.d_out,
                                                   job.d_count);
  return Status::ok;
  //@end
}

// --- Rung 3, task "fused": flags and their scan never leave the block; global memory gets one number per
// block.
//@reference
// Changed: a first kernel counts the kept items of each block; the scan of the counts says where each block's
// output begins; a second kernel makes the flags again, scans them in shared memory and moves the items. Why:
// 12 bytes an item instead of 56 (items are read twice: asking the predicate again is cheaper than
// remembering the answer); 2.5 to 4 times rung 2. Wastes: the scan of one bit per thread goes 8 times through
// shared memory, and all 8 warps wait for each other at 9 barriers.
//@end
template <typename T, typename Keep>
__global__ void k03_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  //@solution One item per thread. __syncthreads_count(condition) is a barrier that tells every thread for how many of the block the
  //@hint condition holds; all threads must call it. Thread 0 stores the block's number.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const int n_kept = __syncthreads_count(gid < n && keep(d_in[gid]));
  if (threadIdx.x == 0) d_totals[blockIdx.x] = static_cast<Index>(n_kept);
  //@end
}

// d_offsets[block]: where the block's first kept item goes.
template <typename T, typename Keep>
__global__ void k03_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  //@solution Load one item per thread; its flag is 0 past n. block_scan of the flags (unsigned is enough for them) gives an item its
  //@hint rank in the block: its place is the block's offset plus the rank. One thread of the last block writes the count: the
  //@hint block's offset plus its total.
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
  //@solution Launch k03_count into job.d_spare, exclusive_scan those counts in place (the scan's own spare room begins behind
  //@hint them), launch k03_compact.
  //@instead return not_implemented(job);
  const std::uint64_t n_blocks = blocks_for(job.n, kBlock);
  Index* d_totals = job.d_spare;
  const auto grid = static_cast<unsigned>(n_blocks);
  k03_count<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.keep);
  exclusive_scan(d_totals, n_blocks, d_totals, d_totals + n_blocks, job.stream);
  k03_compact<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
}

// --- Rung 4, task "warp_aggregated": a warp's flags are the bits of one word; a tile has kRows items per
// thread.
inline constexpr unsigned kRows = 8;
inline constexpr unsigned kTile = kBlock * kRows;  // items of a block

// The calling lane's items of a tile, one of each of its warp's kRows rows. A row is 32 neighbouring items,
// lane l has the l-th.
template <typename T>
struct Rows {
  T item[kRows];
  unsigned kept[kRows];  // bit l: lane l's item of this row is kept; the same in all lanes
  unsigned n_kept;       // bits set in all of them
};

// Loads the calling warp's rows of a tile and asks the predicate. Warp w has the tile's items from w * kRows
// * 32 on. All 32 lanes must call it. Coalesced: lanes read neighbouring items. No shared memory, no barrier.
template <typename T, typename Keep>
__device__ Rows<T> load_rows(const T* d_in, std::uint64_t n, std::uint64_t tile, Keep keep) {
  //@solution First load item r of all rows r (those that exist), then __ballot_sync each row's answers. kRows loads under way are faster
  //@hint than one at a time. __popc counts the bits of a ballot.
  //@instead static_cast<void>(d_in);
  //@instead static_cast<void>(n);
  //@instead static_cast<void>(tile);
  //@instead static_cast<void>(keep);
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
// must call it; the result is valid in each of them. kBlock / 32 words of shared memory, 1 barrier. Calling
// it again needs a barrier in between.
__device__ inline Scanned<unsigned> scan_warps(unsigned n_kept) {
  //@solution Lane 0 of each warp stores the number; barrier; every thread adds up those of the warps before its own, and all of them:
  //@hint there are only kBlock / 32.
  //@instead return {n_kept, n_kept};
  __shared__ unsigned s_warp[kBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  if (lane == 0) s_warp[warp] = n_kept;
  __syncthreads();  // every warp's number is stored before all are read
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
  //@solution In each row, a kept item's rank is the number of bits below its lane's: __popc(kept & ((1u << lane) - 1)). The next row
  //@hint begins after this row's kept items.
  //@instead static_cast<void>(rows);
  //@instead static_cast<void>(position);
  //@instead static_cast<void>(d_out);
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
// Changed: __ballot_sync gives a warp its 32 flags in one word; the number of set bits below a lane *is* its
// exclusive scan. Eight items per thread share one barrier. Why: 8 rounds through shared memory and 9
// barriers shrink to two instructions and one barrier per 2,048 items, eight loads are in flight per thread,
// and there are eight times fewer counts to scan: near the memory's speed, about 60 µs, 1.5 to 2 times rung
// 3. Wastes: items are still read twice.
//@end
template <typename T, typename Keep>
__global__ void k04_count(const T* d_in, std::uint64_t n, Index* d_totals, Keep keep) {
  //@solution load_rows of tile blockIdx.x, scan_warps, thread 0 stores the total.
  const Rows<T> rows = load_rows(d_in, n, blockIdx.x, keep);
  const Scanned<unsigned> warps = scan_warps(rows.n_kept);
  if (threadIdx.x == 0) d_totals[blockIdx.x] = warps.total;
  //@end
}

template <typename T, typename Keep>
__global__ void k04_compact(const T* d_in, std::uint64_t n, const Index* d_offsets, T* d_out, Index* d_count,
                            Keep keep) {
  //@solution load_rows, scan_warps, scatter_rows from the block's offset plus what the warps before keep. One thread of the last block
  //@hint writes the count.
  const Rows<T> rows = load_rows(d_in, n, blockIdx.x, keep);
  const Scanned<unsigned> warps = scan_warps(rows.n_kept);
  const Index offset = d_offsets[blockIdx.x];
  scatter_rows(rows, offset + warps.before, d_out);
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *d_count = offset + warps.total;
  //@end
}

template <typename T, typename Keep>
Status warp_aggregated(const Job<T, Keep>& job) {
  //@solution As for fused, with tiles of kTile items.
  //@instead return not_implemented(job);
  const std::uint64_t n_tiles = blocks_for(job.n, kTile);
  Index* d_totals = job.d_spare;
  const auto grid = static_cast<unsigned>(n_tiles);
  k04_count<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.keep);
  exclusive_scan(d_totals, n_tiles, d_totals, d_totals + n_tiles, job.stream);
  k04_compact<<<grid, kBlock, 0, job.stream>>>(job.d_in, job.n, d_totals, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
}

// --- Rung 5, task "single_pass" (bonus): a tile learns where its output begins by looking back at the tiles
// before it.

// Given: what a tile lets the others know, in one word, so that a reader sees all of it or nothing: two bits
// say how much is known, the other 62 hold a number of kept items.
enum Known : unsigned {
  kNothing = 0,  // not counted yet
  kTotal = 1,    // the number: kept items of this tile alone
  kPrefix = 2,   // the number: kept items of all tiles up to and including this one
};
__host__ __device__ constexpr Index state_of(Known known, Index n_kept) {
  return Index{known} << 62 | n_kept;
}
__host__ __device__ constexpr Known known_of(Index state) {
  return static_cast<Known>(state >> 62);
}
__host__ __device__ constexpr Index number_of(Index state) {
  return state & ~(Index{3} << 62);
}

// Given: strong (relaxed) accesses to a state. A plain one might be kept in a register or split, and races.
__device__ inline void publish(Index* d_state, Index state) {
  *static_cast<volatile Index*>(d_state) = state;
}
__device__ inline Index look_at(const Index* d_state) {
  return *static_cast<const volatile Index*>(d_state);
}

// Given: the next number, from 0 on; thread-safe.
__device__ inline std::uint64_t draw_ticket(Index* d_ticket) {
  static_assert(sizeof(Index) == sizeof(unsigned long long));
  return atomicAdd(reinterpret_cast<unsigned long long*>(d_ticket), 1ull);
}

// Before anything else: no ticket drawn, nothing known of any tile. The workspace holds garbage until then.
__global__ void k05_reset(Index* d_ticket, Index* d_states, std::uint64_t n_tiles) {
  //@solution One state per thread is state_of(kNothing, 0); the first thread resets the ticket, too.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid == 0) *d_ticket = 0;
  if (gid < n_tiles) d_states[gid] = state_of(kNothing, 0);
  //@end
}

// The sum of 32 numbers, in every lane. All lanes of the warp must call it. 5 steps.
__device__ inline Index warp_sum(Index number) {
  //@solution Five rounds of __shfl_xor_sync, or lab 1's warp_fold and a broadcast.
  //@instead return number;
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
    number += __shfl_xor_sync(kFullMask, number, offset);
  return number;
  //@end
}

// Kept items of all tiles before `tile`, in every lane. One warp must call it, all lanes, with the same tile.
// Waits until the tiles before have published; each of them has drawn its ticket earlier, so it is running
// and will. 32 states at a time: from the nearest tile back to the first that knows its prefix, one step per
// 32 tiles.
__device__ inline Index look_back(const Index* d_states, std::uint64_t tile) {
  //@solution Lane l looks at the tile l + 1 places back; before tile 0 there is a prefix of 0. Look again while any lane sees kNothing.
  //@hint If some lane sees a prefix (__ballot_sync, __ffs), the nearest one counts and what is farther back does not: add up
  //@hint the numbers of the lanes up to it, and you are done. Else add up all 32 and go 32 tiles further back.
  //@instead static_cast<void>(d_states);
  //@instead static_cast<void>(tile);
  //@instead return warp_sum(0);
  const unsigned lane = threadIdx.x % kWarp;
  Index before = 0;
  for (std::uint64_t n_left = tile;; n_left -= kWarp) {  // tiles that are not added up yet
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

// Publishes the tile's total, looks back, publishes its prefix; gives the number of items that are kept
// before the tile. One warp must call it, all lanes; the result is valid in each.
__device__ inline Index chain_tile(Index* d_states, std::uint64_t tile, Index total) {
  //@solution Publish kTotal first, so that nobody waits for your look_back; then look_back; then publish kPrefix: what is before you, and
  //@hint your own total. One lane publishes.
  //@instead static_cast<void>(total);
  //@instead return look_back(d_states, tile);
  const unsigned lane = threadIdx.x % kWarp;
  if (lane == 0) publish(d_states + tile, state_of(kTotal, total));
  const Index before = look_back(d_states, tile);
  if (lane == 0) publish(d_states + tile, state_of(kPrefix, before + total));
  return before;
  //@end
}

//@reference
// Changed: instead of a kernel that counts and one that scans, each tile publishes its count and adds up
// those of the tiles before it, back to the nearest that knows its prefix. Tiles are numbered by a ticket, in
// the order in which blocks start: whoever waits, waits for a block that is running, on any device. Why:
// items are read once, 7 bytes an item instead of 11, and two launches are left: about 40 µs, 1.4 times rung
// 4. State and number share one word, so no fence is needed between them. Wastes: 32 lanes store a run of
// some 16 items that begins anywhere, so nearly every store touches a sector more than it fills; the block
// stands still while its first warp looks back.
//@end
template <typename T, typename Keep>
__global__ void k05_single_pass(const T* d_in, std::uint64_t n, Index* d_ticket, Index* d_states, T* d_out,
                                Index* d_count, Keep keep) {
  //@solution Thread 0 draws a ticket and tells the block: that is its tile (not blockIdx.x). load_rows, scan_warps. Warp 0 calls chain_tile
  //@hint and tells the block what is before it; whose tile is the last one writes the count. scatter_rows.
  __shared__ std::uint64_t s_tile;
  __shared__ Index s_before;
  if (threadIdx.x == 0) s_tile = draw_ticket(d_ticket);
  __syncthreads();  // the ticket is drawn before anybody reads it
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
  __syncthreads();  // warp 0 has stored where the tile begins before the others read it
  scatter_rows(rows, s_before + warps.before, d_out);
  //@end
}

template <typename T, typename Keep>
Status single_pass(const Job<T, Keep>& job) {
  //@solution Let the first number of job.d_spare be the ticket and the states begin behind it. Launch k05_reset, then
  //@hint k05_single_pass with a block per tile of kTile items.
  //@instead return not_implemented(job);
  const std::uint64_t n_tiles = blocks_for(job.n, kTile);
  Index* d_ticket = job.d_spare;
  Index* d_states = job.d_spare + 1;
  k05_reset<<<static_cast<unsigned>(blocks_for(n_tiles, kBlock)), kBlock, 0, job.stream>>>(d_ticket, d_states,
                                                                                           n_tiles);
  k05_single_pass<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      job.d_in, job.n, d_ticket, d_states, job.d_out, job.d_count, job.keep);
  return Status::ok;
  //@end
}

//@reference
// --- Rung 6: packs.
// Changed: (1) 16-byte loads and stores, both aligned whatever the arrays' addresses; (2) one warp scan
// counts four rows at a time, in the four bytes of a word; (3) the count is published at once, and while the
// first warp looks back the others already move their items to shared memory, side by side; (4) from there
// the tile leaves as one run. Why: 4 times fewer memory instructions, 4 times fewer scan instructions than
// with ballots, and no sector is written in part but the run's two ends: 6 bytes an item, 24 µs and two
// launches. It should reach 85 % of the copy ceiling at 2^28. Wastes: a tile's loads start only when its
// ticket is there.
inline constexpr unsigned kPackRows = 4;        // 16-byte loads of a thread, all under way at once
inline constexpr unsigned kResidentBlocks = 5;  // on a multiprocessor: 80 KB in flight, nothing spilled

// 16 bytes of items: what one lane can load or store with one instruction, at an address that is a multiple
// of 16.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(T);
  T item[kItems];
};

// Items between d_items and the aligned address at or before it.
template <typename T>
__host__ __device__ unsigned misaligned_items(const T* d_items) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d_items) % 16 / sizeof(T));
}

// Items of a tile. Tiles begin at aligned addresses, so the first one may begin before d_in: at
// -misaligned_items(d_in).
template <typename T>
inline constexpr unsigned kPackTile = kBlock* kPackRows* Pack<T>::kItems;

// The calling lane's items of a tile: warp w has rows of 32 packs from w * kPackRows * 32 packs on, lane l
// the l-th pack of each row.
template <typename T>
struct PackRows {
  Pack<T> pack[kPackRows];
  unsigned kept;  // bit r * kItems + j: item j of pack r is kept
};

// first: index of the tile's first item, -kItems < first. Items outside [0, n) are not read, and not kept.
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

// Kept items of the lane's packs, a byte for each row: a row of 32 packs keeps 128 items at most, so the
// bytes of a sum over the warp's lanes don't run over, and one scan of words is four scans.
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

// Stores the n_run items at s_run to d_out, in aligned packs but for the ends. The whole block must call it.
// s_run: aligned to 16 bytes, with room for a pack behind the run, whose contents don't matter.
template <typename T>
__device__ void store_run(const T* s_run, unsigned n_run, T* d_out) {
  constexpr unsigned kItems = Pack<T>::kItems;
  unsigned n_head = (kItems - misaligned_items(d_out)) % kItems;
  if (n_head > n_run) n_head = n_run;
  const unsigned n_packs = (n_run - n_head) / kItems;
  const unsigned tail = n_head + n_packs * kItems;
  if (threadIdx.x < n_head) d_out[threadIdx.x] = s_run[threadIdx.x];
  if (tail + threadIdx.x < n_run) d_out[tail + threadIdx.x] = s_run[tail + threadIdx.x];

  // Pack k of d_out lies across packs k and k + 1 of shared memory: two aligned reads, and each item's
  // register is known at compile time, since n_head is asked about outside.
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
    k06_packed(const T* d_in, std::uint64_t n, Index* d_ticket, Index* d_states, T* d_out, Index* d_count,
               Keep keep) {
  constexpr unsigned kItems = Pack<T>::kItems;
  __shared__ Pack<T> s_packs[kPackTile<T> / kItems + 1];
  __shared__ std::uint64_t s_tile;
  __shared__ Index s_before;
  T* s_run = s_packs[0].item;
  const unsigned lane = threadIdx.x % kWarp;
  if (threadIdx.x == 0) s_tile = draw_ticket(d_ticket);
  __syncthreads();  // the ticket is drawn before anybody reads it
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

  // Compact in shared memory: each kept item to its rank in the tile.
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

  // Where the run goes.
  if (threadIdx.x < kWarp) {
    const Index before = look_back(d_states, tile);
    if (threadIdx.x == 0) {
      if (tile != 0) publish(d_states + tile, state_of(kPrefix, before + warps.total));
      s_before = before;
      if (tile + 1 == gridDim.x) *d_count = before + warps.total;
    }
  }
  __syncthreads();  // the run and its place are in shared memory before any warp reads them
  store_run(s_run, warps.total, d_out + s_before);
}

template <typename T, typename Keep>
Status packed(const Job<T, Keep>& job) {
  const std::uint64_t n_tiles = blocks_for(job.n + misaligned_items(job.d_in), kPackTile<T>);
  Index* d_ticket = job.d_spare;
  Index* d_states = job.d_spare + 1;
  k05_reset<<<static_cast<unsigned>(blocks_for(n_tiles, kBlock)), kBlock, 0, job.stream>>>(d_ticket, d_states,
                                                                                           n_tiles);
  k06_packed<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(job.d_in, job.n, d_ticket, d_states,
                                                                        job.d_out, job.d_count, job.keep);
  return Status::ok;
}

//@end
// --- Given: which function answers which task.
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
