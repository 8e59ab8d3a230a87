// SPDX-License-Identifier: MIT
#include "grading/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "lab/metrics.hpp"
#include "report/result.hpp"
#include "sim/chips/presets.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

nlohmann::json cases_for(const lab::Problem& problem, const lab::Task& task, std::uint32_t purpose) {
  nlohmann::json names = nlohmann::json::array();
  for (const lab::Case& c : problem.cases(task))
    if ((c.purpose & purpose) != 0) names.push_back(c.name);
  return names;
}

struct Sum {
  int required = 0, bonus = 0;
};
Sum sum_of(const lab::Manifest& manifest) {
  Sum sum;
  for (const lab::Task& task : manifest.tasks)
    (task.bonus ? sum.bonus : sum.required) += lab::max_points(task);
  return sum;
}

}  // namespace

std::string goal_text(const lab::EfficiencyGoal& goal) {
  const std::string_view unit = lab::unit_of(goal);
  return fmt::format("{}{}{} {} {:.4g}", lab::name_of(goal.metric), unit.empty() ? "" : " per ", unit,
                     lab::at_least(goal.metric) ? "≥" : "≤", goal.limit);
}

std::string catalogue_text(Problems labs) {
  std::string out;
  for (const lab::Problem* problem : labs) {
    const lab::Manifest& manifest = problem->manifest();
    const Sum sum = sum_of(manifest);
    if (!out.empty()) out += "\n";
    std::string points = sum.required > 0 ? fmt::format("{} points", sum.required) : "";
    if (sum.bonus > 0) points += fmt::format("{}bonus {}", points.empty() ? "" : ", ", sum.bonus);
    out += fmt::format("{}: {} ({})\n", manifest.id, manifest.title, points);
    for (const lab::Task& task : manifest.tasks) {
      out += fmt::format("  {} {} {}{}\n", fit_left(task.id, 20),
                         fit_right(std::to_string(lab::max_points(task)), 4), task.title,
                         task.bonus ? " (bonus)" : "");
    }
  }
  return out;
}

std::string catalogue_json(Problems labs) {
  using nlohmann::json;
  json list = json::array();
  for (const lab::Problem* problem : labs) {
    const lab::Manifest& manifest = problem->manifest();
    json tasks = json::array();
    for (const lab::Task& task : manifest.tasks) {
      json efficiency = json::array();
      for (const lab::EfficiencyGoal& goal : task.efficiency) {
        efficiency.push_back({{"metric", lab::name_of(goal.metric)},
                              {"limit", goal.limit},
                              {"unit", lab::unit_of(goal)},
                              {"points", goal.points}});
      }
      json speedup = json::array();
      for (const lab::SpeedupTier& tier : task.speedup) {
        speedup.push_back({{"speedup", tier.speedup}, {"points", tier.points}});
      }
      tasks.push_back({{"id", task.id},
                       {"title", task.title},
                       {"section", lab::section_of(manifest, task)},
                       {"max_points", lab::max_points(task)},
                       {"correctness_points", task.correctness_points},
                       {"efficiency", efficiency},
                       {"speedup", speedup},
                       {"counted_on", cases_for(*problem, task, lab::kEfficiency)},
                       {"timed_on", cases_for(*problem, task, lab::kSpeedup)},
                       {"bonus", task.bonus}});
    }
    json further = json::array();
    for (const lab::Task& rung : manifest.further_rungs)
      further.push_back({{"id", rung.id}, {"title", rung.title}});
    const Sum sum = sum_of(manifest);
    list.push_back({{"id", manifest.id},
                    {"title", manifest.title},
                    {"paper", manifest.paper},
                    {"max_points", sum.required},
                    {"max_bonus_points", sum.bonus},
                    {"tasks", tasks},
                    {"further_rungs", further}});
  }
  json metrics = json::object();
  for (const lab::Metric metric : lab::kAllMetrics)
    metrics[std::string(lab::name_of(metric))] = {{"at_least", lab::at_least(metric)}};
  json chips = json::object();
  for (const auto& [key, chip] : cudart::presets())
    chips[key] = {{"name", chip.name},
                  {"multiprocessors", chip.multiprocessors},
                  {"registers_per_multiprocessor", chip.registers_per_multiprocessor},
                  {"shared_per_multiprocessor", chip.shared_per_multiprocessor},
                  {"l2_bytes", chip.l2_bytes},
                  {"clock_ghz", chip.clock_ghz},
                  // in clocks, and in accesses per clock
                  {"shared_latency", chip.timing.shared_latency},
                  {"l2_latency", chip.timing.l2_latency},
                  {"memory_latency", chip.timing.memory_latency},
                  {"near_passes_per_clock", chip.timing.near_passes_per_clock},
                  {"l2_sectors_per_clock", chip.timing.l2_sectors_per_clock}};
  const json all{{"schema", 1}, {"labs", list}, {"metrics", metrics}, {"chips", chips}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string points_markdown(const lab::Manifest& manifest) {
  const bool has_goals = std::ranges::any_of(
      manifest.tasks, [](const lab::Task& t) { return !t.efficiency.empty() || !t.speedup.empty(); });
  std::string out = has_goals ? "| task | right | efficiency | speedup | points |\n|---|---:|---|---|---:|\n"
                              : "| task | points |\n|---|---:|\n";
  for (const lab::Task& task : manifest.tasks) {
    std::string efficiency, speedup;
    for (const lab::EfficiencyGoal& goal : task.efficiency) {
      efficiency += fmt::format("{}{}: {}", efficiency.empty() ? "" : "<br>", goal_text(goal), goal.points);
    }
    for (const lab::SpeedupTier& tier : task.speedup) {
      speedup += fmt::format("{}{:.4g}× one CPU thread: {}", speedup.empty() ? "" : "<br>", tier.speedup,
                             tier.points);
    }
    out += fmt::format("| `{}` {}{} | ", task.id, task.title, task.bonus ? " (bonus)" : "");
    if (has_goals) out += fmt::format("{} | {} | {} | ", task.correctness_points, efficiency, speedup);
    out += fmt::format("{} |\n", lab::max_points(task));
  }
  const Sum sum = sum_of(manifest);
  out += fmt::format("| **all** |{} **{}{}** |\n", has_goals ? " | | |" : "", sum.required,
                     sum.bonus > 0 ? fmt::format(" + {}", sum.bonus) : "");
  return out;
}

}  // namespace course::grader
