// SPDX-License-Identifier: MIT
// Makes the messages of compilers and linkers about a student's file readable: the first errors, one per
// place and without the instantiations that led to it, with the kernels' names as in the source, and with
// advice for common mistakes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course::grader {

// The number of compiler errors that a student sees at once.
inline constexpr std::size_t kMaxErrors = 3;
// The number of warnings that are shown beside a wrong result.
inline constexpr std::size_t kMaxWarnings = 2;

// The first `limit` errors with the lines that explain them, or the first lines if no error is recognised.
std::string first_errors(std::string_view compiler_output, std::size_t limit);

// The first `limit` warnings about lines of a .cu file, one per line; "" if there are none.
std::string first_warnings(std::string_view compiler_output, std::size_t limit);

// Advice on how to fix the first of these errors, in one or two sentences; "" if it has no common cause.
std::string advice_on(std::string_view errors);

// The whole message: `source` does not compile, the errors, the advice.
std::string compile_message(std::string_view source, std::string_view errors);

}  // namespace course::grader
