// SPDX-License-Identifier: MIT
// One case on a device: its buffers, its runs, its answer. Used by the process that has the device: on a GPU
// the student's own (runner_main.cpp), on the simulator one that no student's host code is in
// (common/remote/device).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cudart/sim_control.h"
#include "lab/request.hpp"
#include "protocol/packets.hpp"
#include "protocol/protocol.hpp"
#include "runner/go_kernels.hpp"

struct CUevent_st;  // cudaEvent_t points to it

namespace course::lab {

// What came of a call of the student's code.
struct Ran {
  enum class How {
    returned,
    out_of_memory,  // of the host's memory
    lost,           // its process is gone
    nonsense,       // its process says what makes no sense, or what it was not asked
    gone_before,    // it ended before anything was heard of it in this call
  };
  How how = How::returned;
  Status status = Status::ok;
  std::int32_t cuda_code = 0;  // cudaError_t of what it launched, where this process can't ask for it
  bool unordered = false;      // work in another stream than the request's, for which nothing waits
};

// The student's code, in this process or another.
class Submission {
 public:
  virtual ~Submission() = default;
  virtual Ran run(const Request& request) = 0;
};

// The simulator's controls.
struct Simulator {
  decltype(&simSetMode) set_mode;
  decltype(&simSetSchedule) set_schedule;
  decltype(&simResetReport) reset_report;
  decltype(&simReport) report;
  decltype(&simNameBuffer) name_buffer;
  decltype(&simForgetWrites) forget_writes;
  decltype(&simEmptyHeap) empty_heap;
};

struct Device {
  std::optional<Simulator> simulator;
  int multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  std::string text;  // its name, or why there is none
  CUstream_st* stream = nullptr;
  CUevent_st *start = nullptr, *stop = nullptr;
  // On a GPU, for keyed runs: the kernels, and where the digest is told.
  const GoKernels* go = nullptr;
  Digest *digest = nullptr, *told = nullptr;  // on the device; on the host

  // One of the two.
  Device(std::optional<Simulator> controls, const GoKernels* kernels);
};

protocol::Hello hello_of(const Device& device);

// Hello, then cases from the verifier's channel until it closes. Returns the process's exit code: kLost,
// kNonsense or kGoneBefore (packets.hpp) when the submission is.
int serve_cases(const Device& device, Submission& submission);

}  // namespace course::lab
