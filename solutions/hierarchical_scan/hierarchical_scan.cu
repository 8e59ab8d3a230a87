// SPDX-License-Identifier: MIT
//@student // Hierarchical scan: your file.
//@student // Read labs/hierarchical_scan/lab.hpp (Job, Kind, sizes), then handouts/07-hierarchical-scan.md.
//@student // The scan of one tile is lab 2; it is given: read given.cuh in the same folder. You write the
//@student // levels above it, which combine many tiles into one scan. Work from the top down. Grade one task
//@student // with
//@student //   ./lab grade hierarchical_scan --task recursive
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Hierarchical scan: all rungs of the ladder, from two levels to one pass over memory.
// Read from the top. The given part (given.cuh of the lab) scans one tile in registers. Each rung says what
// changed, why that should be faster, and what drawbacks remain. The lines "Predicted (…)" are for int32
// items. Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariants: every rung gives a right answer for every (item type, operator, kind, n), n = 0 included,
// except that two_levels refuses long arrays. Operands keep their order, since Affine is not commutative. No
// rung writes d_in, and no rung reads scratch memory that it has not written.
//
// Sources: S. Sengupta, M. Harris, Y. Zhang, J. Owens, "Scan Primitives for GPU Computing" (2007), for rungs
// 1 to 3; D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVR-2016-002)
// for 5 to 7.
//@end
#include <cstring>

#include "hierarchical_scan/lab.hpp"
#include "lab/atomic_access.cuh"
//@reference
#include "hierarchical_scan/look_back.cuh"         // rungs 6 and 7
#include "hierarchical_scan/state_of_the_art.cuh"  // rung 8
//@end

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
//@reference
// Why: n / 2048 blocks work in parallel, and only the tiles' sums are scanned by one block.
// At sizes where two levels are enough, rung 2 does the same.
// Drawback: every result is written, read again and rewritten. One block scans the sums, so there must be
// at most as many sums as a tile has items: at most 2048^2 items.
//@end

// Scans tile blockIdx.x on its own; stores its total in d_sums[blockIdx.x], unless d_sums is null (pass a
// null pointer of type Value*, because a template cannot deduce Value from nullptr). May work in place.
template <typename Value, typename Op>
__global__ void k01_scan_tiles(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_sums, Kind kind,
                               Op op) {
  //@solution Scan tile blockIdx.x on its own, with the functions above.
  //@how Declare a Tile<Value>. Call load_tile, scan_packs, finish_tile with the identity as carry, and
  //@how store_tile. Thread 0 stores the value that scan_packs returned.
  Tile<Value> tile;
  load_tile(tile, d_in, n, blockIdx.x, op);
  const Value total = scan_packs(tile, op);
  finish_tile(tile, op.identity(), kind, op);
  store_tile(tile, d_out, n, blockIdx.x);
  if (threadIdx.x == 0 && d_sums != nullptr) d_sums[blockIdx.x] = total;
  //@end
}

// Combines d_carries[t], the total of everything left of tile t, with each item of tile t, as the left
// operand. Here t is blockIdx.x + 1, since tile 0 has nothing on its left.
template <typename Value, typename Op>
__global__ void k01_add_carries(Value* d_items, std::uint64_t n, const Value* d_carries, Op op) {
  //@solution Combine the carry with every item of the tile. Not every operator is commutative.
  //@how Load the tile, combine the carry with every item of every row (the carry is the left operand),
  //@how and store the tile.
  const std::uint64_t index = blockIdx.x + std::uint64_t{1};
  const Value carry = d_carries[index];
  Tile<Value> tile;
  load_tile(tile, d_items, n, index, op);
#pragma unroll
  for (unsigned r = 0; r < tile.kRows; ++r) {
#pragma unroll
    for (unsigned j = 0; j < tile.kPack; ++j) tile.row[r].item[j] = op(carry, tile.row[r].item[j]);
  }
  store_tile(tile, d_items, n, index);
  //@end
}

template <typename Op>
Status two_levels(const Job<Op>& job) {
  //@solution Scan the tiles, scan their sums, and add the carries. Refuse more than kTwoLevelItems.
  //@how Refuse more than kTwoLevelItems. If n = 0, there is nothing to do. Launch k01_scan_tiles on the
  //@how items with one block per tile. If there is more than one tile, launch it again on the sums with
  //@how one block, in place and exclusive. Then launch k01_add_carries. Use job.stream for all launches,
  //@how and kBlock threads per block.
  //@instead return not_implemented(job);
  if (job.n > kTwoLevelItems) return Status::unsupported;
  if (job.n == 0) return Status::ok;
  using Value = typename Op::Value;
  const unsigned n_tiles = static_cast<unsigned>(tiles_for(job.n));
  Value* const d_no_sums = nullptr;
  k01_scan_tiles<<<n_tiles, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.d_sums, job.kind,
                                                     job.op);
  if (n_tiles == 1) return Status::ok;
  const Value* d_sums = job.d_sums;
  k01_scan_tiles<<<1, kBlock, 0, job.stream>>>(d_sums, n_tiles, job.d_sums, d_no_sums, Kind::exclusive,
                                               job.op);
  k01_add_carries<<<n_tiles - 1, kBlock, 0, job.stream>>>(job.d_out, job.n, d_sums, job.op);
  return Status::ok;
  //@end
}

// --- Task 2, "recursive": the sums are an array, too, so scan them in the same way.
// Limits: bytes_ratio ≤ 2.15, launches ≤ 3.
//@reference
// Changed: the scan of the sums calls the whole procedure again, until a level has one tile.
// Why: n is no longer limited. Each level is 2048 times shorter, so the levels above the first cost hardly
// more than their launches (2 each). Three levels are needed from 4M items on, four from 8.6G.
// Predicted (recursive, 2^24 items): 73 µs. Measured: 76.3 µs (H200, 2026-11-26).
// Drawback: 4n items go through memory, as in rung 1.
//@end

// Scans n items of d_in into d_out (may be the same array), with the sums at d_free: tiles_for(n) Values for
// this level, then those of the levels above.
template <typename Value, typename Op>
void scan_level(const Value* d_in, std::uint64_t n, Value* d_out, Kind kind, Value* d_free, Op op,
                CUstream_st* stream) {
  //@solution Do the same as for two_levels, but scan the sums by the same function. Each level needs sums of
  //@hint its own.
  //@how If there is one tile, launch k01_scan_tiles without sums and return. Otherwise launch
  //@how k01_scan_tiles with the sums at d_free. Call scan_level for the sums, exclusive and in place,
  //@how with the memory behind them as d_free. Then launch k01_add_carries.
  const std::uint64_t n_tiles = tiles_for(n);
  Value* const d_sums = n_tiles == 1 ? nullptr : d_free;
  k01_scan_tiles<<<static_cast<unsigned>(n_tiles), kBlock, 0, stream>>>(d_in, n, d_out, d_sums, kind, op);
  if (n_tiles == 1) return;
  scan_level<Value>(d_sums, n_tiles, d_sums, Kind::exclusive, d_sums + n_tiles, op, stream);
  const Value* d_carries = d_sums;
  k01_add_carries<<<static_cast<unsigned>(n_tiles - 1), kBlock, 0, stream>>>(d_out, n, d_carries, op);
  //@end
}

template <typename Op>
Status recursive(const Job<Op>& job) {
  //@solution If n = 0, there is nothing to do; otherwise call scan_level with the job's data.
  //@instead return not_implemented(job);
  if (job.n > 0) scan_level(job.d_in, job.n, job.d_out, job.kind, job.d_sums, job.op, job.stream);
  return Status::ok;
  //@end
}

// --- Task 3, "reduce_then_scan": the first pass only reduces; the last pass knows each tile's carry and
// writes once.
// Limits: bytes_ratio ≤ 1.7, launches ≤ 3.
//@reference
// Changed: the first pass reduces each tile and writes only the sum. The tiles are scanned in the last pass,
// when their carries are known.
// Why: two reads and one write move 3n items instead of 4n, which takes a quarter less time. The arithmetic
// is about that of rung 2, which combined the carries in a separate pass.
// Predicted (reduce_then_scan, against recursive, 2^24 items): 1.2×. Measured: 1.3× (H200, 2026-11-26).
// Drawback: every item is read twice.
//@end

// Stores the total of tile blockIdx.x in d_sums[blockIdx.x].
template <typename Value, typename Op>
__global__ void k03_fold_tiles(const Value* d_in, std::uint64_t n, Value* d_sums, Op op) {
  //@solution Reduce tile blockIdx.x with the functions above.
  //@how Call load_tile and scan_packs. Thread 0 stores the value that scan_packs returned. (The compiler
  //@how removes the computations that you do not use.)
  Tile<Value> tile;
  load_tile(tile, d_in, n, blockIdx.x, op);
  const Value total = scan_packs(tile, op);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = total;
  //@end
}

// Scans tile blockIdx.x, starting with d_carries[blockIdx.x]; a null pointer means no carries. May work in
// place.
template <typename Value, typename Op>
__global__ void k03_scan_tiles(const Value* d_in, std::uint64_t n, Value* d_out, const Value* d_carries,
                               Kind kind, Op op) {
  //@solution Do the same as in k01_scan_tiles, but finish_tile gets the tile's carry, and no sum is stored.
  Tile<Value> tile;
  load_tile(tile, d_in, n, blockIdx.x, op);
  scan_packs(tile, op);
  finish_tile(tile, d_carries == nullptr ? op.identity() : d_carries[blockIdx.x], kind, op);
  store_tile(tile, d_out, n, blockIdx.x);
  //@end
}

// Like scan_level: scans n items of d_in into d_out (may be the same array), with the sums at d_free.
template <typename Value, typename Op>
void fold_and_scan_level(const Value* d_in, std::uint64_t n, Value* d_out, Kind kind, Value* d_free, Op op,
                         CUstream_st* stream) {
  //@solution Reduce the tiles, scan the sums by the same function, then scan the tiles with their carries.
  //@how If there is one tile, launch k03_scan_tiles without carries and return. Otherwise launch
  //@how k03_fold_tiles, which writes to d_free. Call this function for the sums, exclusive and in place.
  //@how Then launch k03_scan_tiles with the sums as carries.
  const std::uint64_t n_tiles = tiles_for(n);
  const unsigned grid = static_cast<unsigned>(n_tiles);
  const Value* d_carries = nullptr;
  if (n_tiles > 1) {
    k03_fold_tiles<<<grid, kBlock, 0, stream>>>(d_in, n, d_free, op);
    fold_and_scan_level<Value>(d_free, n_tiles, d_free, Kind::exclusive, d_free + n_tiles, op, stream);
    d_carries = d_free;
  }
  k03_scan_tiles<<<grid, kBlock, 0, stream>>>(d_in, n, d_out, d_carries, kind, op);
  //@end
}

template <typename Op>
Status reduce_then_scan(const Job<Op>& job) {
  //@solution If n = 0, there is nothing to do; otherwise call fold_and_scan_level with the job's data.
  //@instead return not_implemented(job);
  if (job.n > 0) fold_and_scan_level(job.d_in, job.n, job.d_out, job.kind, job.d_sums, job.op, job.stream);
  return Status::ok;
  //@end
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
  //@solution Take the number once per block.
  //@how Thread 0 takes the number with atomicAdd and stores it in shared memory for the block. All
  //@how threads wait at a barrier before they read it.
  //@instead return *d_ticket;
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = atomicAdd(d_ticket, 1u);
  __syncthreads();  // thread 0 has stored the number before the others read it
  return s_tile;
  //@end
}

// --- Task 4, "chained" (bonus): one pass; each tile waits for the prefix of the tile before it.
// Limits: bytes_ratio ≤ 1.15, launches ≤ 2.
//@reference
// Changed: the one kernel also scans the sums, as a chain: block t waits for the total of tiles 0 … t - 1,
// combines it with its own, and publishes the result.
// Why: every item is read once and written once: 2n items, half of rung 2's. Nevertheless it should be slow:
// the chain has n / 2048 = 8192 links for 2^24 items, and each needs a store, a fence, a load and a fence
// through the L2 cache.
// Predicted (chained, 2^24 items): 8 ms. Measured: 8.54 ms (H200, 2026-11-26).
// Drawback: almost all of its time is waiting. Fewer bytes do not help here, because the longest chain of
// dependent operations is the limiter.
//@end
template <typename Value, typename Op>
__global__ void k04_chained(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_prefixes,
                            std::uint32_t* d_flags, Kind kind, Op op) {
  //@solution Scan the tile that draw_tile gives. Wait for the prefix of the tile before it, and publish your
  //@hint own.
  //@how Call draw_tile, load_tile and scan_packs. Unless the tile is 0, thread 0 waits in a loop until
  //@how the flag of the tile before is kPrefix, calls __threadfence(), and reads that tile's prefix,
  //@how which is the carry. It stores the tile's own prefix, calls __threadfence(), and sets the tile's
  //@how flag. It stores the carry in shared memory for the block. After a barrier, call finish_tile and
  //@how store_tile.
  __shared__ Value s_carry;
  std::uint32_t* const d_flag = d_flags + 1;
  const unsigned index = draw_tile(d_flags);
  Tile<Value> tile;
  load_tile(tile, d_in, n, index, op);
  const Value total = scan_packs(tile, op);
  if (threadIdx.x == 0) {
    Value carry = op.identity();
    if (index > 0) {
      while (load_flag(d_flag + index - 1) != kPrefix) {
      }
      __threadfence();  // the prefix is read after its flag
      carry = d_prefixes[index - 1];
    }
    d_prefixes[index] = op(carry, total);
    __threadfence();  // the prefix is visible to the device before its flag is
    store_flag(d_flag + index, kPrefix);
    s_carry = carry;
  }
  __syncthreads();  // thread 0 has stored the carry before the others read it
  finish_tile(tile, s_carry, kind, op);
  store_tile(tile, d_out, n, index);
  //@end
}

template <typename Op>
Status chained(const Job<Op>& job) {
  //@solution Launch k04_clear, then k04_chained; job.d_sums takes the prefixes.
  //@how If n = 0, there is nothing to do. Clear the ticket and the flags with k04_clear, then launch
  //@how k04_chained; job.d_sums takes the prefixes.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  const std::uint64_t n_tiles = tiles_for(job.n);
  const std::uint64_t n_words = 1 + n_tiles;
  k04_clear<<<static_cast<unsigned>(tiles_for(n_words, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                          n_words);
  k04_chained<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.d_out, job.d_sums, job.d_flags, job.kind, job.op);
  return Status::ok;
  //@end
}

// --- Task 5, "look_back" (bonus): a tile publishes its total at once; a tile that waits adds up the
// totals of the tiles before it.
// Limits: bytes_ratio ≤ 1.15, launches ≤ 2.
//@reference
// Changed: two values of a tile can be published: its total, as soon as the tile is loaded, and its prefix,
// as soon as its carry is known. A tile adds up the totals to its left until it finds a prefix.
// Why: a tile no longer waits for a chain of other tiles, only for their totals, which depend on nothing
// else. Many tiles compute their carries at the same time, and each new prefix shortens the look-back of the
// tiles after it.
// Predicted (look_back, against chained, 2^24 items): 10× to 20×. Measured: 27× (H200, 2026-11-26).
// Drawback: one thread looks back, tile by tile, with two dependent loads and a fence per tile. A tile of
// 8 KB is scanned quickly, so there are many look-backs. Timing decides which prefix a look-back finds. This
// changes the association order, so floating-point sums differ from run to run; integer sums do not.
//@end

// Returns the total of all tiles left of tile `index`, whose own total is `total`. Publishes both, so that
// other tiles can continue. One thread of the block must call it. d_totals and d_prefixes are separate
// arrays, so that no value is overwritten while another thread may read it.
template <typename Op>
__device__ typename Op::Value look_back_by_thread(unsigned index, typename Op::Value total,
                                                  typename Op::Value* d_totals,
                                                  typename Op::Value* d_prefixes, std::uint32_t* d_flag,
                                                  Op op) {
  //@solution Publish the total, combine what the tiles to the left have published, and publish the prefix. A
  //@hint prefix contains all tiles to its left.
  //@how Unless the tile is 0, publish the total (value, fence, flag kTotal). Then go through the tiles
  //@how to the left, nearest first. For each tile, wait in a loop until its flag is not kEmpty, then
  //@how execute a fence. Combine its prefix or its total with the carry, which is the right operand.
  //@how Stop after a prefix. Finally publish the prefix (value, fence, flag kPrefix) and return the
  //@how carry.
  //@instead return op(total, op.identity());
  using Value = typename Op::Value;
  Value carry = op.identity();
  if (index > 0) {
    d_totals[index] = total;
    __threadfence();  // the total is visible to the device before its flag is
    store_flag(d_flag + index, kTotal);
  }
  for (unsigned left = index; left-- > 0;) {
    unsigned state = kEmpty;
    while ((state = load_flag(d_flag + left)) == kEmpty) {
    }
    __threadfence();  // the value is read after its flag
    carry = op(state == kPrefix ? d_prefixes[left] : d_totals[left], carry);
    if (state == kPrefix) break;
  }
  d_prefixes[index] = op(carry, total);
  __threadfence();  // the prefix is visible to the device before its flag is
  store_flag(d_flag + index, kPrefix);
  return carry;
  //@end
}

template <typename Value, typename Op>
__global__ void k05_look_back(const Value* d_in, std::uint64_t n, Value* d_out, Value* d_totals,
                              Value* d_prefixes, std::uint32_t* d_flags, Kind kind, Op op) {
  //@solution Do the same as in k04_chained, but thread 0 gets the carry from look_back_by_thread.
  __shared__ Value s_carry;
  const unsigned index = draw_tile(d_flags);
  Tile<Value> tile;
  load_tile(tile, d_in, n, index, op);
  const Value total = scan_packs(tile, op);
  if (threadIdx.x == 0) s_carry = look_back_by_thread(index, total, d_totals, d_prefixes, d_flags + 1, op);
  __syncthreads();  // thread 0 has stored the carry before the others read it
  finish_tile(tile, s_carry, kind, op);
  store_tile(tile, d_out, n, index);
  //@end
}

template <typename Op>
Status look_back(const Job<Op>& job) {
  //@solution Do the same as for chained. job.d_sums has space for the totals, and for the prefixes behind
  //@hint them.
  //@instead return not_implemented(job);
  if (job.n == 0) return Status::ok;
  const std::uint64_t n_tiles = tiles_for(job.n);
  const std::uint64_t n_words = 1 + n_tiles;
  k04_clear<<<static_cast<unsigned>(tiles_for(n_words, kBlock)), kBlock, 0, job.stream>>>(job.d_flags,
                                                                                          n_words);
  k05_look_back<<<static_cast<unsigned>(n_tiles), kBlock, 0, job.stream>>>(
      job.d_in, job.n, job.d_out, job.d_sums, job.d_sums + n_tiles, job.d_flags, job.kind, job.op);
  return Status::ok;
  //@end
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
    //@reference
    case Rung::one_word: return one_word(job);
    case Rung::warp_look_back: return warp_look_back(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::hierarchical_scan
