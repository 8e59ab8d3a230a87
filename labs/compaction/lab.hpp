// SPDX-License-Identifier: MIT
// Stream compaction: copy the items that a predicate keeps, in their order, side by side. The lab's API, its
// predicates, what it is worth.
// Read: the predicates, Job (what a task gets), the manifest (tasks and points). Included by the student's
// .cu, the solutions, the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: d_out[0 … count) are the kept items in the order of d_in, bit for bit; d_out[count … n) is left
// as it was.
#pragma once

#include <cstdint>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::compaction {

using lab::Status;

// A place in an array, or a number of items: past 2^32 there are arrays, too.
using Index = std::uint64_t;

// --- Predicates: keep(item) says whether an item stays. Same code on host and device. A kernel sees nothing
// but the call.

enum class KeepId : std::uint32_t { is_positive, is_even, nonzero, less_than };
constexpr std::uint32_t kKeepCount = 4;
constexpr const char* name_of(KeepId keep) {
  constexpr const char* kNames[] = {"is_positive", "is_even", "nonzero", "less_than"};
  return kNames[static_cast<std::uint32_t>(keep)];
}

// A NaN is not positive and not less than anything; it is not zero either, so nonzero keeps it. -0 is zero.
template <typename T>
struct IsPositive {
  COURSE_HD bool operator()(T item) const { return item > T{0}; }
};
template <typename T>  // integers
struct IsEven {
  COURSE_HD bool operator()(T item) const { return (item & 1) == 0; }
};
template <typename T>
struct Nonzero {
  COURSE_HD bool operator()(T item) const { return item != T{0}; }
};
template <typename T>
struct LessThan {
  T threshold;
  COURSE_HD bool operator()(T item) const { return item < threshold; }
};

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write d_in.
template <typename T, typename Keep>
struct Job {
  const T* d_in = nullptr;   // n items; aligned to sizeof(T) and to no more
  std::uint64_t n = 0;       // may be 0: then count is 0, and nothing else is written
  T* d_out = nullptr;        // room for n items; aligned to 256 bytes; only the first *d_count may be written
  Index* d_count = nullptr;  // one number: how many items are kept
  Keep keep{};               // keep(item) is true for an item that stays

  // Workspace, contents undefined. What it is good for is up to the task.
  Index* d_positions = nullptr;      // room for n numbers; aligned to 256 bytes
  std::uint32_t* d_flags = nullptr;  // room for n flags; aligned to 8 bytes
  Index* d_spare =
      nullptr;  // room for spare_count numbers: per block or tile, on all levels; aligned to 8 bytes
  std::uint64_t spare_count = 0;  // at least n / 16 + 1024
  int multiprocessors = 1;        // of this device
  CUstream_st* stream = nullptr;  // launch here; no need to synchronise, the harness does
};

// Numbers that d_spare has room for.
constexpr std::uint64_t spare_count(std::uint64_t n) {
  return n / 16 + 1024;
}
// What job_of splits into d_positions, d_spare and d_flags, in this order.
constexpr std::uint64_t workspace_bytes(std::uint64_t n) {
  return n * sizeof(Index) + spare_count(n) * sizeof(Index) + n * sizeof(std::uint32_t);
}

// What an untouched task returns.
template <typename T, typename Keep>
Status not_implemented(const Job<T, Keep>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  three_kernels,
  fused,
  warp_aggregated,
  single_pass,
  // not asked of students:
  packed,
  state_of_the_art,
};

// Which combinations are asked for.
constexpr bool offers(KeepId keep, lab::DType dtype) {
  using lab::DType;
  switch (dtype) {
    case DType::i32: return true;
    case DType::f32: return keep != KeepId::is_even;
    case DType::i64: return keep == KeepId::is_even || keep == KeepId::less_than;
    default: return false;
  }
}

template <typename T, typename Keep>
Job<T, Keep> job_of(const lab::Request& request, Keep keep) {
  Job<T, Keep> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<T*>(request.outputs[0].data);
  job.d_count = static_cast<Index*>(request.outputs[1].data);
  job.keep = keep;
  job.d_positions = static_cast<Index*>(request.d_workspace);
  job.d_spare = job.d_positions + job.n;
  job.spare_count = spare_count(job.n);
  job.d_flags = reinterpret_cast<std::uint32_t*>(job.d_spare + job.spare_count);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls f(T{}, keep) with the item type and the predicate that (keep, dtype, params) name: params[0] is
// less_than's threshold. What is not offered gets otherwise().
template <typename F, typename Otherwise>
decltype(auto) with_types(KeepId keep, lab::DType dtype, std::int64_t threshold, F f, Otherwise otherwise) {
  using lab::DType;
  switch (dtype) {
    case DType::i32:
      switch (keep) {
        case KeepId::is_positive: return f(std::int32_t{}, IsPositive<std::int32_t>{});
        case KeepId::is_even: return f(std::int32_t{}, IsEven<std::int32_t>{});
        case KeepId::nonzero: return f(std::int32_t{}, Nonzero<std::int32_t>{});
        case KeepId::less_than:
          return f(std::int32_t{}, LessThan<std::int32_t>{static_cast<std::int32_t>(threshold)});
      }
      return otherwise();
    case DType::f32:
      switch (keep) {
        case KeepId::is_positive: return f(float{}, IsPositive<float>{});
        case KeepId::nonzero: return f(float{}, Nonzero<float>{});
        case KeepId::less_than: return f(float{}, LessThan<float>{static_cast<float>(threshold)});
        default: return otherwise();
      }
    case DType::i64:
      switch (keep) {
        case KeepId::is_even: return f(std::int64_t{}, IsEven<std::int64_t>{});
        case KeepId::less_than: return f(std::int64_t{}, LessThan<std::int64_t>{threshold});
        default: return otherwise();
      }
    default: return otherwise();
  }
}

// Calls solve(job) with the Job of the request's predicate and item type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  return with_types(
      static_cast<KeepId>(request.op), request.dtype, request.params[0],
      [&]<typename T, typename Keep>(T, Keep keep) { return solve(job_of<T>(request, keep)); },
      [] { return Status::unsupported; });
}

Status run(const lab::Request& request);  // the last lines of compaction.cu

// --- What it is worth. The tasks' order is Rung's.
// Each goal tells the rung from the one below it (solutions/compaction/ladder_test.cpp pins the figures):
// bytes the arrays of flags and positions, barriers the scan in shared memory, launches the levels of the
// scan.
inline constexpr lab::EfficiencyGoal kThreeKernelsGoals[] = {{lab::Metric::bytes_ratio, 12, 4},
                                                             {lab::Metric::launches, 7, 3}};
inline constexpr lab::EfficiencyGoal kFusedGoals[] = {{lab::Metric::bytes_ratio, 2.2, 4},
                                                      {lab::Metric::launches, 5, 3}};
inline constexpr lab::EfficiencyGoal kWarpAggregatedGoals[] = {{lab::Metric::barriers, 12, 5},
                                                               {lab::Metric::launches, 3, 4}};
inline constexpr lab::EfficiencyGoal kSinglePassGoals[] = {{lab::Metric::bytes_ratio, 1.25, 4},
                                                           {lab::Metric::launches, 2, 4}};
// Against one core, on a device of the H200's class. One core mispredicts every other branch when items are
// kept at random: 3 to 4 ns an item.
inline constexpr lab::SpeedupTier kThreeKernelsTiers[] = {{40, 3}, {80, 4}};
inline constexpr lab::SpeedupTier kFusedTiers[] = {{80, 4}, {150, 4}};
inline constexpr lab::SpeedupTier kWarpAggregatedTiers[] = {{120, 3}, {200, 4}, {250, 3}};
inline constexpr lab::SpeedupTier kSinglePassTiers[] = {{200, 2}, {300, 2}};

inline constexpr lab::Task kTasks[] = {
    {"three_kernels", "Flags, scan, scatter", "handouts/03-compaction.md#three_kernels", 18,
     kThreeKernelsGoals, kThreeKernelsTiers},
    {"fused", "Scan in shared memory", "handouts/03-compaction.md#fused", 17, kFusedGoals, kFusedTiers},
    {"warp_aggregated", "Ballots instead of a scan", "handouts/03-compaction.md#warp_aggregated", 17,
     kWarpAggregatedGoals, kWarpAggregatedTiers},
    {"single_pass", "One pass, by looking back", "handouts/03-compaction.md#single_pass", 8, kSinglePassGoals,
     kSinglePassTiers, lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"packed", "Packs of 16 bytes", "handouts/03-compaction.md#state_of_the_art", 0, {}, {}},
    {"state_of_the_art", "In waves, one tile ahead", "handouts/03-compaction.md#state_of_the_art", 0, {}, {}},
};
inline constexpr lab::Manifest kManifest{"compaction", "Stream compaction",
                                         "M. Billeter, O. Olsson, U. Assarsson, 2009: Efficient Stream "
                                         "Compaction on Wide SIMD Many-Core Architectures",
                                         kTasks, kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::compaction
