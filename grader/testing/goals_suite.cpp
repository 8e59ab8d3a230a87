// SPDX-License-Identifier: MIT
// Compares the goals in points.hpp with the solutions, on the simulator: the reference of a task meets each goal
// with 5 % of room and takes the time that is recorded for it; an earlier task's rung misses a goal by as much,
// and takes longer. And the students' file states each limit.
//   goals_suite LAB [LAB …]
// prints all values. GOALS_TIMES=1 prints the rows of kReferenceTimes instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "compile/session_runner.hpp"
#include "grading/planning/catalogue.hpp"
#include "grading/scoring/metrics.hpp"
#include "registry.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader::testing {
namespace {

constexpr double kRoomOfLimits = 1.05;

struct Values {
  std::map<lab::Metric, double> worst;
  double time_ratio = 0;  // to the reference of the task whose cases were run
};

double worse(lab::Metric metric, double a, double b) {
  return lab::at_least(metric) ? std::min(a, b) : std::max(a, b);
}

// How far inside of its limit a value is: above 1 if the goal is met.
double room(const lab::EfficiencyGoal& goal, double value) {
  if (lab::at_least(goal.metric)) return value / goal.limit;
  return value == goal.limit && value == 0 ? kRoomOfLimits : goal.limit / value;
}

class Goals : public ::testing::Test {
 public:
  Goals(const lab::Problem& problem, const lab::Task& task) : problem_(problem), task_(task) {}

  void TestBody() override {
    const Result<Layout> layout = find_layout();
    ASSERT_TRUE(layout) << layout.error().text;
    const std::string lab(problem_.manifest().id);
    runner_ = session_runner(*layout, layout->solution_runner(lab), lab::DeviceKind::sim,
                             {lab, kSeed, true, lab::DeviceKind::sim, false});
    const std::optional<Values> own = values_of(task_);
    ASSERT_TRUE(own);
    EXPECT_NEAR(own->time_ratio, 1, 0.005) << "kReferenceTimes: run with GOALS_TIMES=1";
    for (const lab::EfficiencyGoal& goal : task_.efficiency) {
      ASSERT_TRUE(own->worst.contains(goal.metric)) << lab::name_of(goal.metric);
      const bool whole = goal.metric == lab::Metric::launches;
      EXPECT_GE(room(goal, own->worst.at(goal.metric)), whole ? 1 : kRoomOfLimits) << goal_text(goal);
    }
    for (const lab::Task& earlier : problem_.manifest().tasks) {
      if (earlier.id == task_.id) break;
      const std::optional<Values> other = values_of(earlier);
      if (!other) continue;
      EXPECT_GT(other->time_ratio, lab::kRoom) << earlier.id;
      EXPECT_TRUE(std::ranges::any_of(task_.efficiency, [&](const lab::EfficiencyGoal& goal) {
        return room(goal, other->worst.at(goal.metric)) < 1 / kRoomOfLimits;
      })) << earlier.id << " meets each goal";
    }
    expect_stated(*layout, lab);
  }

 private:
  // Of a rung in this task's counted cases; std::nullopt if they are not its cases.
  std::optional<Values> values_of(const lab::Task& rung) {
    const std::vector<lab::Case> known = problem_.cases(rung);
    Values values;
    for (const lab::Case& c : problem_.cases(task_)) {
      if ((c.purpose & lab::kEfficiency) == 0) continue;
      if (std::ranges::find(known, c.name, &lab::Case::name) == known.end()) return std::nullopt;
      lab::Measure measure;
      measure.counters = measure.fresh = true;
      const lab::Outcome outcome = runner_->run(problem_, rung, c, kSeed, measure);
      EXPECT_EQ(outcome.verdict, lab::Verdict::ok) << outcome.message();
      const lab::SimReport report = lab::read_sim_report(outcome.sim_report);
      if (std::getenv("GOALS_TIMES") != nullptr && &rung == &task_)
        fmt::print("    {{\"{}\", \"{}\", {:.4g}}},\n", task_.id, c.name, report.modelled_us);
      const double us = lab::find_reference_us(problem_.manifest(), task_, c.name);
      values.time_ratio = std::max(values.time_ratio, report.modelled_us / us);
      for (const lab::Metric metric : lab::kAllMetrics)
        if (const auto value = measure_of(metric, report, c, rung)) {
          const auto [entry, is_new] = values.worst.try_emplace(metric, *value);
          if (!is_new) entry->second = worse(metric, entry->second, *value);
        }
    }
    if (std::getenv("GOALS_TIMES") == nullptr) print(rung, values);
    return values;
  }

  std::optional<double> measure_of(lab::Metric metric, const lab::SimReport& report, const lab::Case& c,
                                   const lab::Task& rung) const {
    return measure(metric, report.totals, problem_.ideal(rung, c), report.traffic);
  }

  void print(const lab::Task& rung, const Values& values) const {
    fmt::print("  {:<16} {:<16} time {:.3f}", task_.id, rung.id, values.time_ratio);
    for (const auto& [metric, value] : values.worst) fmt::print("  {} {:.4g}", lab::name_of(metric), value);
    fmt::print("\n");
  }

  // Below the task's headline, before the next one.
  void expect_stated(const Layout& layout, const std::string& lab) const {
    std::ostringstream text;
    text << std::ifstream(fmt::format("{0}/labs/{1}/{1}.cu", layout.root, lab)).rdbuf();
    const std::string file = std::regex_replace(text.str(), std::regex("\n// (?!---)"), " ");
    const std::size_t from = file.find(fmt::format("ask \"{}\"", task_.id));
    ASSERT_NE(from, std::string::npos) << task_.id;
    const std::string own = file.substr(from, file.find("\n// ---", from) - from);
    for (const lab::EfficiencyGoal& goal : task_.efficiency)
      EXPECT_NE(own.find(goal_text(goal)), std::string::npos) << goal_text(goal) << " is not in its comment";
  }

  static constexpr std::uint64_t kSeed = 1;
  const lab::Problem& problem_;
  const lab::Task& task_;
  std::unique_ptr<CaseRunner> runner_;
};

}  // namespace
}  // namespace course::grader::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const course::lab::Problem* problem : course::lab::all_problems()) {
    const course::lab::Manifest& manifest = problem->manifest();
    if (std::none_of(argv + 1, argv + argc, [&](const char* lab) { return manifest.id == lab; })) continue;
    for (const course::lab::Task& task : manifest.tasks)
      if (!task.efficiency.empty())
        ::testing::RegisterTest(std::string(manifest.id).c_str(), std::string(task.id).c_str(), nullptr,
                                nullptr, __FILE__, __LINE__, [problem, &task] {
                                  return new course::grader::testing::Goals(*problem, task);
                                });
  }
  return RUN_ALL_TESTS();
}
