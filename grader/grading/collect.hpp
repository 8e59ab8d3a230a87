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
#include "grading/planning/plan.hpp"
#include "grading/run_context.hpp"
#include "grading/scoring/score.hpp"
#include "source_lines.hpp"

namespace course::grader {

struct CollectHooks {
  // The runner for a device; called in the collecting thread.
  std::function<CaseRunner&(lab::DeviceKind)> runner;
  // Called before each case with its name. May be empty.
  std::function<void(const std::string&)> progress;
  // The submission's lines. May be empty.
  SourceLine source_line;
  // Called before a case is timed on a GPU; waits until nothing else runs. May be empty.
  std::function<void()> before_timing;
};

// The steps to run: those that may share the device with steps of other tasks, or those that may not.
enum class Share { shared, alone };

// A task, its plan, and what its cases have shown so far.
struct TaskRun {
  const lab::Problem* problem = nullptr;
  const lab::Task* task = nullptr;
  Plan plan;
  RunContext context;
  Evidence evidence;
};

// Runs the steps and adds to the evidence. Continues after an earlier call; after a failure, no stage but
// correctness is run. `alone` steps may be run again on other items, in another `round`; their times are
// combined.
void collect(TaskRun& run, Share share, const CollectHooks& hooks, int round = 0);

}  // namespace course::grader
