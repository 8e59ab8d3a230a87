// SPDX-License-Identifier: MIT
// The page of ./lab bench --html: for each kind of work the figures as a table, the rates over the sizes, and
// a roofline that says what holds each rung: the memory, or the instructions that it issues.
#pragma once

#include <string>

#include "bench/results.hpp"

namespace course::grader {

std::string bench_html(const BenchResults& results);

}  // namespace course::grader
