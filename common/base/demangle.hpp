// SPDX-License-Identifier: MIT
// Demangles C++ names, also hostile ones: a short name can stand for terabytes of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course {

inline constexpr std::size_t kLongestMangled = 4096;
inline constexpr std::size_t kLongestDemangled = std::size_t{16} << 10;

// The demangled name. Returned unchanged: a name without _Z at its start, and one that is longer than
// kLongestMangled. If the demangled form is longer than kLongestDemangled, or has so many references and pack
// expansions (demangle.cpp) that time and memory would not be bounded, the name has neither arguments nor
// parameters.
std::string demangled(std::string_view mangled);

}  // namespace course
