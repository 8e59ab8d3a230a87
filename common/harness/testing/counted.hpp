// SPDX-License-Identifier: MIT
// The simulator's counters for one case of a solution's rung, for tests that compare the closed forms of the
// handouts with what the kernels did. RUNNER is the path of the solution's runner.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/public_tests.hpp"
#include "verifier/session.hpp"

namespace course::lab {

struct Counted {
  nlohmann::json totals;   // every counter of the simulator by its name
  nlohmann::json traffic;  // operations of NCCL; messages and bytes of the device that sends most
  double modelled_us = 0;
  double operator[](const char* counter) const { return totals.at(counter).get<double>(); }
  double conflicts() const { return (*this)["shared_wavefronts"] / (*this)["shared_requests"]; }
  // Bytes moved through global memory, in 32-byte sectors.
  double bytes() const { return 32 * ((*this)["global_load_sectors"] + (*this)["global_store_sectors"]); }
};

// Runs a task or further rung on cases and caches the counters of each case. The output must be right.
class Counter {
 public:
  explicit Counter(const Problem& problem)
      : problem_(problem), session_(session_options_for_tests(problem.manifest(), DeviceKind::sim)) {}

  // Cases must differ in their names.
  const Counted& operator()(const std::string& rung, const Case& c) {
    const auto key = std::make_pair(rung, c.name);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    return known_[key] = counted_anew(rung, c, 1, false);
  }

  // Runs the case without the cache. The seed determines the items and the schedule.
  Counted counted_anew(const std::string& rung, const Case& c, std::uint64_t seed, bool checks) {
    const Task* task = find_task(problem_.manifest(), rung);
    if (task == nullptr) {
      ADD_FAILURE() << "no rung " << rung;
      return {};
    }
    Measure measure;
    measure.counters = measure.dataflow = measure.calm = true;  // as in graded runs
    measure.checks = checks;
    const auto outcome = session_.run(problem_, *task, c, seed, measure);
    EXPECT_EQ(outcome.verdict, Verdict::ok) << rung << " " << c.name << ": " << outcome.message();
    if (outcome.sim_report.empty()) return {};
    const auto report = nlohmann::json::parse(outcome.sim_report);
    return {report.at("totals"), report.at("traffic"), report.at("modelled_us").get<double>()};
  }

 private:
  const Problem& problem_;
  Session session_;
  std::map<std::pair<std::string, std::string>, Counted> known_;
};

}  // namespace course::lab
