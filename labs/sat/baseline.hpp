// SPDX-License-Identifier: MIT
// Summed area tables and box filters on the CPU: the baselines for speedups. Plain loops, compiled with
// -O3, without tuning for a particular CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "sat/lab.hpp"

namespace course::sat {

// The position in the image of the k-th row, counted from the corner.
constexpr std::size_t row_from(Corner corner, std::size_t k, std::size_t height) {
  return corner == Corner::top_left ? k : height - 1 - k;
}

// One pass: the sum of the row so far, plus the entry of the row before. About two additions per item.
template <typename T, typename Sum = typename SumOf<T>::Type>
void table_one_thread(std::span<const T> items, std::size_t width, std::size_t height, Corner corner,
                      std::span<std::type_identity_t<Sum>> table) {
  for (std::size_t k = 0; k < height; ++k) {
    const T* in = items.data() + row_from(corner, k, height) * width;
    Sum* out = table.data() + row_from(corner, k, height) * width;
    Sum row{0};
    if (k == 0) {
      for (std::size_t c = 0; c < width; ++c) out[c] = row = wrapping_add(row, static_cast<Sum>(in[c]));
    } else {
      const Sum* before = table.data() + row_from(corner, k - 1, height) * width;
      for (std::size_t c = 0; c < width; ++c) {
        row = wrapping_add(row, static_cast<Sum>(in[c]));
        out[c] = wrapping_add(row, before[c]);
      }
    }
  }
}

// The box of a pixel, limited by the image's border: rows first_row … last_row, columns likewise.
struct Box {
  std::size_t first_row, last_row, first_column, last_column;
  std::size_t area() const { return (last_row - first_row + 1) * (last_column - first_column + 1); }
};
constexpr Box box_around(std::size_t r, std::size_t c, std::size_t radius, std::size_t width,
                         std::size_t height) {
  return {r < radius ? 0 : r - radius, height - 1 - r < radius ? height - 1 : r + radius,
          c < radius ? 0 : c - radius, width - 1 - c < radius ? width - 1 : c + radius};
}

// The positions of the table's entries that a box needs. The row that is furthest from the corner gives the
// whole rectangle; the row just before the box is subtracted; likewise the columns. If nothing must be
// subtracted, that row or column does not exist.
struct Edges {
  std::size_t far, near, right, left;
  bool cut_rows, cut_columns;
};
constexpr Edges edges_of(const Box& box, Corner corner, std::size_t height) {
  const bool cut_columns = box.first_column > 0;
  const std::size_t right = box.last_column, left = box.first_column - 1;
  if (corner == Corner::top_left)
    return {box.last_row, box.first_row - 1, right, left, box.first_row > 0, cut_columns};
  return {box.first_row, box.last_row + 1, right, left, box.last_row + 1 < height, cut_columns};
}

// The sum over a box: four look-ups and three additions or subtractions, for any size.
template <typename Sum>
Sum box_sum(std::span<const Sum> table, std::size_t width, const Edges& edges) {
  Sum sum = table[edges.far * width + edges.right];
  if (edges.cut_columns) sum = wrapping_subtract(sum, table[edges.far * width + edges.left]);
  if (edges.cut_rows) sum = wrapping_subtract(sum, table[edges.near * width + edges.right]);
  if (edges.cut_rows && edges.cut_columns) sum = wrapping_add(sum, table[edges.near * width + edges.left]);
  return sum;
}

// The filtered image. radii: empty, or one for each item.
template <typename Sum>
void box_filter(std::span<const Sum> table, std::size_t width, std::size_t height, Corner corner,
                std::size_t radius, std::span<const std::uint32_t> radii, std::span<MeanOf<Sum>> means) {
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = r * width + c;
      const Box box = box_around(r, c, radii.empty() ? radius : radii[i], width, height);
      means[i] = static_cast<MeanOf<Sum>>(box_sum(table, width, edges_of(box, corner, height))) /
                 static_cast<MeanOf<Sum>>(box.area());
    }
  }
}

}  // namespace course::sat
