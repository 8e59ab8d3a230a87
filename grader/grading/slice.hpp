// SPDX-License-Identifier: MIT
// Where a position comes from: the lines of the source that compute the index of an access, found by their
// text. A guess that is shown, not one that decides anything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace course::grader {

// The text of a source line; "" if it cannot be read.
using SourceLine = std::function<std::string(const std::string& file, std::uint32_t line)>;

// The line as it stands in the source, without indentation and comment; with the rest of its statement.
std::string quote(const SourceLine& source_line, const std::string& file, std::uint32_t line);

// "428 | d_to[place] = key;", then the guard of the access in this line and the statements of its function
// that compute the index: kSliceLines of them, and the numbers of further ones. `call`: the line that calls
// the function with the access, whose arguments are followed, too; the same if there is none.
constexpr std::size_t kSliceLines = 4;
std::vector<std::string> slice_of(const SourceLine& source_line, const std::string& file, std::uint32_t line,
                                  std::uint32_t call);

}  // namespace course::grader
