// SPDX-License-Identifier: MIT
#include "lab/problem.hpp"

namespace course::lab {

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::random: return "random";
    case Pattern::all_equal: return "all_equal";
    case Pattern::ascending: return "ascending";
    case Pattern::descending: return "descending";
    case Pattern::skewed: return "skewed";
    case Pattern::high_bits: return "high_bits";
    case Pattern::alternating: return "alternating";
    case Pattern::extremes: return "extremes";
  }
  return "?";
}

}  // namespace course::lab
