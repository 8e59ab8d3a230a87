// SPDX-License-Identifier: MIT
// Demangles C++ names, also hostile ones: a short name can stand for terabytes of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course {

inline constexpr std::size_t kLongestMangled = 4096;
inline constexpr std::size_t kLongestDemangled = std::size_t{16} << 10;

// The demangled name. A name that is not mangled or longer than kLongestMangled, and one whose demangled form
// is longer than kLongestDemangled, is returned unchanged. Time and memory are bounded by these two lengths.
std::string demangled(std::string_view mangled);

}  // namespace course
