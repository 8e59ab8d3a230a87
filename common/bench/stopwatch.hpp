// SPDX-License-Identifier: MIT
// Times work on a device in three ways, each in runs of its own that are as many as it takes:
//   median_us    the GPU's time: events around the work, which begins when all of it is submitted (Gate)
//   launched_us  the same events without a gate: includes the time in which the GPU waits for the host
//   host_us      the host's clock, from the first call until the work is done
// On the simulator all work runs once; median_us is then the modelled time between the events.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "bench/bench_device.hpp"
#include "bench/gate.hpp"
#include "bench/times.hpp"

namespace course::lab {

inline nlohmann::json json_of(const Times& times) {
  return {{"median_us", times.median()},
          {"min_us", times.lowest()},
          {"max_us", times.highest()},
          {"runs", times.size()},
          {"spread", times.spread()}};
}

class Stopwatch {
 public:
  // At most `most_runs` runs of each kind; fewer if the median is known well enough before (times.hpp).
  Stopwatch(const BenchDevice& device, unsigned most_runs) : device_(device), most_runs_(most_runs) {
    must(cudaEventCreate(&start_), "cudaEventCreate");
    must(cudaEventCreate(&end_), "cudaEventCreate");
    if (device.simulated) return;
    gate_.emplace();
    // The first launch of a kernel may load it, and wait for all work on the device.
    gate_->close(device.stream);
    gate_->open();
    must(cudaStreamSynchronize(device.stream), "cudaStreamSynchronize");
    gate_->stamp(device.stream);
    must(cudaStreamSynchronize(device.stream), "cudaStreamSynchronize");
  }
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Before each run prepare(turn) is called, with 0, 1, 2, …; it waits for the device itself. submit(turn)
  // submits the work to the device's stream; false if it refuses, and then the result is null.
  nlohmann::json measure(const std::function<void(std::size_t)>& prepare,
                         const std::function<bool(std::size_t)>& submit) {
    turn_ = 0;
    const auto run = [&](bool gated) -> std::optional<Run> {
      prepare(turn_);
      return run_once(gated, submit);
    };
    if (device_.simulated) {
      const auto only = run(false);
      if (!only) return nullptr;
      Times one;
      one.add(only->events_us);
      return json_of(one);
    }
    constexpr int kWarmUp = 3;  // without a gate: the first launch of a kernel may load it, and wait
    for (int k = 0; k < kWarmUp; ++k)
      if (!run(false)) return nullptr;

    Times gpu, launched, host, clocks;
    unsigned dropped = 0;
    bool gated = true;  // until the work itself waits for the device, and then never opens the gate in time
    const auto lowest_clock = kThrottled * 1e-3 * device_.clock_khz;
    while (!finished(gpu)) {
      const auto r = run(gated);
      if (!r->held) {
        gated = false;
        continue;
      }
      if (r->clock_mhz > 0 && r->clock_mhz < lowest_clock && dropped < most_runs_) {
        ++dropped;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      gpu.add(r->events_us);
      if (r->clock_mhz > 0) clocks.add(r->clock_mhz);
    }
    while (!finished(launched)) {
      const auto r = run(false);
      launched.add(r->events_us);
      host.add(r->host_us);
    }
    nlohmann::json j = json_of(gpu);
    j["launched_us"] = launched.median();
    j["host_us"] = host.median();
    if (clocks.size() > 0) j["clock_mhz"] = clocks.median();
    if (dropped > 0) j["throttled_runs"] = dropped;
    if (!gated) j["waited_for_host"] = true;
    return j;
  }
  // The turn of the last run.
  std::size_t last_turn() const { return turn_ - 1; }

 private:
  static constexpr double kThrottled = 0.75;  // of the highest clock: NVBench's threshold

  struct Run {
    double events_us = 0, host_us = 0, clock_mhz = 0;
    bool held = true;
  };

  bool finished(const Times& times) const {
    constexpr double kLongUs = 2e6;
    return times.size() >= most_runs_ || times.are_enough() || (times.size() >= 5 && times.sum() > kLongUs);
  }

  std::optional<Run> run_once(bool gated, const std::function<bool(std::size_t)>& submit) {
    using Clock = std::chrono::steady_clock;
    if (device_.simulated) static_cast<void>(device_.forget());
    if (gated) gate_->close(device_.stream);
    const auto from = Clock::now();
    must(cudaEventRecord(start_, device_.stream), "cudaEventRecord");
    const bool accepted = submit(turn_++);
    must(cudaEventRecord(end_, device_.stream), "cudaEventRecord");
    if (gated) {
      gate_->stamp(device_.stream);
      gate_->open();
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const std::chrono::duration<double, std::micro> host = Clock::now() - from;
    if (!accepted) return std::nullopt;
    must(cudaGetLastError(), "launch");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start_, end_), "cudaEventElapsedTime");
    Run run{1e3 * static_cast<double>(ms), host.count(), 0, true};
    if (gated) {
      run.clock_mhz = gate_->clock_mhz();
      run.held = gate_->held();
    }
    return run;
  }

  const BenchDevice& device_;
  unsigned most_runs_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
  std::optional<Gate> gate_;
  std::size_t turn_ = 0;
};

}  // namespace course::lab
