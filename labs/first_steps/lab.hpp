// SPDX-License-Identifier: MIT
// First steps: five kernels of a few lines, one idea each. The lab's API. Read: Job (what a task gets), Rung
// (the tasks). points.hpp says what the tasks are worth.
#pragma once

#include <cstdio>  // printf, in kernels too

#include "lab/request.hpp"

namespace course::first_steps {

using lab::Status;

inline constexpr int kBlock = 8;  // threads in a block: so few that you can look at each

// The pointers are addresses in the device's memory: only kernels can use them. Do not write to d_in.
struct Job {
  const int* d_in = nullptr;      // n items, from 0 to 63
  int n = 0;                      // at least 1; in the tasks "index" and "barrier" a multiple of kBlock
  int* d_out = nullptr;           // n items; in the task "atomic" one
  CUstream_st* stream = nullptr;  // launch here; the harness waits for the kernel
};

// The tasks in the order of points.hpp.
enum class Rung : std::uint32_t { index, guard, stride, barrier, atomic };

inline Job job_of(const lab::Request& request) {
  return {static_cast<const int*>(request.inputs[0].data), static_cast<int>(request.n),
          static_cast<int*>(request.outputs[0].data), request.stream};
}

Status run(const lab::Request& request);  // defined in the last lines of first_steps.cu

}  // namespace course::first_steps
