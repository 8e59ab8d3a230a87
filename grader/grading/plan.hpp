// SPDX-License-Identifier: MIT
// Which cases are run for a task, in which order, on which device, and what is measured in each. Pure: no
// case is run here. Order: correctness from small to large (a wrong kernel is told so at once), a few small
// cases under all checkers, the efficiency cases under counters, the speedup cases. Invariant: a task's
// verdict needs every step of its plan; a step that is left out after failures is counted as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"
#include "report/result.hpp"
#include "verifier/session.hpp"

namespace course::grader {

struct Step {
  std::size_t case_index = 0;  // into Plan::cases
  Stage stage = Stage::correctness;
  lab::DeviceKind device = lab::DeviceKind::sim;
  lab::Measure measure;
  // On a GPU a timed case must not share the device with another one.
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
  // On the simulator, all checkers on every case. A case that is run by itself has them, too: the rerun
  // command shows what was graded.
  bool check_every_size = false;
};

// Correctness stops after this many failed cases.
constexpr int kMaxFailures = 3;
// … or this many, where several mistakes explain all of them (lab/diagnosis.hpp).
constexpr int kMostFailures = 12;
// A lab that marks no case with kChecks gets this many, of up to this many items, chosen for it.
constexpr std::size_t kCheckedCases = 4;
constexpr std::uint64_t kCheckedItems = std::uint64_t{1} << 16;
// Of the cases that are timed and not counted, those of up to this many items run under all checkers where
// their output is judged (unless all cases do: PlanOptions::check_every_size).
constexpr std::uint64_t kCheckedTimedItems = std::uint64_t{1} << 20;
// On a GPU a case is timed in rounds, and the CPU's baselines between them: what heats, throttles or loads the machine meets both.
constexpr int kTimingRounds = 3;
constexpr int kTimedRunsOnGpu = 4;  // a round

Plan make_plan(const lab::Task& task, std::vector<lab::Case> cases, const PlanOptions& options);

// Only the cases that are worth all checkers, on the simulator.
Plan checks_plan(std::vector<lab::Case> cases);

// The seed of a stage (RunContext mixes in the task, lab::Session the case's name): an answer kept from the correctness run is
// wrong when measured. CPU baselines are timed with this one, so that tasks that compute the same share the times.
std::uint64_t stage_seed(std::uint64_t run_seed, std::string_view lab, Stage stage);

}  // namespace course::grader
