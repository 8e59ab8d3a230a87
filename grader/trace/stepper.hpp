// SPDX-License-Identifier: MIT
// A trace on a terminal, one step at a time.
#pragma once

#include <string>
#include <vector>

#include "grading/check.hpp"
#include "trace/tables.hpp"

namespace course::grader {

// A screenful for each step: what stands where, who put it there and from what, with the source line.
std::vector<std::string> trace_steps_text(const TraceView& view, const SourceLine& source_line, bool colour);
// What is said below the last step: where a fault ended the trace, and findings.
std::string trace_end(const TraceView& view, bool colour);

// Shows one step after the other: space, enter, n, → or ↓ forwards; b, p, ← or ↑ back; g and G to the first
// and last; q ends. The terminal is left as it was. Where input or output is no terminal, everything is
// printed in one go.
void show_steps(const std::vector<std::string>& steps, const std::string& end);

}  // namespace course::grader
