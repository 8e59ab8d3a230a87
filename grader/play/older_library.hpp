// SPDX-License-Identifier: MIT
// What the C++ library of Debian 12's emscripten (LLVM 13's) lacks of C++20: included before every source of
// the WebAssembly build, and of no other.
#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

// Sizes have 32 bits here. All memory has 128 MB, so no size is larger.
#pragma clang diagnostic ignored "-Wc++11-narrowing"

namespace std {  // NOLINT(cert-dcl58-cpp): where the sources expect them

#ifndef __cpp_lib_bit_cast
template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  return __builtin_bit_cast(To, from);
}
#endif

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 20000
// Decimal numbers alone; strtod rounds to nearest in this library, too.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const string text(first, last);
  char* end = nullptr;
  errno = 0;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* const rest = first + (end - text.c_str());
  if (errno == ERANGE) return {rest, errc::result_out_of_range};
  value = read;
  return {rest, errc()};
}
#endif

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
// The algorithms of a whole range; with projections where the sources use some.
namespace ranges {
#define OF_RANGE(name)                                                                 \
  template <typename Range, typename... Rest>                                          \
  constexpr auto name(Range&& range, Rest&&... rest) {                                 \
    return std::name(std::begin(range), std::end(range), std::forward<Rest>(rest)...); \
  }
OF_RANGE(all_of)
OF_RANGE(any_of)
OF_RANGE(none_of)
OF_RANGE(count_if)
OF_RANGE(find_if)
OF_RANGE(copy)
OF_RANGE(fill)
OF_RANGE(sort)
OF_RANGE(stable_sort)
OF_RANGE(min_element)
OF_RANGE(max_element)
OF_RANGE(is_sorted)
OF_RANGE(lower_bound)
#undef OF_RANGE
template <typename Range, typename T, typename Projection = identity>
constexpr auto find(Range&& range, const T& value, Projection of = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& item) { return std::invoke(of, item) == value; });
}
template <typename Range, typename T, typename Projection = identity>
constexpr auto count(Range&& range, const T& value, Projection of = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](const auto& item) { return std::invoke(of, item) == value; });
}
template <typename A, typename B, typename... Rest>
constexpr bool equal(const A& a, const B& b, Rest&&... rest) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), std::forward<Rest>(rest)...);
}
}  // namespace ranges
#endif

}  // namespace std
