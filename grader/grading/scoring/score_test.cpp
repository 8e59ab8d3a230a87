// SPDX-License-Identifier: MIT
#include "grading/scoring/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lab/metrics.hpp"
#include "testing/scripted.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using ::testing::HasSubstr;

const lab::Task& first_task() {
  return testing::kTasks[0];
}

CaseRecord record(Verdict verdict, Stage stage = Stage::correctness, std::string message = "") {
  CaseRecord out;
  out.name = "n33";
  out.stage = stage;
  out.verdict = verdict;
  out.message = std::move(message);
  return out;
}

Timing timing_of(double speedup) {
  Timing timing;
  timing.kernel_us = 1;
  timing.cpu_us = speedup;
  return timing;
}

// Evidence of a task that is right and fast.
Evidence full_evidence() {
  Evidence evidence;
  evidence.cases_planned = 2;
  evidence.complete = true;
  evidence.cases = {record(Verdict::ok), record(Verdict::ok), record(Verdict::ok, Stage::efficiency),
                    record(Verdict::ok, Stage::speedup)};
  evidence.metrics = {{lab::Metric::barriers, 3}, {lab::Metric::active_lanes, 0.95}};
  evidence.timings = {timing_of(20)};
  return evidence;
}

TEST(Score, StartsAtZeroWithoutEvidence) {
  const TaskResult result = score_task(first_task(), Evidence{});
  EXPECT_EQ(result.points, 0);
  EXPECT_EQ(result.max_points, 50);
  EXPECT_EQ(result.verdict, Verdict::infra);
}

TEST(Score, GivesAllPointsForFullEvidence) {
  const TaskResult result = score_task(first_task(), full_evidence());
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.points, 50);
  EXPECT_EQ(result.correctness_points, 30);
  EXPECT_EQ(result.message, "");
  EXPECT_DOUBLE_EQ(result.speedup.value(), 20);
  EXPECT_DOUBLE_EQ(result.metrics.at("barriers"), 3);
}

TEST(Score, OneWrongCaseLosesAllPoints) {
  for (std::size_t i = 0; i < full_evidence().cases.size(); ++i) {
    for (const Verdict verdict :
         {Verdict::wrong_answer, Verdict::crash, Verdict::time_limit, Verdict::infra}) {
      Evidence evidence = full_evidence();
      evidence.cases[i].verdict = verdict;
      const TaskResult result = score_task(first_task(), evidence);
      EXPECT_EQ(result.points, 0) << i;
      EXPECT_EQ(result.correctness_points, 0) << i;
      EXPECT_EQ(result.verdict, verdict) << i;
    }
  }
}

TEST(Score, IncompleteRunScoresZero) {
  Evidence evidence = full_evidence();
  evidence.complete = false;
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_EQ(result.points, 0);
  EXPECT_EQ(result.verdict, Verdict::infra);
}

TEST(Score, TheFirstFailureDecidesTheVerdict) {
  Evidence evidence = full_evidence();
  evidence.cases[0].verdict = Verdict::crash;
  evidence.cases[1].verdict = Verdict::wrong_answer;
  EXPECT_EQ(score_task(first_task(), evidence).verdict, Verdict::crash);
}

TEST(Score, InfraTakesPrecedenceOverFailures) {
  Evidence evidence = full_evidence();
  evidence.cases[0].verdict = Verdict::wrong_answer;
  evidence.cases[1].verdict = Verdict::infra;
  EXPECT_EQ(score_task(first_task(), evidence).verdict, Verdict::infra);
}

TEST(Score, CountsFailedAndSkippedCases) {
  Evidence evidence;
  evidence.cases_planned = 40;
  evidence.cases = {record(Verdict::ok), record(Verdict::wrong_answer, Stage::correctness, "mismatch"),
                    record(Verdict::wrong_answer)};
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_THAT(result.message, HasSubstr("mismatch"));
  EXPECT_THAT(result.message, HasSubstr("2 of 3 cases run failed; 37 more were not run."));
  EXPECT_EQ(result.cases_failed, 2);
}

TEST(Score, MissedGoalNamesMeasurementLimitAndPoints) {
  Evidence evidence = full_evidence();
  evidence.metrics[lab::Metric::active_lanes] = 0.5;
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.points, 45);
  EXPECT_THAT(result.message, HasSubstr("active_lanes is 0.5, at least 0.9 is required (5 points lost)."));
}

TEST(Score, UnmeasuredGoalEarnsNothing) {
  Evidence evidence = full_evidence();
  evidence.metrics.erase(lab::Metric::barriers);
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_EQ(result.points, 45);
  EXPECT_EQ(result.goals[0].note, "not measured");
}

TEST(Score, SpeedupTiersAddUp) {
  const auto points_at = [](double speedup) {
    Evidence evidence = full_evidence();
    evidence.timings = {timing_of(speedup)};
    return score_task(first_task(), evidence).points;
  };
  EXPECT_EQ(points_at(1.9), 40);
  EXPECT_EQ(points_at(2.0), 46);
  EXPECT_EQ(points_at(9.9), 46);
  EXPECT_EQ(points_at(10), 50);
}

TEST(Score, TheSlowestSpeedupCaseCounts) {
  Evidence evidence = full_evidence();
  evidence.timings = {timing_of(50), timing_of(3), timing_of(30)};
  EXPECT_DOUBLE_EQ(score_task(first_task(), evidence).speedup.value(), 3);
}

TEST(Score, ImpossibleTimeEarnsNoSpeedup) {
  for (const double kernel_us :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Evidence evidence = full_evidence();
    evidence.timings[0].kernel_us = kernel_us;
    const TaskResult result = score_task(first_task(), evidence);
    EXPECT_EQ(result.points, 40) << kernel_us;
    EXPECT_FALSE(result.speedup.has_value()) << kernel_us;
  }
}

TEST(Score, AsFastAsTheReferenceHasEveryGoal) {
  Evidence evidence = full_evidence();
  evidence.metrics = {{lab::Metric::barriers, 9}, {lab::Metric::active_lanes, 0.1}};
  const auto points = [&](double time_ratio) {
    evidence.time_ratio = time_ratio;
    return score_task(first_task(), evidence).points;
  };
  EXPECT_EQ(points(0), 40) << "the reference's time is not known";
  EXPECT_EQ(points(1.02), 40);
  EXPECT_EQ(points(1.005), 50);
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_TRUE(result.is_as_fast_as_reference());
  EXPECT_THAT(result.message, HasSubstr("1.00 times the reference's"));
  evidence.cases[0].verdict = Verdict::wrong_answer;
  EXPECT_EQ(score_task(first_task(), evidence).points, 0);
}

TEST(Score, SuspectTimeWithholdsOnlySpeedupPoints) {
  Evidence evidence = full_evidence();
  evidence.cases[3].verdict = Verdict::suspect;
  evidence.cases[3].message = "faster than the memory";
  const TaskResult result = score_task(first_task(), evidence);
  EXPECT_EQ(result.verdict, Verdict::suspect);
  EXPECT_EQ(result.points, 40);
  EXPECT_EQ(result.message, "faster than the memory");
}

TEST(Score, BonusTasksDoNotCountAsLabPoints) {
  LabResult lab;
  for (const lab::Task& task : testing::kTasks) {
    TaskResult result = unscored_task(task, Verdict::ok, "");
    result.points = result.max_points;
    lab.tasks.push_back(result);
  }
  add_up(lab);
  EXPECT_EQ(lab.points, 100);
  EXPECT_EQ(lab.max_points, 100);
  EXPECT_EQ(lab.bonus_points, 10);
}

// For any evidence: 0 <= points <= max_points, the parts add up, and points need the verdict OK or SUSPECT.
TEST(Score, StaysWithinBoundsForAnyEvidence) {
  std::mt19937_64 random(20240611);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const double odd[] = {0,
                        -1,
                        1e308,
                        -1e308,
                        1.5,
                        0.9,
                        2,
                        10,
                        std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        5e-324};
  for (int round = 0; round < 20000; ++round) {
    Evidence evidence;
    evidence.cases_planned = static_cast<int>(below(5));
    evidence.complete = below(3) != 0;
    for (std::uint64_t i = below(4); i > 0; --i) {
      const Verdict verdict =
          below(3) == 0 ? static_cast<Verdict>(below(lab::kVerdicts.size())) : Verdict::ok;
      evidence.cases.push_back(record(verdict, static_cast<Stage>(below(4))));
    }
    for (std::uint64_t i = below(6); i > 0; --i) {
      evidence.metrics[lab::kAllMetrics[below(lab::kAllMetrics.size())]] = odd[below(std::size(odd))];
    }
    for (std::uint64_t i = below(3); i > 0; --i) {
      Timing timing;
      timing.kernel_us = odd[below(std::size(odd))];
      timing.cpu_us = odd[below(std::size(odd))];
      evidence.timings.push_back(timing);
    }
    for (const lab::Task& task : testing::kTasks) {
      const TaskResult result = score_task(task, evidence);
      ASSERT_GE(result.points, 0);
      ASSERT_LE(result.points, result.max_points);
      ASSERT_EQ(result.max_points, lab::max_points(task));
      int sum = result.correctness_points;
      for (const GoalScore& goal : result.goals) sum += goal.points;
      for (const TierScore& tier : result.tiers) sum += tier.points;
      ASSERT_EQ(sum, result.points);
      if (result.verdict != Verdict::ok && result.verdict != Verdict::suspect) {
        ASSERT_EQ(result.points, 0);
      }
      if (result.points > 0) {
        ASSERT_TRUE(evidence.complete);
      }
    }
  }
}

}  // namespace
}  // namespace course::grader
