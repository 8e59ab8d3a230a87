// SPDX-License-Identifier: MIT
// The smallest failing input as text: its items, the right and the wrong output side by side, the store of
// the first wrong value, which operators and types are right, and commands that show more.
#pragma once

#include <string>

#include "smallest/search.hpp"

namespace course::grader {

// For a terminal of 80 columns, in one of two forms. Whole (`max_lines` is 0): table, reasons, commands.
// Short, under a message of the grader: reasons, a table of at most six rows, fewer if lines are short, and
// one command. `known`: the cause that the message has given, which is not repeated; "" if none. `flags`:
// further words of the commands, such as "--solutions"; may be "".
std::string smallest_text(const lab::Problem& problem, const lab::Task& task, const SmallestFailure& found,
                          const std::string& flags, std::size_t max_lines = 0, const std::string& known = "");

}  // namespace course::grader
