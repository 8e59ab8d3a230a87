// SPDX-License-Identifier: MIT
// What came of a case.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "protocol/go.hpp"
#include "verifier/failure.hpp"
#include "verifier/verdict.hpp"

namespace course::lab {

// The outputs of a wrong run are kept up to this size, to be shown beside the right ones.
constexpr std::size_t kShownBytes = std::size_t{1} << 20;

struct Judgement {
  Verdict verdict = Verdict::ok;
  Failure failure;                       // set unless the verdict is ok
  std::vector<HostBuffer> outputs = {};  // of a wrong run; empty if they are larger than kShownBytes
};

// A failure; "": without a note.
Judgement judged(Verdict verdict, std::string headline, std::string note = "");
// A failure with its cause, or its likely cause.
Judgement judged_for(Verdict verdict, std::string headline, std::string cause, bool is_proved = false);

// The judgement of a case, with what was measured. Until it is judged, its verdict is INFRA.
struct Outcome : Judgement {
  Outcome() : Judgement{Verdict::infra, {}} {}
  // The times of the timed runs: modelled on the simulator; on a GPU the runner's events as far as our clock
  // confirms them (judge_times.hpp).
  std::vector<double> times_us;
  std::vector<double> clock_us, events_us;  // on a GPU: our clock, and the runner's events
  std::string sim_report;                   // JSON of sim_control.h's simReport, "" on a GPU
  double processor_seconds = 0;             // CPU time of the runner and the simulated device
  std::string device;                       // "Simulated H200", "NVIDIA H200"
  // stdout and stderr during this case, with '?' for unprintable bytes; see LiveRunner::printed().
  std::string printed;
  // How the process fared.
  bool reused_runner = false, ended_by_cuda_error = false;
  // Of a keyed run: the times of the rehearsal and of the run; 0 if the clock was not stopped.
  std::array<double, 2> clocks_us{};
  Digest digest = {};  // of the outputs, from the runner, when the clock stopped

  void take(Judgement judgement) { static_cast<Judgement&>(*this) = std::move(judgement); }
  // For the student, several lines; "" if ok.
  std::string message() const { return verdict == Verdict::ok ? "" : failure_message(failure); }
};

}  // namespace course::lab
