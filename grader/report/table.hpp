// SPDX-License-Identifier: MIT
// The score table for a terminal: one line per task with the reasons for lost points below it, and below the
// table the reasons for failed tasks.
// Invariant: no line takes more than kTableColumns columns, whatever names and messages contain.
#pragma once

#include <cstddef>
#include <string>

#include "report/result.hpp"

namespace course::grader {

constexpr std::size_t kTableColumns = 80;

struct TableStyle {
  bool colour = false;
  // The messages of at most this many failed tasks of a lab are printed, so that they fit on a screen; the
  // JSON has all messages.
  std::size_t max_messages = 3;
};

// Uses colour if stdout is a terminal, TERM is set and not "dumb", and NO_COLOR is empty or not set
// (no-color.org).
TableStyle style_for_stdout();

std::string to_table(const RunResult& result, const TableStyle& style);

}  // namespace course::grader
