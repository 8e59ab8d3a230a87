// SPDX-License-Identifier: MIT
// A trace drawn: a strip of boxes for each step, arrows from the elements that a value was made of. An array
// with two dimensions is a grid of boxes. Byte for byte the same for the same trace.
#pragma once

#include <cstdint>
#include <string>

#include "page/page.hpp"
#include "trace/tables.hpp"

namespace course::grader {

// A file of its own, with colours of its own on a white card: readable wherever it is shown. `title` is what
// it shows, for people who do not see it. Without line numbers, so that it changes only when what the kernel
// does changes.
std::string trace_svg(const TraceView& view, const std::string& title);

// The same in a page, in the page's colours: all steps, or the one of that number with what it was made of.
page::Html trace_picture(const TraceView& view);
page::Html step_picture(const TraceView& view, int number);

}  // namespace course::grader
