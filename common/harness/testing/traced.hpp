// SPDX-License-Identifier: MIT
// The contents of a kernel's arrays after each step, from a run on the simulator, for tests that compare the
// worked traces of the handouts with what the kernels did. RUNNER is the path of the runner.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/public_tests.hpp"
#include "verifier/session.hpp"

namespace course::lab {

class Traced {
 public:
  // Runs the rung on its example of `n` items. The output must be right, and the checkers must not find
  // errors.
  Traced(const Problem& problem, std::string_view rung, std::uint64_t n) {
    if (const Task* task = known(problem, rung)) run(problem, *task, problem.example(*task, n));
  }
  Traced(const Problem& problem, std::string_view rung, const Case& c) {
    if (const Task* task = known(problem, rung)) run(problem, *task, c);
  }

 private:
  static const Task* known(const Problem& problem, std::string_view rung) {
    const Task* task = find_task(problem.manifest(), rung);
    if (task == nullptr) ADD_FAILURE() << "no rung " << rung;
    return task;
  }

  void run(const Problem& problem, const Task& task, const Case& c) {
    Session session(session_options_for_tests(problem.manifest(), DeviceKind::sim));
    Measure measure;
    measure.trace = measure.checks = true;
    const Outcome outcome = session.run(problem, task, c, 1, measure);
    EXPECT_EQ(outcome.verdict, Verdict::ok) << task.id << ": " << outcome.message();
    if (!outcome.sim_report.empty()) rows_ = nlohmann::json::parse(outcome.sim_report).at("trace").at("rows");
  }

 public:
  // The contents of `n` elements of `array` ("s_data", "d_out"; "lanes": the values of a shuffle) after each
  // step that wrote to them in block `block`; consecutive steps with equal contents count once. T: the type
  // of the elements. `first`: the first element (for the second of two buffers in one array).
  template <typename T>
  std::vector<std::vector<T>> steps(std::string_view array, std::size_t n, std::uint64_t block = 0,
                                    std::size_t first = 0) const {
    std::vector<std::vector<T>> steps;
    for (const auto& row : rows_) {
      if (row.at("object") != array || row.at("after") == "start") continue;
      if (!row.at("block").is_null() && row.at("block") != block) continue;
      const auto inside = [&](const auto& write) { return write.at(0) >= first && write.at(0) < first + n; };
      const auto& writes = row.at("writes");
      if (!writes.empty() && std::none_of(writes.begin(), writes.end(), inside)) continue;
      const std::string hex = row.at("contents");
      const std::size_t there = hex.size() / 2 / sizeof(T);
      std::vector<T> values(std::min(n, there - std::min(first, there)));
      for (std::size_t i = 0; i < values.size() * sizeof(T); ++i)
        reinterpret_cast<unsigned char*>(values.data())[i] =
            static_cast<unsigned char>(std::stoi(hex.substr(2 * (first * sizeof(T) + i), 2), nullptr, 16));
      if (steps.empty() || steps.back() != values) steps.push_back(std::move(values));
    }
    return steps;
  }

 private:
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace course::lab
