// SPDX-License-Identifier: MIT
// A trace as SVG: a strip of boxes for each step, with arrows from the elements that a value was computed
// from. An array with two dimensions is a grid of boxes. The same trace always gives the same bytes.
#pragma once

#include <string>

#include "page/page.hpp"
#include "trace/view.hpp"

namespace course::grader {

// A stand-alone SVG file with its own colours, light or dark, on a card of its own, so that it is readable
// everywhere. `title` is the text alternative. It contains no line numbers, so that it changes only when the
// kernel's behaviour does.
std::string trace_svg(const TraceView& view, const std::string& title);

// The same for a page, in the page's colours: all steps, or the step of that number with its sources.
page::Html trace_picture(const TraceView& view);
page::Html step_picture(const TraceView& view, int number);
page::Html arrow_head();  // of all pictures of a page: once

}  // namespace course::grader
