// SPDX-License-Identifier: MIT
// What a picture of a trace draws: a strip for each step, and for each value the strips that it comes from.
// picture.cpp lays them out and draws them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "trace/view.hpp"

namespace course::grader {

constexpr double kCellHeight = 28;

// One drawn array. `again`: drawn a second time, only as the origin of arrows.
struct Strip {
  const TraceTable* table = nullptr;
  const TraceStep* step = nullptr;
  bool again = false;
  int times = 1;
  const char* again_as = "as above";
  double x = 0, y = 0, cell = 0;
  double below = 0;  // arrows into it begin below this: its labels, if they are above it

  std::size_t columns() const {
    const std::size_t n = std::max<std::size_t>(1, step->cells.size());
    return step->row_length > 0 && step->row_length < n ? step->row_length : n;
  }
  std::size_t rows() const {
    return (std::max<std::size_t>(1, step->cells.size()) + columns() - 1) / columns();
  }
  bool grid() const { return rows() > 1; }
  double width() const { return cell * static_cast<double>(columns()); }
  double height() const { return kCellHeight * static_cast<double>(rows()); }
  double left(std::size_t i) const { return x + cell * static_cast<double>(i % columns()); }
  double top(std::size_t i) const {
    const std::size_t row = i / columns();
    return y + kCellHeight * static_cast<double>(row);
  }
};

// The steps as strips. A source array that is not directly above its use is drawn again there.
std::vector<Strip> strips_of(const TraceView& view, bool one_by_one);

// The index of the latest strip before `end` that shows the source of the store, or -1.
int source_strip(const std::vector<Strip>& strips, std::size_t end, const TraceSource& source,
                 const TraceStore& store);
// Those of all sources of the step that were not written in it.
std::set<int> source_strips(const std::vector<Strip>& strips, std::size_t end, const TraceStep& step);

}  // namespace course::grader
