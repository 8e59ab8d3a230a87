// SPDX-License-Identifier: MIT
// Grades labs: plans every task, runs the steps on several runners in parallel, then times what must not be
// disturbed, then computes the scores.
// Reading order: planning/plan.hpp (which cases in which stage), collect.hpp (runs them; explain.hpp finds
// their causes), scoring/score.hpp (points), grade.cpp (all tasks of a run), scoring/rescore.hpp.
// Invariant: every requested task of every requested lab is in the result, whatever happened to the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/baseline.hpp"
#include "grading/case_runner.hpp"
#include "progress.hpp"
#include "report/result.hpp"
#include "source_lines.hpp"

namespace course::grader {

// A lab to be graded, or the reason why it cannot be.
struct LabToGrade {
  const lab::Problem* problem = nullptr;
  lab::Verdict build_verdict = lab::Verdict::ok;
  std::string build_message;
};

struct GradeOptions {
  lab::DeviceKind device = lab::DeviceKind::sim;
  // Of labs for several devices: cases for at most so many devices run on GPUs, if `device` is the GPU. Their
  // other cases run on the simulator, so that every machine can grade these labs.
  unsigned gpus = 0;
  bool solutions = false;
  std::uint64_t seed = 0;
  std::optional<std::string> only_task;
  std::optional<std::string> only_case;
  bool check_every_size = false;  // PlanOptions
  // Only short cases with the operator and type of the first case, and nothing but their output: for a soon
  // answer.
  bool quick = false;
  unsigned jobs = 2;
  SourceLine source_line;                     // for reasons that name a line; may be empty
  const KnownBaselines* baselines = nullptr;  // used instead of timing the CPU; nullptr for none
  std::string baselines_kept_in;              // a folder, see BaselineTimer; "" for none
};

// Sets labs, device, seed, modelled, partial and seconds of the result.
RunResult grade(const std::vector<LabToGrade>& labs, const GradeOptions& options,
                const RunnerFactory& make_runner, Progress& progress);

}  // namespace course::grader
