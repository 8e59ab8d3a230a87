// SPDX-License-Identifier: MIT
// Hierarchical scan: the prefixes of an array of any length, tile by tile. The lab's API, its operators, what it is worth.
// Read: the operators, Job (what a task gets), the sizes, the manifest (tasks and points). Included by the student's .cu,
// the solutions, the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: op(a, op(b, c)) == op(op(a, b), c) up to rounding and op(identity, a) == a == op(a, identity). An
// operator need not be commutative: what stands to the left stays to the left.
#pragma once

#include <cstdint>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::hierarchical_scan {

using lab::Affine;
using lab::AffineMap;
using lab::Max;
using lab::Status;
using lab::Sum;

// --- Operators: lab/operators.hpp says what they do. Affine combines maps x -> scale * x + shift of 32-bit
// numbers: first a, then b. Not commutative. A map is an item of 8 bytes (DType::u64): scale, then shift.
enum class OpId : std::uint32_t { sum, max, affine };
constexpr std::uint32_t kOpCount = 3;
constexpr const char* name_of(OpId op) {
  constexpr const char* kNames[] = {"sum", "max", "affine"};
  return kNames[static_cast<std::uint32_t>(op)];
}

// inclusive: d_out[i] = x0 op x1 op … op xi. exclusive: xi itself is left out, so d_out[0] is the identity.
enum class Kind : std::uint32_t { inclusive, exclusive };
constexpr const char* name_of(Kind kind) {
  return kind == Kind::inclusive ? "inclusive" : "exclusive";
}

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write
// d_in.
template <typename Op_>
struct Job {
  using Op = Op_;
  using Value = typename Op::Value;
  const Value* d_in = nullptr;  // n items; aligned to sizeof(Value) and to no more
  std::uint64_t n = 0;          // may be 0: nothing is to be done
  Value* d_out = nullptr;       // n items, to be written; aligned like d_in; the two never overlap
  Kind kind = Kind::inclusive;
  Op op{};                           // op(a, b), op.identity()
  Value* d_sums = nullptr;           // room for sums_count Values; aligned to 256 bytes; contents undefined
  std::uint64_t sums_count = 0;      // n / 16 + 1024
  std::uint32_t* d_flags = nullptr;  // room for flags_count words; aligned to 256 bytes; contents undefined
  std::uint64_t flags_count = 0;     // n / 32 + 1024
  int multiprocessors = 1;           // of this device, to size a grid by
  CUstream_st* stream = nullptr;     // launch here; no need to synchronise, the harness does
};

// What an untouched task returns.
template <typename Op>
Status not_implemented(const Job<Op>&) {
  return Status::not_implemented;
}

// --- Sizes. Any count of items or tiles is a 64-bit number: 2^31 items are 8 GiB, and devices hold more.

// Room for the sums of every level, and for two values a tile, as long as a tile has 32 items or more.
constexpr std::uint64_t sums_count(std::uint64_t n) {
  return n / 16 + 1024;
}
constexpr std::uint64_t flags_count(std::uint64_t n) {
  return n / 32 + 1024;
}
constexpr std::uint64_t flags_bytes(std::uint64_t n) {  // the sums come after them, on a 256-byte boundary
  return (flags_count(n) * sizeof(std::uint32_t) + 255) / 256 * 256;
}

// Items that one block scans.
inline constexpr std::uint32_t kTile = 2048;

// What task two_levels takes: as many tiles as a tile has items. More must be refused with Status::unsupported.
inline constexpr std::uint64_t kTwoLevelItems = std::uint64_t{kTile} * kTile;

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  two_levels,
  recursive,
  reduce_then_scan,
  chained,
  look_back,
  // not asked of students:
  one_word,
  warp_look_back,
  state_of_the_art,
};

// Which combinations are asked for.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  switch (op) {
    case OpId::sum: return dtype != DType::u8 && dtype != DType::u64;
    case OpId::max: return dtype == DType::i32 || dtype == DType::f32;
    case OpId::affine: return dtype == DType::u64;
  }
  return false;
}

template <typename Op>
Job<Op> job_of(const lab::Request& request, Op op) {
  using Value = typename Op::Value;
  Job<Op> job;
  job.d_in = static_cast<const Value*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.kind = static_cast<Kind>(request.params[0]);
  job.op = op;
  job.d_flags = static_cast<std::uint32_t*>(request.d_workspace);
  job.flags_count = flags_count(request.n);
  job.d_sums = reinterpret_cast<Value*>(static_cast<char*>(request.d_workspace) + flags_bytes(request.n));
  job.sums_count = sums_count(request.n);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  using lab::DType;
  const OpId op = static_cast<OpId>(request.op);
  if (!offers(op, request.dtype)) return Status::unsupported;
  if (op == OpId::affine) return solve(job_of(request, Affine<std::uint32_t>{}));
  if (op == OpId::max) {
    if (request.dtype == DType::i32) return solve(job_of(request, Max<std::int32_t>{}));
    return solve(job_of(request, Max<float>{}));
  }
  switch (request.dtype) {
    case DType::i32: return solve(job_of(request, Sum<std::int32_t>{}));
    case DType::u32: return solve(job_of(request, Sum<std::uint32_t>{}));
    case DType::i64: return solve(job_of(request, Sum<std::int64_t>{}));
    case DType::f32: return solve(job_of(request, Sum<float>{}));
    case DType::f64: return solve(job_of(request, Sum<double>{}));
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request);  // the last lines of hierarchical_scan.cu

// --- What it is worth. The tasks' order is Rung's.
// Bytes decide: 4n, 3n or 2n items through global memory are 2, 1.5 or 1 times what must cross it. Steps tell a hierarchy
// (log n) from a chain (n / tile). solutions/hierarchical_scan/ladder_test.cpp pins the figures.
inline constexpr lab::EfficiencyGoal kTwoLevelGoals[] = {{lab::Metric::bytes_ratio, 2.05, 3},
                                                         {lab::Metric::launches, 3, 3}};
inline constexpr lab::EfficiencyGoal kRecursiveGoals[] = {{lab::Metric::bytes_ratio, 2.05, 4},
                                                          {lab::Metric::step_ratio, 3, 4}};
inline constexpr lab::EfficiencyGoal kReduceThenScanGoals[] = {{lab::Metric::bytes_ratio, 1.55, 6},
                                                               {lab::Metric::step_ratio, 3, 3}};
inline constexpr lab::EfficiencyGoal kChainedGoals[] = {{lab::Metric::bytes_ratio, 1.05, 5},
                                                        {lab::Metric::launches, 2, 5}};
inline constexpr lab::EfficiencyGoal kLookBackGoals[] = {{lab::Metric::bytes_ratio, 1.05, 3},
                                                         {lab::Metric::launches, 2, 3}};
// Against one core, on a device of the H200's class.
inline constexpr lab::SpeedupTier kRecursiveTiers[] = {{15, 3}, {30, 3}};
inline constexpr lab::SpeedupTier kReduceThenScanTiers[] = {{20, 3}, {40, 4}};
inline constexpr lab::SpeedupTier kLookBackTiers[] = {{6, 2}, {10, 2}};

inline constexpr lab::Task kTasks[] = {
    {"two_levels", "Two levels", "handouts/07-hierarchical-scan.md#two_levels", 14, kTwoLevelGoals, {}},
    {"recursive", "Any length", "handouts/07-hierarchical-scan.md#recursive", 14, kRecursiveGoals,
     kRecursiveTiers},
    {"reduce_then_scan", "Reduce, then scan", "handouts/07-hierarchical-scan.md#reduce_then_scan", 12,
     kReduceThenScanGoals, kReduceThenScanTiers},
    {"chained", "One pass, chained", "handouts/07-hierarchical-scan.md#chained", 14, kChainedGoals, {}},
    {"look_back", "Decoupled look-back", "handouts/07-hierarchical-scan.md#look_back", 10, kLookBackGoals,
     kLookBackTiers, lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"one_word",
     "Flag and value in one word",
     "handouts/07-hierarchical-scan.md#state_of_the_art",
     0,
     {},
     {}},
    {"warp_look_back", "A warp looks back", "handouts/07-hierarchical-scan.md#state_of_the_art", 0, {}, {}},
    {"state_of_the_art",
     "In waves, one tile ahead",
     "handouts/07-hierarchical-scan.md#state_of_the_art",
     0,
     {},
     {}},
};
inline constexpr lab::Manifest kManifest{
    "hierarchical_scan", "Hierarchical scan",
    "D. Merrill, M. Garland, 2016: Single-pass Parallel Prefix Scan with Decoupled Look-back", kTasks,
    kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::hierarchical_scan
