// SPDX-License-Identifier: MIT
// Scan: fold every prefix of a row, with an associative operator. The lab's API, its operators, what it is worth.
// Read: the operators, Job (what a task gets), max_row_length, the manifest (tasks and points). Included by the
// student's .cu, the solutions, the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: op(a, op(b, c)) == op(op(a, b), c) up to rounding and op(identity, a) == a == op(a, identity), for
// every operator; op(a, b) == op(b, a) for all of them but Affine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::scan {

using lab::Status;

// --- Operators: lab/operators.hpp says what they do. Items, partial results and results are all of type
// Op::Value. Same code on host and device.

enum class OpId : std::uint32_t { sum, min, max, affine };
constexpr std::uint32_t kOpCount = 4;
constexpr const char* name_of(OpId op) {
  constexpr const char* kNames[] = {"sum", "min", "max", "affine"};
  return kNames[static_cast<std::uint32_t>(op)];
}

using lab::Affine;
using lab::Max;
using lab::Min;
using lab::Sum;

// An affine map's two halves travel as one 8-byte element: scale in the low half, shift in the high one.
static_assert(sizeof(lab::AffineMap<std::uint32_t>) == lab::bytes_of(lab::DType::u64));

// --- What is computed. The n items are cut into rows of row_length items; the last row may be shorter. Each row
// is scanned on its own. Result p of a row x is
//   inclusive: x[0] op x[1] op … op x[p]            (p + 1 items)
//   exclusive: identity op x[0] op … op x[p - 1]    (p items; result 0 is the identity)
// with the items in this order: Affine minds.
enum class Kind : std::uint32_t { exclusive, inclusive };
constexpr const char* name_of(Kind kind) {
  return kind == Kind::exclusive ? "exclusive" : "inclusive";
}

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write d_in or
// d_heads. A Job may be handed to a kernel by value.
template <typename Op_>
struct Job {
  using Op = Op_;
  using Value = typename Op::Value;
  const Value* d_in = nullptr;            // n items; aligned to lab::bytes_of(the item type) and to no more
  const std::uint8_t* d_heads = nullptr;  // task "segmented": n flags, 1 where a segment starts, else 0
  std::uint64_t n = 0;                    // items in all; may be 0: then there is nothing to do
  std::uint32_t row_length = 1;           // items in a row, 1 … max_row_length(rung); may be more than n
  std::uint64_t n_rows = 0;               // ⌈n / row_length⌉
  Value* d_out = nullptr;                 // n results, in the items' order; 256-byte aligned
  Op op{};                                // op(a, b), op.identity()
  Kind kind = Kind::exclusive;
  Value* d_scratch = nullptr;  // room for n Values; contents undefined. For forms that leave shared memory.
  CUstream_st* stream = nullptr;  // launch here; no need to synchronise, the harness does
};

constexpr std::uint64_t rows_of(std::uint64_t n, std::uint32_t row_length) {
  return n / row_length + (n % row_length != 0);
}

// What an untouched task returns.
template <typename Op>
Status not_implemented(const Job<Op>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  hillis_steele,
  blelloch,
  kogge_stone,
  coarsened,
  segmented,
  // not asked of students:
  brute_force,
  global_rounds,
  compact,
  conflict_free,
  block_scan,
  state_of_the_art,
};

// The longest row that a rung is asked for: what fits the threads that work on a row, or their shared memory.
// Arrays of any length in one piece are the hierarchical scan's business.
constexpr std::uint32_t kWarpRow = 32;       // one item for each lane of a warp
constexpr std::uint32_t kThreadRow = 1024;   // one item for each thread of a block
constexpr std::uint32_t kPairRow = 2048;     // two items for each thread of a block
constexpr std::uint32_t kSharedRow = 4096;   // a block's shared memory; 8-byte items: 32 of its 48 KB
constexpr std::uint32_t kAnyRow = 1u << 31;  // no limit of its own
constexpr std::uint32_t max_row_length(Rung rung) {
  switch (rung) {
    case Rung::kogge_stone: return kWarpRow;
    case Rung::hillis_steele:
    case Rung::blelloch:
    case Rung::block_scan: return kThreadRow;
    case Rung::compact:
    case Rung::conflict_free: return kPairRow;
    case Rung::coarsened:
    case Rung::segmented:
    case Rung::state_of_the_art: return kSharedRow;
    case Rung::brute_force:
    case Rung::global_rounds: return kAnyRow;
  }
  return 0;
}

// Which combinations are asked for: sums of every number type, min and max of i32 and f32, affine maps of u32.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  switch (op) {
    case OpId::sum:
      return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::f32 || dtype == DType::f64;
    case OpId::min:
    case OpId::max: return dtype == DType::i32 || dtype == DType::f32;
    case OpId::affine: return dtype == DType::u64;  // one element a map
  }
  return false;
}

// Where a request's parameters stand.
constexpr std::size_t kRowLengthParam = 0, kKindParam = 1;

template <typename Op>
Job<Op> job_of(const lab::Request& request) {
  using Value = typename Op::Value;
  Job<Op> job;
  job.d_in = static_cast<const Value*>(request.inputs[0].data);
  if (request.inputs.size() > 1) job.d_heads = static_cast<const std::uint8_t*>(request.inputs[1].data);
  job.n = request.n;
  job.row_length = static_cast<std::uint32_t>(request.params[kRowLengthParam]);
  job.n_rows = rows_of(job.n, job.row_length);
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.kind = static_cast<Kind>(request.params[kKindParam]);
  job.d_scratch = static_cast<Value*>(request.d_workspace);
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  using lab::DType;
  const OpId op = static_cast<OpId>(request.op);
  switch (request.dtype) {
    case DType::i32:
      switch (op) {
        case OpId::sum: return solve(job_of<Sum<std::int32_t>>(request));
        case OpId::min: return solve(job_of<Min<std::int32_t>>(request));
        case OpId::max: return solve(job_of<Max<std::int32_t>>(request));
        default: return Status::unsupported;
      }
    case DType::f32:
      switch (op) {
        case OpId::sum: return solve(job_of<Sum<float>>(request));
        case OpId::min: return solve(job_of<Min<float>>(request));
        case OpId::max: return solve(job_of<Max<float>>(request));
        default: return Status::unsupported;
      }
    case DType::i64: return op == OpId::sum ? solve(job_of<Sum<std::int64_t>>(request)) : Status::unsupported;
    case DType::f64: return op == OpId::sum ? solve(job_of<Sum<double>>(request)) : Status::unsupported;
    case DType::u64:
      return op == OpId::affine ? solve(job_of<Affine<std::uint32_t>>(request)) : Status::unsupported;
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request);  // the last lines of scan.cu

// --- What it is worth. The tasks' order is Rung's.
// Ratios are against the loop's n - 1 operations a row and the ⌈log2 row_length⌉ steps that no network can beat.
// Each goal tells the rung from those below it (solutions/scan/ladder_test.cpp pins the figures).
inline constexpr lab::EfficiencyGoal kHillisSteeleGoals[] = {{lab::Metric::step_ratio, 1.05, 3},
                                                             {lab::Metric::barriers, 12, 4}};
inline constexpr lab::EfficiencyGoal kBlellochGoals[] = {{lab::Metric::work_ratio, 3.05, 4},
                                                         {lab::Metric::step_ratio, 2.1, 4}};
inline constexpr lab::EfficiencyGoal kKoggeStoneGoals[] = {{lab::Metric::barriers, 0, 3},
                                                           {lab::Metric::step_ratio, 1.05, 3}};
inline constexpr lab::EfficiencyGoal kCoarsenedGoals[] = {
    {lab::Metric::barriers, 2, 4}, {lab::Metric::work_ratio, 4, 3}, {lab::Metric::bank_conflicts, 1.1, 3}};
inline constexpr lab::EfficiencyGoal kSegmentedGoals[] = {{lab::Metric::bytes_ratio, 1.05, 4},
                                                          {lab::Metric::launches, 1, 2}};
// Against one core, on a device of the H200's class.
inline constexpr lab::SpeedupTier kHillisSteeleTiers[] = {{8, 2}, {16, 2}};
inline constexpr lab::SpeedupTier kBlellochTiers[] = {{4, 2}, {7, 2}};
inline constexpr lab::SpeedupTier kKoggeStoneTiers[] = {{15, 2}, {30, 2}};
inline constexpr lab::SpeedupTier kCoarsenedTiers[] = {{15, 2}, {30, 3}, {40, 3}};
inline constexpr lab::SpeedupTier kSegmentedTiers[] = {{20, 2}, {40, 2}};

inline constexpr lab::Task kTasks[] = {
    {"hillis_steele", "Hillis–Steele", "handouts/02-scan.md#hillis_steele", 14, kHillisSteeleGoals,
     kHillisSteeleTiers},
    {"blelloch", "Up-sweep and down-sweep", "handouts/02-scan.md#blelloch", 13, kBlellochGoals,
     kBlellochTiers},
    {"kogge_stone", "A row for each warp", "handouts/02-scan.md#kogge_stone", 10, kKoggeStoneGoals,
     kKoggeStoneTiers},
    {"coarsened", "Many items per thread", "handouts/02-scan.md#coarsened", 12, kCoarsenedGoals,
     kCoarsenedTiers},
    {"segmented", "Segments in a row", "handouts/02-scan.md#segmented", 10, kSegmentedGoals, kSegmentedTiers,
     lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"brute_force", "A thread for each result", "handouts/02-scan.md#hillis_steele", 0, {}, {}},
    {"global_rounds", "Hillis–Steele in global memory", "handouts/02-scan.md#global_rounds", 0, {}, {}},
    {"compact", "Sweeps by compact threads", "handouts/02-scan.md#blelloch", 0, {}, {}},
    {"conflict_free", "Sweeps without bank conflicts", "handouts/02-scan.md#blelloch", 0, {}, {}},
    {"block_scan", "Warps, joined to a block", "handouts/02-scan.md#coarsened", 0, {}, {}},
    {"state_of_the_art", "As fast as the memory", "handouts/02-scan.md#state_of_the_art", 0, {}, {}},
};
inline constexpr lab::Manifest kManifest{
    "scan", "Scan", "G. Blelloch, 1990: Prefix Sums and Their Applications", kTasks, kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::scan
