// SPDX-License-Identifier: MIT
// Demangles C++ names.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace course {

// An upper bound of the substitutions in a mangled name (S_, S0_, T_, fp_ …). Each repeats an earlier part
// and can double the length of the result, so that a name of 300 characters may stand for terabytes.
// Identifiers that contain such letters are counted, too.
inline std::size_t count_of_repeats(std::string_view mangled) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < mangled.size(); ++i) {
    const char c = mangled[i];
    const char next = i + 1 < mangled.size() ? mangled[i + 1] : '\0';
    const bool number = next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    if (((c == 'S' || c == 'T') && number) || (c == 'f' && next == 'p') || (c == 'f' && next == 'L')) ++n;
  }
  return n;
}

// The demangled name. A name that is not mangled, or whose demangled form could be too long, is returned
// unchanged.
inline std::string demangled(std::string_view mangled) {
  constexpr std::size_t kMostCharacters = 4096;
  constexpr std::size_t kMostRepeats = 40;  // the labs' own kernels have 10 at most
  // Dp is a pack expansion: a pattern repeated for each of several types. Nested expansions multiply.
  constexpr std::size_t kMostExpansions = 3;
  std::size_t n_expansions = 0;
  for (std::size_t at = mangled.find("Dp"); at != std::string_view::npos; at = mangled.find("Dp", at + 2))
    ++n_expansions;
  std::string name(mangled);
  if (!mangled.starts_with("_Z")) return name;  // else a variable `s` would be demangled as the type short
  if (name.size() > kMostCharacters || n_expansions > kMostExpansions ||
      count_of_repeats(mangled) > kMostRepeats)
    return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace course
