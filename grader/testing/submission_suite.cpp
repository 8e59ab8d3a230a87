// SPDX-License-Identifier: MIT
// Grades submissions on the simulator and compares the verdict and the reason with the header of each file.
//   submission_suite LAB NAME FILE RUNNER OBJECTS [LAB NAME FILE RUNNER OBJECTS …]
// Each submission is one test. It is screened (the only object in the folder OBJECTS), then run whatever the
// result of screening, and must leave nothing behind.
// SUBMISSION_SEED=n with --gtest_filter='*right_*' grades correct submissions with other inputs and
// schedules.
// Reading order: main, Graded::TestBody.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "grading/collect.hpp"
#include "grading/grade.hpp"
#include "grading/scoring/metrics.hpp"
#include "grading/session_runner.hpp"
#include "lab/diagnosis.hpp"
#include "registry.hpp"
#include "report/edition.hpp"
#include "report/report_file.hpp"
#include "testing/files.hpp"
#include "testing/submission.hpp"
#include "text.hpp"

namespace course::grader::testing {
namespace {

// Enough for a correct kernel on a busy machine. Each kernel that hangs takes this long.
constexpr double kSeconds = 20;  // CPU seconds per case

struct Given {
  std::string lab, name, file, runner, objects;
};

const lab::Problem* problem_named(const std::string& id) {
  for (const lab::Problem* problem : lab::all_problems()) {
    if (problem->manifest().id == id) return problem;
  }
  return nullptr;
}

class Graded : public ::testing::Test {
 public:
  explicit Graded(Given given) : given_(std::move(given)) {}

  void TestBody() override {
    auto submission = parse_submission(contents(given_.file), given_.name);
    ASSERT_TRUE(submission) << submission.error().text;
    const lab::Problem* problem = problem_named(given_.lab);
    ASSERT_NE(problem, nullptr) << given_.lab;
    const Result<Layout> layout = find_layout();
    ASSERT_TRUE(layout) << layout.error().text;
    if (const std::string lacking = lacks(isolation_here(*layout), submission->needs); !lacking.empty())
      GTEST_SKIP() << lacking;
    EXPECT_EQ(expect_screened(*submission, given_.objects, given_.lab, problem->manifest().most_devices > 1),
              1);
    for (const Expectation& expected : submission->expected) {
      SCOPED_TRACE(given_.file + ", task " + expected.task);
      const TaskResult result = grade_task(*problem, *layout, expected.task);
      compare(*submission, expected, result);
      if (!expected.checker.empty() && !result.cases.empty()) prove(*problem, *layout, expected, result);
    }
    Traces after = traces();
    // Killed processes may take a moment to disappear.
    for (int tries = 0; tries < 50 && !after.processes.empty(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      after = traces();
    }
    EXPECT_EQ(after.processes, std::vector<std::string>{}) << "still running";
    EXPECT_EQ(after.files, std::vector<std::string>{}) << "left behind";
    EXPECT_EQ(after.cgroups, std::vector<std::string>{}) << "left behind";
    EXPECT_EQ(after.mounts, std::vector<std::string>{}) << "left behind";
  }

 private:
  static std::string lacks(const sandbox::Machine& machine, const std::string& needed) {
    const bool has = needed.empty() || (needed == "filter" && machine.filter) ||
                     (needed == "namespaces" && machine.namespaces != sandbox::Namespaces::none) ||
                     (needed == "cgroup" && machine.cgroup_version > 0);
    return has ? "" : fmt::format("needs {}, and here is only {}", needed, fmt::join(machine.parts(), ", "));
  }

  // What a submission may have left on this machine. Other graders may run at the same time, so only traces
  // of this process count: as root they are recognised by the user ids of its sandboxes, otherwise by the
  // program and the user.
  struct Traces {
    std::vector<std::string> processes, files, cgroups, mounts;
  };
  Traces traces() const {
    namespace fs = std::filesystem;
    Traces found;
    std::error_code ignored;
    const bool root = geteuid() == 0;
    const auto is_ours = [&](const fs::path& path) {
      struct stat status {};
      if (lstat(path.c_str(), &status) != 0) return false;
      return root ? sandbox::is_uid_of_this_process(status.st_uid) : status.st_uid == geteuid();
    };
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      std::error_code gone;
      const bool is_runner = fs::read_symlink(entry.path() / "exe", gone) == given_.runner && !gone;
      if ((root || is_runner) && is_ours(entry.path())) found.processes.push_back(entry.path().string());
    }
    for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "."}) {
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if ((root || name == "flood" || name == "for_the_next") && is_ours(entry.path()))
          found.files.push_back(entry.path().string());
      }
    }
    for (const std::string& folder : sandbox::cgroups_of_this_process()) found.cgroups.push_back(folder);
    // The mounts of a sandbox contain the program's path or bubblewrap's new root.
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
      if (line.find("newroot") != std::string::npos || line.find(given_.runner) != std::string::npos)
        found.mounts.push_back(line);
    }
    return found;
  }

  // Grades all tasks of the submission once, in the manifest's order, so that they share runners as in a real
  // run.
  const TaskResult& grade_task(const lab::Problem& problem, const Layout& layout, const std::string& task) {
    if (!graded_) {
      GradeOptions options;
      options.seed = seed();
      auto submission = parse_submission(contents(given_.file), given_.name);
      options.jobs = submission->jobs;
      if (submission->expected.size() == 1) options.only_task = task;
      Progress silent(Progress::Form::silent);
      const RunContext context{given_.lab, seed(), false, lab::DeviceKind::sim, false};
      const RunnerFactory factory = [&](const lab::Problem&, lab::DeviceKind device) {
        return session_runner(layout, given_.runner, device, context, kSeconds, bounds());
      };
      graded_ = grade({{&problem, lab::Verdict::ok, ""}}, options, factory, silent);
    }
    const auto& tasks = graded_->labs.at(0).tasks;
    const auto found =
        std::find_if(tasks.begin(), tasks.end(), [&](const TaskResult& one) { return one.id == task; });
    if (found != tasks.end()) return *found;
    ADD_FAILURE() << "the lab has no task " << task;
    static const TaskResult kNone;
    return kNone;
  }

  void compare(const Submission& submission, const Expectation& expected, const TaskResult& result) {
    if (expected.verdict == lab::Verdict::ok && submission.name.starts_with("right_"))
      expect_goals(submission, result);
    const int points = expected.verdict == lab::Verdict::ok ? result.max_correctness_points : 0;
    const bool as_expected = result.verdict == expected.verdict && result.correctness_points == points &&
                             (points > 0 || result.points == 0);
    EXPECT_TRUE(as_expected) << "expected " << lab::name_of(expected.verdict) << ", got "
                             << lab::name_of(result.verdict) << " with " << result.points << " points\n"
                             << result.message;
    EXPECT_EQ(result.message, tame(result.message)) << "people read this";
    expect_no_values(result);
    for (const std::string& words : expected.says) {
      const bool said = result.message.find(words) != std::string::npos;
      EXPECT_TRUE(said) << "not said: " << words << "\n" << result.message;
    }
    if (!expected.reasons.empty()) expect_true_reasons(expected, result);
  }

  // A reason that is false for this mistake must not be shown. (No reason may be.)
  static void expect_true_reasons(const Expectation& expected, const TaskResult& result) {
    const CaseRecord* record = deciding_record(result.cases);
    if (record == nullptr || !record->failure) return;
    const auto expect_true = [&](const std::string& reason) {
      EXPECT_NE(std::ranges::find(expected.reasons, reason), expected.reasons.end())
          << reason << " is no reason that is true for this mistake\n"
          << result.message;
    };
    const lab::Failure& failure = *record->failure;
    if (!failure.findings.empty())
      return expect_true(fmt::format("{}:{}", failure.findings[0].checker, failure.findings[0].kind));
    const bool signs = lab::describe_causes(failure.diagnosis.causes).empty() ||
                       std::ranges::all_of(failure.diagnosis.causes, &lab::Cause::is_sign);
    for (const lab::Cause& cause : failure.diagnosis.causes)
      if (cause.is_sign == signs && !cause.rule.empty())
        expect_true(cause.rule.substr(0, cause.rule.find(' ')));
  }

  // The students' edition shows neither the values of the first wrong element nor the seed.
  void expect_no_values(const TaskResult& result) const {
    RunResult run = *graded_;
    run.seed = seed();
    run.labs[0].tasks = {result};
    const std::string report = json_text(for_students(run));
    EXPECT_EQ(report.find("--seed"), std::string::npos) << report;
    for (const CaseRecord& record : result.cases) {
      if (!record.failure || !record.failure->mismatch) continue;
      for (const std::string& value : {record.failure->mismatch->expected, record.failure->mismatch->got})
        EXPECT_TRUE(value.size() < 7 || report.find(value) == std::string::npos) << value << "\n" << report;
    }
  }

  // A right program in another style meets each goal, unless its header says that it is an earlier rung.
  static void expect_goals(const Submission& submission, const TaskResult& result) {
    for (const GoalScore& goal : result.goals) {
      const bool missed = std::ranges::any_of(submission.missed, [&](const MissedGoal& one) {
        return one.task == result.id && one.metric == lab::name_of(goal.metric);
      });
      EXPECT_EQ(goal.points, missed ? 0 : goal.max_points)
          << lab::name_of(goal.metric) << " is " << goal.measured.value_or(-1) << ", limit " << goal.limit;
    }
  }

  // The cause must come from the checker in the header, in the same case that the grader reports.
  void prove(const lab::Problem& problem, const Layout& layout, const Expectation& expected,
             const TaskResult& result) {
    const CaseRecord* record = deciding_record(result.cases);
    ASSERT_NE(record, nullptr);
    const lab::Task* task = lab::find_task(problem.manifest(), expected.task);
    ASSERT_NE(task, nullptr);
    const std::vector<lab::Case> cases = problem.cases(*task);
    const auto c = std::find_if(cases.begin(), cases.end(),
                                [&](const lab::Case& one) { return one.name == record->name; });
    ASSERT_NE(c, cases.end());
    const RunContext context{given_.lab, seed(), false, lab::DeviceKind::sim, false};
    const auto runner =
        session_runner(layout, given_.runner, lab::DeviceKind::sim, context, kSeconds, bounds());
    lab::Measure checks;
    checks.checks = true;
    const lab::Outcome outcome =
        runner->run(problem, *task, *c, context.seed_of(record->stage, expected.task, c->name), checks);
    const lab::SimReport report = lab::read_sim_report(outcome.sim_report);
    ASSERT_FALSE(report.findings.empty()) << "no finding at all in " << record->name;
    EXPECT_EQ(report.findings[0].checker, expected.checker) << lab::one_line(report.findings[0]);
  }

  // Limits the memory, to protect the machine that runs the tests.
  static sandbox::Bounds bounds() {
    sandbox::Bounds small;
    small.memory_bytes = std::uint64_t{2} << 30;
    return small;
  }

  // The seed of the run, or SUBMISSION_SEED.
  static std::uint64_t seed() {
    const char* given = std::getenv("SUBMISSION_SEED");
    return given == nullptr ? 0x5eed : std::strtoull(given, nullptr, 0);
  }
  const Given given_;
  std::optional<RunResult> graded_;
};

}  // namespace
}  // namespace course::grader::testing

int main(int argc, char** argv) {
  using namespace course::grader;
  using namespace course::grader::testing;
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 6 || (argc - 1) % 5 != 0) {
    std::fputs("submission_suite LAB NAME FILE RUNNER OBJECTS [LAB NAME FILE RUNNER OBJECTS …]\n", stderr);
    return 2;
  }
  for (int i = 1; i < argc; i += 5) {
    const Given given{argv[i], argv[i + 1], argv[i + 2], std::filesystem::absolute(argv[i + 3]).string(),
                      argv[i + 4]};
    ::testing::RegisterTest(given.lab.c_str(), given.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [given]() -> Graded* { return new Graded(given); });
  }
  return RUN_ALL_TESTS();
}
