// SPDX-License-Identifier: MIT
//@student // Scan: your file. Read labs/scan/lab.hpp (what is computed, Job), then handouts/02-scan.md.
//@student // given.cuh in the same folder has functions that your code calls.
//@student // Work from the top down: each task is a kernel and the host function that launches it.
//@student // Grade one task with
//@student //   ./lab grade scan --task hillis_steele
//@student // Until you write it, a task returns "not implemented". Do not change the given lines at the end.
//@reference
// Scan: all rungs of the ladder, from one thread per result to the device's memory speed, for rows that one
// block can hold. Read from the top. Each rung says what changed, why that should be faster, and what
// drawbacks remain. The lines "Predicted (…)" are for int32 items in rows of 1,024, from the simulator's
// H200 model.
// Lines that start with //@ control the generator of the students' file (make_skeleton.py).
// Invariant: every rung gives a right answer for every (operator, kind, n, row_length up to the rung's
// limit), never swaps the operands of op, and writes only d_out (global_rounds: also d_scratch).
//
// Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM 29(12), 1986, for rungs 1 and 2; G.
// Blelloch, "Prefix Sums and Their Applications", 1990, for 4 to 6 and the segmented operator; P. Kogge, H.
// Stone, IEEE Trans. Comput. C-22(8), 1973, for 7. Here the code is generic, for rows of any length and at
// any address.
//@end
#include "scan/lab.hpp"

namespace course::scan {

inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part
inline constexpr unsigned kBlock = 256;     // threads in a block, unless the row length decides

#include "scan/given.cuh"

//@reference
// Returns the value of lane `from` to every lane.
template <typename Value>
__device__ Value shuffle_from(Value value, unsigned from) {
  static_assert(sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_sync(kFullMask, word, from);
  memcpy(&value, words, sizeof value);
  return value;
}

// --- Rung 0: one thread per result; it combines the whole prefix, from the start of the row.
// n/row_length · row_length²/2 operations: 512 times as many as a loop, for rows of 1,024.
// Why it is shown: it needs no cooperation, and it shows the cost when threads share no partial results.
// Predicted (brute_force, against hillis_steele, 2^24 items): 0.06×. Measured: 0.11× (H200, 2026-11-26).
// Drawback: almost all of its work is redundant. The last lane of a row does row_length dependent operations.
template <typename Op>
__global__ void k00_brute_force(Job<Op> job) {
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
  if (n_blocks > 0) k00_brute_force<<<n_blocks, kBlock, 0, job.stream>>>(job);
  return Status::ok;
}

//@end
// --- Task 1, "global_rounds": Hillis and Steele's rounds in global memory, one launch each; rows of any
// length. In the round with `offset` = 1, 2, 4 … result k becomes result[k - offset] op result[k], for every
// position k of a row with such a partner. One launch must not write what another thread of it reads, so two
// arrays alternate: job.d_out and job.d_scratch.
//@reference
// Changed: in the round with `offset` = 1, 2, 4 … result k becomes result[k - offset] op result[k], so every
// value covers twice as many items as before: ⌈log2 row_length⌉ rounds instead of row_length steps. No thread
// may write a value that another thread still has to read. Therefore two buffers alternate, and the end of a
// launch is the barrier between two rounds.
// Why: it does 9 · n operations instead of 512 · n.
// Predicted (global_rounds, against brute_force, 2^24 items): 3× to 4×. Measured: 2.2× (H200, 2026-11-26).
// Drawback: each of the 11 launches reads and writes the whole array, 8n bytes, and each round reads up to
// 4n bytes of left neighbours (5n, unaligned, for offsets 1 to 4): 127n bytes; 8n bytes would be enough.

//@end

// Copies the items; for an exclusive scan, moves each row one position to the right and puts the identity in
// front. The inclusive scan of the moved items is the exclusive scan of the items.
template <typename Op>
__global__ void k01_first_round(Job<Op> job, typename Op::Value* d_to) {
  //@solution Copy or move item gid. The launch may have more threads than there are items.
  //@how Compute gid. A thread with gid ≥ job.n does nothing. If job.kind is Kind::inclusive, copy the item.
  //@how Otherwise d_to[gid] is the identity at the start of a row, else the item before.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= job.n) return;
  if (job.kind == Kind::inclusive) {
    d_to[gid] = job.d_in[gid];
  } else {
    d_to[gid] = gid % job.row_length == 0 ? job.op.identity() : job.d_in[gid - 1];
  }
  //@end
}

// One round, from the array d_from to the array d_to.
template <typename Op>
__global__ void k01_round(Job<Op> job, const typename Op::Value* d_from, typename Op::Value* d_to,
                          std::uint64_t offset) {
  //@solution Combine value gid with the one `offset` positions to its left, if that is in the same row.
  //@how Compute gid. A thread with gid ≥ job.n does nothing. gid % job.row_length is the position in the
  //@how row. If it is less than offset, copy the value; otherwise the value `offset` to the left is the
  //@how left operand.
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (gid >= job.n) return;
  const auto value = d_from[gid];
  d_to[gid] = gid % job.row_length < offset ? value : job.op(d_from[gid - offset], value);
  //@end
}

template <typename Op>
Status global_rounds(const Job<Op>& job) {
  //@solution Launch k01_first_round, then k01_round for each offset. The last launch must write job.d_out.
  //@how If job.n is 0, launch nothing. Count the rounds: offsets 1, 2, 4 … below the length of the longest
  //@how row. If their number is even, k01_first_round writes job.d_out, otherwise job.d_scratch. Each round
  //@how reads the array that the launch before has written, and writes the other one.
  //@instead return not_implemented(job);
  using Value = typename Op::Value;
  if (job.n == 0) return Status::ok;
  const auto n_blocks = static_cast<unsigned>((job.n + kBlock - 1) / kBlock);
  const std::uint64_t longest = job.n < job.row_length ? job.n : job.row_length;
  unsigned n_rounds = 0;
  for (std::uint64_t offset = 1; offset < longest; offset *= 2) ++n_rounds;
  // The last round must write d_out.
  Value* d_to = n_rounds % 2 == 0 ? job.d_out : job.d_scratch;
  Value* d_spare = n_rounds % 2 == 0 ? job.d_scratch : job.d_out;
  k01_first_round<<<n_blocks, kBlock, 0, job.stream>>>(job, d_to);
  for (std::uint64_t offset = 1; offset < longest; offset *= 2) {
    const Value* d_from = d_to;
    d_to = d_spare;
    d_spare = const_cast<Value*>(d_from);
    k01_round<<<n_blocks, kBlock, 0, job.stream>>>(job, d_from, d_to, offset);
  }
  return Status::ok;
  //@end
}

// --- Task 2, "hillis_steele": one block per row, one thread per item, log2(row_length) rounds in shared
// memory. Rows of up to kThreadRow items.
// Limits: instructions per item ≤ 310, barriers per row ≤ 24 (rows of 1,024 items: 1 + log2 1,024, or twice
//   as many with one array).
// Reads the row once, writes it once; about row_length · log2(row_length) operations, ⌈log2 row_length⌉
// steps.
// __launch_bounds__(t) promises the compiler that no block of the kernel has more than t threads.
//@reference
// Changed: the rounds of rung 1 run in shared memory, because one block has the whole row.
// Why: it moves 8n bytes instead of 127n, in one launch instead of 11. With two buffers, a round needs one
// barrier; in place it would need two.
// Predicted (hillis_steele, against global_rounds, 2^24 items): 4×. Measured: 4.2× (H200, 2026-11-26).
// Drawback: 9 operations per item, while the loop does one. All 1,024 threads of a block wait for the
// slowest warp, 11 times.
//@end
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k02_hillis_steele(Job<Op> job) {
  //@solution Scan row blockIdx.x with Hillis and Steele's rounds in shared memory, for both kinds.
  //@how Use a shared array that has two halves. Thread tid loads item tid of row blockIdx.x into one
  //@how half (threads past the end of the row store the identity), then waits at a barrier. Do a round
  //@how for each offset 1, 2, 4 … below the row's length: every thread reads its own value and, if it
  //@how exists, the value `offset` to the left from one half, and writes left op own to the other half.
  //@how After a barrier, the two halves exchange their roles. At the end, thread tid writes result tid.
  //@how If the scan is inclusive, this is its own value. If it is exclusive, this is the value one to
  //@how the left, or the identity.
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
    __syncthreads();  // this round's accesses come before the next round's accesses
  }

  if (tid >= row.length) return;
  Value result = s_data[from][tid];
  if (job.kind == Kind::exclusive) result = tid == 0 ? job.op.identity() : s_data[from][tid - 1];
  job.d_out[row.first + tid] = result;
  //@end
}

template <typename Op>
Status hillis_steele(const Job<Op>& job) {
  //@solution Launch one block per row, unless there is no row.
  //@how Launch k02_hillis_steele on job.stream with one block per row and one thread per item of a full
  //@how row. If there is no row, do not launch.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k02_hillis_steele<<<static_cast<unsigned>(job.n_rows), job.row_length, 0, job.stream>>>(job);
  return Status::ok;
  //@end
}

// --- Task 3, "blelloch": a balanced tree over the row, an up-sweep and a down-sweep, in place. Rows of
// up to kThreadRow items.
// Limits: instructions per item ≤ 300, barriers per row ≤ 24 (rows of 1,024 items: 2 + 2 log2 1,024).
// There are leaves_for(row_length) leaves; those past the end of the row hold the identity. 2 · (leaves - 1)
// operations, 2 · log2(leaves) steps. The result is exclusive.
//@reference
// Changed: it uses a tree instead of a network. The up-sweep stores each node's total in the position of the
// node's last leaf. Then the root is set to the identity, and the down-sweep gives every node the total of
// everything to its left.
// Why: it does 2 operations per item instead of 9.
// Nevertheless it should be slower than rung 2, because a warp's instruction takes the same time however few
// of its lanes work, and there are twice as many rounds.
// Predicted (blelloch, against hillis_steele, 2^24 items): 0.77×. Measured: 0.30× (H200, 2026-11-26).
// Drawback: `(k + 1) % full == 0` spreads the working lanes over all warps, so no warp can skip a level.
//@end
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k03_blelloch(Job<Op> job, unsigned leaves) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kThreadRow];
  const unsigned k = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  const Value item = k < row.length ? job.d_in[row.first + k] : job.op.identity();
  s_data[k] = item;
  __syncthreads();  // the leaves are stored before a parent reads them

  //@solution Do the up-sweep over `leaves` leaves, set the root to the identity, and do the down-sweep.
  //@how Up-sweep: for half = 1, 2, 4 … below `leaves`, and full = 2 * half, each
  //@how thread with (k + 1) % full == 0 sets s_data[k] to s_data[k - half] op s_data[k]. Then one thread
  //@how sets the root, s_data[leaves - 1], to the identity. Down-sweep: for half = leaves / 2 … 4, 2, 1,
  //@how the same threads read the left child s_data[k - half], copy their own value to it, and set their
  //@how own value to own op left. A barrier must separate each of these steps from the next one.
  for (unsigned half = 1; half < leaves; half *= 2) {
    const unsigned full = 2 * half;
    if ((k + 1) % full == 0) s_data[k] = job.op(s_data[k - half], s_data[k]);
    __syncthreads();  // this level's writes come before the next level's reads
  }

  if (k == 0) s_data[leaves - 1] = job.op.identity();
  __syncthreads();  // thread 0 has set the root before another thread reads it

  for (unsigned half = leaves / 2; half > 0; half /= 2) {
    const unsigned full = 2 * half;
    if ((k + 1) % full == 0) {
      const Value left = s_data[k - half];
      s_data[k - half] = s_data[k];
      s_data[k] = job.op(s_data[k], left);  // everything to the left of the node, then its left child
    }
    __syncthreads();  // this level's writes come before the next level's reads
  }
  //@end

  if (k >= row.length) return;
  job.d_out[row.first + k] = job.kind == Kind::inclusive ? job.op(s_data[k], item) : s_data[k];
}

template <typename Op>
Status blelloch(const Job<Op>& job) {
  //@solution Do the same as for hillis_steele, with leaves_for(job.row_length) threads.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  const unsigned leaves = leaves_for(job.row_length);
  k03_blelloch<<<static_cast<unsigned>(job.n_rows), leaves, 0, job.stream>>>(job, leaves);
  return Status::ok;
  //@end
}

//@reference
// --- Rungs 3b and 3c: the same tree with half the threads; thread t takes the t-th node of each level.
// Rows of up to kPairRow items: two per thread.
// Changed: the node's position is 2 * half * (t + 1) - 1.
// Why: the working lanes are in the first warps, and the other warps skip the level.
// Predicted (compact, against blelloch, 2^24 items): 1.6×. Measured: 2.4× (H200, 2026-11-26).
// Drawback (rung 3b): neighbouring lanes access words 2 * half apart, so 2, 4 … 32 of them use the same
// bank.
// Rung 3c adds a word of padding after every 32 words: item i is at i + i / 32. Then lanes 2 * half apart
// mostly use different banks, and about 4.5 wavefronts per request become almost one.
// Computing the index costs instructions.
// Predicted (conflict_free, against compact, 2^24 items): 1.1×. Measured: 1.3× (H200, 2026-11-26).
// Drawback (both): the whole block waits 2 · log2(leaves) times.
template <bool kPadded>
__device__ unsigned place_of(unsigned i) {
  return kPadded ? i + i / 32 : i;
}

template <bool kPadded, typename Op>
__global__ void __launch_bounds__(kPairRow / 2) k03b_compact(Job<Op> job, unsigned leaves) {
  using Value = typename Op::Value;
  constexpr unsigned kPlaces = kPadded ? kPairRow + kPairRow / 32 : kPairRow;
  __shared__ Value s_data[kPlaces];
  const auto at = [&](unsigned i) -> Value& { return s_data[place_of<kPadded>(i)]; };
  const unsigned tid = threadIdx.x, n_threads = blockDim.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < leaves; i += n_threads)
    at(i) = i < row.length ? job.d_in[row.first + i] : job.op.identity();
  __syncthreads();  // the leaves are stored before a parent reads them

  for (unsigned half = 1; half < leaves; half *= 2) {
    const unsigned right = 2 * half * (tid + 1) - 1;
    if (right < leaves) at(right) = job.op(at(right - half), at(right));
    __syncthreads();  // this level's writes come before the next level's reads
  }

  if (tid == 0) at(leaves - 1) = job.op.identity();  // thread 0 itself reads it next: no barrier is needed

  for (unsigned half = leaves / 2; half > 0; half /= 2) {
    const unsigned right = 2 * half * (tid + 1) - 1;
    if (right < leaves) {
      const Value left = at(right - half);
      at(right - half) = at(right);
      at(right) = job.op(at(right), left);
    }
    __syncthreads();  // this level's writes come before the next level's reads
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
  k03b_compact<kPadded><<<static_cast<unsigned>(job.n_rows), n_threads, 0, job.stream>>>(job, leaves);
  return Status::ok;
}

//@end
// Inclusive scan of one value per lane of a warp, with shuffles. All 32 lanes must call it; every lane gets
// its result.
// It needs no shared memory and no barrier, and takes 5 steps with 129 operations.
template <typename Op>
__device__ typename Op::Value warp_inclusive_scan(typename Op::Value value, Op op) {
  //@solution Do Hillis and Steele's rounds with shuffle_up.
  //@how Do Hillis and Steele's rounds for offset 1, 2, 4, 8, 16, with shuffle_up instead of shared
  //@how memory. All lanes shuffle. Lanes below `offset` have no value to their left and keep their own
  //@how value.
  //@instead return value;
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const typename Op::Value left = shuffle_up(value, offset);
    if (lane >= offset) value = op(left, value);
  }
  return value;
  //@end
}

// Turns a warp's inclusive scan into the exclusive one: each lane gets its left neighbour's value, lane 0 the
// identity. All 32 lanes must call it.
template <typename Op>
__device__ typename Op::Value shift_right(typename Op::Value inclusive, Op op) {
  //@solution Use one shuffle.
  //@how This takes one shuffle. Lane 0 is a special case.
  //@instead return inclusive;
  const typename Op::Value left = shuffle_up(inclusive, 1);
  return threadIdx.x % kWarp == 0 ? op.identity() : left;
  //@end
}

// --- Task 4, "kogge_stone": one warp per row of up to kWarpRow items, in registers only.
// Limits: barriers per row ≤ 0, instructions per item ≤ 85.
//@reference
// Changed: rung 2's network, but the lanes of a warp exchange their values by shuffles.
// Why: it needs no shared memory and no barrier, and a row of 32 takes 5 shuffles and 5 operations per lane.
// The limiter is the memory: 8n bytes.
// Predicted (kogge_stone, against hillis_steele, 2^24 items): 3×. Measured: 2.4× (H200, 2026-11-26).
// Drawback: a row of 5 items occupies a whole warp. Longer rows need rung 4b.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k04_kogge_stone(Job<Op> job) {
  //@solution Scan kBlock / kWarp rows per block, one per warp.
  //@how Each block takes kBlock / kWarp consecutive rows, one per warp. Lane i loads item i of its
  //@how warp's row, or the identity. After the scan, lane i writes result i if it exists. No lane may
  //@how return before the last shuffle.
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
  //@solution A block takes kBlock / kWarp rows. Round the number of blocks up.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  constexpr unsigned kRows = kBlock / kWarp;
  const auto n_blocks = static_cast<unsigned>((job.n_rows + kRows - 1) / kRows);
  k04_kogge_stone<<<n_blocks, kBlock, 0, job.stream>>>(job);
  return Status::ok;
  //@end
}

// Exclusive scan of one value per thread over the block: thread t gets value[0] op … op value[t - 1], thread
// 0 the identity. Every thread must call it; blockDim.x must be a multiple of 32. It uses 32 Values of shared
// memory, two barriers and 11 steps. Two calls need a barrier between them.
template <typename Op>
__device__ typename Op::Value block_exclusive_scan(typename Op::Value value, Op op) {
  //@solution Use warp_inclusive_scan, and shared memory between the warps.
  //@how Every warp scans its own values, and lane 31 stores the warp's total in shared memory. After a
  //@how barrier, warp 0 computes the exclusive scan of the totals (lanes past the number of warps use
  //@how the identity) and stores it in their place. After another barrier, a thread's result is the
  //@how prefix of its warp op the exclusive prefix within its warp.
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
// --- Rung 4b: one thread per item again, rows of up to kThreadRow, but each warp scans its own items first.
// Changed: 5 of the 10 rounds are shuffles in every warp; the other 5 are done by one warp on the warps'
// totals.
// Why: it has 2 barriers instead of 11, and five fewer accesses to shared memory.
// Predicted (block_scan, against hillis_steele, 2^24 items): 2.7×. Measured: 1.7× (H200, 2026-11-26).
// Drawback: every item takes part in the tree, although a thread could combine several items by itself
// first.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k04b_block_scan(Job<Op> job) {
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
  k04b_block_scan<<<static_cast<unsigned>(job.n_rows), n_threads, 0, job.stream>>>(job);
  return Status::ok;
}

//@end
// Number of consecutive items of a row that each of the block's kBlock threads scans. It is odd, so the lanes
// of a warp, this far apart in shared memory, use 32 different banks.
constexpr unsigned chunk_for(unsigned row_length) {
  return (row_length + kBlock - 1) / kBlock | 1u;
}

// --- Task 5, "coarsened": each thread scans a chunk of the row by itself; the network scans only the
// totals of the chunks. Rows of up to kSharedRow items.
// Limits: barriers per row ≤ 8 (rows of 4,096 items: 4 are enough), instructions per item ≤ 50,
//   bank_conflicts per row ≤ 16 (none is needed).
//@reference
// Changed: each of a row's 256 threads reduces up to 17 items, the block scans the 256 totals as in rung 4b,
// and each thread goes through its items again, with the prefix of its chunk. The row passes through shared
// memory, so neighbouring lanes access neighbouring addresses in global memory, although each thread works on
// its own chunk.
// Why: it does 2.3 operations per item, with 4 barriers for 4,096 items. The limiter is the memory.
// Predicted (coarsened, against block_scan, 2^24 items): 1.3×. Measured: 2.2× (H200, 2026-11-26).
// Drawback: each item is read from or written to shared memory five times, and each load instruction
// moves only 4 bytes per lane.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k05_coarsened(Job<Op> job, unsigned chunk) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kSharedRow];
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < row.length; i += kBlock) s_data[i] = job.d_in[row.first + i];
  __syncthreads();  // the row is loaded before its items are read chunk by chunk

  //@solution Replace the items of the thread's chunk by their results, with block_exclusive_scan.
  //@how Reduce your chunk, which begins at item tid * chunk of the row (it may be shorter at the end of
  //@how the row). Compute the block_exclusive_scan of the totals. Then go through the chunk again and
  //@how replace each item by its result.
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
  //@end
  __syncthreads();  // every chunk's results are stored before other threads read them

  for (unsigned i = tid; i < row.length; i += kBlock) job.d_out[row.first + i] = s_data[i];
}

template <typename Op>
Status coarsened(const Job<Op>& job) {
  //@solution Use one block of kBlock threads per row, and chunk_for(job.row_length).
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k05_coarsened<<<static_cast<unsigned>(job.n_rows), kBlock, 0, job.stream>>>(job, chunk_for(job.row_length));
  return Status::ok;
  //@end
}

// --- Task 6, "segmented" (bonus): the scan starts again at every head. This needs no new kernel, only
// a new operator, on pairs.
// Limits: bytes_ratio ≤ 1.05, launches ≤ 1.

// The result of several consecutive items: the combination of the items from their last head on, and whether
// they have a head.
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
    //@solution Return the value that leaves every other value unchanged, on either side.
    //@instead return {};
    return {op.identity(), 0};
    //@end
  }
  COURSE_HD Value operator()(Value a, Value b) const {
    //@solution Return the result of the items of a, followed by those of b.
    //@how Return the result of the items of a, followed by those of b. It depends on whether b has a
    //@how head.
    //@instead return b;
    return {b.has_head ? b.value : op(a.value, b.value), a.has_head | b.has_head};
    //@end
  }
};

//@reference
// Changed from rung 5: there is another operator, and one more byte per item to read.
// Why: it computes something else, so it is not meant to be faster: 9n bytes instead of 8n, and two more
// instructions per operation.
// Predicted (segmented, against coarsened, 2^24 items): 0.91×. Measured: 0.80× (H200, 2026-11-26).
// Drawback: the same as rung 5.
//@end
template <typename Op>
__global__ void __launch_bounds__(kBlock) k06_segmented(Job<Op> job, unsigned chunk) {
  //@solution Do the same as in k05_coarsened, for segments. A row's first item starts a segment even if its
  //@hint flag is 0.
  //@how Do the same as in k05_coarsened, but with the heads in shared memory, too, and with
  //@how Segmented<Op>{job.op} instead of job.op. An exclusive result at a head is the identity, whatever
  //@how comes before it. A row's first item starts a segment even if its flag is 0.
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
  __syncthreads();  // every chunk's results are stored before other threads read them

  for (unsigned i = tid; i < row.length; i += kBlock) job.d_out[row.first + i] = s_data[i];
  //@end
}

template <typename Op>
Status segmented(const Job<Op>& job) {
  //@solution Do the same as for coarsened.
  //@instead return not_implemented(job);
  if (job.n_rows == 0) return Status::ok;
  k06_segmented<<<static_cast<unsigned>(job.n_rows), kBlock, 0, job.stream>>>(job, chunk_for(job.row_length));
  return Status::ok;
  //@end
}

//@reference
// --- Rung 7: as fast as the memory.
// Changed: the items stay in registers. A lane loads kRounds vectors of 16 bytes. The 32 vectors of a warp
// are neighbours, so the loads are coalesced *and* each lane holds consecutive items. Each lane scans each
// vector, and the warp scans the totals of the vectors (the shuffles of the rounds overlap). Only a warp's
// total goes through shared memory: one barrier per row. Short rows share a block, because a multiprocessor
// holds a limited number of blocks, and blocks of one warp would leave it half empty.
// Why: 16-byte loads need a quarter of the load instructions, and each lane has four of them in flight.
// Shared memory is accessed twice per *warp*.
// Predicted (state_of_the_art, 2^28 items): 522 µs, the copy rate. Measured: 520.0 µs (H200, 2026-11-26).
// Drawback: vectors at unaligned addresses are loaded item by item; three of four of these loads hit a
// cache. In rows much shorter than a warp's 512 items most lanes have no items; rung 4 is better for those.
inline constexpr unsigned kRounds = 4;       // vectors that a lane holds at once
inline constexpr unsigned kWideBlock = 256;  // threads that share a block, unless one row needs more

template <typename Value>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(Value);
  Value item[kItems];
};

// The items from `at` on, of the row at d_row; the identity past the end of the row.
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

// threadIdx.x is the thread within a row (whole warps), threadIdx.y the row within the block.
template <typename Op>
__global__ void k07_state_of_the_art(Job<Op> job) {
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
  const unsigned first = warp * kWarpItems + lane * P::kItems;  // of the lane's first vector
  const Op op = job.op;

  P packs[kRounds];
#pragma unroll
  for (unsigned r = 0; r < kRounds; ++r)
    packs[r] = load_pack(d_row, first + r * kWarp * P::kItems, row.length, op);

  // Each vector's total is scanned over the warp; then each round's total is scanned over the rounds.
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

  // The total of the items before this warp in its row.
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
  k07_state_of_the_art<<<n_blocks, dim3(row_threads, rows), 0, job.stream>>>(job);
  return Status::ok;
}

//@end
// --- Given: which function implements which task.
template <typename Op>
Status solve(Rung rung, const Job<Op>& job) {
  if (job.row_length == 0 || job.row_length > max_row_length(rung)) return Status::unsupported;
  switch (rung) {
    case Rung::global_rounds: return global_rounds(job);
    case Rung::hillis_steele: return hillis_steele(job);
    case Rung::blelloch: return blelloch(job);
    case Rung::kogge_stone: return kogge_stone(job);
    case Rung::coarsened: return coarsened(job);
    case Rung::segmented: return segmented(job);
    //@reference
    case Rung::brute_force: return brute_force(job);
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
