// SPDX-License-Identifier: MIT
// Runs the steps of a task's plan and collects evidence: judges what the simulator's report adds (races, no
// launch, too little work by kernels), keeps the worst counters, and looks for the cause of a GPU's failure
// on the simulator.
// Invariant: collect() returns, whatever a runner answers, and a failure of one task does not affect the
// next.
#pragma once

#include <functional>
#include <string>

#include "grading/case_runner.hpp"
#include "grading/explain.hpp"
#include "grading/planning/plan.hpp"
#include "grading/scoring/score.hpp"

namespace course::grader {

struct CollectHooks {
  // The runner for a device; called in the collecting thread.
  std::function<CaseRunner&(lab::DeviceKind)> runner;
  // A runner of the course's solution, for comparison with a slow case; nullptr if there is none. May be
  // empty.
  std::function<CaseRunner*(lab::DeviceKind)> reference;
  // Called before each case with its name. May be empty.
  std::function<void(const std::string&)> progress;
  // Called before a case is timed on a GPU; waits until nothing else runs. May be empty.
  std::function<void()> before_timing;
};

// The steps to run: those that may share the device with steps of other tasks, or those that may not.
enum class Share { shared, alone };

// Runs the steps and adds to `evidence`, which is empty before the first call. Continues after an earlier
// call; after a failure, no stage but correctness is run. `alone` steps may be run again on other items, in
// another `round`; their times are combined.
void collect(const lab::Problem& problem, const lab::Task& task, const Plan& plan, Share share,
             const RunContext& context, const CollectHooks& hooks, Evidence& evidence, int round = 0);

}  // namespace course::grader
