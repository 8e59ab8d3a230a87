// SPDX-License-Identifier: MIT
// LAB_TITLE: every tile of kTile items is reversed. The lab's API. Read: Job
// (what a task gets), Rung (the tasks). points.hpp says what the tasks are worth. The student's .cu file, the
// solution, the CPU side (problem.cpp) and the tests include this header, so it includes no large header.
#pragma once

#include <cstdint>

#include "lab/request.hpp"

namespace course::LAB_ID {

using lab::not_implemented;
using lab::Status;

inline constexpr unsigned kTile = 256;  // items; the last tile may have fewer

// All pointers are device memory owned by the harness. Do not allocate memory and do not write to d_in.
struct Job {
  const std::int32_t* d_in = nullptr;  // n items, aligned to 4 bytes only
  std::uint64_t n = 0;                 // may be 0
  std::int32_t* d_out = nullptr;       // n items: those of each tile in reverse order
  CUstream_st* stream = nullptr;       // launch here; the harness synchronises
};

// The tasks in the order of points.hpp, then the rungs that only the solution has.
enum class Rung : std::uint32_t { serial, shared };

inline Job job_of(const lab::Request& request) {
  Job job;
  job.d_in = static_cast<const std::int32_t*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<std::int32_t*>(request.outputs[0].data);
  job.stream = request.stream;
  return job;
}

Status run(const lab::Request& request);  // defined in the last lines of LAB_ID.cu

}  // namespace course::LAB_ID
