// SPDX-License-Identifier: MIT
#include "grading/scoring/rescore.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/scoring/score.hpp"
#include "lab/metrics.hpp"
#include "verifier/report_fields.hpp"

namespace course::grader {
namespace {

using lab::fields::member;
using nlohmann::json;

const auto& row_named(const auto& rows, const std::string& name, const char* what) {
  for (const auto& row : rows)
    if (row.name == name) return row;
  throw std::invalid_argument(fmt::format("\"{}\" is not a {}", name, what));
}
lab::Metric metric_named(const std::string& name) {
  return row_named(lab::kMetricRows, name, "metric").metric;
}

// The evidence that a task's result contains.
Evidence evidence_of(const json& task) {
  Evidence evidence;
  evidence.complete = true;
  for (const auto& [name, value] : member(task, "metrics").items())
    if (value.is_number()) evidence.metrics[metric_named(name)] = value.get<double>();
  if (const json& ratio = member(task, "time_ratio"); ratio.is_number()) evidence.time_ratio = ratio;
  // Only the ratios of the times matter.
  const json& timed = member(member(task, "timing"), "speedup_one_thread");
  const json& speedup = timed.is_null() ? member(task, "speedup") : timed;
  Timing timing;
  timing.kernel_us = 1;
  timing.cpu_us = speedup.is_number() ? speedup.get<double>() : 0;
  evidence.timings = {timing};
  return evidence;
}

json rescored(const json& task, const lab::Task& points) {
  TaskResult result =
      unscored_task(points, row_named(lab::kVerdicts, task.at("verdict"), "verdict").verdict, "");
  for (GoalScore& goal : result.goals)
    for (const json& known : member(task, "goals"))
      if (known.at("metric") == lab::name_of(goal.metric)) goal.unit = known.value("unit", goal.unit);
  if (row_of(result.verdict).standing == lab::Standing::right || result.verdict == lab::Verdict::suspect)
    give_points(evidence_of(task), result);
  json out = task;
  const json now = to_json(result);
  for (const char* key : {"points", "max_points", "correctness", "goals", "tiers", "speedup", "bonus"})
    out[key] = now.at(key);
  if (result.verdict == lab::Verdict::ok) out["message"] = message_of(result);
  return out;
}

}  // namespace

Result<PointsTable> PointsTable::parse(std::string_view text) {
  PointsTable table;
  try {
    const json document = json::parse(text);
    for (const json& lab : document.at("catalogue").at("labs")) {
      for (const json& task : member(lab, "tasks")) {
        Points points;
        points.id = task.at("id");
        points.correctness = task.at("correctness_points");
        points.bonus = task.at("bonus");
        for (const json& goal : task.at("efficiency"))
          points.goals.push_back({metric_named(goal.at("metric")), goal.at("limit"), goal.at("points")});
        for (const json& tier : task.at("speedup"))
          points.tiers.push_back({tier.at("speedup"), tier.at("points")});
        table.labs_[lab.at("id")][points.id] = std::move(points);
      }
    }
  } catch (const std::exception& error) {
    return Error{fmt::format("The table of points is invalid: {}.", error.what())};
  }
  return table;
}

Result<std::string> PointsTable::rescored(std::string_view text) const {
  try {
    json lab = json::parse(text);
    const auto known = labs_.find(lab.at("id"));
    if (known == labs_.end()) return lab.dump();
    json sums = {{"points", 0}, {"max_points", 0}, {"bonus_points", 0}, {"max_bonus_points", 0}};
    for (json& task : lab.at("tasks")) {
      const auto points = known->second.find(task.at("id"));
      if (points != known->second.end()) task = grader::rescored(task, points->second.task());
      const bool bonus = task.value("bonus", false);
      for (const char* key : {"points", "max_points"}) {
        json& sum = sums[bonus ? (key[0] == 'p' ? "bonus_points" : "max_bonus_points") : key];
        sum = sum.get<int>() + task.at(key).get<int>();
      }
    }
    lab.update(sums);
    return lab.dump();
  } catch (const std::exception& error) {
    return Error{fmt::format("This is not a lab of a result: {}.", error.what())};
  }
}

}  // namespace course::grader
