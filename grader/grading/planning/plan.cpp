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
  small.erase(std::remove_if(small.begin(), small.end(),
                             [&](std::size_t i) { return cases[i].n < 2 || cases[i].n > kCheckedItems; }),
              small.end());
  if (small.size() <= kCheckedCases) return small;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 1; i <= kCheckedCases; ++i)
    chosen.push_back(small[i * small.size() / kCheckedCases - 1]);
  return chosen;
}

lab::Measure all_checks() {
  lab::Measure measure;
  measure.checks = true;
  return measure;
}

// Whether the case is measured. On the simulator, the run that judges its output and the measured run both
// start in a fresh process, so that a program cannot distinguish them by what earlier runs have left.
bool is_measured(const lab::Case& c) {
  return (c.purpose & (lab::kEfficiency | lab::kSpeedup)) != 0;
}

}  // namespace

int Plan::correctness_steps() const {
  return static_cast<int>(std::ranges::count(steps, Stage::correctness, &Step::stage));
}

Plan make_plan(const lab::Task& task, std::vector<lab::Case> cases, const PlanOptions& options) {
  Plan plan;
  plan.cases = std::move(cases);
  if (options.only_case) {
    plan.cases.erase(std::remove_if(plan.cases.begin(), plan.cases.end(),
                                    [&](const lab::Case& c) { return c.name != *options.only_case; }),
                     plan.cases.end());
  }
  const auto device_of = [&](const lab::Case& c) {
    return options.needs_simulator && options.needs_simulator(c) ? lab::DeviceKind::sim : options.device;
  };
  const auto add = [&](std::size_t index, Stage stage, lab::DeviceKind device, lab::Measure measure,
                       bool alone = false) {
    plan.steps.push_back({index, stage, device, measure, alone});
  };

  for (std::size_t i : by_size(plan.cases, lab::kCorrectness)) {
    const lab::DeviceKind device = device_of(plan.cases[i]);
    const bool gpu = device == lab::DeviceKind::gpu;
    lab::Measure judged;
    judged.fresh = !gpu && is_measured(plan.cases[i]);
    judged.checks = !gpu && (options.check_every_size || options.only_case);
    const bool is_small = plan.cases[i].n <= kSmallForTwice;
    judged.twice =
        options.only_case || (options.check_every_size && is_small) ||
        seed_for(options.seed, plan.cases[i].name) % (is_small ? kOneOfSmallTwice : kOneOfLargeTwice) == 0;
    add(i, Stage::correctness, device, judged);
  }

  // On the simulator lab::Session has already run the cases marked with kChecks with all checkers.
  const bool any_marked = !by_size(plan.cases, lab::kChecks).empty();
  for (std::size_t i : to_check(plan.cases))
    if (!any_marked || device_of(plan.cases[i]) == lab::DeviceKind::gpu)
      add(i, Stage::checks, lab::DeviceKind::sim, all_checks());

  if (!task.efficiency.empty()) {
    // Counters and checkers use the same run, so that a program cannot distinguish them.
    lab::Measure counters;
    counters.counters = true;
    counters.checks = true;
    counters.fresh = true;
    for (std::size_t i : by_size(plan.cases, lab::kEfficiency))
      add(i, Stage::efficiency, lab::DeviceKind::sim, counters);
  }

  if (!task.speedup.empty()) {
    for (std::size_t i : by_size(plan.cases, lab::kSpeedup)) {
      const bool gpu = device_of(plan.cases[i]) == lab::DeviceKind::gpu;
      lab::Measure timed;
      timed.timed_runs = gpu ? kTimedRunsOnGpu : 1;  // modelled times are the same in every run
      timed.fresh = !gpu;
      // What earns points must be checked itself, because a program may behave differently in other runs.
      timed.checks = !gpu && options.check_every_size;
      add(i, Stage::speedup, device_of(plan.cases[i]), timed, gpu);
    }
  }
  return plan;
}

Plan checks_plan(std::vector<lab::Case> cases) {
  Plan plan;
  plan.cases = std::move(cases);
  for (std::size_t i : to_check(plan.cases)) {
    plan.steps.push_back({i, Stage::checks, lab::DeviceKind::sim, all_checks(), false});
  }
  return plan;
}

}  // namespace course::grader
