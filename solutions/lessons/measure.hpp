// SPDX-License-Identifier: MIT
// What the lessons share: each is a function that measures and returns rows of JSON. A wrong result ends the
// program.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "bench/bench_device.hpp"
#include "bench/stopwatch.hpp"

namespace course::lessons {

using Json = nlohmann::json;
using lab::BenchDevice;
using lab::DeviceBytes;
using lab::must;

constexpr unsigned kRuns = 25;  // at most, of each kind of time

// The time of `submit`. On the simulator also the counts of its kernels.
template <typename Submit>
Json timed(const BenchDevice& device, std::uint64_t n, const Submit& submit) {
  lab::Stopwatch stopwatch(device, kRuns);
  Json j = stopwatch.measure(
      [&](std::size_t) {
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        device.start_counting();
      },
      [&](std::size_t turn) { return submit(turn); });
  if (device.simulated) j["counted"] = device.counted(n);
  return j;
}

inline void copy_to(const DeviceBytes& to, const void* from, std::size_t n_bytes) {
  must(cudaMemcpy(to.data(), from, n_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}
inline void copy_from(void* to, const DeviceBytes& from, std::size_t n_bytes) {
  must(cudaMemcpy(to, from.data(), n_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

// n samples of which `percent` % are equal; the others are uniform over [lo, hi).
std::vector<std::int32_t> samples_for(std::uint64_t n, std::int64_t lo, std::int64_t hi, unsigned percent);

// scans.cpp: four networks for rows of 1,024 items; and one array by a launch for each level of its tree.
Json networks(const BenchDevice& device, std::span<const unsigned> logs);
Json levels(const BenchDevice& device, std::span<const unsigned> logs);

// uses.cpp: what a compaction saves if the CPU needs only the kept items; a histogram by sorting all keys.
Json transfers(const BenchDevice& device, std::span<const unsigned> logs);
Json sorting(const BenchDevice& device, std::span<const unsigned> logs);

}  // namespace course::lessons
