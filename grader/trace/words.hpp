// SPDX-License-Identifier: MIT
// The words for a trace's tables and steps, shared by all forms in which it is shown.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trace/view.hpp"

namespace course::grader {

// "Launch 1: k03_blelloch, block 0"
std::string title_of(const TraceTable& table);
// "barrier, line 225", or "barrier" without the line
std::string moment_of(const TraceStep& step, bool with_line = true);
// The same with the number of steps that it stands for: "barrier, line 81 (6 times)"
std::string label_of(const TraceStep& step);
// "0 2 4 6": the threads that stored
std::string threads_of(const TraceStep& step);

// The warps that access memory with the same lanes and passes, as one row.
struct TraceLaneRow {
  TraceLanes each;  // without a warp and a line of its own
  std::set<std::uint32_t> lines, warps = {};
  std::string where() const;  // "lines 81 83, warps 0 1"
};
std::vector<TraceLaneRow> lane_rows(const TraceStep& step);

}  // namespace course::grader
