// SPDX-License-Identifier: MIT
// What the verifier is asked for: how cases are run (SessionOptions), which case (Subject), and what to
// measure (Measure).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/problem.hpp"

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
  std::vector<std::string> device_launcher;  // of device_program, as in `launcher`
  std::string toolkit_lib_dir;               // for gpu: folders of libcudart (and NCCL)
  double memory_gb_per_s = 0;                // for gpu: the peak rate of a device's memory; 0: not known
  std::vector<std::string> launcher;         // arguments before the runner's: its sandbox; empty for none
  bool launchers_report = false;             // the launchers report to ChildProcess::kReportFd
  // CPU seconds of the runner and the simulated device together; with checkers, the device's count for less
  // (sim::kSlowdownByCheckers). Short cases get fewer (session.cpp). See LiveRunner::wait.
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

// A case with the items of a seed. The problem, the task and the case must outlive it.
struct Subject {
  const Problem& problem;
  const Task& task;
  const Case& c;
  std::uint64_t seed;
  Subject with(std::uint64_t other_seed) const { return {problem, task, c, other_seed}; }
};

}  // namespace course::lab
