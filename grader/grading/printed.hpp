// SPDX-License-Identifier: MIT
// What a submission printed, as messages and commands show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/outcome.hpp"

namespace course::grader {

// The message of a failed case shows this many of the last lines that it printed.
constexpr std::ptrdiff_t kMaxLinesInMessage = 8;
// The program's output, without the simulator's message about a launch if a known cause says the same.
std::string printed_by(const lab::Outcome& outcome);

// The end of a failed case's output: the text of an uncaught exception, a failed assertion, the simulator's
// message, or the student's printf.
std::vector<std::string> last_words(const lab::Outcome& outcome);

// A program's own output for a terminal: the first `limit` lines, each indented by `indent`; "" if it printed
// nothing.
std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent);

}  // namespace course::grader
