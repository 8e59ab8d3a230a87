// SPDX-License-Identifier: MIT
#include "grading/scoring/score.hpp"

#include <algorithm>
#include <cmath>

#include "lab/metrics.hpp"

namespace course::grader {
namespace {

TaskResult empty_result(const lab::Task& task) {
  TaskResult out;
  out.id = task.id;
  out.title = task.title;
  out.bonus = task.bonus;
  out.max_points = lab::max_points(task);
  out.max_correctness_points = task.correctness_points;
  for (const lab::EfficiencyGoal& goal : task.efficiency) {
    out.goals.push_back(
        {goal.metric, goal.limit, std::string(lab::unit_of(goal)), std::nullopt, 0, goal.points, ""});
  }
  for (const lab::SpeedupTier& tier : task.speedup) out.tiers.push_back({tier.speedup, 0, tier.points});
  return out;
}

// Counters are a means: a program that is as fast as the reference has its goals, whatever they say.
void score_goals(const Evidence& evidence, TaskResult& out) {
  if (evidence.time_ratio > 0) out.time_ratio = evidence.time_ratio;
  for (GoalScore& goal : out.goals) {
    const auto found = evidence.metrics.find(goal.metric);
    if (found == evidence.metrics.end() || !std::isfinite(found->second)) {
      goal.note = "not measured";
      continue;
    }
    goal.measured = found->second;
    const bool met = lab::meets(goal.metric, found->second, goal.limit);
    if (met || out.is_as_fast_as_reference()) goal.points = goal.max_points;
    const auto place = evidence.places.find(goal.metric);
    if (!met && place != evidence.places.end()) goal.note = "most at " + place->second;
  }
}

// The slowest speedup case counts.
void score_speedup(const Evidence& evidence, TaskResult& out) {
  if (evidence.timings.empty()) return;
  out.timing = *std::ranges::min_element(evidence.timings, {}, &Timing::speedup);
  const double speedup = out.timing->speedup();
  if (!std::isfinite(speedup) || speedup <= 0) return;
  out.speedup = speedup;
  if (out.verdict == lab::Verdict::suspect) return;  // the speedup's points are withheld
  for (TierScore& tier : out.tiers)
    if (speedup >= tier.speedup) tier.points = tier.max_points;
}

}  // namespace

void give_points(const Evidence& evidence, TaskResult& out) {
  out.correctness_points = out.max_correctness_points;
  score_goals(evidence, out);
  score_speedup(evidence, out);
  out.points = out.correctness_points;
  for (const GoalScore& goal : out.goals) out.points += goal.points;
  for (const TierScore& tier : out.tiers) out.points += tier.points;
}

TaskResult unscored_task(const lab::Task& task, lab::Verdict verdict, std::string message) {
  TaskResult out = empty_result(task);
  out.verdict = verdict;
  out.message = std::move(message);
  return out;
}

TaskResult score_task(const lab::Task& task, const Evidence& evidence) {
  TaskResult out = empty_result(task);
  out.cases = evidence.cases;
  out.cases_planned = evidence.cases_planned;
  for (const CaseRecord& record : evidence.cases) {
    if (record.stage != Stage::correctness) continue;
    ++out.cases_run;
    if (record.verdict != lab::Verdict::ok) ++out.cases_failed;
  }
  for (const auto& [metric, value] : evidence.metrics)
    if (std::isfinite(value)) out.metrics[std::string(lab::name_of(metric))] = value;

  if (evidence.cases.empty()) {
    out.verdict = lab::Verdict::infra;
    out.message = "No case of this task was run.";
    return out;
  }
  const CaseRecord* deciding = deciding_record(evidence.cases);
  out.verdict = deciding == nullptr ? lab::Verdict::ok : deciding->verdict;
  const bool is_right = out.verdict == lab::Verdict::ok || out.verdict == lab::Verdict::suspect;
  if (is_right && !evidence.complete)
    out.verdict = lab::Verdict::infra;
  else if (is_right)
    give_points(evidence, out);
  out.message = message_of(out);
  return out;
}

}  // namespace course::grader
