// SPDX-License-Identifier: MIT
#include "grading/planning/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/scripted.hpp"

namespace course::grader {
namespace {

const testing::FakeProblem kProblem;
const lab::Task& first_task() {
  return testing::kTasks[0];
}

std::vector<Step> steps_of(const Plan& plan, Stage stage) {
  std::vector<Step> out;
  std::copy_if(plan.steps.begin(), plan.steps.end(), std::back_inserter(out),
               [&](const Step& step) { return step.stage == stage; });
  return out;
}

Plan plan_for(lab::DeviceKind device, std::optional<std::string> only_case = std::nullopt) {
  return make_plan(first_task(), kProblem.cases(first_task()), {device, std::move(only_case)});
}

TEST(Plan, RunsStagesInOrderAndSmallCasesFirst) {
  const Plan plan = plan_for(lab::DeviceKind::sim);
  EXPECT_TRUE(std::is_sorted(plan.steps.begin(), plan.steps.end(),
                             [](const Step& a, const Step& b) { return a.stage < b.stage; }));
  std::vector<std::uint64_t> sizes;
  for (const Step& step : steps_of(plan, Stage::correctness)) sizes.push_back(plan.cases[step.case_index].n);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{0, 1, 33, 1000, 200000}));
  EXPECT_EQ(plan.correctness_steps(), 5);
}

TEST(Plan, ChecksEveryCaseInGradedRuns) {
  // Large cases must be checked, too: otherwise a race that only occurs with more items would get full
  // points.
  std::vector<lab::Case> cases = kProblem.cases(first_task());
  cases[4].n = std::uint64_t{1} << 24;
  const auto checked = [&](const PlanOptions& options) {
    const Plan plan = make_plan(first_task(), cases, options);
    std::set<std::string> names;
    for (const Step& step : plan.steps)
      if (step.measure.checks) names.insert(plan.cases[step.case_index].name);
    return names;
  };
  const auto judged = std::count_if(cases.begin(), cases.end(), [](const lab::Case& c) {
    return (c.purpose & (lab::kCorrectness | lab::kEfficiency | lab::kSpeedup)) != 0;
  });
  EXPECT_EQ(checked({lab::DeviceKind::sim, {}, true}).size(), judged);
  EXPECT_LT(checked({lab::DeviceKind::sim, {}, false}).size(), judged);
  for (const Step& step : make_plan(first_task(), cases, {lab::DeviceKind::sim, {}, true}).steps)
    EXPECT_TRUE(step.measure.checks) << name_of(step.stage);
  EXPECT_EQ(checked({lab::DeviceKind::sim, cases[4].name}).size(), 1U);  // as with the rerun command
}

TEST(Plan, ChecksSomeSmallCasesIfNoneIsMarked) {
  const Plan plan = plan_for(lab::DeviceKind::sim);
  const auto steps = steps_of(plan, Stage::checks);
  ASSERT_EQ(steps.size(), 2U);
  for (const Step& step : steps) {
    EXPECT_TRUE(step.measure.checks);
    EXPECT_LE(plan.cases[step.case_index].n, kCheckedItems);
    EXPECT_GE(plan.cases[step.case_index].n, 2U);
  }
  EXPECT_EQ(plan.cases[steps.back().case_index].n, 1000U);  // the largest case within the limit
}

TEST(Plan, ChecksMarkedCasesOnlyForAGpu) {
  std::vector<lab::Case> cases = kProblem.cases(first_task());
  cases[3].purpose |= lab::kChecks;
  EXPECT_TRUE(steps_of(make_plan(first_task(), cases, {lab::DeviceKind::sim, {}}), Stage::checks).empty());
  const Plan plan = make_plan(first_task(), cases, {lab::DeviceKind::gpu, {}});
  const auto steps = steps_of(plan, Stage::checks);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(plan.cases[steps[0].case_index].name, cases[3].name);
  EXPECT_EQ(steps[0].device, lab::DeviceKind::sim);
}

TEST(Plan, CountsOnTheSimulatorForAnyDevice) {
  for (const lab::DeviceKind device : {lab::DeviceKind::sim, lab::DeviceKind::gpu}) {
    const auto steps = steps_of(plan_for(device), Stage::efficiency);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].device, lab::DeviceKind::sim);
    EXPECT_TRUE(steps[0].measure.counters);
    EXPECT_FALSE(steps[0].measure.dataflow);
    EXPECT_TRUE(steps[0].measure.checks);
  }
}

// A program that counts its calls must not be able to tell which run is measured.
TEST(Plan, JudgesAndMeasuresInFreshProcesses) {
  std::vector<lab::Case> cases = kProblem.cases(first_task());
  for (lab::Case& c : cases)
    if (c.purpose != lab::kCorrectness) c.purpose |= lab::kCorrectness;
  const Plan plan = make_plan(first_task(), cases, {lab::DeviceKind::sim, {}});
  for (const Step& step : plan.steps) {
    if (step.stage == Stage::checks) continue;
    const bool measured = (plan.cases[step.case_index].purpose & (lab::kEfficiency | lab::kSpeedup)) != 0;
    EXPECT_EQ(step.measure.fresh, measured) << plan.cases[step.case_index].name;
  }
  EXPECT_EQ(plan.correctness_steps(), 7);
}

TEST(Plan, JudgesCountsAndTimesInOneRunOnTheSimulator) {
  std::vector<lab::Case> cases = kProblem.cases(first_task());
  for (lab::Case& c : cases) c.purpose |= lab::kCorrectness | lab::kEfficiency | lab::kSpeedup;
  for (const bool graded : {false, true}) {
    const Plan plan = make_plan(first_task(), cases, {lab::DeviceKind::sim, {}, graded});
    for (const Step& step : plan.steps) {
      if (step.stage == Stage::checks) continue;
      EXPECT_EQ(step.stage, Stage::correctness);
      EXPECT_TRUE(step.is_counted && step.is_timed && step.measure.counters && step.measure.checks);
    }
    EXPECT_EQ(plan.correctness_steps(), cases.size());
  }
  const Plan plan = make_plan(first_task(), cases, {lab::DeviceKind::gpu, {}});
  for (const Stage stage : {Stage::correctness, Stage::efficiency, Stage::speedup})
    EXPECT_EQ(steps_of(plan, stage).size(), cases.size());
}

TEST(Plan, CallsSomeCasesTwiceAndInGradedRunsAllSmallOnes) {
  std::vector<lab::Case> cases = kProblem.cases(first_task());
  for (const std::uint64_t n :
       {std::uint64_t{1} << 12, std::uint64_t{1} << 18, (std::uint64_t{1} << 18) + 1}) {
    for (const bool graded : {false, true}) {
      cases[4].n = n;
      std::size_t of = 0, n_twice = 0;
      for (std::uint64_t seed = 0; seed < 400; ++seed) {
        PlanOptions options;
        options.seed = seed;
        options.check_every_size = graded;
        for (const Step& step : make_plan(first_task(), cases, options).steps) {
          if (step.stage != Stage::correctness || step.case_index != 4) continue;
          ++of;
          n_twice += step.measure.twice ? 1 : 0;
        }
      }
      EXPECT_EQ(of, 400u);
      const auto expected = static_cast<double>(of) / static_cast<double>(one_of_twice(n, graded));
      EXPECT_NEAR(static_cast<double>(n_twice), expected, one_of_twice(n, graded) == 1 ? 0 : 30);
    }
  }
}

TEST(Plan, TimesAloneAndRepeatedlyOnGpu) {
  const auto gpu = steps_of(plan_for(lab::DeviceKind::gpu), Stage::speedup);
  ASSERT_EQ(gpu.size(), 1U);
  EXPECT_TRUE(gpu[0].alone);
  EXPECT_EQ(gpu[0].measure.timed_runs, kTimedRunsOnGpu);
  const auto sim = steps_of(plan_for(lab::DeviceKind::sim), Stage::speedup);
  ASSERT_EQ(sim.size(), 1U);
  EXPECT_FALSE(sim[0].alone);
  EXPECT_EQ(sim[0].measure.timed_runs, 1);
}

TEST(Plan, MeasuresOnlyForGoals) {
  const lab::Task& plain = testing::kTasks[1];
  const Plan plan = make_plan(plain, kProblem.cases(plain), {});
  EXPECT_TRUE(steps_of(plan, Stage::efficiency).empty());
  EXPECT_TRUE(steps_of(plan, Stage::speedup).empty());
}

TEST(Plan, CanBeLimitedToOneCase) {
  const Plan plan = plan_for(lab::DeviceKind::sim, "n33");
  ASSERT_EQ(plan.cases.size(), 1U);
  for (const Step& step : plan.steps) EXPECT_EQ(plan.cases[step.case_index].name, "n33");
  EXPECT_TRUE(plan_for(lab::DeviceKind::sim, "no such case").steps.empty());
}

}  // namespace
}  // namespace course::grader
