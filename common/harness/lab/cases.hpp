// SPDX-License-Identifier: MIT
// Builds the cases of a Problem.
#pragma once

#include <utility>

#include "lab/problem.hpp"

namespace course::lab {

// A case without parameters.
template <typename Op>
Case make_case(CaseWords words, Op op, DType dtype, std::uint64_t n, Pattern pattern,
               std::uint32_t purpose = kCorrectness, std::uint32_t misalign = 0) {
  return named(
      {"", static_cast<std::uint32_t>(op), dtype, n, pattern, {}, purpose, misalign, std::move(words)});
}

}  // namespace course::lab
