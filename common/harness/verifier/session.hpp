// SPDX-License-Identifier: MIT
// The verifier's side of one runner: start it, send it cases, and judge the results. The runner (untrusted)
// is the fixed runner_main.cpp linked with a student's object. Verifier and runner communicate through a
// SOCK_SEQPACKET channel with fixed-size messages (protocol.hpp) and one sealed memfd per case. On the
// simulator the device is a process of its own between the two (common/harness/remote): it answers the
// verifier, and only it communicates with the student's process. A runner's stdout, exit code and claims
// never decide that a case is right: the outputs are copied out of the shared memory first and checked here.
// Invariant: whatever the runner does, run() returns an Outcome, each attempt within LiveRunner's limits, and
// the verdict INFRA is only given for what student code cannot cause. A case that fails on the simulator is
// run again with all checkers on, to find the cause.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/problem.hpp"
#include "verifier/outcome.hpp"

namespace course::lab {

enum class DeviceKind : std::uint8_t { sim, gpu };

struct SessionOptions {
  std::string runner;  // path of the runner program
  DeviceKind device = DeviceKind::sim;
  std::string simulator_dir;  // for sim: folder of the runner's libcudart.so.13 or .12, for LD_LIBRARY_PATH
  std::string
      device_program;  // for sim: the program of the device's process (common/harness/remote); "" for none
  std::string device_code;  // for sim: the file with the code that the device runs; "": the runner
  bool of_the_course =
      false;  // the runner is that of a solution: launches may overlap, blocks start in order
  std::vector<std::string> device_launcher;  // its sandbox, as in `launcher`
  std::string toolkit_lib_dir;               // for gpu: folders of libcudart (and NCCL)
  double memory_gb_per_s = 0;                // for gpu: the peak rate of a device's memory; 0: not known
  std::vector<std::string> launcher;         // arguments before the runner's: its sandbox; empty for none
  bool launchers_report = false;             // the launchers report to ChildProcess::kReportFd
  // CPU seconds of the runner and the simulated device together; with checkers, the device's count for less
  // (sim::kSlowdownByCheckers). See LiveRunner::wait.
  double seconds_per_case = 10;
  double seconds_to_start = 30;  // until the runner sends Hello: creating a GPU context may take long
  // Called when a process that runs student code reports a fault of the device: returns "" if the device
  // works, else what is wrong with it. If empty, the report is believed.
  std::function<std::string()> device_trouble;
  std::string rerun_flags;  // for the rerun command of messages: "--solutions"
};

// What to measure besides judging the output of a case.
struct Measure {
  bool counters = false;  // simulator only: divergence, sectors, wavefronts, launches
  bool dataflow = false;  // simulator only: work and steps
  bool checks = false;    // simulator only: race, initialisation and barrier checkers
  bool profile = false;   // simulator only, with counters: by source line
  bool trace = false;     // simulator only: array contents after every step; for small cases
  // Run in a new process, so that code cannot distinguish this run from another run of the case.
  bool fresh = false;
  bool calm = false;              // simulator only: the order of a counted run, see simSetSchedule
  std::uint64_t other_order = 0;  // simulator only: not 0: blocks, warps and lanes run in another order
  // If the case is right, call the task once more in the same process, with other inputs of the same size:
  // both calls must be right.
  bool twice = false;
  bool only_verdict = false;  // do not look for the cause of a failure, which takes further runs
  // > 0: on a GPU one warm-up run and this many timed runs, each with its own input; on the simulator one
  // run.
  int timed_runs = 0;
  // On a GPU: called when a case is ready, before it is timed. Waits until nothing else runs. May be empty.
  std::function<void()> before_timing = nullptr;
};

class Attempts;

// Not thread-safe; use one Session per thread. A runner is killed when the thread that started it ends.
class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Runs one case and judges it. Starts a new runner first if none is running.
  Outcome run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
              const Measure& measure);

 private:
  std::unique_ptr<Attempts> attempts_;
};

}  // namespace course::lab
