// SPDX-License-Identifier: MIT
// Small kernels, each limited by one part of the machine. Their times on a GPU and the simulator's counters
// for the same binary determine the constants of a device preset: README.md.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace course::calibration {

struct Case {
  std::string family;  // the part of the machine
  std::vector<std::pair<std::string, double>> parameters;
  std::function<void()> run;      // the timed work
  std::function<void()> prepare;  // before each run, not timed; may be empty
};

// Device memory shared by all cases; freed at the end of the process.
struct Memory {
  unsigned* d_from = nullptr;   // kFromBytes, a cycle of indices over its first words (see memory_cases.cu)
  unsigned* d_to = nullptr;     // kToBytes
  unsigned* d_flush = nullptr;  // kFlushBytes on a GPU, else nullptr
  int multiprocessors = 1;

  static constexpr std::size_t kFromBytes = std::size_t{128} << 20, kToBytes = std::size_t{128} << 20;
  static constexpr std::size_t kFlushBytes = std::size_t{192} << 20;

  // Evicts everything else from the L2 cache.
  void flush() const;
};

void must(cudaError_t code, const char* what);

std::vector<Case> launch_cases(const Memory& memory);   // empty kernels: the cost of a launch
std::vector<Case> memory_cases(const Memory& memory);   // bandwidth, sectors, latency
std::vector<Case> atomic_cases(const Memory& memory);   // by addresses and conflicts
std::vector<Case> compute_cases(const Memory& memory);  // issue rates and latencies of instructions
std::vector<Case> together_cases(
    const Memory& memory);  // barriers, shared memory, chains from block to block, tails

}  // namespace course::calibration
