// SPDX-License-Identifier: MIT
// The result as one self-contained HTML page: without scripts and external resources, in light and dark
// colours, readable on a phone and on paper.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

std::string to_html(const RunResult& result);

}  // namespace course::grader
