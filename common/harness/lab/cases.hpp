// SPDX-License-Identifier: MIT
// Builds the cases of a Problem.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "lab/problem.hpp"

namespace course::lab {

// A case without parameters; the name gets the offset of the input pointers, if there is one.
template <typename Op>
Case make_case(std::string name, Op op, DType dtype, std::uint64_t n, Pattern pattern,
               std::uint32_t purpose = kCorrectness, std::uint32_t misalign = 0) {
  if (misalign != 0) name += fmt::format("_off{}", misalign);
  return {std::move(name), static_cast<std::uint32_t>(op), dtype, n, pattern, {}, purpose, misalign};
}

}  // namespace course::lab
