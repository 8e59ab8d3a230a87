// SPDX-License-Identifier: MIT
// The verifier's end of one runner process: start it, hand it cases, get judged outcomes.
// The runner (untrusted) is the fixed runner_main.cpp plus a student's object. Between the two: one
// SOCK_SEQPACKET channel with fixed-size messages (protocol.hpp) and one sealed memfd. On the simulator the
// device stands between the two as a process of its own (common/remote): it answers, and it alone speaks with
// the student's process. A runner's stdout, exit code and claims never carry a verdict: outputs are copied
// out of the shared memory first and checked here.
// Invariant: whatever the runner does, run() returns within LiveRunner's limits with an Outcome, and only
// what no student's code can bring about is INFRA. A case that fails on the simulator is run once more, all
// checkers on, to find out why: twice the limit then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/problem.hpp"
#include "verifier/failure_message.hpp"

namespace course::lab {

enum class Verdict : std::uint8_t {
  ok,
  wrong_answer,
  compile_error,
  policy,
  time_limit,
  memory_limit,
  output_limit,
  crash,
  not_implemented,
  suspect,
  infra,
};

// How a verdict speaks of a submission; reports colour it so.
enum class Standing : std::uint8_t {
  right,
  wrong,
  unsure,  // for a person to look at, or to be run again
  absent,  // nothing was handed in to be judged
};

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
  Standing standing;
};

// All verdicts, in the order of the enum.
inline constexpr std::array kVerdicts{
    VerdictRow{Verdict::ok, "OK", Standing::right},
    VerdictRow{Verdict::wrong_answer, "WRONG_ANSWER", Standing::wrong},
    VerdictRow{Verdict::compile_error, "COMPILE_ERROR", Standing::wrong},
    VerdictRow{Verdict::policy, "POLICY", Standing::wrong},
    VerdictRow{Verdict::time_limit, "TIME_LIMIT", Standing::wrong},
    VerdictRow{Verdict::memory_limit, "MEMORY_LIMIT", Standing::wrong},
    VerdictRow{Verdict::output_limit, "OUTPUT_LIMIT", Standing::wrong},
    VerdictRow{Verdict::crash, "CRASH", Standing::wrong},
    VerdictRow{Verdict::not_implemented, "NOT_IMPLEMENTED", Standing::absent},
    VerdictRow{Verdict::suspect, "SUSPECT", Standing::unsure},
    VerdictRow{Verdict::infra, "INFRA", Standing::unsure},
};
constexpr const VerdictRow& row_of(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}
static_assert([] {
  std::size_t k = 0;
  for (const VerdictRow& row : kVerdicts)
    if (static_cast<std::size_t>(row.verdict) != k++) return false;
  return true;
}());
constexpr std::string_view name_of(Verdict verdict) {  // "WRONG_ANSWER"
  return row_of(verdict).name;
}

enum class DeviceKind : std::uint8_t { sim, gpu };

struct SessionOptions {
  std::string runner;  // path of the runner executable
  DeviceKind device = DeviceKind::sim;
  std::string simulator_dir;  // folder of the runner's libcudart.so.13 or .12 for sim, put on LD_LIBRARY_PATH
  std::string device_program;  // for sim: the device's process, see common/remote; empty for none
  std::vector<std::string> device_launcher;  // its sandbox
  std::string toolkit_lib_dir;               // the toolkit's, for gpu
  std::vector<std::string> launcher;         // argv put before the runner's: the sandbox; empty for none
  bool launchers_report = false;  // both say when they have done their part (ChildProcess::kReportFd)
  // Of the processor, for the runner and the simulated device together; see LiveRunner::wait.
  double seconds_per_case = 10;
  double seconds_to_start = 30;  // until the runner says hello: a GPU's context may take its time
  // Asked when a process that student code runs in says that the device is at fault: "" when it works, else
  // what is wrong with it. Without it the process is believed.
  std::function<std::string()> device_trouble;
  std::string rerun_flags;  // for the rerun command of messages: "--solutions"
};

// What to do with a case besides judging its output.
struct Measure {
  bool counters = false;  // simulator only: divergence, sectors, wavefronts, launches
  bool dataflow = false;  // simulator only: work and steps
  bool checks = false;    // simulator only: race, initialisation and barrier checkers
  bool profile = false;   // simulator only, with counters: by source line
  bool trace = false;     // simulator only: arrays after every step; for small cases
  // In a process that has run nothing before, so that code cannot distinguish this run from another run of
  // the case.
  bool fresh = false;
  // > 0: on a GPU one run to warm up, then this many timed runs, each on an input of its own; on the
  // simulator one run.
  int timed_runs = 0;
};

struct Outcome {
  Verdict verdict = Verdict::infra;  // of this case
  std::string message;               // for a student, several lines, as in style.md; "" when ok
  std::optional<Mismatch> mismatch;
  Failure failure;  // what `message` is made of
  // Of the timed runs: modelled on the simulator; on a GPU what our own clock bears out of the runner's
  // events (go.hpp).
  std::vector<double> times_us;
  std::vector<double> clock_us, events_us;  // on a GPU: each of the two
  std::string sim_report;                   // JSON of sim_control.h's simReport, "" on a GPU
  double processor_seconds = 0;             // of the runner and the simulated device
  std::string device;                       // "Simulated H200", "NVIDIA H200"
  std::string printed;  // the runner's stdout and stderr: the first 4 KiB, harmless characters only
};

// Not thread-safe; one Session per thread. A runner dies with the thread that started it.
class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Runs one case (starting a fresh runner first when there is none alive) and judges it.
  Outcome run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
              const Measure& measure);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace course::lab
