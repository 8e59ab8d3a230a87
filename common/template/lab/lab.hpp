// SPDX-License-Identifier: MIT
// LAB_TITLE: what the lab asks, in one sentence. The lab's API, tasks and points. Read: Job (what a task
// gets), Rung, the manifest (tasks and points). Included by the student's .cu, the solution, the CPU side
// (problem.cpp) and the tests, so it includes little.
#pragma once

#include <cstdint>

#include "lab/manifest.hpp"
#include "lab/request.hpp"

namespace course::LAB_ID {

using lab::Status;

// All pointers are device memory owned by the harness. Do not allocate memory and do not write to d_in.
struct Job {
  const std::int32_t* d_in = nullptr;  // n items, aligned to 4 bytes only
  std::uint64_t n = 0;                 // may be 0
  std::int32_t* d_out = nullptr;       // n items: d_out[i] = 2 * d_in[i] + 1, modulo 2^32
  CUstream_st* stream = nullptr;       // launch here; the harness synchronises
};

// The result of a task that has not been written yet.
inline Status not_implemented(const Job&) {
  return Status::not_implemented;
}

// The tasks in the order of the manifest, then the rungs that only the solution has.
enum class Rung : std::uint32_t { map };

inline Job job_of(const lab::Request& request) {
  Job job;
  job.d_in = static_cast<const std::int32_t*>(request.inputs[0].data);
  job.n = request.n;
  job.d_out = static_cast<std::int32_t*>(request.outputs[0].data);
  job.stream = request.stream;
  return job;
}

Status run(const lab::Request& request);  // defined in the last lines of LAB_ID.cu

inline constexpr lab::EfficiencyGoal kMapGoals[] = {{lab::Metric::bytes_ratio, 1.05, 20},
                                                    {lab::Metric::active_lanes, 0.9, 10}};
inline constexpr lab::SpeedupTier kMapTiers[] = {{2, 5}, {4, 5}};
inline constexpr lab::Task kTasks[] = {
    {"map", "One thread per item", "handouts/LAB_HANDOUT#map", 60, kMapGoals, kMapTiers},
};
inline constexpr lab::Manifest kManifest{"LAB_ID", "LAB_TITLE",
                                         "author, year: the source that a reader should know", kTasks};
static_assert(lab::adds_up(kManifest));

}  // namespace course::LAB_ID
