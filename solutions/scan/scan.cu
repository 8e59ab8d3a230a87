// SPDX-License-Identifier: MIT
//@student // Scan: your file. Read labs/scan/lab.hpp first (what is computed, Job), then handouts/02-scan.md.
//@student // Work from the top down: each task is a kernel and the host function that launches it. Grade one task with
//@student //   ./lab grade scan --task hillis_steele
//@student // Until you write it, a task answers "not implemented". Do not change the given lines at the end.
//@reference
// Scan: the whole ladder, from a thread per result to the device's memory speed, for rows that one block can hold.
// Read from the top: each rung says what changed, why that should be faster, what it still wastes; predictions are
// for 2^22 int32 items in rows of 1,024, by the simulator's model of an H200. Lines that start with //@ steer the
// generator of the students' file (common/tools/make_skeleton.py).
// Invariant: every rung gives the same answer for every (operator, kind, n, row_length up to its own limit), never
// swaps the operands of op, and writes nothing but d_out (global_rounds: and d_scratch).
// Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM 29(12), 1986, for rungs 2 and 3; G. Blelloch,
// "Prefix Sums and Their Applications", 1990, for 4 to 6 and the segmented operator; P. Kogge, H. Stone, IEEE Trans.
// Comput. C-22(8), 1973, for 7. Here generic, for rows of any length and at any address.
//@end
#include "scan/lab.hpp"

namespace course::scan {

inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part
inline constexpr unsigned kBlock = 256;     // threads in a block, where the row doesn't decide

// --- Given: where a row lies. `length` is row_length, less in the last row, 0 for a row that does not exist.
struct Row {
  std::uint64_t first;  // index of its first item
  unsigned length;
};
template <typename Op>
__device__ Row row_of(const Job<Op>& job, std::uint64_t row) {
  const std::uint64_t first = row * job.row_length;
  if (first >= job.n) return {job.n, 0};
  const std::uint64_t left = job.n - first;
  return {first, left < job.row_length ? static_cast<unsigned>(left) : job.row_length};
}

// The smallest power of two that is not below `length`: leaves of a balanced tree over a row.
constexpr unsigned leaves_for(unsigned length) {
  unsigned leaves = 1;
  while (leaves < length) leaves *= 2;
  return leaves;
}

// Shuffles for values of any type whose size is a multiple of 4, word by word. All 32 lanes must call them.
// The value of the lane `offset` below; the lanes below `offset` get their own back.
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned offset) {
  static_assert(sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_up_sync(kFullMask, word, offset);
  memcpy(&value, words, sizeof value);
  return value;
}

//@reference
// The value of lane `from`, for every lane.
template <typename Value>
__device__ Value shuffle_from(Value value, unsigned from) {
  static_assert(sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_sync(kFullMask, word, from);
  memcpy(&value, words, sizeof value);
  return value;
}

// --- Rung 1: a thread for each result folds its prefix from the row's start.
// n/row_length · row_length²/2 operations: 512 times the loop's for rows of 1,024. Why look at it: it needs no
// cooperation, and shows what "parallel" costs when nobody shares a partial result: 540 µs, 16 times rung 3. Wastes:
// nearly all of its work; its last lane waits for row_length operations in a row.
template <typename Op>
__global__ void k01_brute_force(Job<Op> job) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= job.n) return;
  const std::uint64_t first = gid - gid % job.row_length;
  const std::uint64_t last = job.kind == Kind::inclusive ? gid + 1 : gid;
  auto total = job.op.identity();
  for (std::uint64_t i = first; i < last; ++i) total = job.op(total, job.d_in[i]);
  job.d_out[gid] = total;
}

template <typename Op>
Status brute_force(const Job<Op>& job) {
  const auto n_blocks = static_cast<unsigned>((job.n + kBlock - 1) / kBlock);
  if (n_blocks > 0) k01_brute_force<<<n_blocks, kBlock, 0, job.stream>>>(job);
  return Status::ok;
}

// --- Rung 2: Hillis and Steele's rounds in global memory, one launch each; rows of any length.
// Changed: in the round of `offset` = 1, 2, 4 … result k becomes result[k - offset] op result[k], so every value
// covers twice as many items as before: ⌈log2 row_length⌉ rounds instead of row_length steps. No thread may write
// what another still has to read: two buffers take turns, and a launch's end is the barrier between two rounds.
// Why: 9 · n operations, not 512 · n: 3 to 4 times as fast. Wastes: each round moves the whole array through memory
// twice, 8n bytes, and costs a launch: 127n bytes for rows of 1,024, as unaligned neighbours cost
// another sector, where 8n would do.

// Round 0: the items as they are, or moved one place to the right with the identity in front: an inclusive scan of
// *that* is the exclusive scan of the items.
template <typename Op>
__global__ void k02_first_round(Job<Op> job, typename Op::Value* d_to) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= job.n) return;
  if (job.kind == Kind::inclusive) {
    d_to[gid] = job.d_in[gid];
  } else {
    d_to[gid] = gid % job.row_length == 0 ? job.op.identity() : job.d_in[gid - 1];
  }
}

template <typename Op>
__global__ void k02_round(Job<Op> job, const typename Op::Value* d_from, typename Op::Value* d_to,
                          std::uint64_t offset) {
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= job.n) return;
  const auto value = d_from[gid];
  d_to[gid] = gid % job.row_length < offset ? value : job.op(d_from[gid - offset], value);
}

template <typename Op>
Status global_rounds(const Job<Op>& job) {
  using Value = typename Op::Value;
  if (job.n == 0) return Status::ok;
  const auto n_blocks = static_cast<unsigned>((job.n + kBlock - 1) / kBlock);
  const std::uint64_t longest = job.n < job.row_length ? job.n : job.row_length;
  unsigned n_rounds = 0;
  for (std::uint64_t offset = 1; offset < longest; offset *= 2) ++n_rounds;
  // The last round has to end in d_out.
  Value* d_to = n_rounds % 2 == 0 ? job.d_out : job.d_scratch;
  Value* d_spare = n_rounds % 2 == 0 ? job.d_scratch : job.d_out;
  k02_first_round<<<n_blocks, kBlock, 0, job.stream>>>(job, d_to);
  for (std::uint64_t offset = 1; offset < longest; offset *= 2) {
    const Value* d_from = d_to;
    d_to = d_spare;
    d_spare = const_cast<Value*>(d_from);
    k02_round<<<n_blocks, kBlock, 0, job.stream>>>(job, d_from, d_to, offset);
  }
  return Status::ok;
}

//@end
// --- Rung 3, task "hillis_steele": a block for each row, a thread for each item, log2(row_length) rounds in
// shared memory. Rows of up to kThreadRow items.
// Reads the row once, writes it once; about row_length · log2(row_length) operations, ⌈log2 row_length⌉ steps.
//@reference
// Changed: the rounds of rung 2 stay in shared memory, as one block has the whole row. Why: 8n bytes instead of 127n
// and one launch instead of 11: about 4 times as fast. Ping-pong buffers need one barrier a round; in place it would
// take two. Wastes: 9 operations for each one that the loop does; blocks of 1,024 threads that all wait for the
// slowest warp, 11 times.
//@end
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k03_hillis_steele(Job<Op> job) {
  //@solution Thread tid loads item tid of row blockIdx.x into one half of a shared array with two halves (threads past the row's end
  //@hint bring the identity); barrier. For offset 1, 2, 4 … below the row's length: every thread reads its value, and the one
  //@hint `offset` to the left if there is one, from one half, writes left op own to the other half; barrier; the halves swap
  //@hint roles. At the end thread tid writes result tid: its own value if the scan is inclusive; if it is exclusive, the
  //@hint value one to the left, or the identity.
  using Value = typename Op::Value;
  __shared__ Value s_data[2][kThreadRow];
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  unsigned from = 0;
  s_data[from][tid] = tid < row.length ? job.d_in[row.first + tid] : job.op.identity();
  __syncthreads();  // the row is loaded before a neighbour reads it

  for (unsigned offset = 1; offset < row.length; offset *= 2) {
    const unsigned to = 1 - from;
    const Value own = s_data[from][tid];
    s_data[to][tid] = tid < offset ? own : job.op(s_data[from][tid - offset], own);
    from = to;
    __syncthreads();  // this round's writes before the next round's reads, and its reads before they are overwritten
  }

  if (tid >= row.length) return;
  Value result = s_data[from][tid];
  if (job.kind == Kind::exclusive) result = tid == 0 ? job.op.identity() : s_data[from][tid - 1];
  job.d_out[row.first + tid] = result;
  //@end
}

template <typename Op>
Status hillis_steele(const Job<Op>& job) {
  //@solution Launch k03_hillis_steele on job.stream with a block for each row and a thread for each item of a full row. No row, no
  //@hint launch.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k03_hillis_steele<<<static_cast<unsigned>(job.n_rows), job.row_length, 0, job.stream>>>(job);
  return Status::ok;
  //@end
}

// --- Rung 4, task "blelloch": a balanced tree over the row, swept up and down again, in place. Rows of up to
// kThreadRow items.
// Leaves: leaves_for(row_length); the places past the row's end hold the identity. 2 · (leaves - 1) operations,
// 2 · log2(leaves) steps. Exclusive by nature.
//@reference
// Changed: a tree instead of a network: the up-sweep leaves each node's fold where the node's last leaf was, the root
// is zeroed, the down-sweep hands every node the fold of all that lies left of it. Why: 2 operations an item
// instead of 9. Yet it is *not* faster than rung 3 but 1.3 times as slow: a warp's instruction costs the same however few
// of its lanes work, and there are twice as many rounds. Wastes: `(k + 1) % full == 0` spreads the working lanes over
// all warps, so that none may skip a level.
//@end
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k04_blelloch(Job<Op> job, unsigned leaves) {
  //@solution A thread for each leaf. Thread k keeps its own item in a register, too, and puts it (or the identity) into
  //@hint s_data[k]; barrier. Up: for half = 1, 2, 4 … below `leaves`, full = 2 * half: the threads with (k + 1) % full == 0 fold
  //@hint s_data[k - half] into s_data[k], from the left; barrier. One thread sets the root, s_data[leaves - 1], to the identity;
  //@hint barrier. Down: for half = leaves / 2 … 4, 2, 1 the same threads read the left child, hand their own value to it, and keep
  //@hint own op left; barrier. Results: s_data[k], and if the scan is inclusive, s_data[k] op the item.
  //@instead static_cast<void>(leaves);
  using Value = typename Op::Value;
  __shared__ Value s_data[kThreadRow];
  const unsigned k = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  const Value item = k < row.length ? job.d_in[row.first + k] : job.op.identity();
  s_data[k] = item;
  __syncthreads();  // the leaves are loaded before a parent reads them

  for (unsigned half = 1; half < leaves; half *= 2) {
    const unsigned full = 2 * half;
    if ((k + 1) % full == 0) s_data[k] = job.op(s_data[k - half], s_data[k]);
    __syncthreads();  // this level's writes before the next level's reads
  }

  if (k == 0) s_data[leaves - 1] = job.op.identity();
  __syncthreads();  // the root is set, by thread 0, before its owner hands it down

  for (unsigned half = leaves / 2; half > 0; half /= 2) {
    const unsigned full = 2 * half;
    if ((k + 1) % full == 0) {
      const Value left = s_data[k - half];
      s_data[k - half] = s_data[k];
      s_data[k] = job.op(s_data[k], left);  // all that is left of the node, then its left child
    }
    __syncthreads();  // this level's writes before the next level's reads
  }

  if (k >= row.length) return;
  job.d_out[row.first + k] = job.kind == Kind::inclusive ? job.op(s_data[k], item) : s_data[k];
  //@end
}

template <typename Op>
Status blelloch(const Job<Op>& job) {
  //@solution As for hillis_steele, with leaves_for(job.row_length) threads.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  const unsigned leaves = leaves_for(job.row_length);
  k04_blelloch<<<static_cast<unsigned>(job.n_rows), leaves, 0, job.stream>>>(job, leaves);
  return Status::ok;
  //@end
}

//@reference
// --- Rungs 5 and 6: the same tree by half the threads, packed: thread t takes the t-th node of each level.
// Rows of up to kPairRow items: twice the block's threads.
// Changed: the node's place is 2 * half * (t + 1) - 1. Why: the working lanes fill the first warps, the others skip the
// level: 1.6 times as fast. Rung 5 still wastes: neighbouring lanes reach 2 * half words apart, so 2, 4 … 32
// of them meet in one bank. Rung 6 adds a word of padding after every 32: place i lies at i + i / 32, lanes
// 2 * half apart come to lie in banks of their own. 4.5 passes a request become one, 1.1
// times as fast: the index costs instructions, too. Both still wait 2 · log2(leaves) times for a block.
template <bool kPadded>
__device__ unsigned place_of(unsigned i) {
  return kPadded ? i + i / 32 : i;
}

template <bool kPadded, typename Op>
__global__ void __launch_bounds__(kPairRow / 2) k05_compact(Job<Op> job, unsigned leaves) {
  using Value = typename Op::Value;
  constexpr unsigned kPlaces = kPadded ? kPairRow + kPairRow / 32 : kPairRow;
  __shared__ Value s_data[kPlaces];
  const auto at = [&](unsigned i) -> Value& { return s_data[place_of<kPadded>(i)]; };
  const unsigned tid = threadIdx.x, n_threads = blockDim.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < leaves; i += n_threads)
    at(i) = i < row.length ? job.d_in[row.first + i] : job.op.identity();
  __syncthreads();  // the leaves are loaded before a parent reads them

  for (unsigned half = 1; half < leaves; half *= 2) {
    const unsigned right = 2 * half * (tid + 1) - 1;
    if (right < leaves) at(right) = job.op(at(right - half), at(right));
    __syncthreads();  // this level's writes before the next level's reads
  }

  if (tid == 0) at(leaves - 1) = job.op.identity();  // read next by thread 0 itself: no barrier

  for (unsigned half = leaves / 2; half > 0; half /= 2) {
    const unsigned right = 2 * half * (tid + 1) - 1;
    if (right < leaves) {
      const Value left = at(right - half);
      at(right - half) = at(right);
      at(right) = job.op(at(right), left);
    }
    __syncthreads();  // this level's writes before the next level's reads
  }

  for (unsigned i = tid; i < row.length; i += n_threads) {
    const Value before = at(i);
    job.d_out[row.first + i] = job.kind == Kind::inclusive ? job.op(before, job.d_in[row.first + i]) : before;
  }
}

template <bool kPadded, typename Op>
Status compact(const Job<Op>& job) {
  if (job.n_rows == 0) return Status::ok;
  const unsigned leaves = leaves_for(job.row_length);
  const unsigned n_threads = leaves > 1 ? leaves / 2 : 1;
  k05_compact<kPadded><<<static_cast<unsigned>(job.n_rows), n_threads, 0, job.stream>>>(job, leaves);
  return Status::ok;
}

//@end
// Scans one value per lane of a warp, inclusively, by shuffles. All 32 lanes must call it; every lane gets its result.
// No shared memory, no barrier; 5 steps, 129 operations.
template <typename Op>
__device__ typename Op::Value warp_inclusive_scan(typename Op::Value value, Op op) {
  //@solution Hillis–Steele's rounds for offset 1, 2, 4, 8, 16, with shuffle_up instead of shared memory. All lanes shuffle; the lanes
  //@hint below `offset` have nobody to their left and keep their value.
  //@instead static_cast<void>(op);
  //@instead return value;
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const typename Op::Value left = shuffle_up(value, offset);
    if (lane >= offset) value = op(left, value);
  }
  return value;
  //@end
}

// From an inclusive scan to the exclusive one over a warp: the neighbour's value, the identity in lane 0. All 32
// lanes must call it.
template <typename Op>
__device__ typename Op::Value shift_right(typename Op::Value inclusive, Op op) {
  //@solution One shuffle, and lane 0.
  //@instead static_cast<void>(op);
  //@instead return inclusive;
  const typename Op::Value left = shuffle_up(inclusive, 1);
  return threadIdx.x % kWarp == 0 ? op.identity() : left;
  //@end
}

// --- Rung 7, task "kogge_stone": a warp for each row of up to kWarpRow items, from register to register.
//@reference
// Changed: rung 3's network, but lanes of a warp hand each other their registers. Why: no shared memory, no
// barrier; a row of 32 takes 5 shuffles and 5 operations a lane. Bound by memory: 8n bytes, 3 times as fast as rung 3.
// Wastes: a row of 5 items has a warp of its own; longer rows need rung 8.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k07_kogge_stone(Job<Op> job) {
  //@solution The block's warps take kBlock / kWarp rows in a row; lane i loads item i of its warp's row, or the identity; scans;
  //@hint writes result i if there is one. No lane leaves before the last shuffle.
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const Row row = row_of(job, std::uint64_t{blockIdx.x} * (kBlock / kWarp) + warp);

  const bool has_item = lane < row.length;
  auto value = has_item ? job.d_in[row.first + lane] : job.op.identity();
  value = warp_inclusive_scan(value, job.op);
  if (job.kind == Kind::exclusive) value = shift_right(value, job.op);
  if (has_item) job.d_out[row.first + lane] = value;
  //@end
}

template <typename Op>
Status kogge_stone(const Job<Op>& job) {
  //@solution kBlock / kWarp rows to a block; round the number of blocks up.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  constexpr unsigned kRows = kBlock / kWarp;
  const auto n_blocks = static_cast<unsigned>((job.n_rows + kRows - 1) / kRows);
  k07_kogge_stone<<<n_blocks, kBlock, 0, job.stream>>>(job);
  return Status::ok;
  //@end
}

// Scans one value per thread over the block, exclusively: thread t gets value[0] op … op value[t - 1], thread 0 the
// identity. Every thread must call it; blockDim.x must be a multiple of 32. 32 Values of shared memory, two barriers,
// 12 steps. Calling it again needs a barrier in between.
template <typename Op>
__device__ typename Op::Value block_exclusive_scan(typename Op::Value value, Op op) {
  //@solution Every warp scans its own values; lane 31 leaves the warp's total in shared memory; barrier. Warp 0 scans the totals,
  //@hint exclusively (lanes beyond the number of warps bring the identity), and puts them back; barrier. A thread's result:
  //@hint what lies before its warp op what lies before it in its warp.
  //@instead return shift_right(warp_inclusive_scan(value, op), op);
  using Value = typename Op::Value;
  __shared__ Value s_totals[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;

  const Value inclusive = warp_inclusive_scan(value, op);
  if (lane == kWarp - 1) s_totals[warp] = inclusive;
  __syncthreads();  // every warp's total is stored before warp 0 reads them

  if (warp == 0) {
    const Value total = lane < blockDim.x / kWarp ? s_totals[lane] : op.identity();
    s_totals[lane] = shift_right(warp_inclusive_scan(total, op), op);
  }
  __syncthreads();  // the scanned totals are stored before every warp reads its own

  return op(s_totals[warp], shift_right(inclusive, op));
  //@end
}

//@reference
// --- Rung 8: a thread for each item again, rows of up to kThreadRow, but warps first.
// Changed: 5 of the 10 rounds by shuffles in every warp, the other 5 by one warp over the warps' totals. Why: 2
// barriers instead of 11, and five trips to shared memory fewer: 2.7 times as fast as rung 3. Wastes: every item pays for
// its own share of a tree, though a thread could fold several in a row.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k08_block_scan(Job<Op> job) {
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);
  const bool has_item = tid < row.length;
  const auto item = has_item ? job.d_in[row.first + tid] : job.op.identity();
  const auto before = block_exclusive_scan(item, job.op);
  if (has_item) job.d_out[row.first + tid] = job.kind == Kind::inclusive ? job.op(before, item) : before;
}

template <typename Op>
Status block_scan(const Job<Op>& job) {
  if (job.n_rows == 0) return Status::ok;
  const unsigned n_threads = (job.row_length + kWarp - 1) / kWarp * kWarp;
  k08_block_scan<<<static_cast<unsigned>(job.n_rows), n_threads, 0, job.stream>>>(job);
  return Status::ok;
}

//@end
// Items that each of a block's kBlock threads takes of a row, one after the other. Odd: the lanes of a warp, this far
// apart in shared memory, then lie in 32 different banks.
constexpr unsigned chunk_for(unsigned row_length) {
  return (row_length + kBlock - 1) / kBlock | 1u;
}

// --- Rung 9, task "coarsened": each thread scans a chunk of the row by itself, the network joins only the chunks.
// Rows of up to kSharedRow items.
//@reference
// Changed: a row's 256 threads fold up to 17 items each, scan the 256 totals as rung 8 does, and go through their
// items again with what lies before them. The row passes through shared memory so that neighbouring lanes touch
// neighbouring addresses in global memory, although each thread works on a stretch of its own. Why: 2.3 operations an
// item, 4 barriers for 4,096 items: bound by memory, 1.3 times as fast as rung 8. Wastes: each item goes
// through shared memory five times; one 4-byte load an instruction.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k09_coarsened(Job<Op> job, unsigned chunk) {
  //@solution Load the row into shared memory, thread tid items tid, tid + kBlock …; barrier. Fold your chunk (items tid * chunk … of the
  //@hint row, as far as the row goes), block_exclusive_scan the totals, go through the chunk again and replace each item by its
  //@hint result; barrier. Store the row as it was loaded.
  //@instead static_cast<void>(chunk);
  using Value = typename Op::Value;
  __shared__ Value s_data[kSharedRow];
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < row.length; i += kBlock) s_data[i] = job.d_in[row.first + i];
  __syncthreads();  // the row is loaded before its items are read chunk by chunk

  const unsigned first = tid * chunk < row.length ? tid * chunk : row.length;
  const unsigned last = first + chunk < row.length ? first + chunk : row.length;
  Value total = job.op.identity();
  for (unsigned i = first; i < last; ++i) total = job.op(total, s_data[i]);

  Value before = block_exclusive_scan(total, job.op);
  for (unsigned i = first; i < last; ++i) {
    const Value up_to = job.op(before, s_data[i]);
    s_data[i] = job.kind == Kind::inclusive ? up_to : before;
    before = up_to;
  }
  __syncthreads();  // every chunk's results are there before other threads store them

  for (unsigned i = tid; i < row.length; i += kBlock) job.d_out[row.first + i] = s_data[i];
  //@end
}

template <typename Op>
Status coarsened(const Job<Op>& job) {
  //@solution A block of kBlock threads for each row; chunk_for(job.row_length).
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k09_coarsened<<<static_cast<unsigned>(job.n_rows), kBlock, 0, job.stream>>>(job, chunk_for(job.row_length));
  return Status::ok;
  //@end
}

// --- Rung 10, task "segmented" (bonus): the scan starts anew at every head. No new kernel is needed for that, only a
// new operator, on pairs.

// What a stretch of items comes to: the fold of all that follows its last head, and whether it has a head at all.
template <typename Value>
struct Flagged {
  Value value;
  unsigned has_head;  // 0 or 1
};

// Segmented<Op> on Flagged values: associative if Op is, with an identity; not commutative.
template <typename Op_>
struct Segmented {
  using Value = Flagged<typename Op_::Value>;
  Op_ op;
  COURSE_HD Value identity() const {
    //@solution The value that changes nothing on either side.
    //@instead return {};
    return {op.identity(), 0};
    //@end
  }
  COURSE_HD Value operator()(Value a, Value b) const {
    //@solution What stretch a, followed by stretch b, comes to: ask whether b has a head.
    //@instead static_cast<void>(a);
    //@instead return b;
    return {b.has_head ? b.value : op(a.value, b.value), a.has_head | b.has_head};
    //@end
  }
};

//@reference
// Changed from rung 9: the operator, and a byte an item to read. Why it is the same speed: 9n bytes instead of 8n, and
// two more instructions for each operation: 10 % longer. Wastes: what rung 9 wastes.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k10_segmented(Job<Op> job, unsigned chunk) {
  //@solution As k09_coarsened, with the heads in shared memory, too, and Segmented<Op>{job.op} in place of job.op. An exclusive result
  //@hint at a head is the identity, whatever lies before. A row's first item starts a segment even if its flag is 0.
  //@instead static_cast<void>(chunk);
  using Value = typename Op::Value;
  __shared__ Value s_data[kSharedRow];
  __shared__ std::uint8_t s_heads[kSharedRow];
  const Segmented<Op> op{job.op};
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < row.length; i += kBlock) {
    s_data[i] = job.d_in[row.first + i];
    s_heads[i] = job.d_heads[row.first + i];
  }
  __syncthreads();  // the row is loaded before its items are read chunk by chunk

  const unsigned first = tid * chunk < row.length ? tid * chunk : row.length;
  const unsigned last = first + chunk < row.length ? first + chunk : row.length;
  Flagged<Value> total = op.identity();
  for (unsigned i = first; i < last; ++i) total = op(total, {s_data[i], s_heads[i]});

  Flagged<Value> before = block_exclusive_scan(total, op);
  for (unsigned i = first; i < last; ++i) {
    const Flagged<Value> up_to = op(before, {s_data[i], s_heads[i]});
    const Value exclusive = s_heads[i] != 0 ? job.op.identity() : before.value;
    s_data[i] = job.kind == Kind::inclusive ? up_to.value : exclusive;
    before = up_to;
  }
  __syncthreads();  // every chunk's results are there before other threads store them

  for (unsigned i = tid; i < row.length; i += kBlock) job.d_out[row.first + i] = s_data[i];
  //@end
}

template <typename Op>
Status segmented(const Job<Op>& job) {
  //@solution As for coarsened.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k10_segmented<<<static_cast<unsigned>(job.n_rows), kBlock, 0, job.stream>>>(job, chunk_for(job.row_length));
  return Status::ok;
  //@end
}

//@reference
// --- Rung 11: as fast as the memory is.
// Changed: the items never leave the registers. A lane loads kRounds packs of 16 bytes, a warp's 32 packs side by
// side, so that loads are coalesced *and* each lane holds consecutive items; it scans each pack, the warp scans the
// packs' totals (the rounds' shuffles overlap), and only a warp's total goes to shared memory: one barrier a row.
// Short rows share a block, so that no multiprocessor is filled with blocks of one warp. Why: a 16-byte load is a
// fourth of the instructions, four of them in flight; shared memory is touched twice a *warp*. Expect the copy
// ceiling for rows of 512 items and more. Wastes: packs that start at no multiple of 16 bytes are loaded item by item,
// from the caches three times in four; a row much shorter than a warp's 512 items leaves most of its lanes
// without any: those rows are rung 7's.
inline constexpr unsigned kRounds = 4;       // packs that a lane holds at once
inline constexpr unsigned kWideBlock = 256;  // threads that share a block, unless one row needs more

template <typename Value>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(Value);
  Value item[kItems];
};

// Items `at` … of the row at d_row: the identity past its end.
template <typename Op>
__device__ Pack<typename Op::Value> load_pack(const typename Op::Value* d_row, unsigned at, unsigned length,
                                              Op op) {
  using P = Pack<typename Op::Value>;
  const auto* d_from = d_row + at;
  if (at + P::kItems <= length && reinterpret_cast<std::uintptr_t>(d_from) % 16 == 0)
    return *reinterpret_cast<const P*>(d_from);
  P pack;
#pragma unroll
  for (unsigned j = 0; j < P::kItems; ++j) pack.item[j] = at + j < length ? d_from[j] : op.identity();
  return pack;
}

template <typename Value>
__device__ void store_pack(const Pack<Value>& pack, Value* d_row, unsigned at, unsigned length) {
  Value* d_to = d_row + at;
  if (at + Pack<Value>::kItems <= length && reinterpret_cast<std::uintptr_t>(d_to) % 16 == 0) {
    *reinterpret_cast<Pack<Value>*>(d_to) = pack;
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < Pack<Value>::kItems; ++j) {
    if (at + j < length) d_to[j] = pack.item[j];
  }
}

// threadIdx.x counts the threads of a row (whole warps), threadIdx.y the rows of the block.
template <typename Op>
__global__ void k11_state_of_the_art(Job<Op> job) {
  using Value = typename Op::Value;
  using P = Pack<Value>;
  constexpr unsigned kWarpItems = kRounds * kWarp * P::kItems;
  constexpr unsigned kMaxWarps =
      kSharedRow / kWarpItems > kWideBlock / kWarp ? kSharedRow / kWarpItems : kWideBlock / kWarp;
  __shared__ Value s_totals[kMaxWarps];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp, n_warps = blockDim.x / kWarp;  // of the row
  const Row row = row_of(job, std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y);
  const Value* d_row = job.d_in + row.first;
  const unsigned first = warp * kWarpItems + lane * P::kItems;  // of the lane's first pack
  const Op op = job.op;

  P packs[kRounds];
#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r)
    packs[r] = load_pack(d_row, first + r * kWarp * P::kItems, row.length, op);

  // Each pack's total, scanned over the warp; then each round's total, scanned over the rounds.
  Value totals[kRounds];
#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r) {
    totals[r] = packs[r].item[0];
#pragma unroll
    for (unsigned j = 1; j < P::kItems; ++j) totals[r] = op(totals[r], packs[r].item[j]);
  }
#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r) totals[r] = warp_inclusive_scan(totals[r], op);
  Value before_round[kRounds];
  Value warp_total = op.identity();
#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r) {
    before_round[r] = warp_total;
    warp_total = op(warp_total, shuffle_from(totals[r], kWarp - 1));
  }

  // What lies before this warp in its row.
  Value before_warp = op.identity();
  if (n_warps > 1) {
    Value* s_row = s_totals + threadIdx.y * n_warps;
    if (lane == 0) s_row[warp] = warp_total;
    __syncthreads();  // every warp's total is stored before the others read it
    const Value total = lane < n_warps ? s_row[lane] : op.identity();
    before_warp = shuffle_from(shift_right(warp_inclusive_scan(total, op), op), warp);
  }

#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r) {
    Value before = op(op(before_warp, before_round[r]), shift_right(totals[r], op));
#pragma unroll
    for (unsigned j = 0; j < P::kItems; ++j) {
      const Value up_to = op(before, packs[r].item[j]);
      packs[r].item[j] = job.kind == Kind::inclusive ? up_to : before;
      before = up_to;
    }
    store_pack(packs[r], job.d_out + row.first, first + r * kWarp * P::kItems, row.length);
  }
}

template <typename Op>
Status state_of_the_art(const Job<Op>& job) {
  if (job.n_rows == 0) return Status::ok;
  constexpr unsigned kWarpItems = kRounds * kWarp * Pack<typename Op::Value>::kItems;
  const unsigned row_threads = (job.row_length + kWarpItems - 1) / kWarpItems * kWarp;
  const unsigned rows = row_threads < kWideBlock ? kWideBlock / row_threads : 1;
  const auto n_blocks = static_cast<unsigned>((job.n_rows + rows - 1) / rows);
  k11_state_of_the_art<<<n_blocks, dim3(row_threads, rows), 0, job.stream>>>(job);
  return Status::ok;
}

//@end
// --- Given: which function answers which task.
template <typename Op>
Status solve(Rung rung, const Job<Op>& job) {
  if (job.row_length == 0 || job.row_length > max_row_length(rung)) return Status::unsupported;
  switch (rung) {
    case Rung::hillis_steele: return hillis_steele(job);
    case Rung::blelloch: return blelloch(job);
    case Rung::kogge_stone: return kogge_stone(job);
    case Rung::coarsened: return coarsened(job);
    case Rung::segmented: return segmented(job);
    //@reference
    case Rung::brute_force: return brute_force(job);
    case Rung::global_rounds: return global_rounds(job);
    case Rung::compact: return compact<false>(job);
    case Rung::conflict_free: return compact<true>(job);
    case Rung::block_scan: return block_scan(job);
    case Rung::state_of_the_art: return state_of_the_art(job);
    //@end
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::scan
