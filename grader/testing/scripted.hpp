// SPDX-License-Identifier: MIT
// For tests: a lab that computes nothing, and a runner whose answers are scripted.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "grading/case_runner.hpp"
#include "lab/problem.hpp"

namespace course::grader::testing {

inline constexpr lab::Task kTasks[] = {
    {.id = "first",
     .title = "First task",
     .correctness_points = 30,
     .efficiency = {{lab::Metric::barriers, 4, 5, "row"}, {lab::Metric::active_lanes, 0.9, 5}},
     .speedup = {{2.0, 6}, {10.0, 4}}},
    {"second", "Second task", "", 50, {}, {}, false},
    {"extra", "Extra task", "", 10, {}, {}, true},
};
inline constexpr lab::Manifest kManifest{"fake", "A fake lab", "nobody", "handouts/99-fake.md", kTasks};
static_assert(lab::adds_up(kManifest));

// Five correctness cases of growing size (given out of order), one efficiency case, one speedup case.
class FakeProblem : public lab::Problem {
 public:
  const lab::Manifest& manifest() const override { return used_manifest; }
  std::vector<lab::Case> cases(const lab::Task&) const override {
    std::vector<lab::Case> out;
    for (const std::uint64_t n : {1000U, 0U, 1U, 33U, 200000U}) out.push_back(make(n, lab::kCorrectness));
    out.push_back(make(4096, lab::kEfficiency));
    out.push_back(make(8192, lab::kSpeedup));
    return out;
  }
  lab::Shape shape(const lab::Task&, const lab::Case& c) const override {
    return {{{"d_in", lab::DType::i32, c.n}}, {{"d_out", lab::DType::i32, 1}}, {}};
  }
  void fill(const lab::Task&, const lab::Case&, std::uint64_t seed,
            std::span<lab::HostBuffer> inputs) const override {
    for (lab::HostBuffer& buffer : inputs) {
      for (std::byte& b : buffer.bytes) b = static_cast<std::byte>(seed = seed * 25214903917U + 11);
    }
  }
  std::optional<lab::Mismatch> check(const lab::Task&, const lab::Case&, std::span<const lab::HostBuffer>,
                                     std::span<const lab::HostBuffer>) const override {
    return std::nullopt;
  }
  void baseline(const lab::Task& task, const lab::Case&, std::span<const lab::HostBuffer> inputs,
                std::span<lab::HostBuffer> outputs) const override {
    ++baselines;
    if (on_baseline) on_baseline();
    // The task "second" gets another result than the others.
    std::uint32_t sum = task.id == "second" ? 1 : 0;
    for (const std::byte b : inputs[0].bytes) sum += static_cast<std::uint32_t>(b);
    outputs[0].bytes[0] = static_cast<std::byte>(sum & 0xff);
  }
  lab::Case example(const lab::Task&, std::uint64_t n) const override { return make(n, 0); }
  lab::Ideal ideal(const lab::Task&, const lab::Case& c) const override {
    const auto n = static_cast<double>(c.n);
    return {.items = n, .units = n / 100, .work = n, .steps = 10, .bytes = 4 * n};
  }

  lab::Manifest used_manifest = kManifest;
  mutable std::atomic<int> baselines{0};
  std::function<void()> on_baseline;

 private:
  static lab::Case make(std::uint64_t n, std::uint32_t purpose) {
    lab::Case c;
    c.name = (purpose == lab::kCorrectness  ? "n"
              : purpose == lab::kEfficiency ? "work_n"
                                            : "time_n") +
             std::to_string(n);
    c.n = n;
    c.purpose = purpose;
    return c;
  }
};

// A report for a case of the fake lab that meets all goals.
inline std::string good_report(const lab::Case& c) {
  const std::string n = std::to_string(c.n);
  const std::string sectors = std::to_string(c.n * 4 / 32 + 1);
  return R"({"device":"Simulated H200","modelled_us":7.5,"totals":{"launches":2,"warp_instructions":100,)"
         R"("lane_instructions":3200,"global_load_sectors":)" +
         sectors + R"(,"global_store_sectors":1,"shared_requests":10,"shared_wavefronts":10,"work":)" + n +
         R"(,"steps":12},"findings":[]})";
}

inline lab::Outcome good_outcome(const lab::Case& c, const lab::Measure& measure) {
  lab::Outcome outcome;
  outcome.verdict = lab::Verdict::ok;
  outcome.device = "Simulated H200";
  outcome.sim_report = good_report(c);
  if (measure.timed_runs > 0) outcome.times_us.assign(static_cast<std::size_t>(measure.timed_runs), 1e-3);
  return outcome;
}

struct Asked {
  std::string task, case_name;
  std::uint64_t seed;
  lab::Measure measure;
  lab::DeviceKind device;
};

// Answers with `answer`, or with a good outcome where that returns nothing; records all requests.
class Script {
 public:
  using Answer =
      std::function<std::optional<lab::Outcome>(const lab::Task&, const lab::Case&, const lab::Measure&)>;
  explicit Script(Answer answer = nullptr) : answer_(std::move(answer)) {}

  std::unique_ptr<CaseRunner> runner(lab::DeviceKind device) {
    return std::make_unique<Runner>(*this, device);
  }
  RunnerFactory factory() {
    return [this](const lab::Problem&, lab::DeviceKind device) { return runner(device); };
  }
  // The number of runners that still exist.
  int n_alive() const { return n_alive_; }
  int n_on_gpu() const { return n_on_gpu_; }  // runners that were started there
  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  class Runner : public CaseRunner {
   public:
    Runner(Script& script, lab::DeviceKind device) : script_(script), device_(device) {
      ++script_.n_alive_;
      if (device == lab::DeviceKind::gpu) ++script_.n_on_gpu_;
    }
    ~Runner() override { --script_.n_alive_; }
    lab::Outcome run(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::uint64_t seed, const lab::Measure& measure) override {
      {
        const std::lock_guard lock(script_.mutex_);
        script_.asked_.push_back({std::string(task.id), c.name, seed, measure, device_});
      }
      if (measure.before_timing) measure.before_timing();
      std::optional<lab::Outcome> scripted;
      if (script_.answer_) scripted = script_.answer_(task, c, measure);
      if (!scripted) return good_outcome(c, measure);
      if (scripted->verdict != lab::Verdict::ok)
        scripted->failure.name_case(problem.manifest(), task, c, seed, "--device sim");
      return *scripted;
    }

   private:
    Script& script_;
    lab::DeviceKind device_;
  };

  Answer answer_;
  std::atomic<int> n_alive_{0}, n_on_gpu_{0};
  mutable std::mutex mutex_;
  std::vector<Asked> asked_;
};

inline lab::Outcome failing(lab::Verdict verdict, std::string message = "it is wrong") {
  lab::Outcome outcome;
  outcome.verdict = verdict;
  outcome.failure.headline = std::move(message);
  outcome.device = "Simulated H200";
  return outcome;
}

}  // namespace course::grader::testing
