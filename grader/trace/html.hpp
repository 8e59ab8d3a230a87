// SPDX-License-Identifier: MIT
// A trace as one HTML page, whose script plays the steps. Each step shows its picture, the source lines that
// executed, and the lanes that took part. Without scripts, and on paper, all steps are shown one below the
// other.
#pragma once

#include <string>

#include "source_lines.hpp"
#include "trace/view.hpp"

namespace course::grader {

std::string trace_html(const TraceView& view, const SourceLine& source_line, const std::string& made_by);

}  // namespace course::grader
