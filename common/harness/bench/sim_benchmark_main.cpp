// SPDX-License-Identifier: MIT
// Measures how fast the simulator runs a lab's kernels: lane instructions per second without observers, with
// counters and with all checkers, and the ratio to the one-thread CPU baseline in the same run. It is one
// process without a verifier: for the project's own solutions only.
// Arguments: the tasks to measure (default: all) and a mode (plain, counters, checks, both), to run only this
// one under a profiler. Compiled once per lab with -DCOURSE_LAB=<lab>, linked with its solution and its
// problem. Run: meson test --benchmark.
// Reading order: main, measure.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/cuda_check.hpp"
#include "cudart/sim_control.h"
#include "lab/problem.hpp"
#include "lab/request.hpp"

namespace course::COURSE_LAB {
lab::Status run(const lab::Request& request);
const lab::Problem& problem();
}  // namespace course::COURSE_LAB

namespace course::lab {
namespace {

constexpr int kRepeats = 3, kRounds = 2;  // the minimum counts, because disturbances only increase the time

struct Mode {
  const char* name;
  unsigned bits;
};
constexpr std::array<Mode, 4> kModes{{{"plain", SIM_FAST},
                                      {"counters", SIM_COUNTERS},
                                      {"checks", SIM_CHECKS},
                                      {"both", SIM_COUNTERS | SIM_CHECKS}}};

// With one host thread the CPU time of the process is measured, which other programs on the machine do not
// increase.
double now_seconds() {
  const char* threads = std::getenv("SIM_THREADS");
  const bool one = threads != nullptr && std::atoi(threads) == 1;
  std::timespec t{};
  clock_gettime(one ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& body) {
  const double start = now_seconds();
  body();
  return now_seconds() - start;
}

double least_seconds(const std::function<void()>& body) {
  double least = seconds_of(body);
  for (int k = 1; k < kRepeats; ++k) least = std::min(least, seconds_of(body));
  return least;
}

struct Controls {
  decltype(&simSetMode) set_mode = reinterpret_cast<decltype(&simSetMode)>(dlsym(RTLD_DEFAULT, "simSetMode"));
  decltype(&simResetReport) reset =
      reinterpret_cast<decltype(&simResetReport)>(dlsym(RTLD_DEFAULT, "simResetReport"));
  decltype(&simReport) report = reinterpret_cast<decltype(&simReport)>(dlsym(RTLD_DEFAULT, "simReport"));
  bool there() const { return set_mode != nullptr && reset != nullptr && report != nullptr; }

  double lane_instructions() const {
    std::string text(report(nullptr, 0), '\0');
    report(text.data(), text.size());
    text.pop_back();
    return nlohmann::json::parse(text).at("totals").at("lane_instructions").get<double>();
  }
};

// A device copy of host bytes, freed at the end of the process.
void* on_device(const std::vector<std::byte>& bytes) {
  void* place = nullptr;
  if (auto r = checked(cudaMalloc(&place, std::max<std::size_t>(bytes.size(), 1)), "cudaMalloc"); !r)
    throw std::runtime_error(r.error().text);
  if (auto r = checked(cudaMemcpy(place, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
      !r)
    throw std::runtime_error(r.error().text);
  return place;
}

void measure(const Problem& problem, const Task& task, const Case& c, const Controls& sim,
             int multiprocessors, const std::string& only) {
  const Shape shape = problem.shape(task, c);
  const std::vector<HostBuffer> inputs = inputs_of(problem, task, c, 1);
  std::vector<HostBuffer> outputs = buffers_of(shape.outputs);
  const auto devices = [](const std::vector<HostBuffer>& buffers) {
    std::vector<DeviceBuffer> list;
    for (const HostBuffer& b : buffers) list.push_back({on_device(b.bytes), b.spec.count, b.spec.dtype});
    return list;
  };
  const std::vector<DeviceBuffer> d_inputs = devices(inputs), d_outputs = devices(outputs);
  Request request = request_of(problem, task, c);
  request.workspace_bytes = shape.workspace.n_bytes();
  request.inputs = d_inputs;
  request.outputs = d_outputs;
  request.d_workspace = on_device(std::vector<std::byte>(shape.workspace.n_bytes()));
  request.multiprocessors = multiprocessors;

  const auto run = [&] {
    if (course::COURSE_LAB::run(request) != Status::ok || cudaDeviceSynchronize() != cudaSuccess)
      throw std::runtime_error(fmt::format("{}: the kernel did not run", task.id));
  };
  // The modes alternate, so that a temporary slowdown of the machine affects all of them.
  std::array<double, kModes.size()> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < kModes.size(); ++k) {
      if (!only.empty() && only != kModes[k].name) continue;
      sim.set_mode(kModes[k].bits);
      run();  // decodes the kernel and warms the caches
      least[k] = std::min(least[k], least_seconds(run));
    }
  }
  if (!only.empty()) {
    fmt::print("{:<20} {:<28} {:>9.2f} ms {}\n", task.id, c.name, *std::ranges::min_element(least) * 1e3,
               only);
    return;
  }
  sim.set_mode(SIM_COUNTERS);
  sim.reset();
  run();
  const double instructions = sim.lane_instructions();
  const double plain = least[0];
  const double cpu = least_seconds([&] { problem.baseline(task, c, inputs, outputs, Baseline::one_thread); });
  fmt::print("{:<20} {:<28} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.0f}\n", task.id, c.name,
             plain * 1e3, instructions / plain * 1e-9, least[1] / plain, least[2] / plain, least[3] / plain,
             plain / cpu);
  std::fflush(stdout);  // a row takes seconds, so show it at once
}

// Measures the given tasks, or all.
int benchmark(std::span<char*> arguments) {
  std::vector<std::string> wanted(arguments.begin(), arguments.end());
  std::string only;
  for (const Mode& mode : kModes)
    if (std::erase(wanted, mode.name) > 0) only = mode.name;
  const Controls sim;
  if (!sim.there()) {
    fmt::print("This measures the simulator: put its libcudart first on LD_LIBRARY_PATH.\n");
    return 77;  // skipped
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  const Problem& problem = course::COURSE_LAB::problem();
  const char* const threads = std::getenv("SIM_THREADS");
  fmt::print("Host threads: {}.\n", threads == nullptr ? "all" : threads);
  fmt::print("{:<20} {:<28} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "kernel", "case", "ms", "Glane/s",
             "counters", "checks", "both", "÷ CPU");
  const Manifest& manifest = problem.manifest();
  const auto is_wanted = [&](const Task& task) {
    return wanted.empty() ||
           std::ranges::any_of(wanted, [&](const std::string& id) { return task.id == id; });
  };
  for (const auto* rungs : {&manifest.tasks, &manifest.further_rungs})
    for (const Task& task : *rungs)
      for (const Case& c : problem.cases(task))
        if (is_wanted(task) && (c.purpose & (kEfficiency | kSpeedup)) != 0)
          measure(problem, task, c, sim, properties.multiProcessorCount, only);
  fmt::print(
      "counters, checks, both: time ÷ the plain run's. "
      "÷ CPU: time ÷ the one-thread CPU baseline's, on this machine.\n");
  return 0;
}

}  // namespace
}  // namespace course::lab

int main(int n_arguments, char** arguments) {
  try {
    return course::lab::benchmark(std::span(arguments, static_cast<std::size_t>(n_arguments)).subspan(1));
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
