// SPDX-License-Identifier: MIT
// One case on a device: its buffers, its runs, its reply. Used by the process that has the device: on a GPU
// the student's process (runner_main.cpp), on the simulator a process that runs no host code of the student
// (common/harness/remote/device).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cudart/sim_control.h"
#include "lab/request.hpp"
#include "protocol/packets.hpp"
#include "protocol/protocol.hpp"
#include "runner/go_kernels.hpp"

struct CUevent_st;  // cudaEvent_t points to it

namespace course::lab {

// The result of a call of the student's code.
struct CallResult {
  enum class End {
    returned,
    out_of_memory,      // the host code ran out of memory, or asked for too much work: `why`, if known
    lost,               // the process that runs it has ended
    protocol_error,     // that process sent an invalid or unexpected packet
    ended_before_call,  // that process had ended before it sent anything in this call
    refused,            // it used what is outside of the course's subset: `why`
    not_ready,          // the harness could not prepare the call: `why`
    crashed,            // that process accessed an invalid address: `why`
  };
  End end = End::returned;
  Status status = Status::ok;
  std::int32_t cuda_code = 0;  // cudaError_t of its launches, if this process can't query it
  bool unordered = false;      // it left work in a stream that is not ordered with the request's
  std::string why = {};
};

// The student's code, in this process or another.
class Submission {
 public:
  virtual ~Submission() = default;
  virtual CallResult run(const Request& request) = 0;
};

// The simulator's controls (cudart/sim_control.h).
struct Simulator {
  decltype(&simSetMode) set_mode;
  decltype(&simSetSchedule) set_schedule;
  decltype(&simResetReport) reset_report;
  decltype(&simReport) report;
  decltype(&simNameBuffer) name_buffer;
  decltype(&simConfine) confine;
  decltype(&simForgetWrites) forget_writes;
  decltype(&simEmptyHeap) empty_heap;
};

struct Device {
  std::optional<Simulator> simulator;
  int multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  std::string text;  // its name, or why there is no device
  CUstream_st* stream = nullptr;
  CUevent_st *start = nullptr, *stop = nullptr;
  // On a GPU, for keyed runs: the kernels and the digest.
  const GoKernels* go = nullptr;
  Digest *digest = nullptr, *host_digest = nullptr;  // in device memory; in host memory

  // The simulator needs `controls`, a GPU needs `kernels`.
  Device(std::optional<Simulator> controls, const GoKernels* kernels);
};

protocol::Hello hello_of(const Device& device);

// Sends Hello, then serves cases from the verifier's channel until it closes. Returns the exit code of the
// process: kExitHostLost, kExitProtocolError or kExitEndedBeforeCall (packets.hpp) if the submission's
// process failed.
int serve_cases(const Device& device, Submission& submission);

}  // namespace course::lab
