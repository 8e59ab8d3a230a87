// SPDX-License-Identifier: MIT
#include "batch/harness/baselines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "grading/planning/plan.hpp"

namespace course::grader::batch {
using nlohmann::json;

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

json to_json(const KnownBaselines& baselines) {
  json out = json::object();
  for (const auto& [key, times] : baselines)
    out[key] = {{"one_thread_us", times.one_thread_us}, {"all_cores_us", times.all_cores_us}};
  return out;
}

Result<KnownBaselines> baselines_from(const json& from) {
  try {
    KnownBaselines known;
    for (const auto& [key, times] : from.items()) {
      known[key] = {times.at("one_thread_us").get<std::vector<double>>(),
                    times.at("all_cores_us").get<std::vector<double>>()};
    }
    return known;
  } catch (const json::exception& error) {
    return Error{fmt::format("These are no CPU baselines: {}.", error.what())};
  }
}

}  // namespace course::grader::batch
