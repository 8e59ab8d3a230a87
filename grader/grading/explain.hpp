// SPDX-License-Identifier: MIT
// What explains failed cases: the source lines of a finding, the launches of a case, and the cause that all
// failed cases have in common. collect.cpp calls it, case by case and in the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grading/scoring/score.hpp"
#include "lab/diagnosis.hpp"
#include "source_lines.hpp"

namespace course::grader {

// Adds what the source shows: the line of the first finding; and where two threads of a launch store in one
// element from one line, which no order makes right, or an access is past the end of an array, the lines that
// compute its index.
void explain_lines(lab::Failure& failure, const SourceLine& source_line);

// Adds the launches, if an element was never stored and no race explains why: perhaps there are too few
// threads. `n`: the case's.
void explain_launches(lab::Failure& failure, std::string_view sim_report, std::uint64_t n);

// Whether the case ended at an access outside of its buffers: where it ended is known, but not its output.
bool hides_output(const CaseRecord* record);
std::vector<lab::FailedCase> failed_cases(const Evidence& evidence);
// Which lengths are wrong: those from a length on, or multiples of a number; "" if there is no such rule.
std::string lengths_text(const std::vector<std::uint64_t>& right, const std::vector<std::uint64_t>& wrong);
// Explains the deciding case by the causes that all failed cases show. `lengths`: a note on it.
void diagnose_together(Evidence& evidence, const std::string& lengths = "");

}  // namespace course::grader
