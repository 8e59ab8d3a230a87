// SPDX-License-Identifier: MIT
#include "verifier/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/rng.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {
namespace {

// A kernel that does not end does so in a short case, too. On the simulator, these take far less than a
// second.
constexpr std::uint64_t kShortCase = 8192;
constexpr double kSecondsOfShort = 3;

}  // namespace

Outcome Session::call_again(const Subject& subject, bool& fails_alone) {
  Prepared prepared = prepare(subject, {});
  prepared.request.same_memory =
      seed_for(subject.seed, subject.c.name) % 2;  // an answer may be kept for these
  Outcome again = attempt(std::move(prepared));
  if (again.verdict == Verdict::ok) return again;
  fails_alone = attempt_alone(subject, {}).verdict != Verdict::ok;
  if (!fails_alone)
    again.failure.notes.emplace_back(
        "this was the second call in one process; the first one, on other items of the same size, was right: "
        "is an answer kept in a variable, or is memory not set again that the first call has changed?");
  return again;
}

Outcome Session::run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                     const Measure& measure) {
  const Subject subject{problem, task, c, seed};
  if (measure.fresh) runner_.reset();
  const bool simulated = options_.device == DeviceKind::sim;
  const double limit = simulated && c.n <= kShortCase ? std::min(seconds_, kSecondsOfShort) : seconds_;
  if (std::exchange(options_.seconds_per_case, limit) != limit) runner_.reset();
  if (measure.timed_runs > 0 && !simulated) return timed(subject, measure);
  Measure first = measure;
  if (simulated && (c.purpose & kChecks) != 0) first.checks = true;
  const Subject second = subject.with(seed_for(seed, "second call"));
  const Subject* failing = &subject;
  Outcome outcome = attempt(subject, first);
  // Only counters show whether a kernel that was launched stores something, as one that is written does.
  if (outcome.verdict == Verdict::not_implemented && simulated && !first.counters &&
      read_sim_report(outcome.sim_report).did_work()) {
    first.counters = true;
    outcome = attempt(subject, first);
  }
  if (measure.twice && outcome.verdict == Verdict::ok && runner_) {
    bool fails_alone = false;
    Outcome again = call_again(second, fails_alone);
    if (again.verdict != Verdict::ok && !fails_alone) return conclude(subject, std::move(again));
    if (fails_alone) {
      // Its items matter, or the order of its blocks, not that it was the second call.
      outcome = std::move(again);
      failing = &second;
    }
  }
  if (!measure.only_verdict && simulated &&
      (outcome.verdict == Verdict::wrong_answer || outcome.verdict == Verdict::crash))
    look_for_cause(*failing, first, outcome);
  if (!measure.only_verdict && simulated && outcome.verdict == Verdict::time_limit && !first.checks)
    look_before_limit(*failing, outcome);
  return conclude(*failing, std::move(outcome));
}

Outcome Session::conclude(const Subject& subject, Outcome outcome) const {
  if (outcome.verdict == Verdict::ok) return outcome;
  if (outcome.verdict != Verdict::suspect) outcome.times_us.clear();
  const Manifest& manifest = subject.problem.manifest();
  Failure& failure = outcome.failure;
  failure.name_case(manifest, subject.task, subject.c, subject.seed, options_.rerun_flags);
  if (outcome.verdict == Verdict::not_implemented) {
    failure.case_name = failure.command = "";
    failure.notes = {fmt::format("write it in labs/{0}/{0}.cu", manifest.id)};
  }
  if (options_.device == DeviceKind::gpu && !failure.proved && outcome.verdict != Verdict::infra &&
      outcome.verdict != Verdict::not_implemented) {
    failure.notes.emplace_back("the simulator may name the line: run it again with --device sim");
  }
  return outcome;
}

}  // namespace course::lab
