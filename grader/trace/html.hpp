// SPDX-License-Identifier: MIT
// A trace as one page: a slider over the steps, each with its picture, the source lines that did it, and who
// took part. Without scripts, and on paper, all steps stand one below the other.
#pragma once

#include <string>

#include "grading/check.hpp"
#include "trace/tables.hpp"

namespace course::grader {

std::string trace_html(const TraceView& view, const SourceLine& source_line, const std::string& made_by);

}  // namespace course::grader
