// SPDX-License-Identifier: MIT
// The verifier's side of one runner: start it, send it cases, and judge the results. The runner (untrusted)
// is the fixed runner_main.cpp linked with a student's object. Verifier and runner communicate through a
// SOCK_SEQPACKET channel with fixed-size messages (protocol.hpp) and one sealed memfd per case. On the
// simulator the device is a process of its own between the two (common/harness/remote): it answers the
// verifier, and only it communicates with the student's process. A runner's stdout, exit code and claims
// never decide that a case is right: the outputs are copied out of the shared memory first and checked here.
// Invariant: whatever the runner does, run() returns an Outcome, each attempt within LiveRunner's limits, and
// the verdict INFRA is only given for what student code cannot cause. A case that fails on the simulator is
// run again with all checkers on, unless its cause is proved or not asked for (Measure::only_verdict).
// Reading order: Session::run (session.cpp), the run of one case (attempt.cpp), timing.cpp,
// investigation.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "protocol/go.hpp"
#include "protocol/protocol.hpp"
#include "protocol/shared_memory.hpp"
#include "verifier/live_runner.hpp"
#include "verifier/outcome.hpp"
#include "verifier/request.hpp"

namespace course::lab {

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

// Not thread-safe; use one Session per thread. A runner is killed when the thread that started it ends.
class Session {
 public:
  explicit Session(SessionOptions options)
      : options_(std::move(options)), seconds_(options_.seconds_per_case) {}

  // Runs one case and judges it. Starts a new runner first if none is running.
  Outcome run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
              const Measure& measure);

  // case_layout.cpp: the request to the runner for one case: the task, what to measure, and the offset of
  // every buffer in the memory that verifier and runner share.
  static protocol::CaseRequest lay_out(const Problem& problem, const Task& task, const Case& c,
                                       const Shape& shape, DeviceKind device, const Measure& measure);

 private:
  // --- attempt.cpp: gives the items of a case to a runner, waits for its reply, and judges it.
  Prepared prepare(const Subject& subject, const Measure& measure) const;
  // Runs a case. Without a reply (the result), the outcome's judgement is final.
  std::optional<protocol::CaseReply> have_run(Prepared& prepared, Outcome& result);
  // Judges the reply to a case. Several may be judged at once, while no case runs.
  void judge(const Prepared& prepared, const protocol::CaseReply& reply, Outcome& result) const;
  // The last two; with a Subject, all three.
  Outcome attempt(Prepared prepared);
  Outcome attempt(const Subject& subject, const Measure& measure) {
    return attempt(prepare(subject, measure));
  }
  // The same, in a process of its own: neither earlier cases nor later ones share it.
  Outcome attempt_alone(const Subject& subject, const Measure& measure);
  // Nothing if a runner is running and has sent Hello; else why there is none.
  std::optional<Judgement> ensure_runner(const Manifest& manifest);
  // When a process reports that the device does not work.
  Judgement device_at_fault(const std::string& text) const;
  // The time from GO to the digest in microseconds; 0 if something else happened first.
  double clocked(GoBlock& block, std::uint32_t round, std::uint64_t key, Digest& reported) const;
  // What the runner's reply says of the case; `ran`: its run.
  Judgement judge_reply(const Prepared& prepared, const protocol::CaseReply& reply, const Outcome& ran) const;
  // What the simulator's report adds: findings, a case without a kernel, the modelled time.
  void judge_by_report(const Prepared& prepared, protocol::CaseEnd end, Outcome& result) const;

  // --- session.cpp
  // A second call of a case that was right, on other items. `fails_alone`: as a first call, too.
  Outcome call_again(const Subject& subject, bool& fails_alone);
  // The outcome of an attempt as that of the case: its failure names the case and the command that repeats
  // it.
  Outcome conclude(const Subject& subject, Outcome outcome) const;

  // --- timing.cpp: times a case on a GPU, by a warm-up run and Measure::timed_runs others, each on items of
  // its own, so that a kept answer is wrong.
  Outcome timed(const Subject& subject, const Measure& measure);
  Outcome timed_once(const Subject& subject, const Measure& once, std::size_t n_runs);

  // --- investigation.cpp: looks for the cause of a case that failed on the simulator, by running it again in
  // other ways, each in a process of its own, and adds it to the failure. `measure`: how the case ran.
  void look_for_cause(const Subject& subject, const Measure& measure, Outcome& failed);
  void look_before_limit(const Subject& subject, Outcome& failed);
  bool comes_of_order(const Subject& subject, const Outcome& known);
  void explain_by_old_value(const Subject& subject, Outcome& failed);

  SessionOptions options_;            // its limit is that of the case
  double seconds_;                    // the limit of a long case
  std::optional<LiveRunner> runner_;  // none: the next case starts a new process
};

}  // namespace course::lab
