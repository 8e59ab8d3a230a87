// SPDX-License-Identifier: MIT
// Attempts at cases: each gives the items of a case to a runner, waits for its reply, and judges it. What
// follows from a judgement (a second call, the search for a cause) is decided by session.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "lab/problem.hpp"
#include "protocol/go.hpp"
#include "protocol/protocol.hpp"
#include "protocol/shared_memory.hpp"
#include "verifier/live_runner.hpp"
#include "verifier/outcome.hpp"
#include "verifier/session.hpp"

namespace course::lab {

// A case with the items of a seed. The problem, the task and the case must outlive it.
struct Subject {
  const Problem& problem;
  const Task& task;
  const Case& c;
  std::uint64_t seed;
  Subject with(std::uint64_t other_seed) const { return {problem, task, c, other_seed}; }
};

// A case whose items are in the memory that it shares with a runner, ready to be sent.
struct Prepared {
  Subject of;
  Measure measure;
  Shape shape = of.problem.shape(of.task, of.c);
  std::vector<HostBuffer> inputs = {};
  protocol::CaseRequest request = {};
  std::optional<Result<SharedMemory>> memory = {};
  std::span<std::byte> shared = {};  // of `memory`
  std::uint64_t key = 0;
};

struct Attempt : Outcome {
  bool reused_runner = false;
  bool ended_by_cuda_error = false;
  // Of a keyed run: the times of the rehearsal and of the run; 0 if the clock was not stopped.
  std::array<double, 2> clocks_us{};
  Digest digest = {};  // of the outputs, from the runner, when the clock stopped
  void take(Judgement judgement) { static_cast<Judgement&>(*this) = std::move(judgement); }
};

class Attempts {
 public:
  explicit Attempts(SessionOptions given) : options(std::move(given)) {}

  Prepared prepare(const Subject& subject, const Measure& measure) const;
  // Runs a case. Without a reply (the result), the attempt's judgement is final.
  std::optional<protocol::CaseReply> have_run(Prepared& prepared, Attempt& result);
  // Judges the reply to a case. Several may be judged at once, while no case runs.
  void judge(const Prepared& prepared, const protocol::CaseReply& reply, Attempt& result) const;
  // All three.
  Attempt at(Prepared prepared) {
    Attempt result;
    if (const auto reply = have_run(prepared, result)) judge(prepared, *reply, result);
    return result;
  }
  Attempt at(const Subject& subject, const Measure& measure) { return at(prepare(subject, measure)); }
  // The same, in a process of its own: neither earlier cases nor later ones share it.
  Attempt alone_at(const Subject& subject, const Measure& measure) {
    forget_runner();
    Attempt result = at(subject, measure);
    forget_runner();
    return result;
  }

  // Nothing if a runner is running and has sent Hello; else why there is none.
  std::optional<Judgement> ensure_runner(const Manifest& manifest);
  bool has_runner() const { return runner_.has_value(); }
  // The next case starts a new process.
  void forget_runner() { runner_.reset(); }

  // The attempt as the result of the case: its failure names the case and the command that repeats it.
  Outcome conclude(const Subject& subject, Attempt attempt) const;

  SessionOptions options;

 private:
  // When a process reports that the device does not work.
  Judgement device_at_fault(const std::string& text) const;
  // The time from GO to the digest in microseconds; 0 if something else happened first.
  double clocked(GoBlock& block, std::uint32_t round, std::uint64_t key, Digest& reported) const;
  // What the runner's reply says of the case; `ran`: its run.
  Judgement judge_reply(const Prepared& prepared, const protocol::CaseReply& reply, const Attempt& ran) const;
  // What the simulator's report adds: findings, a case without a kernel, the modelled time.
  void judge_by_report(const Prepared& prepared, protocol::CaseEnd end, Attempt& result) const;

  std::optional<LiveRunner> runner_;
};

// timing.cpp: times a case. On the simulator one run, because modelled time is always the same; on a GPU a
// warm-up run and Measure::timed_runs others, each on items of its own, so that a kept answer is wrong.
Outcome timed(Attempts& attempts, const Subject& subject, const Measure& measure);

// investigation.cpp: looks for the cause of a case that failed on the simulator, by running it again in other
// ways, and adds it to the failure. `measure`: how the case ran. Leaves no runner that a case could damage.
void look_for_cause(Attempts& attempts, const Subject& subject, const Measure& measure, Attempt& failed);

}  // namespace course::lab
