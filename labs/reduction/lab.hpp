// SPDX-License-Identifier: MIT
// Reduction: fold n items into one with an associative operator. The lab's API, its operators, what it is worth.
// Read: the operators, Job (what a task gets), the manifest (tasks and points). Included by the student's .cu,
// the solutions, the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: op(a, op(b, c)) == op(op(a, b), c) up to rounding and op(identity, a) == a, for every operator.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::reduction {

using lab::Status;

// --- Operators. `Value` is what partial results and the final result are kept in; the identity fills the
// places that have no item; `finish` turns the total into the answer. Same code on host and device.

enum class OpId : std::uint32_t { sum, product, min, max, mean };
constexpr std::uint32_t kOpCount = 5;
constexpr const char* name_of(OpId op) {
  constexpr const char* kNames[] = {"sum", "product", "min", "max", "mean"};
  return kNames[static_cast<std::uint32_t>(op)];
}

// lab/operators.hpp says what they do; here they learn to finish.
template <typename T>
struct Sum : lab::Sum<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Product : lab::Product<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Min : lab::Min<T> {
  COURSE_HD T finish(T total) const { return total; }
};
template <typename T>
struct Max : lab::Max<T> {
  COURSE_HD T finish(T total) const { return total; }
};

// The mean of integers is kept in double: their sum need not fit the item's type. The mean of nothing is 0/0:
// NaN.
template <typename T>
struct Mean {
  using Value = std::conditional_t<std::is_integral_v<T>, double, T>;
  std::uint64_t n = 0;
  COURSE_HD Value identity() const { return Value{0}; }
  COURSE_HD Value operator()(Value a, Value b) const { return a + b; }
  COURSE_HD Value finish(Value total) const { return total / static_cast<Value>(n); }
};

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write
// d_in.
template <typename T, typename Op>
struct Job {
  using Value = typename Op::Value;
  const T* d_in = nullptr;       // n items; aligned to sizeof(T) and to no more
  std::uint64_t n = 0;           // may be 0: the answer is then op.finish(op.identity())
  Value* d_out = nullptr;        // one value: op.finish(x0 op x1 op … op x(n-1))
  Op op{};                       // op(a, b), op.identity(), op.finish(total)
  Value* d_scratch_a = nullptr;  // room for scratch_count partial results each; contents undefined
  Value* d_scratch_b = nullptr;
  std::uint64_t scratch_count = 0;  // at least n / 32 + 1024
  int multiprocessors = 1;          // of this device, to size a grid by
  CUstream_st* stream = nullptr;    // launch here; no need to synchronise, the harness does
};

// Partial results that one scratch array has room for.
constexpr std::uint64_t scratch_count(std::uint64_t n) {
  return n / 32 + 1024;
}

// What an untouched task returns.
template <typename T, typename Op>
Status not_implemented(const Job<T, Op>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  neighboured,
  sequential,
  shuffle,
  coarsened,
  single_launch,
  // not asked of students:
  reindexed,
  first_add,
  state_of_the_art,
};

// Which combinations are asked for: sums of every type; the other operators on i32 and f32.
constexpr bool offers(OpId op, lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::i32 || dtype == DType::f32) return true;
  return op == OpId::sum && (dtype == DType::i64 || dtype == DType::f64);
}

template <typename T, typename Op>
Job<T, Op> job_of(const lab::Request& request, Op op) {
  using Value = typename Op::Value;
  Job<T, Op> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<Value*>(request.outputs[0].data);
  job.op = op;
  job.scratch_count = scratch_count(request.n);
  job.d_scratch_a = static_cast<Value*>(request.d_workspace);
  job.d_scratch_b = job.d_scratch_a + job.scratch_count;
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's operator and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  using lab::DType;
  const OpId op = static_cast<OpId>(request.op);
  const std::uint64_t n = request.n;
  switch (request.dtype) {
    case DType::i32:
      switch (op) {
        case OpId::sum: return solve(job_of<std::int32_t>(request, Sum<std::int32_t>{}));
        case OpId::product: return solve(job_of<std::int32_t>(request, Product<std::int32_t>{}));
        case OpId::min: return solve(job_of<std::int32_t>(request, Min<std::int32_t>{}));
        case OpId::max: return solve(job_of<std::int32_t>(request, Max<std::int32_t>{}));
        case OpId::mean: return solve(job_of<std::int32_t>(request, Mean<std::int32_t>{n}));
      }
      return Status::unsupported;
    case DType::f32:
      switch (op) {
        case OpId::sum: return solve(job_of<float>(request, Sum<float>{}));
        case OpId::product: return solve(job_of<float>(request, Product<float>{}));
        case OpId::min: return solve(job_of<float>(request, Min<float>{}));
        case OpId::max: return solve(job_of<float>(request, Max<float>{}));
        case OpId::mean: return solve(job_of<float>(request, Mean<float>{n}));
      }
      return Status::unsupported;
    case DType::i64:
      if (op == OpId::sum) return solve(job_of<std::int64_t>(request, Sum<std::int64_t>{}));
      return Status::unsupported;
    case DType::f64:
      if (op == OpId::sum) return solve(job_of<double>(request, Sum<double>{}));
      return Status::unsupported;
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request);  // the last lines of reduction.cu

// --- What it is worth. The tasks' order is Rung's.
// Each goal tells the rung from those below it (solutions/reduction/ladder_test.cpp pins the figures): rung 1 has idle
// lanes, rung 2 bank conflicts, rung 4 twice the barriers of rung 5, and rungs 1 to 5 a partial result per 256 or 512 items.
inline constexpr lab::EfficiencyGoal kNeighbouredGoals[] = {{lab::Metric::work_ratio, 1.05, 3},
                                                            {lab::Metric::step_ratio, 1.5, 3}};
inline constexpr lab::EfficiencyGoal kSequentialGoals[] = {{lab::Metric::active_lanes, 0.9, 4},
                                                           {lab::Metric::bank_conflicts, 1.05, 4}};
inline constexpr lab::EfficiencyGoal kShuffleGoals[] = {{lab::Metric::barriers, 8, 4},
                                                        {lab::Metric::step_ratio, 1.5, 4}};
inline constexpr lab::EfficiencyGoal kCoarsenedGoals[] = {{lab::Metric::bytes_ratio, 1.01, 5},
                                                          {lab::Metric::launches, 2, 3}};
inline constexpr lab::EfficiencyGoal kSingleLaunchGoals[] = {{lab::Metric::launches, 1, 5},
                                                             {lab::Metric::bytes_ratio, 1.01, 3}};
// Against one core, on a device of the H200's class.
inline constexpr lab::SpeedupTier kSequentialTiers[] = {{8, 2}, {16, 2}};
inline constexpr lab::SpeedupTier kShuffleTiers[] = {{15, 2}, {30, 2}};
inline constexpr lab::SpeedupTier kCoarsenedTiers[] = {{20, 3}, {35, 4}, {50, 3}};
inline constexpr lab::SpeedupTier kSingleLaunchTiers[] = {{35, 2}, {50, 2}};

inline constexpr lab::Task kTasks[] = {
    {"neighboured", "Neighboured pairs", "handouts/01-reduction.md#neighboured", 14, kNeighbouredGoals, {}},
    {"sequential", "Sequential addressing", "handouts/01-reduction.md#sequential", 13, kSequentialGoals,
     kSequentialTiers},
    {"shuffle", "Warp shuffle", "handouts/01-reduction.md#shuffle", 13, kShuffleGoals, kShuffleTiers},
    {"coarsened", "Many items per thread", "handouts/01-reduction.md#coarsened", 12, kCoarsenedGoals,
     kCoarsenedTiers},
    {"single_launch", "One launch", "handouts/01-reduction.md#single_launch", 8, kSingleLaunchGoals,
     kSingleLaunchTiers, lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"reindexed", "Neighboured pairs, re-indexed", "handouts/01-reduction.md#neighboured", 0, {}, {}},
    {"first_add", "First add on load", "handouts/01-reduction.md#shuffle", 0, {}, {}},
    {"state_of_the_art", "As fast as the memory", "handouts/01-reduction.md#state_of_the_art", 0, {}, {}},
};
inline constexpr lab::Manifest kManifest{"reduction", "Reduction",
                                         "M. Harris, 2007: Optimizing Parallel Reduction in CUDA", kTasks,
                                         kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::reduction
