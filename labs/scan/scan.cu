// SPDX-License-Identifier: MIT
// Scan: your file. Read labs/scan/lab.hpp (what is computed, Job), then handouts/02-scan.md.
// given.cuh in the same folder has functions that your code calls.
// Work from the top down: each task is a kernel and the host function that launches it.
// Grade one task with
//   ./lab grade scan --task hillis_steele
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "scan/lab.hpp"

namespace course::scan {

inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part
inline constexpr unsigned kBlock = 256;     // threads in a block, unless the row length decides

#include "scan/given.cuh"

// --- Task 1, "global_rounds": Hillis and Steele's rounds in global memory, one launch each; rows of any
// length. In the round with `offset` = 1, 2, 4 … result k becomes result[k - offset] op result[k], for every
// position k of a row with such a partner. One launch must not write what another thread of it reads, so two
// arrays alternate: job.d_out and job.d_scratch.

// Copies the items; for an exclusive scan, moves each row one position to the right and puts the identity in
// front. The inclusive scan of the moved items is the exclusive scan of the items.
template <typename Op>
__global__ void k01_first_round(Job<Op> job, typename Op::Value* d_to) {
  // TODO(student): Copy or move item gid. The launch may have more threads than there are items. (roughly 7
  // lines)
}

// One round, from the array d_from to the array d_to.
template <typename Op>
__global__ void k01_round(Job<Op> job, const typename Op::Value* d_from, typename Op::Value* d_to,
                          std::uint64_t offset) {
  // TODO(student): Combine value gid with the one `offset` positions to its left, if that is in the same row.
  // (roughly 4 lines)
}

template <typename Op>
Status global_rounds(const Job<Op>& job) {
  // TODO(student): Launch k01_first_round, then k01_round for each offset. The last launch must write
  // job.d_out. (roughly 15 lines)
  return not_implemented(job);
}

// --- Task 2, "hillis_steele": one block per row, one thread per item, log2(row_length) rounds in shared
// memory. Rows of up to kThreadRow items.
// Limits: instructions per item ≤ 310, barriers per row ≤ 24 (rows of 1,024 items: 1 + log2 1,024, or twice
//   as many with one array).
// Reads the row once, writes it once; about row_length · log2(row_length) operations, ⌈log2 row_length⌉
// steps.
// __launch_bounds__(t) promises the compiler that no block of the kernel has more than t threads.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k02_hillis_steele(Job<Op> job) {
  // TODO(student): Scan row blockIdx.x with Hillis and Steele's rounds in shared memory, for both kinds.
  // (roughly 20 lines)
}

template <typename Op>
Status hillis_steele(const Job<Op>& job) {
  // TODO(student): Launch one block per row, unless there is no row. (roughly 3 lines)
  return not_implemented(job);
}

// --- Task 3, "blelloch": a balanced tree over the row, an up-sweep and a down-sweep, in place. Rows of
// up to kThreadRow items.
// Limits: instructions per item ≤ 300, barriers per row ≤ 24 (rows of 1,024 items: 2 + 2 log2 1,024).
// There are leaves_for(row_length) leaves; those past the end of the row hold the identity. 2 · (leaves - 1)
// operations, 2 · log2(leaves) steps. The result is exclusive.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k03_blelloch(Job<Op> job, unsigned leaves) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kThreadRow];
  const unsigned k = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  const Value item = k < row.length ? job.d_in[row.first + k] : job.op.identity();
  s_data[k] = item;
  __syncthreads();  // the leaves are stored before a parent reads them

  // TODO(student): Do the up-sweep over `leaves` leaves, set the root to the identity, and do the down-sweep.
  // (roughly 15 lines)

  if (k >= row.length) return;
  job.d_out[row.first + k] = job.kind == Kind::inclusive ? job.op(s_data[k], item) : s_data[k];
}

template <typename Op>
Status blelloch(const Job<Op>& job) {
  // TODO(student): Do the same as for hillis_steele, with leaves_for(job.row_length) threads. (roughly 4
  // lines)
  return not_implemented(job);
}

// Inclusive scan of one value per lane of a warp, with shuffles. All 32 lanes must call it; every lane gets
// its result.
// It needs no shared memory and no barrier, and takes 5 steps with 129 operations.
template <typename Op>
__device__ typename Op::Value warp_inclusive_scan(typename Op::Value value, Op op) {
  // TODO(student): Do Hillis and Steele's rounds with shuffle_up. (roughly 6 lines)
  return value;
}

// Turns a warp's inclusive scan into the exclusive one: each lane gets its left neighbour's value, lane 0 the
// identity. All 32 lanes must call it.
template <typename Op>
__device__ typename Op::Value shift_right(typename Op::Value inclusive, Op op) {
  // TODO(student): Use one shuffle. (roughly 2 lines)
  return inclusive;
}

// --- Task 4, "kogge_stone": one warp per row of up to kWarpRow items, in registers only.
// Limits: barriers per row ≤ 0, instructions per item ≤ 85.
template <typename Op>
__global__ void __launch_bounds__(kBlock) k04_kogge_stone(Job<Op> job) {
  // TODO(student): Scan kBlock / kWarp rows per block, one per warp. (roughly 8 lines)
}

template <typename Op>
Status kogge_stone(const Job<Op>& job) {
  // TODO(student): A block takes kBlock / kWarp rows. Round the number of blocks up. (roughly 5 lines)
  return not_implemented(job);
}

// Exclusive scan of one value per thread over the block: thread t gets value[0] op … op value[t - 1], thread
// 0 the identity. Every thread must call it; blockDim.x must be a multiple of 32. It uses 32 Values of shared
// memory, two barriers and 11 steps. Two calls need a barrier between them.
template <typename Op>
__device__ typename Op::Value block_exclusive_scan(typename Op::Value value, Op op) {
  // TODO(student): Use warp_inclusive_scan, and shared memory between the warps. (roughly 15 lines)
  return shift_right(warp_inclusive_scan(value, op), op);
}

// Number of consecutive items of a row that each of the block's kBlock threads scans. It is odd, so the lanes
// of a warp, this far apart in shared memory, use 32 different banks.
constexpr unsigned chunk_for(unsigned row_length) {
  return (row_length + kBlock - 1) / kBlock | 1u;
}

// --- Task 5, "coarsened": each thread scans a chunk of the row by itself; the network scans only the
// totals of the chunks. Rows of up to kSharedRow items.
// Limits: barriers per row ≤ 8 (rows of 4,096 items: 4 are enough), instructions per item ≤ 50,
//   bank_conflicts per row ≤ 16 (none is needed).
template <typename Op>
__global__ void __launch_bounds__(kBlock) k05_coarsened(Job<Op> job, unsigned chunk) {
  using Value = typename Op::Value;
  __shared__ Value s_data[kSharedRow];
  const unsigned tid = threadIdx.x;
  const Row row = row_of(job, blockIdx.x);

  for (unsigned i = tid; i < row.length; i += kBlock) s_data[i] = job.d_in[row.first + i];
  __syncthreads();  // the row is loaded before its items are read chunk by chunk

  // TODO(student): Replace the items of the thread's chunk by their results, with block_exclusive_scan.
  // (roughly 10 lines)
  __syncthreads();  // every chunk's results are stored before other threads read them

  for (unsigned i = tid; i < row.length; i += kBlock) job.d_out[row.first + i] = s_data[i];
}

template <typename Op>
Status coarsened(const Job<Op>& job) {
  // TODO(student): Use one block of kBlock threads per row, and chunk_for(job.row_length). (roughly 3 lines)
  return not_implemented(job);
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
    // TODO(student): Return the value that leaves every other value unchanged, on either side. (roughly 1
    // line)
    return {};
  }
  COURSE_HD Value operator()(Value a, Value b) const {
    // TODO(student): Return the result of the items of a, followed by those of b. (roughly 1 line)
    return b;
  }
};

template <typename Op>
__global__ void __launch_bounds__(kBlock) k06_segmented(Job<Op> job, unsigned chunk) {
  // TODO(student): Do the same as in k05_coarsened, for segments. A row's first item starts a segment even if
  // its flag is 0. (roughly 25 lines)
}

template <typename Op>
Status segmented(const Job<Op>& job) {
  // TODO(student): Do the same as for coarsened. (roughly 3 lines)
  return not_implemented(job);
}

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
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) { return solve(static_cast<Rung>(request.task), job); });
}

}  // namespace course::scan
