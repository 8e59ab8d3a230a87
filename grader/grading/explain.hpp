// SPDX-License-Identifier: MIT
// What explains failed cases: the cause that they have in common, a program's output as text for a terminal,
// and the parts of a run that messages repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// The text of a source line; "" if it cannot be read.
using SourceLine = std::function<std::string(const std::string& file, std::uint32_t line)>;

// Adds what the source shows: the line of the first finding; and where two threads of a launch store in one
// element from one line, which no order makes right, or an access is past the end of an array, the lines that
// compute its index.
void explain_lines(lab::Failure& failure, const SourceLine& source_line);

// The message of a failed case shows this many of the last lines that it printed.
constexpr std::ptrdiff_t kMaxLinesInMessage = 8;
// What a program printed, without the simulator's messages, which findings tell, and empty lines at the end.
std::string own_output(std::string_view printed);

// The same, for a terminal: the first `limit` lines, each indented by `indent`; "" if it printed
// nothing.
std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent);

// Whether the case ended at an access outside of its buffers: where it ended is known, but not its output.
bool hides_output(const CaseRecord* record);
std::vector<lab::FailedCase> failed_cases(const Evidence& evidence);
// Which lengths are wrong: those from a length on, or multiples of a number; "" if there is no such rule.
std::string lengths_text(const std::vector<std::uint64_t>& right, const std::vector<std::uint64_t>& wrong);
// Explains the deciding case by the causes that all failed cases show. `lengths`: a note on it.
void diagnose_together(Evidence& evidence, const std::string& lengths = "");

}  // namespace course::grader
