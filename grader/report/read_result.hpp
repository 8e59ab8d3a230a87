// SPDX-License-Identifier: MIT
// result.json back into a RunResult, for the reports that are made of it later. Anybody may have written the file: whatever it
// holds, this gives a result within result.hpp's invariants or an Error that names the place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/result.hpp"

namespace course::grader {

Result<RunResult> parse_result(std::string_view text);

// "-" is stdin.
Result<RunResult> read_result(const std::string& path);

}  // namespace course::grader
