// SPDX-License-Identifier: MIT
// Writes reports. A file is either written completely or not changed.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/result.hpp"

namespace course::grader {

// The text of result.json.
std::string json_text(const RunResult& result);

// An Error if the file cannot be written; to be called before grading, which takes minutes. "" is allowed.
Result<void> check_writable(const std::string& path);

// Writes a temporary file beside `path` and renames it; a device or a pipe is written directly, "-" is
// stdout.
Result<void> write_report(const std::string& path, const std::string& text);

}  // namespace course::grader
