// SPDX-License-Identifier: MIT
// Writing reports: whole or not at all.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/result.hpp"

namespace course::grader {

// The canonical result.json.
std::string json_text(const RunResult& result);

// "" is fine. An Error early, before minutes of grading, when the file could not be written.
Result<void> check_writable(const std::string& path);

// Writes beside the file and renames; "-" is stdout.
Result<void> write_report(const std::string& path, const std::string& text);

}  // namespace course::grader
