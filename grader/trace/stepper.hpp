// SPDX-License-Identifier: MIT
// A trace on a terminal, one step at a time.
#pragma once

#include <string>
#include <vector>

#include "grading/check.hpp"
#include "trace/tables.hpp"

namespace course::grader {

// A screenful for each step: the arrays, the stores with their sources, and the source lines.
std::vector<std::string> trace_steps_text(const TraceView& view, const SourceLine& source_line, bool colour);
// The text below the last step: the fault that ended the trace, and the findings.
std::string trace_end(const TraceView& view, bool colour);

// Shows the steps one at a time. Space, enter, n, j, → and ↓ go forwards; b, p, k, backspace, ← and ↑ go
// back; g and G go to the first and the last step; q and escape end. The terminal's settings are restored. If
// input or output is not a terminal, all steps are printed at once.
void show_steps(const std::vector<std::string>& steps, const std::string& end);

}  // namespace course::grader
