// SPDX-License-Identifier: MIT
// The smallest failing input, for the commands that run student code: see smallest/search.hpp.
#pragma once

#include "layout.hpp"
#include "report/table.hpp"

namespace course::grader::cli {

// Prints why the first tasks of a practice run failed, each with the smallest input that it gets wrong. The
// runners are those that build_runners has made. Adds the traces of these inputs to the result.
void show_failures(const Layout& layout, RunResult& result, bool solutions, const TableStyle& style);

}  // namespace course::grader::cli
