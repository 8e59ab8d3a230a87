// SPDX-License-Identifier: MIT
// What went into the smallest failing case and what came out, as a table with the right and the actual output
// side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smallest/search.hpp"

namespace course::grader {

struct CaseValues {
  const lab::Problem& problem;
  const lab::Case& c;
  std::vector<lab::HostBuffer> inputs, expected, actual;  // the outputs: empty if there are none

  CaseValues(const lab::Problem& of, const lab::Task& task, const SmallestFailure& found);
  // As text; "" past the end.
  std::string element(const lab::HostBuffer& buffer, std::uint64_t i) const;
};

// Whether the element holds what it held before the kernels ran. If it does not, it was stored where the
// trace does not show it: beyond its columns, or after its end.
bool is_untouched(const lab::HostBuffer& buffer, std::uint64_t i);

// A column for each buffer; for an output one with the right and one with the actual values. If they do not
// fit, outputs without a wrong element are left out, and the others stand in several tables, one below the
// other: `one_table` has the output of the mismatch alone.
std::string side_by_side(const CaseValues& values, const std::optional<lab::Mismatch>& mismatch,
                         std::uint64_t row_length, std::uint64_t max_rows, bool one_table);

}  // namespace course::grader
