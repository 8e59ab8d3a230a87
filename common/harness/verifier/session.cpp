// SPDX-License-Identifier: MIT
#include "verifier/session.hpp"

#include "base/rng.hpp"
#include "verifier/attempts.hpp"

namespace course::lab {
namespace {

// A second call of a case that was right, on other items. `fails_alone`: as a first call, too.
Attempt call_again(Attempts& attempts, const Subject& subject, bool& fails_alone) {
  Prepared prepared = attempts.prepare(subject, {});
  prepared.request.same_memory =
      seed_for(subject.seed, subject.c.name) % 2;  // an answer may be kept for these
  Attempt again = attempts.at(std::move(prepared));
  if (again.verdict == Verdict::ok) return again;
  fails_alone = attempts.alone_at(subject, {}).verdict != Verdict::ok;
  if (!fails_alone)
    again.failure.notes.emplace_back(
        "this was the second call in one process; the first one, on other items of the same size, was right: "
        "is an answer kept in a variable, or is memory not set again that the first call has changed?");
  return again;
}

}  // namespace

Session::Session(SessionOptions options) : attempts_(std::make_unique<Attempts>(std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Outcome Session::run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                     const Measure& measure) {
  Attempts& attempts = *attempts_;
  const Subject subject{problem, task, c, seed};
  if (measure.fresh) attempts.forget_runner();
  if (measure.timed_runs > 0) return timed(attempts, subject, measure);
  const bool simulated = attempts.options.device == DeviceKind::sim;
  Measure first = measure;
  if (simulated && (c.purpose & kChecks) != 0) first.checks = true;
  const Subject second = subject.with(seed_for(seed, "second call"));
  const Subject* failing = &subject;
  Attempt attempt = attempts.at(subject, first);
  if (measure.twice && attempt.verdict == Verdict::ok && attempts.has_runner()) {
    bool fails_alone = false;
    Attempt again = call_again(attempts, second, fails_alone);
    if (again.verdict != Verdict::ok && !fails_alone) return attempts.conclude(subject, std::move(again));
    if (fails_alone) {
      // Its items matter, or the order of its blocks, not that it was the second call.
      attempt = std::move(again);
      failing = &second;
    }
  }
  if (!measure.only_verdict && simulated &&
      (attempt.verdict == Verdict::wrong_answer || attempt.verdict == Verdict::crash))
    look_for_cause(attempts, *failing, first, attempt);
  return attempts.conclude(*failing, std::move(attempt));
}

}  // namespace course::lab
