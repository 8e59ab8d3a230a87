// SPDX-License-Identifier: MIT
// The schema of a result's JSON form, from which it is written (result.cpp) and read (read_result.cpp): each
// struct is an object with these keys. A list is an array, an empty optional is null, and so are NaN and
// infinity. Failures have the fields of verifier/failure.hpp.
// visit(key, field): a field. derived(key, value): computed from other fields, written only. later(key,
// field): missing in files of older versions. points(key, field, key, field): points and their maximum.
// The document has a `schema` and a `seed`, too: text, because many readers store numbers as doubles, and a
// seed has 64 bits; null in an edition for students.
#pragma once

#include "lab/metrics.hpp"
#include "report/result.hpp"

namespace course::grader {

// The last enumerator.
constexpr Stage last_of(Stage) {
  return Stage::speedup;
}
constexpr lab::DeviceKind last_of(lab::DeviceKind) {
  return lab::DeviceKind::gpu;
}
constexpr lab::Verdict last_of(lab::Verdict) {
  return lab::kVerdicts.back().verdict;
}
constexpr lab::Metric last_of(lab::Metric) {
  return lab::kAllMetrics.back();
}

using lab::FieldsOf;

template <typename Int>
struct PointsAndMaximum {
  PointsAndMaximum(Int& got, Int& most) : points(got), max_points(most) {}
  Int &points, &max_points;
};
template <typename Int, typename Visit>
void for_each_field(const PointsAndMaximum<Int>& p, Visit visit) {
  visit.points("points", p.points, "max_points", p.max_points);
}

template <FieldsOf<CaseRecord> F, typename Visit>
void for_each_field(F& c, Visit visit) {
  visit("name", c.name), visit("stage", c.stage), visit("device", c.device), visit("verdict", c.verdict);
  visit("message", c.message), visit.later("failure", c.failure), visit("seconds", c.seconds);
}
template <FieldsOf<GoalScore> F, typename Visit>
void for_each_field(F& g, Visit visit) {
  visit("metric", g.metric), visit.derived("at_least", lab::at_least(g.metric));
  visit("limit", g.limit), visit("unit", g.unit), visit("measured", g.measured);
  visit.points("points", g.points, "max_points", g.max_points), visit("note", g.note);
}
template <FieldsOf<TierScore> F, typename Visit>
void for_each_field(F& t, Visit visit) {
  visit("speedup", t.speedup), visit.points("points", t.points, "max_points", t.max_points);
}
template <FieldsOf<Timing> F, typename Visit>
void for_each_field(F& t, Visit visit) {
  visit("case", t.case_name), visit("modelled", t.modelled);
  visit("kernel_us", t.kernel_us), visit("kernel_spread_us", t.spread_us);
  visit("kernel_clock_us", t.clock_us), visit("kernel_events_us", t.events_us);
  visit("kernel_runs", t.kernel_runs), visit("cpu_runs", t.baseline_runs);
  visit("cpu_one_thread_us", t.cpu_us), visit.derived("speedup_one_thread", t.speedup());
}
template <FieldsOf<TaskResult> F, typename Visit>
void for_each_field(F& t, Visit visit) {
  visit("id", t.id), visit("title", t.title), visit("section", t.section), visit("bonus", t.bonus);
  visit.points("points", t.points, "max_points", t.max_points);
  const PointsAndMaximum correctness{t.correctness_points, t.max_correctness_points};
  visit("correctness", correctness);
  visit("verdict", t.verdict), visit("message", t.message), visit("speedup", t.speedup);
  visit("metrics", t.metrics), visit("goals", t.goals), visit("tiers", t.tiers), visit("timing", t.timing);
  visit("time_ratio", t.time_ratio);
  visit.derived("as_fast_as_reference", t.is_as_fast_as_reference());
  visit("cases", t.cases), visit("cases_planned", t.cases_planned), visit("cases_run", t.cases_run);
  visit("cases_failed", t.cases_failed), visit("seconds", t.seconds);
}
// The points are the sums of the tasks' points.
template <FieldsOf<LabResult> F, typename Visit>
void for_each_field(F& l, Visit visit) {
  visit("id", l.id), visit("title", l.title), visit("source", l.source), visit("tasks", l.tasks);
  visit("points", l.points), visit("max_points", l.max_points);
  visit("bonus_points", l.bonus_points), visit("max_bonus_points", l.max_bonus_points);
}
template <FieldsOf<RunResult> F, typename Visit>
void for_each_field(F& r, Visit visit) {
  visit("device", r.device), visit("clocks", r.clocks), visit("isolation", r.isolation);
  visit("isolation_parts", r.isolation_parts), visit("graded", r.graded), visit("commit", r.commit);
  visit("started", r.started), visit("modelled", r.modelled), visit("partial", r.partial);
  visit("seconds", r.seconds), visit("labs", r.labs);
}

}  // namespace course::grader
