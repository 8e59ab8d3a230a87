// SPDX-License-Identifier: MIT
// The score table for a terminal: one line per task with the reasons for lost points below it, and below the
// table the reasons for failed tasks: the cause first, what is wrong, one command.
// Invariant: no line takes more than kTableColumns columns, whatever names and messages contain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/result.hpp"

namespace course::grader {

constexpr std::size_t kTableColumns = 80;

constexpr std::size_t kFailureLines = 12;  // of a failure, unless it is shown whole

struct TableStyle {
  bool colour = false;
  bool whole = false;  // all that is known of each failure
  // The messages of at most this many failed tasks of a lab are printed, so that they fit on a screen; the
  // JSON has all messages.
  std::size_t max_messages = 3;
};

// Uses colour if stdout is a terminal, TERM is set and not "dumb", and NO_COLOR is empty or not set
// (no-color.org).
TableStyle style_for_stdout();

std::string to_table(const RunResult& result, const TableStyle& style);

// The tasks whose messages are shown, each message once: if a lab does not compile, all tasks have the same.
// Lost points of OK tasks stand below their row, and NOT_IMPLEMENTED needs no explanation.
std::vector<const TaskResult*> failed_tasks(const LabResult& lab);
// The parts of a failed task's message: verdict and cause, in half of the lines at most; then the first wrong
// element and a command, unless a small input takes its place. All is said in the first part if it is whole.
std::string failure_head(const TaskResult& task, const TableStyle& style);
std::string failure_end(const TaskResult& task, const TableStyle& style);

}  // namespace course::grader
