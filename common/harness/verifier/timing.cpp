// SPDX-License-Identifier: MIT
#include "verifier/session.hpp"

#include <algorithm>
#include <future>

#include "base/rng.hpp"
#include "lab/all_cores.hpp"
#include "verifier/judge_times.hpp"

namespace course::lab {

namespace {

// The memory that prepared cases share with runners, at most.
constexpr std::uint64_t kReadyBytes = std::uint64_t{2} << 30;

// Calls f(0) … f(n - 1), each in a thread of its own; rethrows what one throws, after all have ended.
template <typename F>
void for_each_at_once(std::size_t n, const F& f) {
  std::vector<std::future<void>> calls;
  for (std::size_t i = 0; i < n; ++i) calls.push_back(std::async(std::launch::async, f, i));
  for (std::future<void>& call : calls) call.get();
}

}  // namespace

Outcome Session::timed_once(const Subject& subject, const Measure& once, std::size_t n_runs) {
  const auto& [problem, task, c, seed] = subject;
  std::vector<double> times_us, events_us;
  std::vector<std::array<double, 2>> clocks;
  // The items of several runs are made at the same time, while the runner starts, and their results are
  // judged at the same time. Nothing else runs while a run is timed.
  const std::uint64_t bytes =
      lay_out(problem, task, c, problem.shape(task, c), options_.device, once).shared_bytes;
  const std::size_t at_once = std::clamp<std::size_t>(kReadyBytes / bytes, 1, n_cores());
  const auto nth = [&](std::size_t k) { return k == 0 ? subject : subject.with(mix(subject.seed + k)); };
  for (std::size_t first = 0; first < n_runs; first += at_once) {
    const std::size_t n = std::min(at_once, n_runs - first);
    std::vector<std::optional<Prepared>> prepared(n);
    std::future<void> made = std::async(std::launch::async, [&] {
      for_each_at_once(n, [&](std::size_t i) { prepared[i].emplace(prepare(nth(first + i), once)); });
    });
    // A runner that does not start is reported when it is needed.
    if (ensure_runner(problem.manifest())) runner_.reset();
    made.get();
    if (once.before_timing) once.before_timing();
    std::vector<Outcome> runs;
    std::vector<std::optional<protocol::CaseReply>> replies;
    for (bool done = true; done && runs.size() < n;) {
      Outcome& one = runs.emplace_back();
      replies.push_back(have_run(*prepared[runs.size() - 1], one));
      done = replies.back() && replies.back()->end == protocol::CaseEnd::done;
    }
    for_each_at_once(runs.size(), [&](std::size_t i) {
      if (replies[i]) judge(*prepared[i], *replies[i], runs[i]);
      prepared[i].reset();
    });
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t k = first + i;
      Outcome& one = runs[i];
      if (k > 0) {
        times_us.insert(times_us.end(), one.times_us.begin(), one.times_us.end());
        events_us.insert(events_us.end(), one.events_us.begin(), one.events_us.end());
        if (!one.events_us.empty()) clocks.push_back(one.clocks_us);
      }
      if (one.verdict == Verdict::ok && k + 1 < n_runs) continue;
      if (one.verdict != Verdict::ok && k > 0)
        one.failure.notes.emplace_back(
            "runs before it, on other items, were right: was an answer kept from one of them?");
      std::vector<double> clock_us;
      if (one.verdict == Verdict::ok && !clocks.empty()) {
        clock_us = without_rehearsal(clocks);
        times_us = borne_out(clock_us, events_us);
        const double memory_gb_per_s = options_.memory_gb_per_s * problem.shape(task, c).n_devices;
        one.take(judge_times(times_us, clock_us, events_us, problem.ideal(task, c).bytes, memory_gb_per_s));
      }
      Outcome outcome = conclude(nth(k), std::move(one));
      if (outcome.verdict == Verdict::ok || outcome.verdict == Verdict::suspect) {
        outcome.times_us = std::move(times_us);
        outcome.clock_us = std::move(clock_us);
        outcome.events_us = std::move(events_us);
      }
      return outcome;
    }
  }
  return {};
}

// Doubtful times on a GPU are taken again, on other items in a fresh process: the machine may have been busy.
// Work that hides from a clock each time is found again.
Outcome Session::timed(const Subject& subject, const Measure& measure) {
  Measure once = measure;
  once.timed_runs = 1;
  const auto n_runs = static_cast<std::size_t>(measure.timed_runs) + 1;
  Outcome outcome = timed_once(subject, once, n_runs);
  if (outcome.verdict != Verdict::suspect) return outcome;
  runner_.reset();
  return timed_once(subject.with(seed_for(subject.seed, "again")), once, n_runs);
}

}  // namespace course::lab
