// SPDX-License-Identifier: MIT
// A trace for a terminal of 80 columns, and as Markdown.
#pragma once

#include <string>

#include "trace/view.hpp"

namespace course::grader {

// Values written in a step are coloured by ANSI escapes, or without `colour` marked with a star.
std::string trace_text(const TraceView& view, bool colour);
// Tables for the handouts. Values written in a step are bold.
std::string trace_markdown(const TraceView& view);

}  // namespace course::grader
