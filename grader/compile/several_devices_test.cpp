// SPDX-License-Identifier: MIT
// A student's file for several devices on the grader's whole way: compiled by nvcc in the sandbox, screened,
// linked with libnccl, and run in a sandbox beside the devices' process.
#include <gmock/gmock.h>

#include "compile/compile_file.hpp"
#include "grading/session_runner.hpp"
#include "remote/testing/problem.hpp"
#include "testing/files.hpp"

namespace course::grader {
namespace {

using several::How;
using ::testing::HasSubstr;

class SeveralDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto layout = find_layout();
    ASSERT_TRUE(layout) << layout.error().text;
    layout_ = *layout;
    source_ = testing::contents(layout_.root + "/common/harness/remote/testing/several.cu");
    ASSERT_FALSE(source_.empty());
  }

  BuildOutcome compile() {
    std::ofstream(work_ + "/handed_in.cu") << source_;
    auto recipe = recipe_for(layout_, "several");
    if (!recipe) return {lab::Verdict::infra, recipe.error().text};
    recipe->headers.push_back(layout_.root + "/common/harness/remote/testing/several.hpp");
    BuildOptions options;
    options.machine = &isolation_here(layout_);
    return compile_file(layout_, *recipe, "several", work_ + "/handed_in.cu", work_ + "/made", options);
  }

  Layout layout_;
  const testing::Folder own_;
  const std::string& work_ = own_.path;
  std::string source_;
};

TEST_F(SeveralDevices, AreGraded) {
  const BuildOutcome built = compile();
  ASSERT_EQ(built.verdict, lab::Verdict::ok) << built.message;
  const auto runner =
      session_runner(layout_, work_ + "/made/runner", lab::DeviceKind::sim, RunContext{.lab = "several"});
  const several::Sums problem;
  const auto run = [&](How how, int n_devices) {
    return runner->run(problem, several::kTasks[0], several::make(how, n_devices, 100), 1,
                       {.checks = true, .only_verdict = true});
  };
  for (const int n_devices : {1, 2, 3, 4, 8}) {
    const lab::Outcome outcome = run(How::reduced, n_devices);
    EXPECT_EQ(outcome.verdict, lab::Verdict::ok) << outcome.message() << outcome.printed;
  }
  const lab::Outcome missing = run(How::rank_is_missing, 3);
  EXPECT_EQ(missing.verdict, lab::Verdict::time_limit) << missing.message();
  EXPECT_THAT(missing.message(), HasSubstr("rank 0 waits in ncclAllReduce(count 1, uint64, sum) at "));
  EXPECT_THAT(missing.message(), HasSubstr("several.cu:"));
  EXPECT_THAT(missing.message(), HasSubstr("rank 2 has made no call"));
}

TEST_F(SeveralDevices, MayNotMakeCommunicators) {
  source_ +=
      "namespace course::several { ncclComm_t comm() { ncclComm_t c; ncclCommInitAll(&c, 1, nullptr); "
      "return c; } }\n";
  const BuildOutcome built = compile();
  EXPECT_EQ(built.verdict, lab::Verdict::policy) << built.message;
  EXPECT_THAT(built.message, HasSubstr("ncclCommInitAll"));
}

}  // namespace
}  // namespace course::grader
