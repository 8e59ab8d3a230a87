// SPDX-License-Identifier: MIT
// Reads result.json into a RunResult, to make further reports. Anybody may have written the file: for any
// contents this gives a result that fulfils the invariants of result.hpp, or an Error that names the place.
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
