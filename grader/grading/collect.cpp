// SPDX-License-Identifier: MIT
#include "grading/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "grading/baseline.hpp"
#include "grading/explain.hpp"
#include "grading/printed.hpp"
#include "grading/scoring/line_with_most.hpp"
#include "grading/scoring/metrics.hpp"
#include "lab/diagnosis.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {
namespace {

using lab::Verdict;

// A case that fails on a GPU and has at most this many items is run again on the simulator to find the cause.
// (lab::Session does this itself for failures on the simulator.)
constexpr std::uint64_t kExplainedItems = std::uint64_t{1} << 20;

// After kFailuresShown, cases are run to decide between several causes. In shorter ones many look alike.
constexpr std::uint64_t kTellingItems = 32;

// What the counters show although the case is right: its verdict and failure. (The findings have been judged
// by lab::Session.)
lab::Verdict object_to(const lab::SimReport& report, const Step& step, const lab::Ideal& ideal,
                       lab::Failure& failure) {
  std::string too_little = step.is_counted || step.is_timed ? implausible(report.totals, ideal) : "";
  if (too_little.empty()) return Verdict::ok;
  failure.headline = "was not done by kernels";
  failure.notes.push_back(std::move(too_little));
  return Verdict::policy;
}

class Collector {
 public:
  Collector(TaskRun& run, const CollectHooks& hooks, int round) : run_(run), hooks_(hooks), round_(round) {}

  // Returns false if the task is decided and no further step is needed.
  bool run(const Step& step) {
    const lab::Case& c = run_.plan.cases[step.case_index];
    if (n_failed() >= kFailuresShown && c.n < kTellingItems) return true;
    if (hooks_.progress) hooks_.progress(std::string(task_.id) + " " + c.name);
    const std::string drawn = round_ == 0 ? c.name : fmt::format("{} round {}", c.name, round_);
    const std::uint64_t seed = context_.seed_of(step.stage, task_.id, drawn);
    const auto begin = std::chrono::steady_clock::now();
    lab::Measure measure = step.measure;
    if (step.alone) measure.before_timing = hooks_.before_timing;
    lab::Outcome outcome = hooks_.runner(step.device).run(problem_, task_, c, seed, measure);
    // Nothing is run again with fewer checkers: how the submission spends its time must not decide what is
    // checked. The limit takes into account that checkers are slow (sim::kSlowdownByCheckers).
    if (outcome.verdict == Verdict::time_limit && !slowest_case_.empty())
      outcome.failure.notes.push_back(
          fmt::format("of the cases that it passed before, {} took longest: {:.2g} s of processor time",
                      slowest_case_, std::max(slowest_seconds_, 0.01)));
    const bool counted = measure.counters || measure.checks || measure.timed_runs > 0;
    lab::SimReport report;  // a refused case has none
    if (step.device == lab::DeviceKind::sim && counted && !problem_.refuses(task_, c))
      report = lab::read_sim_report(outcome.sim_report);
    const lab::Ideal ideal = problem_.ideal(task_, c);
    if (step.device == context_.device && evidence_.device.empty()) evidence_.device = outcome.device;

    if (outcome.verdict == Verdict::ok && report.readable) {
      outcome.verdict = object_to(report, step, ideal, outcome.failure);
      outcome.failure.name_case(problem_.manifest(), task_, c, seed, context_.rerun_flags());
    } else if (outcome.verdict != Verdict::ok) {
      find_cause_on_simulator(step, c, seed, outcome);
      outcome.failure.printed = last_words(outcome);
    }
    CaseRecord& record = evidence_.cases.emplace_back(record_of(step, c, outcome));
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (record.verdict != Verdict::ok && record.verdict != Verdict::suspect)
      return may_go_on(step, c, record.verdict);
    if (c.n > 0) right_.push_back(c.n);
    if (outcome.processor_seconds >= slowest_seconds_) {
      slowest_seconds_ = outcome.processor_seconds;
      slowest_case_ = c.name;
    }
    if (report.readable && task_.reference_us > 0 &&
        (task_.speedup.empty() ? step.is_counted : step.is_timed))
      evidence_.time_ratio += report.modelled_us / task_.reference_us;
    if (step.is_counted && report.readable) keep_worst(report, ideal), find_places(step, c, seed);
    if (step.is_timed) keep_times(step, c, outcome);
    return true;
  }

  std::string lengths() const { return lengths_text(right_, wrong_); }

 private:
  // The record of a case, with what its source lines and launches explain. (Not yet its seconds.)
  CaseRecord record_of(const Step& step, const lab::Case& c, lab::Outcome& outcome) {
    CaseRecord record;
    record.name = c.name;
    record.stage = step.stage;
    record.device = step.device;
    record.verdict = outcome.verdict;
    const std::string printed = printed_by(outcome);
    if (context_.seed_is_of_case || (!printed.empty() && c.n > 0 && c.n < shortest_that_printed_)) {
      for (CaseRecord& other : evidence_.cases) other.printed.clear();
      record.printed = printed;
      shortest_that_printed_ = c.n;
    }
    if (hooks_.source_line) explain_lines(outcome.failure, hooks_.source_line);
    explain_launches(outcome.failure, outcome.sim_report, c.n);
    if (outcome.verdict != Verdict::ok) set_failure(record, outcome.failure);
    if (step.stage == Stage::correctness && outcome.failure.mismatch)
      evidence_.failed.push_back(evidence_.cases.size());
    return record;
  }

  std::ptrdiff_t n_failed() const {
    return std::ranges::count_if(evidence_.cases,
                                 [](const CaseRecord& record) { return record.verdict != Verdict::ok; });
  }

  // Runs the case on the simulator with all checkers to find a cause that a GPU does not show. Only for the
  // task's first failure.
  void find_cause_on_simulator(const Step& step, const lab::Case& c, std::uint64_t seed,
                               lab::Outcome& outcome) {
    const bool explicable = outcome.verdict == Verdict::wrong_answer || outcome.verdict == Verdict::crash ||
                            outcome.verdict == Verdict::time_limit;
    if (step.device != lab::DeviceKind::gpu || n_failed() > 0 || !explicable || c.n > kExplainedItems) return;
    lab::Outcome again = hooks_.runner(lab::DeviceKind::sim).run(problem_, task_, c, seed, {.checks = true});
    if (!again.failure.proved) return;
    outcome.failure.findings = std::move(again.failure.findings);
    outcome.failure.diagnosis = std::move(again.failure.diagnosis);
    outcome.failure.proved = outcome.failure.found_on_simulator = true;
  }

  // After a failure correctness continues until kFailuresShown cases have failed, so that a student sees
  // whether one case or all are wrong.
  bool may_go_on(const Step& step, const lab::Case& c, Verdict verdict) {
    if (step.stage != Stage::correctness) return false;
    if (verdict != Verdict::wrong_answer && verdict != Verdict::crash) return false;
    // A few more, if they may decide between several causes, or one of them may have an output, or items.
    const bool no_output = evidence_.failed.empty() && hides_output(deciding_record(evidence_.cases));
    if (c.n > 0) wrong_.push_back(c.n);
    return n_failed() < kFailuresShown || (n_failed() < kFailuresForItems && (no_output || wrong_.empty())) ||
           (n_failed() < kFailuresToDecide && lab::is_ambiguous(failed_cases(evidence_)));
  }

  void keep_worst(const lab::SimReport& report, const lab::Ideal& ideal) {
    for (const lab::Metric metric : lab::kAllMetrics) {
      const std::optional<double> value = measure(metric, report.totals, ideal, report.traffic);
      if (!value) continue;
      double& worst = evidence_.metrics.try_emplace(metric, *value).first->second;
      worst = lab::at_least(metric) ? std::min(worst, *value) : std::max(worst, *value);
    }
  }

  // The lines with most of what misses a goal. They take a run that counts line by line.
  void find_places(const Step& step, const lab::Case& c, std::uint64_t seed) {
    std::vector<lab::Metric> missed;
    for (const lab::EfficiencyGoal& goal : task_.efficiency) {
      const auto measured = evidence_.metrics.find(goal.metric);
      if (measured != evidence_.metrics.end() && !lab::meets(goal.metric, measured->second, goal.limit) &&
          !evidence_.places.contains(goal.metric))
        missed.push_back(goal.metric);
    }
    if (missed.empty()) return;
    const lab::Measure lines{.counters = true, .profile = true, .fresh = true, .only_verdict = true};
    const lab::Outcome outcome = hooks_.runner(step.device).run(problem_, task_, c, seed, lines);
    for (const lab::Metric metric : missed) {
      if (std::string place = line_with_most(metric, problem_.manifest().id, outcome.sim_report);
          !place.empty())
        evidence_.places[metric] = std::move(place);
    }
  }

  void keep_times(const Step& step, const lab::Case& c, const lab::Outcome& outcome) {
    auto found = std::ranges::find(evidence_.timings, c.name, &Timing::case_name);
    if (found == evidence_.timings.end()) {
      found = evidence_.timings.emplace(evidence_.timings.end());
      found->case_name = c.name;
    }
    Timing& timing = *found;
    const auto add = [](std::vector<double>& all, const std::vector<double>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    add(timing.samples.kernel_us, outcome.times_us);
    add(timing.samples.clock_us, outcome.clock_us);
    add(timing.samples.events_us, outcome.events_us);
    timing.modelled = step.device == lab::DeviceKind::sim;
    timing.kernel_us = median(timing.samples.kernel_us);
    timing.spread_us = spread(timing.samples.kernel_us);
    timing.clock_us = median(timing.samples.clock_us);
    timing.events_us = median(timing.samples.events_us);
    timing.kernel_runs = static_cast<int>(timing.samples.kernel_us.size());
  }

  TaskRun& run_;
  const lab::Problem& problem_ = *run_.problem;
  const lab::Task& task_ = *run_.task;
  const RunContext& context_ = run_.context;
  Evidence& evidence_ = run_.evidence;
  const CollectHooks& hooks_;
  const int round_;
  std::vector<std::uint64_t> right_, wrong_;  // numbers of items of the cases so far
  std::string slowest_case_;                  // of the cases that were right
  double slowest_seconds_ = 0;
  std::uint64_t shortest_that_printed_ = UINT64_MAX;
};

}  // namespace

void collect(TaskRun& run, Share share, const CollectHooks& hooks, int round) {
  Collector collector(run, hooks, round);
  const Plan& plan = run.plan;
  Evidence& evidence = run.evidence;
  const auto has_failed = [&] {
    const CaseRecord* wrong = deciding_record(evidence.cases);
    return wrong != nullptr && wrong->verdict != Verdict::suspect;
  };
  evidence.cases_planned = plan.correctness_steps();
  for (const Step& step : plan.steps) {
    if (step.alone != (share == Share::alone)) continue;
    // Later stages are meaningful only if all earlier cases were right.
    if (has_failed() && step.stage != Stage::correctness) break;
    if (!collector.run(step)) break;
  }
  if (share == Share::shared) diagnose_together(evidence, collector.lengths());
  evidence.complete = !has_failed() && evidence.cases.size() >= plan.steps.size();
  if (has_failed()) {  // what a wrong program costs means nothing
    evidence.metrics.clear(), evidence.places.clear(), evidence.timings.clear();
    evidence.time_ratio = 0;
  }
}

}  // namespace course::grader
