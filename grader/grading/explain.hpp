// SPDX-License-Identifier: MIT
// What explains failed cases: the cause that they have in common, findings and a program's output as text for
// a terminal, and the parts of a run that messages repeat.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grading/planning/plan.hpp"
#include "grading/scoring/score.hpp"
#include "lab/diagnosis.hpp"

namespace course::grader {

// The parts of a run that commands in messages repeat.
struct RunContext {
  std::string lab;
  std::uint64_t seed = 0;
  bool solutions = false;
  lab::DeviceKind device = lab::DeviceKind::sim;
  // With --case, `seed` is the one that a failure message prints: the case's seed.
  bool seed_is_of_case = false;
  unsigned gpus = 0;  // GradeOptions

  std::string rerun_flags() const;  // "--device sim --solutions"
  // The seed of a case in a stage. Nothing that is found out in one case, not even all of its items, is of
  // use in another, which may run in the same process.
  std::uint64_t seed_of(Stage stage, std::string_view task, std::string_view case_name) const;
};

// "reduction.cu:31", or "reduction.cu:31 and reduction.cu:33" for the two accesses of a race; "" without line
// information.
std::string place_of(const lab::SimFinding& finding);

// One line: what happened, where, in which threads, how often.
std::string describe(const lab::SimFinding& finding);

// The message of a failed case shows this many of the last lines that it printed.
constexpr std::ptrdiff_t kMaxLinesInMessage = 8;
// What a case printed, for a terminal: the first `limit` lines, each indented by `indent`; "" if it printed
// nothing.
std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent);

// Whether the case ended at an access outside of its buffers: where it ended is known, but not its output.
bool hides_output(const CaseRecord* record);
std::vector<lab::FailedCase> failed_cases(const Evidence& evidence);
// Explains the deciding case by the causes that all failed cases show.
void diagnose_together(Evidence& evidence);

}  // namespace course::grader
