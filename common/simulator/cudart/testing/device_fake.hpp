// SPDX-License-Identifier: MIT
// A sim::Device for tests of the runtime's own logic without PTX. Memory is real; launches are not executed
// but recorded, and the test sets their results. device_fake.cpp replaces common/simulator/sim at link time.
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

// State shared by all fake devices. Reset it at the start of a test.
struct Fake {
  std::map<std::string, KernelFacts> kernels;          // kernels that find_kernel finds
  std::map<std::string, std::uint64_t> symbols;        // variables and their sizes
  std::function<LaunchResult(const FakeLaunch&)> run;  // null: every launch succeeds and takes 10 µs
  std::vector<FakeLaunch> launches;
  std::vector<std::string> modules;                                // loaded PTX texts
  std::vector<std::pair<std::uint64_t, std::uint64_t>> writes;     // host_wrote
  std::vector<std::pair<std::uint64_t, std::uint64_t>> forgotten;  // forget_writes
  std::string load_failure;  // if not empty, load_module fails with this text
  std::string copy_failure;  // if not empty, copy fails with this text
  int occupancy = 4;
  std::uint32_t mode = 0;
};
Fake& fake();

}  // namespace course::sim
