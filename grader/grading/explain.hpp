// SPDX-License-Identifier: MIT
// The words for what the grader itself finds wrong with a case, beyond what lab::Session said of its output:
// checkers' findings, no launch, too little done by kernels. The form of the message is
// lab::failure_message's.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grading/metrics.hpp"
#include "grading/plan.hpp"

namespace course::grader {

// What the commands in messages repeat of the run.
struct RunContext {
  std::string lab;
  std::uint64_t seed = 0;
  bool solutions = false;
  lab::DeviceKind device = lab::DeviceKind::sim;
  // With --case the seed is what a failure message prints: that of the stage.
  bool seed_is_of_stage = false;

  std::string rerun_flags() const;  // "--device sim --solutions"
  // What a task's cases are made from in a stage. Another task has others: an answer that one has found is no use to the next,
  // which may run in the same process.
  std::uint64_t seed_of(Stage stage, std::string_view task) const;
};

// "reduction.cu:31", or "reduction.cu:31 and reduction.cu:33" for the two sides of a race; "" without line
// information.
std::string place_of(const ReportedFinding& finding);

// One line: what, where, which threads, how often.
std::string describe(const ReportedFinding& finding);

// The most telling faults (lab::weight_of), at most `limit`, each place once, a line each; "" when there is none.
std::string describe_causes(std::span<const ReportedFinding> findings, std::size_t limit = 2);

}  // namespace course::grader
