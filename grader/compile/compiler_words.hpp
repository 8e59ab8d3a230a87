// SPDX-License-Identifier: MIT
// What compilers and linkers say about a student's file, made readable: the first errors, each place once and without the
// instantiations that led to it, kernels by the name they have in the source, and for usual mistakes what to do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course::grader {

// How many errors of a compiler a student sees at once.
inline constexpr std::size_t kMaxErrors = 3;

// The first `limit` errors with the lines that explain them, or the first lines when none is recognised.
std::string first_errors(std::string_view compiler_output, std::size_t limit);

// What mends the first of these errors, in a sentence; "" for one that has no usual reason.
std::string advice_on(std::string_view errors);

// The whole message: that `source` does not compile, the errors, the advice.
std::string compile_message(std::string_view source, std::string_view errors);

}  // namespace course::grader
