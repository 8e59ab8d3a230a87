// SPDX-License-Identifier: MIT
// The smallest failing input, for the commands that run student code: see smallest/smallest.hpp.
#pragma once

#include <string>

#include "layout.hpp"
#include "report/result.hpp"

namespace course::grader::cli {

// For the first failed tasks of a practice run: the smallest input that each gets wrong, as text. The runners
// are those that build_runners has made. "" if nothing failed or no smaller input fails.
std::string smallest_failures(const Layout& layout, const RunResult& result, bool solutions);

}  // namespace course::grader::cli
