// SPDX-License-Identifier: MIT
// The plan for a task: which cases run, in which order, on which device, and what each measures. No case is
// run here. Order: the correctness cases from small to large (so that a wrong kernel is found soon), a few
// small cases with all checkers, the efficiency cases with counters, the speedup cases. On the simulator one
// run of a case is judged, counted and timed, since counters and modelled times are the same in every run.
// Invariant: a task's verdict needs every step of its plan; a step that is left out after failures is counted
// as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/problem.hpp"
#include "report/result.hpp"
#include "verifier/request.hpp"

namespace course::grader {

struct Step {
  std::size_t case_index = 0;  // into Plan::cases
  Stage stage = Stage::correctness;
  lab::DeviceKind device = lab::DeviceKind::sim;
  lab::Measure measure;
  // What the task's points use of this run.
  bool is_counted = false, is_timed = false;
  // On a GPU a timed case must not share the device with other cases.
  bool alone = false;
};

struct Plan {
  std::vector<lab::Case> cases;
  std::vector<Step> steps;
  int correctness_steps() const;
};

struct PlanOptions {
  lab::DeviceKind device = lab::DeviceKind::sim;
  std::optional<std::string> only_case;  // its name
  // A grade: on the simulator, run every case with all checkers, whether its output is judged or it is
  // counted or timed, some of them twice, and cases of secret lengths. With only_case they are on, too, so
  // that the rerun command shows what was graded.
  bool check_every_size = false;
  // Of a lab for several devices: whether the case runs on the simulator even if `device` is the GPU, because
  // it needs more GPUs than are used. Empty: never.
  std::function<bool(const lab::Case&)> needs_simulator = {};
  std::uint64_t seed = 0;  // of the run, secret; chooses the cases that are called twice
};

// Correctness stops after this many failed cases.
constexpr int kFailuresShown = 3;
// The limits if none of these had an output, or items; and if several mistakes explain all of them, because
// further ones may decide (lab/diagnosis.hpp).
constexpr int kFailuresForItems = 12, kFailuresToDecide = 24;
// If a lab marks no case with kChecks, this many cases of up to this many items are chosen.
constexpr std::size_t kCheckedCases = 4;
constexpr std::uint64_t kCheckedItems = std::uint64_t{1} << 16;
// When the output of cases with n items is judged, one of so many calls the task twice: with other items, a
// stored answer is wrong, and so is one that needs memory as the first call found it.
constexpr std::uint64_t one_of_twice(std::uint64_t n, bool graded) {
  if (n > std::uint64_t{1} << 18) return 8;
  if (!graded) return 4;
  return n > std::uint64_t{1} << 12 ? 3 : 1;
}
// On a GPU a case is timed in rounds, with the CPU baselines between them, so that heat, throttling and load
// affect both.
constexpr int kTimingRounds = 2;
constexpr int kTimedRunsOnGpu = 6;  // per round

Plan make_plan(const lab::Task& task, std::vector<lab::Case> cases, const PlanOptions& options);

// A plan with only the cases that run with all checkers, on the simulator.
Plan checks_plan(std::vector<lab::Case> cases);

}  // namespace course::grader
