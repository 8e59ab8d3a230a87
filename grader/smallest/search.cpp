// SPDX-License-Identifier: MIT
// Reading order: find_smallest at the end, try_variants, run_whole; Search runs the cases.
#include "smallest/search.hpp"

#include <utility>

#include "base/clock.hpp"
#include "lab/derived_cases.hpp"

namespace course::grader {
namespace {

using lab::Case;
using lab::Verdict;

constexpr std::uint64_t kMaxTraced = 8192;  // two tiles of the longest that a lab has

class Search {
 public:
  Search(const lab::Problem& problem, const lab::Task& task, CaseRunner& runner, const SmallestLimits& limits)
      : problem_(problem), task_(task), runner_(runner), limits_(limits), deadline_(limits.seconds) {}

  bool may_go_on() const { return n_runs_ < limits_.runs && !deadline_.passed(); }
  int n_runs() const { return n_runs_; }

  lab::Outcome run(const Case& c, lab::Measure measure) {
    ++n_runs_;
    measure.checks = true;
    return runner_.run(problem_, task_, c, kSmallestSeed, measure);
  }

  // The verdict alone. After a failure the next case gets a fresh process.
  Verdict verdict_of(const Case& c, bool fresh = false) {
    const Verdict verdict = run(c, {.fresh = fresh || failed_before_, .only_verdict = true}).verdict;
    failed_before_ = verdict != Verdict::ok;
    return verdict;
  }

  // Whether it fails, also alone in a fresh process.
  bool fails(const Case& c) {
    const bool was_fresh = failed_before_;
    return can_be_smaller(verdict_of(c)) && (was_fresh || can_be_smaller(verdict_of(c, true)));
  }

 private:
  const lab::Problem& problem_;
  const lab::Task& task_;
  CaseRunner& runner_;
  const SmallestLimits& limits_;
  const Deadline deadline_;
  int n_runs_ = 0;
  bool failed_before_ = true;
};

// A case of this operator and type with as many items: in the same rows, if the lab has such cases.
std::optional<Case> with_length_of(const lab::Problem& problem, const lab::Task& task,
                                   std::string_view variant, const Case& c) {
  std::optional<Case> other;
  for (const Case& like : problem.cases(task)) {
    if (like.words.variant != variant) continue;
    for (const lab::Pattern pattern : {c.pattern, lab::Pattern::example, like.pattern}) {
      auto one = problem.with_items(task, like, c.n, pattern);
      if (!one || problem.refuses(task, *one)) continue;
      if (one->words.shape == c.words.shape) return one;
      if (!other) other = std::move(one);
    }
  }
  return other;
}

// The other operators and types with as many items as `found`: adds to the result which of them are right and
// which are wrong. Returns the first case that fails, because labs list simple operators first.
Case try_variants(const lab::Problem& problem, const lab::Task& task, const Case& found, Search& search,
                  SmallestFailure& result) {
  std::optional<Case> simplest;
  for (const Case& variant : lab::variants(problem, task)) {
    const std::string& name = variant.words.variant;
    if (name == found.words.variant) {
      result.wrong.push_back(name);
      if (!simplest) simplest = found;
      continue;
    }
    const auto c = with_length_of(problem, task, name, found);
    const Verdict verdict = c && search.may_go_on() ? search.verdict_of(*c) : Verdict::infra;
    if (can_be_smaller(verdict)) {
      result.wrong.push_back(name);
      if (!simplest && search.fails(*c)) simplest = c;
    } else if (verdict == Verdict::ok && c->words.shape == found.words.shape) {
      result.right.push_back(name);
    } else {  // Rows of another length may be too short to fail, which does not show that it is right.
      ++result.n_untried;
    }
  }
  return simplest.value_or(found);
}

// One run for the outputs, and one for the trace.
void run_whole(Search& search, SmallestFailure& result) {
  result.outcome = search.run(result.c, {.fresh = true});
  if (result.c.n > kMaxTraced || result.outcome.verdict == Verdict::time_limit) return;
  lab::Outcome traced =
      search.run(result.c, {.counters = true, .trace = true, .fresh = true, .only_verdict = true});
  result.is_traced = true;
  result.trace_is_right = traced.verdict == Verdict::ok;
  result.outcome.sim_report = std::move(traced.sim_report);
  if (result.trace_is_right || traced.outputs.empty()) return;
  result.outcome.outputs = std::move(traced.outputs);
  result.outcome.failure.mismatch = std::move(traced.failure.mismatch);
}

}  // namespace

bool can_be_smaller(Verdict verdict) {
  return verdict == Verdict::wrong_answer || verdict == Verdict::crash || verdict == Verdict::time_limit;
}

std::optional<SmallestFailure> find_smallest(const lab::Problem& problem, const lab::Task& task,
                                             const Case& like, CaseRunner& runner,
                                             const SmallestLimits& limits,
                                             std::span<const lab::FailedCase> failed) {
  if (problem.refuses(task, like)) return std::nullopt;
  Search search(problem, task, runner, limits);
  std::optional<Case> found;
  for (const Case& c : smaller_cases(problem, task, like)) {
    if (c.n > limits.items || !search.may_go_on()) break;
    if (!search.fails(c)) continue;
    found = c;
    break;
  }
  if (!found) return std::nullopt;
  if (const auto other = lab::aligned(*found); other && search.fails(*other)) found = other;

  SmallestFailure result;
  result.c = try_variants(problem, task, *found, search, result);
  // A name stands for one case. If it is another one than this (parameters that are not in the name), the
  // command with this name must show a failure, too.
  if (const auto named = lab::find_case(problem, task, result.c.name);
      named && named->params != result.c.params && search.fails(*named))
    result.c = *named;
  run_whole(search, result);
  lab::drop_unlikely(result.outcome.failure.diagnosis.causes, failed);
  result.n_runs = search.n_runs();
  return result;
}

}  // namespace course::grader
