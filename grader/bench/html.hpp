// SPDX-License-Identifier: MIT
// The page of ./lab bench --html: for each kind of work a table of the times, rates and shares of the memory's
// rate.
#pragma once

#include <string>

#include "bench/results.hpp"

namespace course::grader {

std::string bench_html(const BenchResults& results);

}  // namespace course::grader
