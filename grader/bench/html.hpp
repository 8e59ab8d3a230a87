// SPDX-License-Identifier: MIT
// The page of ./lab bench --html: for each kind of work a table of the times, a chart of the rates over the
// sizes, and a roofline that shows whether memory or instruction issue limits each rung.
#pragma once

#include <string>

#include "bench/results.hpp"

namespace course::grader {

std::string bench_html(const BenchResults& results);

}  // namespace course::grader
