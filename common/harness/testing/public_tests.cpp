// SPDX-License-Identifier: MIT
#include "testing/public_tests.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "lab/derived_cases.hpp"
#include "testing/tried.hpp"

namespace course::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongest = 1 << 17;  // items of the cases that are tried without a kernel

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// One runner serves all tests. After a case that ends it, the next case gets a new runner.
struct Shared {
  const Problem& problem;
  Session session;
  std::uint64_t seed;
};

class CaseTest : public testing::Test {
 public:
  CaseTest(std::shared_ptr<Shared> shared, const Task& task, Case c)
      : shared_(std::move(shared)), task_(task), case_(std::move(c)) {}
  void TestBody() override {
    const Outcome outcome = shared_->session.run(shared_->problem, task_, case_, shared_->seed, {});
    if (outcome.verdict == Verdict::ok) return;
    if (outcome.verdict == Verdict::not_implemented && environment_or("LAB_UNWRITTEN", "fail") == "skip")
      GTEST_SKIP() << "not written yet";
    FAIL() << name_of(outcome.verdict) << "\n"
           << outcome.message() << (outcome.printed.empty() ? "" : "printed:\n" + outcome.printed);
  }

 private:
  std::shared_ptr<Shared> shared_;
  const Task& task_;
  Case case_;
};

// Small cases of every operator and type with every kind of items: those among which ./lab smallest looks for
// one that fails. Each must be right; the grader's small_cases_test finds each by its name.
class SmallerCasesTest : public testing::Test {
 public:
  SmallerCasesTest(std::shared_ptr<Shared> shared, const Task& task)
      : shared_(std::move(shared)), task_(task) {}
  void TestBody() override {
    constexpr std::array<std::uint64_t, 4> kLengths{0, 2, 5, 8};
    const Problem& problem = shared_->problem;
    int n_run = 0;
    for (const Case& variant : variants(problem, task_)) {
      for (const Case& c : smaller_cases(problem, task_, variant)) {
        if (std::find(kLengths.begin(), kLengths.end(), c.n) == kLengths.end()) continue;
        const Outcome outcome = shared_->session.run(problem, task_, c, shared_->seed, {});
        if (outcome.verdict == Verdict::not_implemented && environment_or("LAB_UNWRITTEN", "fail") == "skip")
          GTEST_SKIP() << "not written yet";
        EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
        ++n_run;
      }
    }
    EXPECT_GE(n_run, 4) << "one length with four kinds of items";
  }

 private:
  std::shared_ptr<Shared> shared_;
  const Task& task_;
};

// --- What the cases and baselines of every lab must do. No kernel runs.

class ProblemTest : public testing::Test {
 public:
  ProblemTest(const Problem& problem, void (*body)(const Problem&)) : problem_(problem), body_(body) {}
  void TestBody() override { body_(problem_); }

 private:
  const Problem& problem_;
  void (*body_)(const Problem&);
};

void check_names_of_cases(const Problem& problem) {
  for (const auto& tasks : {problem.manifest().tasks, problem.manifest().further_rungs}) {
    for (const Task& task : tasks) {
      std::set<std::string> names;
      for (const Case& c : problem.cases(task)) {
        EXPECT_TRUE(names.insert(c.name).second) << task.id << " has " << c.name << " twice";
        EXPECT_EQ(c.misalign % bytes_of(c.dtype), 0u) << task.id << " " << c.name;
      }
      EXPECT_FALSE(names.empty()) << task.id;
    }
  }
}

// Of each task's first case with many random items.
void check_seeds(const Problem& problem) {
  for (const Task& task : problem.manifest().tasks) {
    const auto cases = problem.cases(task);
    const auto c = std::find_if(cases.begin(), cases.end(), [](const Case& one) {
      return one.pattern == Pattern::random && one.n >= 1000 && one.n <= kLongest;
    });
    if (c == cases.end()) continue;
    const auto once = inputs_of(problem, task, *c, 5), again = inputs_of(problem, task, *c, 5),
               other = inputs_of(problem, task, *c, 6);
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].bytes, again[i].bytes) << c->name;
      if (once[i].spec.count >= 100) {
        EXPECT_NE(once[i].bytes, other[i].bytes) << c->name;
      }
    }
  }
}

void check_baselines(const Problem& problem) {
  for (const Task& task : problem.manifest().tasks) {
    for (const Case& c : problem.cases(task)) {
      if (c.n > kLongest || problem.refuses(task, c)) continue;
      const Tried t = tried(problem, task, c, 1);
      const auto mismatch = problem.check(task, c, t.inputs, t.outputs);
      EXPECT_FALSE(mismatch) << task.id << " " << c.name << ": " << mismatch->hint();
    }
  }
}

}  // namespace

DeviceKind device_for_tests() {
  return environment_or("LAB_DEVICE", "sim") == "gpu" ? DeviceKind::gpu : DeviceKind::sim;
}

SessionOptions session_options_for_tests(const Manifest& manifest, DeviceKind device) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  SessionOptions options;
  options.runner = environment_or("RUNNER", here / ("runner_" + std::string(manifest.id)));
  options.device = device;
  options.of_the_course = environment_or("LAB_RUNGS", "") == "1";
  options.rerun_flags = device == DeviceKind::gpu ? "--device gpu" : "--device sim";
  // The test is in build/labs/, the libraries are in build/common/harness/remote/.
  if (device == DeviceKind::sim) {
    options.simulator_dir = (here / "../common/harness/remote").lexically_normal();
    options.device_program = options.simulator_dir + "/simulated_device";
  }
  options.seconds_per_case = 60;
  return options;
}

int run_public_tests(int argc, char** argv, const Problem& problem) {
  testing::InitGoogleTest(&argc, argv);
  const Manifest& manifest = problem.manifest();
  const auto shared =
      std::make_shared<Shared>(problem, Session(session_options_for_tests(manifest, device_for_tests())),
                               std::strtoull(environment_or("LAB_SEED", "1").c_str(), nullptr, 10));
  const std::uint64_t every =
      std::max(std::strtoull(environment_or("LAB_EVERY", "1").c_str(), nullptr, 10), 1ull);
  const auto add_all = [&](std::span<const Task> tasks) {
    for (const Task& task : tasks) {
      testing::RegisterTest(
          std::string(task.id).c_str(), "smaller_cases", nullptr, nullptr, __FILE__, __LINE__,
          [shared, &task]() -> testing::Test* { return new SmallerCasesTest(shared, task); });
      std::uint64_t number = 0;
      for (const Case& c : problem.cases(task)) {
        if (number++ % every != 0) continue;
        testing::RegisterTest(
            std::string(task.id).c_str(), c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [shared, &task, c]() -> testing::Test* { return new CaseTest(shared, task, c); });
      }
    }
  };
  const auto add = [&](const char* suite, const char* name, void (*body)(const Problem&)) {
    testing::RegisterTest(suite, name, nullptr, nullptr, __FILE__, __LINE__,
                          [&problem, body]() -> testing::Test* { return new ProblemTest(problem, body); });
  };
  add("AllCases", "have_names_of_their_own", check_names_of_cases);
  add("AllCases", "have_the_same_inputs_for_the_same_seed_only", check_seeds);
  add("AllBaselines", "are_accepted_by_the_check", check_baselines);
  add_all(manifest.tasks);
  if (environment_or("LAB_RUNGS", "0") == "1") add_all(manifest.further_rungs);

  const int failed = RUN_ALL_TESTS();
  const auto& all = *testing::UnitTest::GetInstance();
  if (failed == 0 && !testing::GTEST_FLAG(list_tests) && all.successful_test_count() == 0) {
    std::fputs(all.test_to_run_count() == 0 ? "No test ran: does the filter name a task and a case?\n"
                                            : "All tests were skipped.\n",
               stderr);
    return 1;
  }
  return failed;
}

}  // namespace course::lab
