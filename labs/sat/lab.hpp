// SPDX-License-Identifier: MIT
// Summed area table: every entry is the sum of the rectangle between a corner of the image and that entry.
// With the table, the mean of any box takes four look-ups. The lab's API and its types.
// Read: Corner, the types, TableJob and BoxJob (what a task gets), Rung (the tasks). points.hpp says what the
// tasks are worth; dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU
// side (problem.cpp) and the tests include this header, so it includes no large header.
// Invariant: images are row-major and without gaps, with row 0 on top, in memory and on paper, for either
// corner.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::sat {

using lab::not_implemented;
using lab::Status;

// --- The corner where the rectangles start.
//   top_left:    table(r, c) = sum of the items in rows 0 … r,          columns 0 … c  (as in images)
//   lower_left:  table(r, c) = sum of the items in rows r … height - 1, columns 0 … c  (as in graphics)
enum class Corner : std::uint32_t { top_left, lower_left };
constexpr std::uint32_t kCornerCount = 2;
constexpr const char* name_of(Corner corner) {
  return corner == Corner::top_left ? "top_left" : "lower_left";
}

// --- Types. A sum of integers has more bits than an item: u8 is summed up in u32, i32 in i64. Integers wrap
// modulo 2^bits. Floats are summed up in their own type.
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
// The type of the mean of a box: as many bits as the sum has.
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

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write an input. Floats are finite.

// Tasks serial, rows_columns, transpose, single_pass: compute the table.
template <typename T>
struct TableJob {
  using Item = T;
  using Sum = typename SumOf<T>::Type;
  const T* d_in = nullptr;   // height rows of width items: item (r, c) is d_in[r * width + c];
                             // aligned to sizeof(T) only
  Sum* d_out = nullptr;      // the table: height rows of width sums, likewise aligned; contents undefined
  std::uint64_t width = 0;   // items in a row: 0 … 2^20
  std::uint64_t height = 0;  // rows: 0 … 2^20, so gridDim.y can count tiles of 32 rows
  Corner corner{};           // where every rectangle starts
  Sum* d_scratch = nullptr;  // space for scratch_count sums, 256-byte aligned; contents undefined
  std::uint64_t scratch_count = 0;   // width * height + 256 for each tile of 32 x 32, + 512
  std::uint32_t* d_flags = nullptr;  // space for flag_count words, 256-byte aligned; contents undefined
  std::uint64_t flag_count = 0;      // 64 + 4 for each tile of 32 x 32
  int multiprocessors = 1;           // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;     // launch here; no need to synchronise, the harness does
};

// Task box: the mean of the box around each item, with four look-ups. The box of item (r, c) with radius k is
// rows r - k … r + k, columns c - k … c + k, as far as they are inside the image. Its mean is the sum of
// these items, divided by their number.
template <typename S>
struct BoxJob {
  using Sum = S;
  using Mean = MeanOf<S>;
  // The table of the image from `corner`: height rows of width sums; aligned to sizeof(S) only. Its integers
  // may have wrapped around; the sums of single boxes fit into S.
  const S* d_table = nullptr;
  Mean* d_out = nullptr;     // height rows of width means; aligned to sizeof(Mean) only; contents undefined
  std::uint64_t width = 0;   // items in a row: 0 … 2^20
  std::uint64_t height = 0;  // rows: 0 … 2^20
  Corner corner{};           // where the table's rectangles start
  std::uint64_t radius = 0;  // in items: 0 is the item alone, 1 a box of 3 x 3; may be larger than the image
  // nullptr, or one radius for each item, with the layout of d_out; then `radius` is not used.
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

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  serial,
  rows_columns,
  transpose,
  box,
  single_pass,
  // only in the solutions:
  fused,
  look_back,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of sat.cu

}  // namespace course::sat

#include "sat/dispatch.hpp"
