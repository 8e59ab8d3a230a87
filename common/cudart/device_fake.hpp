// SPDX-License-Identifier: MIT
// A sim::Device that executes nothing: memory is real, launches are recorded and answered as a test says.
// With it the runtime's own logic is tested without PTX. device_fake.cpp replaces common/sim at link time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/device.hpp"

namespace course::sim {

struct FakeLaunch {
  std::string kernel;
  Dim3 grid, block, cluster;
  std::uint64_t dynamic_shared = 0;
  std::vector<std::byte> parameters;
  bool cooperative = false;
};

// What all fake devices share. Reset it at the start of a test.
struct Fake {
  std::map<std::string, KernelFacts> kernels;          // what find_kernel knows
  std::map<std::string, std::uint64_t> symbols;        // variables and their sizes
  std::function<LaunchResult(const FakeLaunch&)> run;  // null: success, 10 µs
  std::vector<FakeLaunch> launches;
  std::vector<std::string> modules;                                // PTX texts loaded
  std::vector<std::pair<std::uint64_t, std::uint64_t>> writes;     // host_wrote
  std::vector<std::pair<std::uint64_t, std::uint64_t>> forgotten;  // forget_writes
  std::string load_failure;                                        // not empty: load_module fails with it
  std::string copy_failure;                                        // likewise copy
  int occupancy = 4;
  std::uint32_t mode = 0;
};
Fake& fake();

}  // namespace course::sim
