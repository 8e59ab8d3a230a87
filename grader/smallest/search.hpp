// SPDX-License-Identifier: MIT
// Finds the smallest input that a submission gets wrong: first the shortest arrays with the simplest items
// (lab/derived_cases.hpp), then the other operators and types with as many items. The runs are ordinary cases
// in the sandbox and under the usual limits, with all checkers and a fixed seed. They are not graded.
// message.hpp makes a text of what is found, from values.hpp (a table of inputs and outputs) and
// wrong_store.hpp (where it went wrong).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grading/case_runner.hpp"
#include "lab/diagnosis.hpp"

namespace course::grader {

// The seed of these runs: also that of ./lab trace when none is given.
constexpr std::uint64_t kSmallestSeed = 1;

struct SmallestFailure {
  lab::Case c;
  lab::Outcome outcome;  // of the case alone in a fresh process, with a trace if c.n is small
  bool is_traced = false;
  // The traced run is right: warps and blocks take turns in another order there.
  bool trace_is_right = false;
  // Operators and types with as many items: CaseWords::variant.
  std::vector<std::string> right, wrong;
  std::size_t n_untried = 0;  // further ones, of which the lab has no case with as many items in such rows
  int n_runs = 0;
};

struct SmallestLimits {
  int runs = 400;
  double seconds = 20;             // wall-clock time; the search then ends with what it has found
  std::uint64_t items = 1u << 16;  // longer inputs are not tried
};

// Whether a smaller input can be looked for: wrong answers, crashes and runs without an end.
bool can_be_smaller(lab::Verdict verdict);

// `like`: a case that fails. std::nullopt if no case of up to its length fails with the fixed seed.
// `failed`: the cases that are known to fail; a mistake that does not explain them is not given for the
// small one.
std::optional<SmallestFailure> find_smallest(const lab::Problem& problem, const lab::Task& task,
                                             const lab::Case& like, CaseRunner& runner,
                                             const SmallestLimits& limits = {},
                                             std::span<const lab::FailedCase> failed = {});

}  // namespace course::grader
