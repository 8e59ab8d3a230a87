// SPDX-License-Identifier: MIT
#include "batch/harness/baselines.hpp"

#include "grading/planning/plan.hpp"

namespace course::grader::batch {

KnownBaselines time_baselines(Problems labs, const GradeOptions& options, bool recorded_too) {
  constexpr int kRuns = 3 * kBaselineRuns;
  KnownBaselines known;
  BaselineTimer timer(options.baselines_kept_in);
  for (const lab::Problem* problem : labs) {
    for (const lab::Task& task : problem->manifest().tasks) {
      if (options.only_task && *options.only_task != task.id) continue;
      const Plan plan = make_plan(task, problem->cases(task), {options.device, options.only_case});
      for (const Step& step : plan.steps) {
        if (!step.is_timed) continue;
        const lab::Case& c = plan.cases[step.case_index];
        if (!recorded_too && recorded_cpu_time(*problem, task, c, options.device) != nullptr) continue;
        known[baseline_key(*problem, task, c)] = timer.time(*problem, task, c, kBaselineSeed, kRuns);
      }
    }
  }
  timer.keep();
  return known;
}

}  // namespace course::grader::batch
