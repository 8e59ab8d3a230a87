// SPDX-License-Identifier: MIT
// Runs the steps of a task's plan and gathers evidence: judges what the simulator's report adds (races, no
// launch, too little done by kernels), keeps the worst counters, looks for the cause of a GPU's failure on
// the simulator. Invariant: whatever a runner answers, collect() returns; a failure of one task leaves
// nothing behind for the next.
#pragma once

#include <functional>
#include <string>

#include "grading/case_runner.hpp"
#include "grading/explain.hpp"
#include "grading/plan.hpp"
#include "grading/score.hpp"

namespace course::grader {

struct CollectHooks {
  // The runner to use for a device; called in the thread that collects.
  std::function<CaseRunner&(lab::DeviceKind)> runner;
  // One of the course's own solution, to hold a slow case against; nullptr where there is none. May be empty.
  std::function<CaseRunner*(lab::DeviceKind)> reference;
  // Before each case: its name. May be empty.
  std::function<void(const std::string&)> progress;
};

// Which of the plan's steps to run now: those that can share the device with other tasks' steps, or those
// that can't.
enum class Share { shared, alone };

// Runs the steps and adds to `evidence` (which begins empty). Goes on where an earlier call left off: alone
// steps are skipped after a failure. They may be run again, in another `round`, on other items: their times come together.
void collect(const lab::Problem& problem, const lab::Task& task, const Plan& plan, Share share,
             const RunContext& context, const CollectHooks& hooks, Evidence& evidence, int round = 0);

}  // namespace course::grader
