// SPDX-License-Identifier: MIT
#include "grading/planning/plan.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace course::grader {
namespace {

std::vector<std::size_t> by_size(const std::vector<lab::Case>& cases, std::uint32_t purpose) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if ((cases[i].purpose & purpose) != 0) indices.push_back(i);
  std::ranges::stable_sort(indices, [&](std::size_t a, std::size_t b) { return cases[a].n < cases[b].n; });
  return indices;
}

// The cases marked with kChecks; without any, small cases of various sizes including the largest small one,
// because most errors that checkers find need several warps or blocks, and some an incomplete last block.
std::vector<std::size_t> to_check(const std::vector<lab::Case>& cases) {
  const std::vector<std::size_t> marked = by_size(cases, lab::kChecks);
  if (!marked.empty()) return marked;
  std::vector<std::size_t> small = by_size(cases, lab::kCorrectness);
  std::erase_if(small, [&](std::size_t i) { return cases[i].n < 2 || cases[i].n > kCheckedItems; });
  if (small.size() <= kCheckedCases) return small;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 1; i <= kCheckedCases; ++i)
    chosen.push_back(small[i * small.size() / kCheckedCases - 1]);
  return chosen;
}

Step step_of_checks(std::size_t case_index) {
  return {.case_index = case_index, .stage = Stage::checks, .measure = {.checks = true}};
}

}  // namespace

int Plan::correctness_steps() const {
  return static_cast<int>(std::ranges::count(steps, Stage::correctness, &Step::stage));
}

Plan make_plan(const lab::Task& task, std::vector<lab::Case> cases, const PlanOptions& options) {
  Plan plan;
  plan.cases = std::move(cases);
  if (options.only_case)
    std::erase_if(plan.cases, [&](const lab::Case& c) { return c.name != *options.only_case; });
  const auto gpu_runs = [&](const lab::Case& c) {
    return options.device == lab::DeviceKind::gpu && !(options.needs_simulator && options.needs_simulator(c));
  };
  // On the simulator: the run has all that the case's purposes ask for. A measured case gets a fresh process:
  // what earlier runs have left there must not change what it costs.
  const auto add_simulated = [&](std::size_t index, Stage stage, const lab::Measure& measure) {
    const lab::Case& c = plan.cases[index];
    Step& step = plan.steps.emplace_back(Step{.case_index = index, .stage = stage, .measure = measure});
    step.is_counted = !task.efficiency.empty() && (c.purpose & lab::kEfficiency) != 0;
    step.is_timed = !task.speedup.empty() && (c.purpose & lab::kSpeedup) != 0 && !gpu_runs(c);
    step.measure.counters = step.is_counted;
    step.measure.checks = step.is_counted || options.check_every_size || options.only_case;
    step.measure.fresh = step.is_counted || step.is_timed;
    step.measure.timed_runs = step.is_timed ? 1 : 0;  // modelled times are the same in every run
  };
  const auto is_planned = [&](std::size_t index, bool Step::*use) {
    return std::ranges::any_of(plan.steps,
                               [&](const Step& step) { return step.case_index == index && step.*use; });
  };

  for (std::size_t i : by_size(plan.cases, lab::kCorrectness)) {
    const lab::Case& c = plan.cases[i];
    lab::Measure judged;
    judged.twice = options.only_case ||
                   seed_for(options.seed, c.name) % one_of_twice(c.n, options.check_every_size) == 0;
    if (gpu_runs(c))
      plan.steps.push_back({.case_index = i, .device = lab::DeviceKind::gpu, .measure = judged});
    else
      add_simulated(i, Stage::correctness, judged);
  }

  // On the simulator lab::Session has already run the cases marked with kChecks with all checkers.
  const bool any_marked = !by_size(plan.cases, lab::kChecks).empty();
  for (std::size_t i : to_check(plan.cases))
    if (!any_marked || gpu_runs(plan.cases[i])) plan.steps.push_back(step_of_checks(i));

  if (!task.efficiency.empty()) {
    for (std::size_t i : by_size(plan.cases, lab::kEfficiency))
      if (!is_planned(i, &Step::is_counted)) add_simulated(i, Stage::efficiency, {});
  }

  if (!task.speedup.empty()) {
    for (std::size_t i : by_size(plan.cases, lab::kSpeedup)) {
      if (is_planned(i, &Step::is_timed)) continue;
      if (!gpu_runs(plan.cases[i])) {
        add_simulated(i, Stage::speedup, {});
        continue;
      }
      plan.steps.push_back({.case_index = i,
                            .stage = Stage::speedup,
                            .device = lab::DeviceKind::gpu,
                            .measure = {.timed_runs = kTimedRunsOnGpu},
                            .is_timed = true,
                            .alone = true});
    }
  }
  return plan;
}

Plan checks_plan(std::vector<lab::Case> cases) {
  Plan plan;
  plan.cases = std::move(cases);
  for (std::size_t i : to_check(plan.cases)) plan.steps.push_back(step_of_checks(i));
  return plan;
}

}  // namespace course::grader
