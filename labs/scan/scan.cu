// SPDX-License-Identifier: MIT
// Scan: your file. Read labs/scan/lab.hpp (what is computed, Job), then handouts/02-scan.md.
// Work from the top down: each task is a kernel and the host function that launches it.
// Grade one task with
//   ./lab grade scan --task hillis_steele
// Until you write it, a task returns "not implemented". Do not change the given lines at the end.
#include "scan/lab.hpp"

namespace course::scan {

inline constexpr unsigned kWarp = 32;       // threads in a warp
inline constexpr unsigned kFullMask = ~0u;  // every lane of a warp takes part
inline constexpr unsigned kBlock = 256;     // threads in a block, unless the row length decides

// --- Given: the position of a row. `length` is row_length, or less in the last row; 0 if the row does not
// exist.
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

// The smallest power of two that is at least `length`: the number of leaves of a balanced tree over a row.
constexpr unsigned leaves_for(unsigned length) {
  unsigned leaves = 1;
  while (leaves < length) leaves *= 2;
  return leaves;
}

// Shuffles a value of any type whose size is a multiple of 4, word by word. All 32 lanes must call it.
// Returns the value of the lane `offset` below; lanes below `offset` get their own value.
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned offset) {
  static_assert(sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_up_sync(kFullMask, word, offset);
  memcpy(&value, words, sizeof value);
  return value;
}

// --- Rung 3, task "hillis_steele": one block per row, one thread per item, log2(row_length) rounds in shared
// memory. Rows of up to kThreadRow items.
// Limits: instructions per item ≤ 310, barriers per row ≤ 24 (rows of 1,024 items: 1 + log2 1,024, or twice
//   as many with one array).
// Reads the row once, writes it once; about row_length · log2(row_length) operations, ⌈log2 row_length⌉
// steps.
// __launch_bounds__(t) promises the compiler that no block of the kernel has more than t threads.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k03_hillis_steele(Job<Op> job) {
  // TODO(student): Scan row blockIdx.x with Hillis and Steele's rounds in shared memory, for both kinds.
  // (roughly 20 lines)
}

template <typename Op>
Status hillis_steele(const Job<Op>& job) {
  // TODO(student): Launch one block per row, unless there is no row. (roughly 3 lines)
  return not_implemented(job);
}

// --- Rung 4, task "blelloch": a balanced tree over the row, an up-sweep and a down-sweep, in place. Rows of
// up to kThreadRow items.
// Limits: instructions per item ≤ 300, barriers per row ≤ 24 (rows of 1,024 items: 2 + 2 log2 1,024).
// There are leaves_for(row_length) leaves; those past the end of the row hold the identity. 2 · (leaves - 1)
// operations, 2 · log2(leaves) steps. The result is exclusive.
template <typename Op>
__global__ void __launch_bounds__(kThreadRow) k04_blelloch(Job<Op> job, unsigned leaves) {
  // TODO(student): Scan row blockIdx.x with an up-sweep and a down-sweep over `leaves` leaves, for both
  // kinds. (roughly 25 lines)
  static_cast<void>(leaves);
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
  static_cast<void>(op);
  return value;
}

// Turns a warp's inclusive scan into the exclusive one: each lane gets its left neighbour's value, lane 0 the
// identity. All 32 lanes must call it.
template <typename Op>
__device__ typename Op::Value shift_right(typename Op::Value inclusive, Op op) {
  // TODO(student): Use one shuffle. (roughly 2 lines)
  static_cast<void>(op);
  return inclusive;
}

// --- Rung 7, task "kogge_stone": one warp per row of up to kWarpRow items, in registers only.
// Limits: barriers per row ≤ 0, instructions per item ≤ 85.
template <typename Op>
__global__ void __launch_bounds__(kBlock) k07_kogge_stone(Job<Op> job) {
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

// --- Rung 9, task "coarsened": each thread scans a chunk of the row by itself; the network scans only the
// totals of the chunks. Rows of up to kSharedRow items.
// Limits: barriers per row ≤ 8 (rows of 4,096 items: 4 are enough), instructions per item ≤ 50,
//   bank_conflicts per row ≤ 16 (none is needed).
template <typename Op>
__global__ void __launch_bounds__(kBlock) k09_coarsened(Job<Op> job, unsigned chunk) {
  // TODO(student): Scan row blockIdx.x: each thread has a chunk of it. Access global memory with neighbouring
  // threads at neighbouring items. (roughly 20 lines)
  static_cast<void>(chunk);
}

template <typename Op>
Status coarsened(const Job<Op>& job) {
  // TODO(student): Use one block of kBlock threads per row, and chunk_for(job.row_length). (roughly 3 lines)
  return not_implemented(job);
}

// --- Rung 10, task "segmented" (bonus): the scan starts again at every head. This needs no new kernel, only
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
    static_cast<void>(a);
    return b;
  }
};

template <typename Op>
__global__ void __launch_bounds__(kBlock) k10_segmented(Job<Op> job, unsigned chunk) {
  // TODO(student): Do the same as in k09_coarsened, for segments. A row's first item starts a segment even if
  // its flag is 0. (roughly 25 lines)
  static_cast<void>(chunk);
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
