// SPDX-License-Identifier: MIT
// The device of a bench program: its memory, and on the simulator its counters. A CUDA error ends the program
// with a line on stderr.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/cuda_check.hpp"
#include "cudart/sim_control.h"

namespace course::lab {

// Prints the text and ends the program.
[[noreturn]] inline void stop(const std::string& text) {
  fmt::print(stderr, "bench: {}\n", text);
  std::exit(1);
}
inline void must(cudaError_t code, const char* call) {
  if (const auto r = checked(code, call); !r) stop(r.error().text);
}

// Device memory; the destructor frees it.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::uint64_t n_bytes) {
    must(cudaMalloc(&data_, std::max<std::uint64_t>(n_bytes, 1)), "cudaMalloc");
  }
  ~DeviceBytes() { static_cast<void>(cudaFree(data_)); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceBytes(DeviceBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// The simulator's counters. The toolkit's library has none.
class SimCounters {
 public:
  bool there() const { return set_mode_ != nullptr && reset_ != nullptr && report_ != nullptr; }
  void start() const {
    if (there()) static_cast<void>(set_mode_(SIM_COUNTERS) + reset_());
  }
  // The counts since start(): warp instructions, and bytes of global memory in 32-byte sectors.
  nlohmann::json counted(std::uint64_t n) const {
    if (!there()) return nullptr;
    std::string text(report_(nullptr, 0), '\0');
    report_(text.data(), text.size());
    const auto totals = nlohmann::json::parse(text.c_str()).at("totals");
    const auto of = [&](const char* name) { return totals.at(name).get<std::uint64_t>(); };
    return {{"n", n},
            {"warp_instructions", of("warp_instructions")},
            {"bytes", 32 * (of("global_load_sectors") + of("global_store_sectors"))}};
  }

 private:
  template <typename Function>
  static Function symbol(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
  decltype(&simSetMode) set_mode_ = symbol<decltype(&simSetMode)>("simSetMode");
  decltype(&simResetReport) reset_ = symbol<decltype(&simResetReport)>("simResetReport");
  decltype(&simReport) report_ = symbol<decltype(&simReport)>("simReport");
};

struct BenchDevice {
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0, clock_khz = 0, memory_clock_khz = 0;
  SimCounters counters;
  // Resets the simulator's report and caches, because its buffers are not rotated.
  int (*forget)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "simResetReport"));
  bool simulated = forget != nullptr;
  cudaStream_t stream = nullptr;

  BenchDevice() {
    must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    must(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
    must(cudaDeviceGetAttribute(&memory_clock_khz, cudaDevAttrMemoryClockRate, 0), "cudaDeviceGetAttribute");
    must(cudaStreamCreate(&stream), "cudaStreamCreate");
  }
};

}  // namespace course::lab
