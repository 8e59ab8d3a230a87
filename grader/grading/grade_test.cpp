// SPDX-License-Identifier: MIT
#include "grading/grade.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "grading/planning/plan.hpp"
#include "testing/scripted.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using testing::FakeProblem;
using ::testing::HasSubstr;
using testing::Script;

RunResult grade_fake(Script& script, GradeOptions options = {}, const FakeProblem& problem = FakeProblem()) {
  Progress silent(Progress::Form::silent);
  return grade({{&problem, Verdict::ok, ""}}, options, script.factory(), silent);
}

// Cases of 1,000 items and more are for two devices.
class ProblemOfSeveralDevices : public FakeProblem {
 public:
  ProblemOfSeveralDevices() { used_manifest.most_devices = 2; }
  lab::Shape shape(const lab::Task& task, const lab::Case& c) const override {
    lab::Shape shape = FakeProblem::shape(task, c);
    shape.n_devices = c.n < 1000 ? 1 : 2;
    return shape;
  }
};

// The judged cases of the first task that ran on the GPU.
std::set<std::string> on_gpu(unsigned gpus) {
  Script script;
  GradeOptions options;
  options.device = lab::DeviceKind::gpu;
  options.gpus = gpus;
  const RunResult result = grade_fake(script, options, ProblemOfSeveralDevices());
  EXPECT_EQ(result.labs[0].points, 100);
  std::set<std::string> names;
  for (const testing::Asked& one : script.asked())
    if (one.task == "first" && one.device == lab::DeviceKind::gpu) names.insert(one.case_name);
  return names;
}

TEST(Grade, SimulatesCasesThatNeedMoreGpus) {
  EXPECT_THAT(on_gpu(0), ::testing::IsEmpty());  // also on a machine with a GPU: grade-all never says --gpus
  EXPECT_THAT(on_gpu(1), ::testing::UnorderedElementsAre("n0", "n1", "n33"));
  EXPECT_THAT(on_gpu(2),
              ::testing::UnorderedElementsAre("n0", "n1", "n33", "n1000", "n200000", "time_n8192"));
}

// Cases of 1,000 items and more can have another length.
class ProblemOfAnyLength : public FakeProblem {
 public:
  std::vector<lab::Case> cases(const lab::Task& task) const override {
    std::vector<lab::Case> all = FakeProblem::cases(task);
    for (lab::Case& c : all) c.words.variant = c.n < 1000 ? "" : "any";
    return all;
  }
};

TEST(Grade, AddsSecretLengthsOnlyToGradedRuns) {
  const auto drawn = [](bool graded, std::uint64_t seed) {
    Script script;
    GradeOptions options;
    options.check_every_size = graded;
    options.seed = seed;
    grade_fake(script, options, ProblemOfAnyLength());
    std::set<std::string> names;
    for (const testing::Asked& one : script.asked())
      if (one.case_name.starts_with("any_")) names.insert(one.case_name);
    return names;
  };
  EXPECT_THAT(drawn(false, 1), ::testing::IsEmpty());
  EXPECT_THAT(drawn(true, 1), ::testing::Not(::testing::IsEmpty()));
  EXPECT_EQ(drawn(true, 1), drawn(true, 1));
  EXPECT_NE(drawn(true, 1), drawn(true, 2));
}

TEST(Grade, GivesAGoodLabAllPoints) {
  Script script;
  const RunResult result = grade_fake(script);
  ASSERT_EQ(result.labs.size(), 1U);
  const LabResult& lab = result.labs[0];
  EXPECT_EQ(lab.points, 100);
  EXPECT_EQ(lab.max_points, 100);
  EXPECT_EQ(lab.bonus_points, 10);
  EXPECT_EQ(result.device, "Simulated H200");
  EXPECT_TRUE(result.modelled);
  EXPECT_FALSE(result.partial);
  const TaskResult& first = lab.tasks[0];
  EXPECT_EQ(first.section, "handouts/99-fake.md#first");
  ASSERT_TRUE(first.timing.has_value());
  EXPECT_TRUE(first.timing->modelled);
  EXPECT_GE(first.timing->baseline_runs, 5);
  EXPECT_GT(first.timing->cpu_us, 0);
}

TEST(Grade, ExceptionOfOneTaskDoesNotAffectOthers) {
  Script script([](const lab::Task& task, auto&, auto&) -> std::optional<lab::Outcome> {
    if (task.id == "first") throw std::runtime_error("no memory");
    return std::nullopt;
  });
  const RunResult result = grade_fake(script);
  EXPECT_EQ(result.labs[0].tasks[0].verdict, Verdict::infra);
  EXPECT_THAT(result.labs[0].tasks[0].message, HasSubstr("no memory"));
  EXPECT_EQ(result.labs[0].tasks[1].verdict, Verdict::ok);
  EXPECT_EQ(result.labs[0].points, 50);
}

TEST(Grade, UncompilableLabDoesNotAffectOthers) {
  const FakeProblem broken, fine;
  Script script;
  Progress silent(Progress::Form::silent);
  const RunResult result =
      grade({{&broken, Verdict::compile_error, "fake.cu(3): error: no"}, {&fine, Verdict::ok, ""}}, {},
            script.factory(), silent);
  ASSERT_EQ(result.labs.size(), 2U);
  EXPECT_EQ(result.labs[0].points, 0);
  EXPECT_EQ(result.labs[0].max_points, 100);
  for (const TaskResult& task : result.labs[0].tasks) {
    EXPECT_EQ(task.verdict, Verdict::compile_error);
    EXPECT_EQ(task.message, "fake.cu(3): error: no");
  }
}

// All tasks of a lab may run in one process, where the first could store its answers for the others.
TEST(Grade, GivesEachTaskCaseAndStageItsOwnItems) {
  Script script;
  grade_fake(script);
  std::map<std::uint64_t, std::set<std::tuple<std::string, std::string, bool>>> by_seed;
  for (const testing::Asked& one : script.asked())
    by_seed[one.seed].insert({one.task, one.case_name, one.measure.timed_runs > 0});
  for (const auto& [seed, inputs] : by_seed) EXPECT_EQ(inputs.size(), 1U);
}

TEST(Grade, CanGradeOneTaskAndCase) {
  GradeOptions options;
  options.only_task = "second";
  options.only_case = "n33";
  options.seed = 99;
  Script script;
  const RunResult result = grade_fake(script, options);
  ASSERT_EQ(result.labs[0].tasks.size(), 1U);
  EXPECT_TRUE(result.partial);
  for (const testing::Asked& one : script.asked()) {
    EXPECT_EQ(one.case_name, "n33");
    EXPECT_EQ(one.seed, 99U);  // with --case the seed is used unchanged, as messages print it
  }
}

TEST(Grade, ResultDoesNotDependOnJobs) {
  const auto verdicts = [](unsigned jobs) {
    Script script([](const lab::Task& task, const lab::Case& c, auto&) -> std::optional<lab::Outcome> {
      if (task.id == "second" && c.n == 33) return testing::failing(Verdict::crash);
      return std::nullopt;
    });
    GradeOptions options;
    options.jobs = jobs;
    std::string out;
    const RunResult result = grade_fake(script, options);
    for (const TaskResult& task : result.labs[0].tasks) {
      out += std::string(lab::name_of(task.verdict)) + std::to_string(task.points) + " ";
    }
    return out;
  };
  EXPECT_EQ(verdicts(1), "OK50 CRASH0 OK10 ");
  EXPECT_EQ(verdicts(2), verdicts(1));
  EXPECT_EQ(verdicts(8), verdicts(1));
}

// Changes of the machine must affect both sides of a speedup, and no student's process may exist while the
// CPU is timed.
TEST(Grade, TimesKernelsAndCpuInTurnsOnGpu) {
  FakeProblem problem;
  std::string order;
  std::set<std::uint64_t> seeds;
  Script* asked = nullptr;
  int n_while_timed = 0;
  const auto note = [&order](char what) {
    if (order.empty() || order.back() != what) order += what;
  };
  Script script([&](const lab::Task&, const lab::Case&, const lab::Measure& measure) {
    if (measure.timed_runs == 0) return std::nullopt;
    note('k');
    n_while_timed = std::max(n_while_timed, asked->n_alive());
    return std::nullopt;
  });
  asked = &script;
  int n_alive = 0;
  problem.on_baseline = [&] {
    note('c');
    n_alive = std::max(n_alive, script.n_alive());
  };
  GradeOptions options;
  options.device = lab::DeviceKind::gpu;
  const RunResult result = grade_fake(script, options, problem);
  ASSERT_TRUE(result.labs[0].tasks[0].timing.has_value());
  const Timing& timing = *result.labs[0].tasks[0].timing;
  // On a busy machine, the CPU's times of the first turn differ, and it takes those of the second at once.
  EXPECT_THAT(order, ::testing::AnyOf("kckc", "kck"));
  EXPECT_EQ(n_alive, 0);
  EXPECT_EQ(n_while_timed, 1) << "a runner that has timed must have ended before another one times";
  EXPECT_EQ(timing.kernel_runs, kTimingRounds * kTimedRunsOnGpu);
  EXPECT_GE(timing.baseline_runs, kBaselineRuns);  // more until they agree
  for (const testing::Asked& one : script.asked()) {
    if (one.measure.timed_runs > 0) seeds.insert(one.seed);
  }
  EXPECT_EQ(seeds.size(), static_cast<std::size_t>(kTimingRounds)) << "an answer kept from a round is wrong";
}

// Starting one on a GPU takes as long as timing a task.
TEST(Grade, TasksOfALabAreTimedInOneProcess) {
  std::vector<lab::Task> tasks(std::begin(testing::kTasks), std::end(testing::kTasks));
  for (lab::Task& task : tasks) task.speedup = testing::kTasks[0].speedup;
  FakeProblem problem;
  problem.used_manifest.tasks = tasks;
  Script script;
  GradeOptions options;
  options.device = lab::DeviceKind::gpu;
  options.jobs = 1;
  const RunResult result = grade_fake(script, options, problem);
  EXPECT_TRUE(
      std::ranges::all_of(result.labs[0].tasks, [](const auto& task) { return task.timing.has_value(); }));
  EXPECT_EQ(script.n_on_gpu(), 1 + kTimingRounds);  // one before, for the outputs
}

TEST(Grade, ModelledTimesCountAgainstRecordedCpuTimes) {
  constexpr lab::CpuTime kRecorded[] = {{"second", "time_n8192", 1}, {"", "time_n8192", 5000}};
  FakeProblem problem;
  problem.used_manifest.cpu_times = kRecorded;
  Script script;
  const RunResult modelled = grade_fake(script, {}, problem);
  ASSERT_TRUE(modelled.labs[0].tasks[0].timing.has_value());
  EXPECT_EQ(modelled.labs[0].tasks[0].timing->cpu_us, 5000);
  EXPECT_EQ(modelled.labs[0].tasks[0].timing->baseline_runs, 0);
  EXPECT_EQ(problem.baselines, 0) << "this CPU is not timed";
  GradeOptions on_gpu;
  on_gpu.device = lab::DeviceKind::gpu;
  const RunResult measured = grade_fake(script, on_gpu, problem);
  EXPECT_GE(measured.labs[0].tasks[0].timing->baseline_runs, kBaselineRuns);
}

TEST(Grade, FailureInLaterTimingRoundCounts) {
  int n_rounds = 0;
  Script script(
      [&](const lab::Task&, const lab::Case&, const lab::Measure& measure) -> std::optional<lab::Outcome> {
        if (measure.timed_runs == 0 || ++n_rounds < 2) return std::nullopt;
        return testing::failing(Verdict::wrong_answer);
      });
  GradeOptions options;
  options.device = lab::DeviceKind::gpu;
  const RunResult result = grade_fake(script, options);
  EXPECT_EQ(n_rounds, 2);
  EXPECT_EQ(result.labs[0].tasks[0].verdict, Verdict::wrong_answer);
  EXPECT_EQ(result.labs[0].tasks[0].points, 0);
}

TEST(BaselineTimer, TimesTheSameComputationOnce) {
  const FakeProblem problem;
  BaselineTimer timer;
  const lab::Case c = problem.cases(testing::kTasks[0]).back();
  const std::vector<double> first = timer.time(problem, testing::kTasks[0], c, 1);
  EXPECT_GE(first.size(), static_cast<std::size_t>(kBaselineRuns));
  const int after_first = problem.baselines;
  const std::vector<double> shared = timer.time(problem, testing::kTasks[2], c, 1);
  EXPECT_EQ(problem.baselines, after_first + 1);
  EXPECT_EQ(shared, first);
  timer.time(problem, testing::kTasks[2], c, 1);  // known to compute the same
  EXPECT_EQ(problem.baselines, after_first + 1);
  timer.time(problem, testing::kTasks[1], c, 1);  // a task with another result
  const int after_other = problem.baselines;
  EXPECT_GT(after_other, after_first + 1 + kBaselineRuns);
  timer.time(problem, testing::kTasks[0], c, 2);  // another input
  EXPECT_GT(problem.baselines, after_other + kBaselineRuns);
}

TEST(BaselineTimer, AddsToEarlierTimes) {
  const FakeProblem problem;
  BaselineTimer timer;
  const lab::Case c = problem.cases(testing::kTasks[0]).back();
  const std::vector<double> some = timer.time(problem, testing::kTasks[0], c, 1, 2);
  const std::vector<double> more = timer.time(problem, testing::kTasks[0], c, 1, 5);
  ASSERT_LE(some.size(), more.size());
  ASSERT_GE(more.size(), 5U);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), more.begin()));
}

TEST(BaselineTimer, KeepsStableTimesForLaterRuns) {
  const FakeProblem problem;
  const std::string folder = ::testing::TempDir() + fmt::format("baselines_{}", getpid());
  const lab::Case c = problem.cases(testing::kTasks[0]).back();
  BaselineTimer timer(folder);
  const std::vector<double> first = timer.time(problem, testing::kTasks[0], c, 1);
  ASSERT_TRUE(is_stable(first));
  timer.keep();
  const int after_first = problem.baselines;
  EXPECT_EQ(BaselineTimer(folder).time(problem, testing::kTasks[0], c, 1, 100), first);
  EXPECT_EQ(problem.baselines, after_first) << "this build has seen that the task computes this";
  BaselineTimer later(folder);
  EXPECT_EQ(later.time(problem, testing::kTasks[2], c, 1), first);
  EXPECT_EQ(problem.baselines, after_first + 1) << "one run, to see what another task computes";
  later.keep();
  BaselineTimer(folder).time(problem, testing::kTasks[2], c, 1);
  EXPECT_EQ(problem.baselines, after_first + 1);
  for (const auto& file : std::filesystem::directory_iterator(folder))
    std::filesystem::permissions(file, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
  BaselineTimer(folder).time(problem, testing::kTasks[0], c, 1);
  EXPECT_GT(problem.baselines, after_first + 2) << "anybody may have written that";
  std::filesystem::remove_all(folder);
}

TEST(Baseline, UsesLowestTimeOnceThreeAgree) {
  EXPECT_EQ(lowest({}), 0);
  EXPECT_EQ(lowest({300, 100, 200}), 100);
  EXPECT_FALSE(is_stable({100, 100}));
  EXPECT_FALSE(is_stable({100, 200, 101, 150}));
  EXPECT_TRUE(is_stable({900, 1000, 2000, 1010, 900, 910, 900}));
  EXPECT_FALSE(is_stable({2000, 2000, 2000, 1000, 1010})) << "it may get lower still";
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace course::grader
