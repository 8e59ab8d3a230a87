// SPDX-License-Identifier: MIT
// Runs every case and writes the results as JSON: on a GPU the times of CUDA events, on the simulator (its
// libcudart first on LD_LIBRARY_PATH) the counters of each launch. README.md says how the two files are used.
//   calibrate [--family NAME] [--runs 25] FILE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cudart/sim_control.h"
#include "sim/calibration/cases.hpp"

namespace course::calibration {

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  fmt::print(stderr, "calibrate: {}: {}\n", what, cudaGetErrorString(code));
  std::exit(1);
}

void Memory::flush() const {
  if (d_flush != nullptr) must(cudaMemset(d_flush, 0, kFlushBytes), "cudaMemset");
}

namespace {

using Json = nlohmann::json;

struct Simulator {
  decltype(&simSetMode) set_mode = reinterpret_cast<decltype(&simSetMode)>(dlsym(RTLD_DEFAULT, "simSetMode"));
  decltype(&simResetReport) reset =
      reinterpret_cast<decltype(&simResetReport)>(dlsym(RTLD_DEFAULT, "simResetReport"));
  decltype(&simReport) report = reinterpret_cast<decltype(&simReport)>(dlsym(RTLD_DEFAULT, "simReport"));
  bool there() const { return set_mode != nullptr; }
};

Memory make_memory(bool simulated) {
  Memory m;
  must(cudaMalloc(reinterpret_cast<void**>(&m.d_from), Memory::kFromBytes), "cudaMalloc");
  must(cudaMalloc(reinterpret_cast<void**>(&m.d_to), Memory::kToBytes), "cudaMalloc");
  if (!simulated) must(cudaMalloc(reinterpret_cast<void**>(&m.d_flush), Memory::kFlushBytes), "cudaMalloc");
  std::vector<unsigned> words(Memory::kFromBytes / 4);
  unsigned state = 1;
  for (unsigned& w : words)
    w = (state = state * 1664525u + 1013904223u) >> 1;  // the top bit is clear: see chain
  must(cudaMemcpy(m.d_from, words.data(), Memory::kFromBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemset(m.d_to, 0, Memory::kToBytes), "cudaMemset");
  cudaDeviceProp properties{};
  must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  m.multiprocessors = properties.multiProcessorCount;
  return m;
}

Json timed(const Case& c, int runs) {
  cudaEvent_t start = nullptr, end = nullptr;
  must(cudaEventCreate(&start), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> us;
  constexpr int kWarmUp = 3;
  for (int k = 0; k < kWarmUp + runs; ++k) {
    if (c.prepare) c.prepare();
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    must(cudaEventRecord(start), "cudaEventRecord");
    c.run();
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaDeviceSynchronize(), c.family.c_str());
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    if (k >= kWarmUp) us.push_back(1e3 * static_cast<double>(ms));
  }
  std::sort(us.begin(), us.end());
  return {{"median_us", us[us.size() / 2]}, {"min_us", us.front()}, {"max_us", us.back()}};
}

Json counted(const Case& c, const Simulator& simulator) {
  if (c.prepare) c.prepare();
  simulator.set_mode(SIM_COUNTERS);
  simulator.reset();
  c.run();
  must(cudaDeviceSynchronize(), c.family.c_str());
  std::string text(simulator.report(nullptr, 0), '\0');
  simulator.report(text.data(), text.size());
  text.pop_back();
  const Json report = Json::parse(text);
  return {{"modelled_us", report.at("modelled_us")}, {"launches", report.at("launches")}};
}

}  // namespace

int calibrate(int argc, char** argv) {
  std::string family, file;
  int runs = 25;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (word == "--family" && k + 1 < argc)
      family = argv[++k];
    else if (word == "--runs" && k + 1 < argc)
      runs = std::max(std::atoi(argv[++k]), 1);
    else
      file = word;
  }
  if (file.empty()) {
    fmt::print(stderr, "usage: calibrate [--family NAME] [--runs 25] FILE\n");
    return 2;
  }
  const Simulator simulator;
  const Memory memory = make_memory(simulator.there());
  Json cases = Json::array();
  for (auto* make : {&launch_cases, &memory_cases, &atomic_cases, &compute_cases, &together_cases}) {
    for (const Case& c : (*make)(memory)) {
      if (!family.empty() && c.family != family) continue;
      Json j = simulator.there() ? counted(c, simulator) : timed(c, runs);
      j["family"] = c.family;
      for (const auto& [name, value] : c.parameters) j["parameters"][name] = value;
      cases.push_back(std::move(j));
    }
  }
  cudaDeviceProp properties{};
  must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0;
  must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const Json all = {{"device", properties.name},
                    {"simulated", simulator.there()},
                    {"driver", driver},
                    {"cases", std::move(cases)}};
  std::ofstream out(file);
  out << all.dump(1) << '\n';
  if (out.flush()) return 0;
  fmt::print(stderr, "calibrate: can't write {}\n", file);
  return 1;
}

}  // namespace course::calibration

int main(int argc, char** argv) {
  return course::calibration::calibrate(argc, argv);
}
