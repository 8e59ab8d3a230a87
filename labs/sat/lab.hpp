// SPDX-License-Identifier: MIT
// Summed area table: every entry is the sum of the rectangle between a corner of the image and that entry; with it, the mean
// of any box costs four look-ups. The lab's API, its types, what it is worth.
// Read: Corner, the types, TableJob and BoxJob (what a task gets), the manifest (tasks and points). Included by the student's
// .cu, the solutions, the CPU side (problem.cpp), the programs in app/ and the tests, so it stays light: no heavy header.
// Invariant: images are row-major and without gaps, row 0 on top, in memory as well as on paper, whatever the corner.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::sat {

using lab::Status;

// --- Where the rectangles start.
//   top_left:    table(r, c) = sum of the items in rows 0 … r,          columns 0 … c   (the order of images)
//   lower_left:  table(r, c) = sum of the items in rows r … height - 1, columns 0 … c   (the order of graphics)
enum class Corner : std::uint32_t { top_left, lower_left };
constexpr std::uint32_t kCornerCount = 2;
constexpr const char* name_of(Corner corner) {
  return corner == Corner::top_left ? "top_left" : "lower_left";
}

// --- Types. A sum has more digits than an item: u8 is summed up in u32, i32 in i64. Integers wrap modulo 2^bits.
template <typename Item>
struct SumOf {
  using Type = Item;  // float, double
};
template <>
struct SumOf<std::uint8_t> {
  using Type = std::uint32_t;
};
template <>
struct SumOf<std::int32_t> {
  using Type = std::int64_t;
};
// What the mean of a box is given in: as many digits as the sum has.
template <typename Sum>
using MeanOf = std::conditional_t<sizeof(Sum) == 4, float, double>;

// a + b and a - b; integers wrap. Same code on host and device.
using lab::wrapping_add;
template <typename T>
COURSE_HD constexpr T wrapping_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
  } else {
    return a - b;
  }
}

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write an input.

// Tasks serial, rows_columns, transpose, single_pass: make the table.
template <typename T>
struct TableJob {
  using Item = T;
  using Sum = typename SumOf<T>::Type;
  const T* d_in = nullptr;           // height rows of width items: item (r, c) is d_in[r * width + c];
                                     // aligned to sizeof(T) and to no more
  Sum* d_out = nullptr;              // the table: height rows of width sums, likewise; contents undefined
  std::uint64_t width = 0;           // items in a row; may be 0
  std::uint64_t height = 0;          // rows; may be 0. Neither needs to be a multiple of anything
  Corner corner{};                   // where every rectangle starts
  Sum* d_scratch = nullptr;          // room for scratch_count sums, 256-byte aligned; contents undefined
  std::uint64_t scratch_count = 0;   // width * height + 256 for each tile of 32 x 32, + 512
  std::uint32_t* d_flags = nullptr;  // room for flag_count words, 256-byte aligned; contents undefined
  std::uint64_t flag_count = 0;      // 64 + 4 for each tile of 32 x 32
  int multiprocessors = 1;           // of this device, to size a grid by
  CUstream_st* stream = nullptr;     // launch here; no need to synchronise, the harness does
};

// Task box: the mean of the box around each item, by four look-ups. The box of item (r, c) with radius k is rows r - k … r + k,
// columns c - k … c + k, as far as they lie inside the image; its mean is the sum of those items, divided by how many they are.
template <typename S>
struct BoxJob {
  using Sum = S;
  using Mean = MeanOf<S>;
  // The table of the image from `corner`: height rows of width sums; aligned to sizeof(S) and to no more. Its integers may have
  // wrapped; the sums of single boxes fit into S.
  const S* d_table = nullptr;
  Mean* d_out = nullptr;     // height rows of width means; contents undefined
  std::uint64_t width = 0;   // items in a row; may be 0
  std::uint64_t height = 0;  // rows; may be 0
  Corner corner{};           // where the table's rectangles start
  std::uint64_t radius = 0;  // in items: 0 is the item alone, 1 a box of 3 x 3; may be larger than the image
  // nullptr, or a radius of its own for each item, laid out like d_out; then `radius` means nothing.
  const std::uint32_t* d_radii = nullptr;
  int multiprocessors = 1;
  CUstream_st* stream = nullptr;
};

constexpr std::uint64_t tiles_of_32(std::uint64_t width, std::uint64_t height) {
  return ((width + 31) / 32) * ((height + 31) / 32);
}
constexpr std::uint64_t scratch_count(std::uint64_t width, std::uint64_t height) {
  return width * height + 256 * tiles_of_32(width, height) + 512;
}
constexpr std::uint64_t flag_count(std::uint64_t width, std::uint64_t height) {
  return 64 + 4 * tiles_of_32(width, height);
}

// What an untouched task returns.
template <typename Job>
Status not_implemented(const Job&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  serial,
  rows_columns,
  transpose,
  box,
  single_pass,
  // not asked of students:
  fused,
  look_back,
  state_of_the_art,
};

// --- How a Request is read: op is the Corner, dtype the type of the items (box: of the table's sums), params as follows.
enum Param : std::size_t { kWidth, kHeight, kRadius, kHasRadii };  // kHasRadii: inputs[1] holds them

constexpr bool offers(Rung rung, lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::f32 || dtype == DType::f64) return true;
  return rung == Rung::box ? dtype == DType::u32 || dtype == DType::i64
                           : dtype == DType::u8 || dtype == DType::i32;
}
constexpr lab::DType sum_type(lab::DType item) {
  if (item == lab::DType::u8) return lab::DType::u32;
  return item == lab::DType::i32 ? lab::DType::i64 : item;
}
constexpr lab::DType mean_type(lab::DType sum) {
  return lab::bytes_of(sum) == 4 ? lab::DType::f32 : lab::DType::f64;
}

template <typename T>
TableJob<T> table_job(const lab::Request& request) {
  using Sum = typename SumOf<T>::Type;
  TableJob<T> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.d_out = static_cast<Sum*>(request.outputs[0].data);
  job.width = static_cast<std::uint64_t>(request.params[kWidth]);
  job.height = static_cast<std::uint64_t>(request.params[kHeight]);
  job.corner = static_cast<Corner>(request.op);
  // Flags first: their room is a multiple of 256 bytes.
  job.d_flags = static_cast<std::uint32_t*>(request.d_workspace);
  job.flag_count = flag_count(job.width, job.height);
  job.d_scratch = reinterpret_cast<Sum*>(job.d_flags + (job.flag_count + 63) / 64 * 64);
  job.scratch_count = scratch_count(job.width, job.height);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}
constexpr std::uint64_t workspace_bytes(lab::DType item, std::uint64_t width, std::uint64_t height) {
  return (flag_count(width, height) + 63) / 64 * 256 +
         scratch_count(width, height) * lab::bytes_of(sum_type(item));
}

template <typename S>
BoxJob<S> box_job(const lab::Request& request) {
  BoxJob<S> job;
  job.d_table = static_cast<const S*>(request.inputs[0].data);
  job.d_out = static_cast<MeanOf<S>*>(request.outputs[0].data);
  job.width = static_cast<std::uint64_t>(request.params[kWidth]);
  job.height = static_cast<std::uint64_t>(request.params[kHeight]);
  job.corner = static_cast<Corner>(request.op);
  job.radius = static_cast<std::uint64_t>(request.params[kRadius]);
  if (request.params[kHasRadii] != 0) job.d_radii = static_cast<const std::uint32_t*>(request.inputs[1].data);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with a TableJob of the request's type or, for the task box, with a BoxJob.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  using lab::DType;
  if (static_cast<Rung>(request.task) == Rung::box) {
    switch (request.dtype) {
      case DType::u32: return solve(box_job<std::uint32_t>(request));
      case DType::i64: return solve(box_job<std::int64_t>(request));
      case DType::f32: return solve(box_job<float>(request));
      case DType::f64: return solve(box_job<double>(request));
      default: return Status::unsupported;
    }
  }
  switch (request.dtype) {
    case DType::u8: return solve(table_job<std::uint8_t>(request));
    case DType::i32: return solve(table_job<std::int32_t>(request));
    case DType::f32: return solve(table_job<float>(request));
    case DType::f64: return solve(table_job<double>(request));
    default: return Status::unsupported;
  }
}

Status run(const lab::Request& request);  // the last lines of sat.cu

// --- What it is worth. The tasks' order is Rung's.
// Each goal tells the rung from those below it (solutions/sat/ladder_test.cpp pins the figures): rung 1 loads a sector per item
// while it walks along rows, rung 2 adds up columns item by item, rung 3 moves everything four times.
inline constexpr lab::EfficiencyGoal kSerialGoals[] = {{lab::Metric::work_ratio, 1.01, 3},
                                                       {lab::Metric::launches, 2, 2}};
inline constexpr lab::EfficiencyGoal kRowsColumnsGoals[] = {{lab::Metric::bytes_ratio, 2.1, 5},
                                                            {lab::Metric::step_ratio, 20, 3}};
inline constexpr lab::EfficiencyGoal kTransposeGoals[] = {{lab::Metric::step_ratio, 4, 4},
                                                          {lab::Metric::bank_conflicts, 1.05, 4},
                                                          {lab::Metric::bytes_ratio, 4.2, 2}};
inline constexpr lab::EfficiencyGoal kBoxGoals[] = {
    {lab::Metric::work_ratio, 1.05, 3}, {lab::Metric::bytes_ratio, 1.3, 5}, {lab::Metric::launches, 1, 2}};
inline constexpr lab::EfficiencyGoal kSinglePassGoals[] = {{lab::Metric::bytes_ratio, 1.2, 5},
                                                           {lab::Metric::launches, 2, 2}};
// Against one core, on a device of the H200's class.
inline constexpr lab::SpeedupTier kRowsColumnsTiers[] = {{8, 2}, {16, 2}};
inline constexpr lab::SpeedupTier kTransposeTiers[] = {{12, 2}, {24, 3}};
inline constexpr lab::SpeedupTier kBoxTiers[] = {{50, 3}, {100, 4}};
inline constexpr lab::SpeedupTier kSinglePassTiers[] = {{6, 2}, {12, 3}};

inline constexpr lab::Task kTasks[] = {
    {"serial", "A thread per row, a thread per column", "handouts/06-sat.md#serial", 15, kSerialGoals, {}},
    {"rows_columns", "A block per row, coalesced columns", "handouts/06-sat.md#rows_columns", 13,
     kRowsColumnsGoals, kRowsColumnsTiers},
    {"transpose", "Scan, transpose, scan, transpose", "handouts/06-sat.md#transpose", 12, kTransposeGoals,
     kTransposeTiers},
    {"box", "Box filter by four look-ups", "handouts/06-sat.md#box", 11, kBoxGoals, kBoxTiers},
    {"single_pass", "One pass over tiles", "handouts/06-sat.md#single_pass", 8, kSinglePassGoals,
     kSinglePassTiers, lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"fused", "Transposed on the way out", "handouts/06-sat.md#transpose", 0, {}, {}},
    {"look_back", "Tiles in registers, and look-back", "handouts/06-sat.md#state_of_the_art", 0, {}, {}},
    {"state_of_the_art", "As fast as the memory", "handouts/06-sat.md#state_of_the_art", 0, {}, {}},
};
inline constexpr lab::Manifest kManifest{"sat", "Summed area table",
                                         "F. Crow, 1984: Summed-Area Tables for Texture Mapping", kTasks,
                                         kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::sat
