// SPDX-License-Identifier: MIT
// The text of source lines, for messages that quote them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace course::grader {

// The text of a source line; "" if it cannot be read.
using SourceLine = std::function<std::string(const std::string& file, std::uint32_t line)>;

// Reads only files below `root`, because the file names come from the student's binary.
SourceLine source_lines_below(const std::string& root);

}  // namespace course::grader
