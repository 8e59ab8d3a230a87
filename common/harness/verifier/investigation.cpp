// SPDX-License-Identifier: MIT
#include "verifier/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/diagnosis.hpp"
#include "sim/checker.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {
namespace {

// Whether the only finding is an uninitialised read. An element can be left unwritten because a rank or a
// position was wrong before.
bool reads_unwritten(const Failure& failure) {
  return failure.proved && failure.findings.size() == 1 && failure.findings.front().checker == "initcheck";
}

}  // namespace

// Whether a case with the result `known` is right in some orders of blocks, warps and lanes, and wrong in
// others. False if a mistake explains what is wrong, or if it has more than kMaxItems items.
bool Session::comes_of_order(const Subject& subject, const Outcome& known) {
  constexpr std::uint64_t kOrders = 3, kMaxItems = 1 << 16;
  const auto& mismatch = known.failure.mismatch;
  const auto is_mistake = [](const Cause& cause) { return !cause.is_sign; };
  if (subject.c.n > kMaxItems || (mismatch && std::ranges::any_of(mismatch->causes, is_mistake)))
    return false;
  Measure measure;
  measure.checks = true;
  for (measure.other_order = 1; measure.other_order <= kOrders; ++measure.other_order) {
    measure.calm = measure.other_order == kOrders;  // the usual order of lanes
    const Outcome one = attempt_alone(subject, measure);
    if ((one.verdict == Verdict::ok) != (known.verdict == Verdict::ok)) return true;
  }
  return false;
}

// Does it fail because a load got an old value? Without the checkers none does.
void Session::explain_by_old_value(const Subject& subject, Outcome& failed) {
  const SimReport report = read_sim_report(failed.sim_report);
  const auto old = std::ranges::find_if(report.findings, is_old_value);
  if (old != report.findings.end() && attempt_alone(subject, {}).verdict == Verdict::ok)
    failed.failure.explain(*old, true);
}

// A kernel that does not end: what have checkers found before? They need no long limit for this.
void Session::look_before_limit(const Subject& subject, Outcome& failed) {
  Measure checks;
  checks.checks = true;
  const double limit = options_.seconds_per_case;
  options_.seconds_per_case /= sim::kSlowdownByCheckers;
  const Outcome again = attempt_alone(subject, checks);
  options_.seconds_per_case = limit;
  if (again.verdict != Verdict::time_limit || again.failure.findings.size() < 2) return;
  failed.failure.findings = again.failure.findings;
  failed.failure.findings.erase(failed.failure.findings.begin());  // the limit
  failed.failure.proved = true;
}

void Session::look_for_cause(const Subject& subject, const Measure& measure, Outcome& failed) {
  const Verdict verdict = failed.verdict;
  Failure& failure = failed.failure;
  if (measure.checks && verdict == Verdict::wrong_answer && !failure.proved)
    explain_by_old_value(subject, failed);
  if (failure.proved && !reads_unwritten(failure) && (!failed.ended_by_cuda_error || measure.checks)) return;
  // Invalid accesses are found without checkers, but not their reasons.
  Measure checks;
  checks.checks = true;
  const Outcome again = attempt_alone(subject, checks);
  const bool proved = again.failure.proved;
  // With the checkers it may end otherwise (after a crash, by its time limit): no cause of what happened.
  const bool alike = again.verdict == Verdict::ok || again.verdict == verdict;
  if (proved || (alike && !failure.has_cause())) {  // else a hint
    failure.findings = again.failure.findings;
    failure.diagnosis = again.failure.diagnosis;
    failure.proved = again.failure.proved;
  }
  if (proved && !reads_unwritten(failure)) return;
  if (verdict == Verdict::wrong_answer && comes_of_order(subject, again)) {
    const std::vector<SimFinding> found = read_sim_report(again.sim_report).findings;
    const bool races =
        std::ranges::any_of(found, [](const SimFinding& one) { return one.checker == "racecheck"; });
    failure.notes.push_back(fmt::format(
        "with its blocks, warps and atomic operations in another order, the case is right: its "
        "result depends on that order.{}",
        races ? ""
              : " No race was found in this case: look for what uses the order in which threads reach an "
                "atomic operation (such as a rank from atomicAdd), or what a loop saw while it waited"));
  } else if (!proved && again.verdict == Verdict::ok && failed.reused_runner &&
             attempt_alone(subject, measure).verdict == Verdict::ok) {
    failure.notes.emplace_back(
        "alone in a fresh process the case is right: something stays behind from an earlier one");
  }
}

}  // namespace course::lab
