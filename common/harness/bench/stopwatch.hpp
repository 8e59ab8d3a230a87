// SPDX-License-Identifier: MIT
// Times work on a device in three ways, each in runs of its own that are as many as it takes:
//   median_us    the GPU's time: events around the work, which begins when all of it is submitted (Gate)
//   launched_us  the same events without a gate: includes the time in which the GPU waits for the host
//   host_us      the host's clock, from the first call until the work is done
// Each run begins with a cache that has none of the work's data and nothing to write back.
// On the simulator all work runs once; median_us is then the modelled time between the events, and host_us
// the time that the simulation takes.
// On several devices, each has its own events and gate, and the longest time counts. All gates are opened
// together, so that the devices begin within microseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "bench/bench_device.hpp"
#include "bench/ceilings.hpp"
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
  // At most `most_runs` runs of each kind; fewer if the median is known well enough before (times.hpp), or if
  // some have taken long together.
  Stopwatch(const BenchDevice& device, unsigned most_runs)
      : device_(device), most_runs_(most_runs), lanes_(device.ranks.size()) {
    on_each_lane([&](Lane& lane, cudaStream_t stream) {
      must(cudaEventCreate(&lane.start), "cudaEventCreate");
      must(cudaEventCreate(&lane.end), "cudaEventCreate");
      if (device.simulated) return;
      lane.other.emplace(other_bytes());
      lane.gate.emplace();
      // The first launch of a kernel may load it, and wait for all work on the device.
      lane.gate->close(stream);
      lane.gate->open();
      must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      lane.gate->stamp(stream);
      must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    });
  }
  ~Stopwatch() {
    for (const Lane& lane : lanes_) {
      static_cast<void>(cudaEventDestroy(lane.start));
      static_cast<void>(cudaEventDestroy(lane.end));
    }
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Before each run prepare(turn) is called, with 0, 1, 2, …; it waits for the devices itself. submit(turn)
  // submits the work to the devices' streams; false if it refuses, and then the result is null.
  nlohmann::json measure(const std::function<void(std::size_t)>& prepare,
                         const std::function<bool(std::size_t)>& submit) {
    turn_ = 0;
    const auto run = [&](bool gated) -> std::optional<Run> {
      prepare(turn_);
      clean_caches();
      return run_once(gated, submit);
    };
    if (device_.simulated) {
      const auto only = run(false);
      if (!only) return nullptr;
      Times one;
      one.add(only->events_us);
      nlohmann::json j = json_of(one);
      j["host_us"] = only->host_us;
      return j;
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

  // What times one device.
  struct Lane {
    cudaEvent_t start = nullptr, end = nullptr;
    std::optional<Gate> gate;
    std::optional<DeviceBytes> other;  // memory that no work uses, several times the cache
  };

  std::uint64_t other_bytes() const {
    constexpr std::uint64_t kCaches = 4, kMin = 16 << 20;
    return std::max(kCaches * static_cast<std::uint64_t>(device_.properties.l2CacheSize), kMin);
  }
  // Fills the caches with lines of other memory. What they held and had been written (poisoned outputs) goes
  // to the memory now and not while the work is timed.
  void clean_caches() {
    on_each_lane([&](Lane& lane, cudaStream_t stream) {
      if (!lane.other) return;
      ceiling_read(lane.other->data(), lane.other->data(), other_bytes() / 16 * 16,
                   device_.properties.multiProcessorCount, stream);
    });
    device_.synchronise();
  }

  // Calls f(lane, stream) with each device as the current one, the first one last.
  template <typename F>
  void on_each_lane(F f) {
    device_.on_each([&](const Rank& rank) { f(lanes_[static_cast<std::size_t>(rank.device)], rank.stream); });
  }

  std::optional<Run> run_once(bool gated, const std::function<bool(std::size_t)>& submit) {
    using Clock = std::chrono::steady_clock;
    if (device_.simulated) {
      device_.on_each([&](const Rank&) { static_cast<void>(device_.forget()); });
      // Then all devices begin at the same modelled time.
      for (int round = 0; lanes_.size() > 1 && round < 2; ++round) device_.synchronise();
    }
    if (gated) on_each_lane([](Lane& lane, cudaStream_t stream) { lane.gate->close(stream); });
    const auto from = Clock::now();
    on_each_lane([](Lane& lane, cudaStream_t stream) {
      must(cudaEventRecord(lane.start, stream), "cudaEventRecord");
    });
    const bool accepted = submit(turn_++);
    on_each_lane([&](Lane& lane, cudaStream_t stream) {
      must(cudaEventRecord(lane.end, stream), "cudaEventRecord");
      if (gated) lane.gate->stamp(stream);
    });
    if (gated)
      for (Lane& lane : lanes_) lane.gate->open();
    device_.synchronise();
    const std::chrono::duration<double, std::micro> host = Clock::now() - from;
    if (!accepted) return std::nullopt;
    must(cudaGetLastError(), "launch");
    Run run{0, host.count(), 0, true};
    for (const Lane& lane : lanes_) {
      float ms = 0;
      must(cudaEventElapsedTime(&ms, lane.start, lane.end), "cudaEventElapsedTime");
      run.events_us = std::max(run.events_us, 1e3 * static_cast<double>(ms));
      if (!gated) continue;
      // Of the slowest device; 0 if the clock of one is not known.
      const double mhz = lane.gate->clock_mhz();
      run.clock_mhz = &lane == &lanes_.front() ? mhz : std::min(run.clock_mhz, mhz);
      run.held = run.held && lane.gate->held();
    }
    return run;
  }

  const BenchDevice& device_;
  unsigned most_runs_;
  std::vector<Lane> lanes_;
  std::size_t turn_ = 0;
};

}  // namespace course::lab
