// SPDX-License-Identifier: MIT
// The score table on the terminal: one line a task, under it what lost points, under the table why tasks
// failed. Invariant: no line takes more than kTableColumns columns, whatever names and messages contain.
#pragma once

#include <cstddef>
#include <string>

#include "report/result.hpp"

namespace course::grader {

constexpr std::size_t kTableColumns = 80;

struct TableStyle {
  bool colour = false;
  // Messages of at most this many failed tasks of a lab are printed, one screen in all; the JSON has all.
  std::size_t max_messages = 3;
};

// Colour when stdout is a terminal and NO_COLOR is not set (no-color.org).
TableStyle style_for_stdout();

std::string to_table(const RunResult& result, const TableStyle& style);

}  // namespace course::grader
