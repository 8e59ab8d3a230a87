// SPDX-License-Identifier: MIT
// Compares the goals in points.hpp with the solutions, on the simulator: the reference of a task meets each
// goal with 5 % of room and takes the time that is recorded for it; an earlier task's rung misses a goal by
// as much, and takes longer. And the lab's file states each limit.
//   goals_suite LAB [LAB …]
// prints all values.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>

#include "grading/catalogue.hpp"
#include "grading/scoring/metrics.hpp"
#include "grading/session_runner.hpp"
#include "registry.hpp"
#include "testing/files.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader::testing {
namespace {

constexpr double kRoomOfLimits = 1.05;

struct Values {
  std::map<lab::Metric, double> worst;
  double time_ratio = 0;     // to the reference of the task whose cases were run
  bool is_too_slow = false;  // for its tiers, with room
};

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
    const bool timed = own->time_ratio > 0;
    if (timed) {
      EXPECT_NEAR(own->time_ratio, 1, 0.005) << "reference_us " << own->time_ratio * task_.reference_us;
    }
    for (const lab::EfficiencyGoal& goal : task_.efficiency) {
      ASSERT_TRUE(own->worst.contains(goal.metric)) << lab::name_of(goal.metric);
      const bool whole = goal.metric == lab::Metric::launches;
      EXPECT_GE(room(goal, own->worst.at(goal.metric)), whole ? 1 : kRoomOfLimits) << goal_text(goal);
    }
    for (const lab::Task& earlier : problem_.manifest().tasks) {
      if (earlier.id == task_.id) break;
      const std::optional<Values> other = solve_alike(earlier) ? values_of(earlier) : std::nullopt;
      if (!other) continue;
      if (timed) {
        EXPECT_GT(other->time_ratio, lab::kRoom) << earlier.id;
      }
      const bool misses = std::ranges::any_of(task_.efficiency, [&](const lab::EfficiencyGoal& goal) {
        return room(goal, other->worst.at(goal.metric)) < 1 / kRoomOfLimits;
      });
      EXPECT_TRUE(misses || other->is_too_slow) << earlier.id << " meets each goal";
    }
    expect_stated(*layout, lab);
  }

 private:
  static bool has(const std::vector<lab::Case>& cases, const lab::Case& c) {
    return std::ranges::find(cases, c.name, &lab::Case::name) != cases.end();
  }

  // Whether an earlier rung's answer to this task's first counted case is an answer of this task.
  bool solve_alike(const lab::Task& earlier) const {
    for (const lab::Case& c : problem_.cases(task_)) {
      if ((c.purpose & lab::kEfficiency) == 0) continue;
      if (!has(problem_.cases(earlier), c)) return false;
      const std::vector<lab::HostBuffer> inputs = lab::inputs_of(problem_, task_, c, kSeed);
      if (problem_.shape(earlier, c).inputs.size() != inputs.size()) return false;
      std::vector<lab::HostBuffer> outputs = lab::buffers_of(problem_.shape(earlier, c).outputs);
      problem_.baseline(earlier, c, inputs, outputs);
      return !problem_.check(task_, c, inputs, outputs);
    }
    return false;
  }

  // Of a rung in this task's counted and timed cases; std::nullopt if they are not its cases.
  std::optional<Values> values_of(const lab::Task& rung) {
    const std::vector<lab::Case> known = problem_.cases(rung);
    Values values;
    for (const lab::Case& c : problem_.cases(task_)) {
      const bool counted = (c.purpose & lab::kEfficiency) != 0;
      const bool timed = !task_.speedup.empty() && (c.purpose & lab::kSpeedup) != 0;
      if (!counted && !timed) continue;
      if (!has(known, c)) return std::nullopt;
      lab::Measure measured;
      measured.counters = measured.fresh = true;
      const lab::Outcome outcome = runner_->run(problem_, rung, c, kSeed, measured);
      EXPECT_EQ(outcome.verdict, lab::Verdict::ok) << outcome.message();
      const lab::SimReport report = lab::read_sim_report(outcome.sim_report);
      fmt::print("{:<16} {:<16} {:<40} {:.4g} us", task_.id, rung.id, c.name, report.modelled_us);
      if (task_.reference_us > 0 && (timed || task_.speedup.empty()))
        values.time_ratio += report.modelled_us / task_.reference_us;
      if (const lab::CpuTime* cpu = lab::find_cpu_time(problem_.manifest(), task_, c.name))
        for (const lab::SpeedupTier& tier : task_.speedup)
          values.is_too_slow |= cpu->us / report.modelled_us * kRoomOfLimits < tier.speedup;
      for (const lab::Metric metric : lab::kAllMetrics) {
        const auto value = measure(metric, report.totals, problem_.ideal(rung, c), report.traffic);
        if (!value || !counted) continue;
        fmt::print("  {} {:.4g}", lab::name_of(metric), *value);
        const auto [entry, is_new] = values.worst.try_emplace(metric, *value);
        if (!is_new)
          entry->second =
              lab::at_least(metric) ? std::min(entry->second, *value) : std::max(entry->second, *value);
      }
      fmt::print("\n");
    }
    return values;
  }

  // In the comment above the task, and in its section of the handout.
  void expect_stated(const Layout& layout, const std::string& lab) const {
    const std::string file =
        std::regex_replace(contents(fmt::format("{0}/solutions/{1}/{1}.cu", layout.root, lab)),
                           std::regex("\n// +(?!---)"), " ");
    const std::size_t from = file.find(fmt::format(", \"{}\"", task_.id));
    ASSERT_NE(from, std::string::npos) << task_.id;
    const std::string own = file.substr(from, file.find("\n// ---", from) - from);
    for (const lab::EfficiencyGoal& goal : task_.efficiency)
      EXPECT_NE(own.find(goal_text(goal)), std::string::npos) << goal_text(goal) << " is not in its comment";
    std::string page = contents(fmt::format("{}/{}", layout.root, problem_.manifest().handout));
    std::erase(page, '`');
    std::ranges::replace(page, '\n', ' ');
    const std::size_t hint = page.find(fmt::format("Hint for <code>{}</code>", task_.id));
    ASSERT_NE(hint, std::string::npos) << task_.id;
    const std::size_t limits = page.rfind("Limits of the [counters]", hint);
    const std::string stated = limits == std::string::npos ? "" : page.substr(limits, hint - limits);
    for (const lab::EfficiencyGoal& goal : task_.efficiency) {
      std::string text = std::regex_replace(goal_text(goal), std::regex("≤"), "at most");
      text = std::regex_replace(text, std::regex("≥"), "at least");
      EXPECT_NE(stated.find(text), std::string::npos) << text << " is not in its section of the handout";
    }
    std::vector<std::string> tiers;
    for (const lab::SpeedupTier& tier : task_.speedup) tiers.push_back(fmt::format("{:g}", tier.speedup));
    std::string speeds = tiers.empty() ? "" : "Speedup goals: " + tiers.front();
    for (std::size_t k = 1; k < tiers.size(); ++k)
      speeds += (k + 1 == tiers.size() ? " and " : ", ") + tiers[k];
    EXPECT_NE(stated.find(speeds), std::string::npos) << speeds << " is not in its section of the handout";
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
        ::testing::RegisterTest(
            std::string(manifest.id).c_str(), std::string(task.id).c_str(), nullptr, nullptr, __FILE__,
            __LINE__, [problem, &task] { return new course::grader::testing::Goals(*problem, task); });
  }
  return RUN_ALL_TESTS();
}
