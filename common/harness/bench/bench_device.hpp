// SPDX-License-Identifier: MIT
// The devices of a bench program: their memory, and on the simulator their counters. A CUDA error ends the
// program with a line on stderr. Most labs have one device.
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
#include <vector>

#include "base/cuda_check.hpp"
#include "cudart/sim_control.h"
#include "lab/request.hpp"

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
  // Of the current device.
  void start() const {
    if (there()) static_cast<void>(set_mode_(SIM_COUNTERS) + reset_());
  }
  // Adds the current device's counts since start(): warp instructions, and bytes of global memory in 32-byte
  // sectors.
  void add(std::uint64_t& warp_instructions, std::uint64_t& bytes) const {
    std::string text(report_(nullptr, 0), '\0');
    report_(text.data(), text.size());
    const auto totals = nlohmann::json::parse(text.c_str()).at("totals");
    const auto of = [&](const char* name) { return totals.at(name).get<std::uint64_t>(); };
    warp_instructions += of("warp_instructions");
    bytes += 32 * (of("global_load_sectors") + of("global_store_sectors"));
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
  cudaDeviceProp properties{};  // of the first one
  int driver = 0, runtime = 0, clock_khz = 0, memory_clock_khz = 0;
  SimCounters counters;
  // Resets the report and caches of the current simulated device, because its buffers are not rotated.
  int (*forget)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "simResetReport"));
  bool simulated = forget != nullptr;
  std::vector<Rank> ranks;        // device i, and its stream; Ranks adds communicators
  cudaStream_t stream = nullptr;  // of the first one

  explicit BenchDevice(std::size_t n_devices = 1) : ranks(n_devices) {
    int n_there = 0;
    must(cudaGetDeviceCount(&n_there), "cudaGetDeviceCount");
    if (static_cast<int>(n_devices) > n_there)
      stop(fmt::format("{} devices are wanted, and {} there", n_devices,
                       n_there == 1 ? "1 is" : fmt::format("{} are", n_there)));
    must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    must(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
    must(cudaDeviceGetAttribute(&memory_clock_khz, cudaDevAttrMemoryClockRate, 0), "cudaDeviceGetAttribute");
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].device = static_cast<std::int32_t>(i);
    on_each([](Rank& rank) { must(cudaStreamCreate(&rank.stream), "cudaStreamCreate"); });
    stream = ranks.front().stream;
  }
  void use(std::size_t device) const {
    must(cudaSetDevice(static_cast<int>(device % ranks.size())), "cudaSetDevice");
  }
  // Calls f(rank) with each device as the current one, the first one last.
  template <typename F>
  void on_each(F f) {
    for (std::size_t i = ranks.size(); i-- > 0;) use(i), f(ranks[i]);
  }
  template <typename F>
  void on_each(F f) const {
    for (std::size_t i = ranks.size(); i-- > 0;) use(i), f(ranks[i]);
  }
  void synchronise() const {
    on_each([](const Rank&) { must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
  }
  void start_counting() const {
    on_each([&](const Rank&) { counters.start(); });
  }
  // Of all devices, since start_counting().
  nlohmann::json counted(std::uint64_t n) const {
    if (!counters.there()) return nullptr;
    std::uint64_t warp_instructions = 0, bytes = 0;
    on_each([&](const Rank&) { counters.add(warp_instructions, bytes); });
    return {{"n", n}, {"warp_instructions", warp_instructions}, {"bytes", bytes}};
  }
};

}  // namespace course::lab
