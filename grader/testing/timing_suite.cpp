// SPDX-License-Identifier: MIT
// Submissions that manipulate time measurement on a GPU: the grader's clock for each, compared with an
// ordinary solution.
//   timing_suite RUNS LAB NAME FILE RUNNER [LAB NAME FILE RUNNER …]
// Without LAB_DEVICE=gpu every test is skipped. Verdicts are checked; times are only printed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "grading/baseline.hpp"
#include "registry.hpp"
#include "testing/files.hpp"
#include "testing/submission.hpp"

namespace course::grader::testing {
namespace {

struct Given {
  std::string lab, name, file, runner;
};
int n_runs = 15;
std::string table;

class Timed : public ::testing::Test {
 public:
  explicit Timed(Given given) : given_(std::move(given)) {}
  void TestBody() override {
    const auto submission = parse_submission(contents(given_.file), given_.name);
    ASSERT_TRUE(submission) << submission.error().text;
    // If the objects still exist.
    if (const std::string folder = given_.runner + ".p"; std::filesystem::is_directory(folder))
      expect_screened(*submission, folder, given_.lab, false);
    const char* device = std::getenv("LAB_DEVICE");
    if (device == nullptr || std::string(device) != "gpu") GTEST_SKIP() << "needs a GPU: LAB_DEVICE=gpu";
    const Expectation& expected = submission->expected.at(0);
    const auto problems = lab::all_problems();
    const auto found =
        std::ranges::find(problems, given_.lab, [](const auto* one) { return one->manifest().id; });
    ASSERT_NE(found, problems.end()) << given_.lab;
    const lab::Problem& problem = **found;
    const lab::Task* task = lab::find_task(problem.manifest(), expected.task);
    ASSERT_NE(task, nullptr);
    lab::SessionOptions options;
    options.runner = std::filesystem::absolute(given_.runner).string();
    options.device = lab::DeviceKind::gpu;
    if (const char* libraries = std::getenv("LAB_TOOLKIT_LIB")) options.toolkit_lib_dir = libraries;
    options.seconds_per_case = 15;
    for (const lab::Case& c : problem.cases(*task)) {
      if ((c.purpose & lab::kSpeedup) == 0) continue;
      lab::Session session(options);
      lab::Measure measure;
      measure.timed_runs = n_runs;
      const lab::Outcome outcome = session.run(problem, *task, c, 0x5eed, measure);
      EXPECT_EQ(lab::name_of(outcome.verdict), lab::name_of(expected.verdict)) << outcome.message();
      for (const std::string& words : expected.says)
        EXPECT_NE(outcome.message().find(words), std::string::npos) << words << "\n" << outcome.message();
      table += fmt::format("| `{}` | {} | {} | {:.1f} ± {:.1f} | {:.1f} | {:.1f} |\n", given_.name, c.name,
                           lab::name_of(outcome.verdict), median(outcome.times_us), spread(outcome.times_us),
                           median(outcome.clock_us), median(outcome.events_us));
    }
  }

 private:
  const Given given_;
};

}  // namespace
}  // namespace course::grader::testing

int main(int argc, char** argv) {
  using namespace course::grader::testing;
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 6 || (argc - 2) % 4 != 0) {
    std::fputs("timing_suite RUNS LAB NAME FILE RUNNER [LAB NAME FILE RUNNER …]\n", stderr);
    return 2;
  }
  n_runs = std::max(1, std::atoi(argv[1]));
  for (int i = 2; i < argc; i += 4) {
    const Given given{argv[i], argv[i + 1], argv[i + 2], argv[i + 3]};
    ::testing::RegisterTest("timing", given.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [given]() -> Timed* { return new Timed(given); });
  }
  const int failed = RUN_ALL_TESTS();
  if (!table.empty())
    fmt::print(
        "| submission | case | verdict | time, us | the grader's clock, us | its events, us "
        "|\n|---|---|---|---|---|---|\n{}",
        table);
  return failed;
}
