// SPDX-License-Identifier: MIT
// Demangles C++ names, also hostile ones: a short name can stand for terabytes of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course {

inline constexpr std::size_t kLongestMangled = 4096;
inline constexpr std::size_t kLongestDemangled = std::size_t{16} << 10;

// The demangled name. Returned unchanged: a name without _Z at its start, one that is longer than
// kLongestMangled, and one whose beginning is no C++ name. If the name can't be demangled as a whole, if its
// demangled form is longer than kLongestDemangled, or if it has so many references and pack expansions
// (demangle.cpp) that time and memory would not be bounded, the result has neither arguments of templates nor
// parameters.
std::string demangled(std::string_view mangled);

}  // namespace course
