// SPDX-License-Identifier: MIT
// Running programs to their end, and writing report files atomically.
#include "process.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>

#include "report/report_file.hpp"
#include "testing/files.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

TEST(Process, ReturnsExitCodeAndBothStreams) {
  auto done = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_THAT(done->output, HasSubstr("out\n"));
  EXPECT_THAT(done->output, HasSubstr("err\n"));
  EXPECT_FALSE(done->timed_out);
}

TEST(Process, ReportsMissingPrograms) {
  const auto done = run_process({"no-such-program-here"});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("no-such-program-here could not be started: No such file"));
}

TEST(Process, KillsTheProcessGroupAtTheTimeLimit) {
  ProcessOptions options;
  options.seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  auto done = run_process({"sh", "-c", "sleep 30 & sleep 30"}, options);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Process, LimitsTheOutputKept) {
  ProcessOptions options;
  options.max_output = 1000;
  auto done = run_process({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; exit 5"}, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output.size(), 1000U);
  EXPECT_EQ(done->exit_code, 5);  // the program was not blocked by a full pipe
}

TEST(Process, OverridesEnvironmentVariables) {
  ProcessOptions options;
  options.environment = {"HOME=/nowhere", "GRADER_TEST=yes"};
  auto done = run_process({"sh", "-c", "echo $HOME $GRADER_TEST $PATH"}, options);
  ASSERT_TRUE(done);
  EXPECT_THAT(done->output, HasSubstr("/nowhere yes /"));
}

class ReportFile : public ::testing::Test {
 protected:
  const testing::Folder own_;
  const std::string& folder_ = own_.path;
};

TEST_F(ReportFile, ReplacesFilesAtomically) {
  const std::string path = folder_ + "/out.json";
  ASSERT_TRUE(write_report(path, "a long first version"));
  ASSERT_TRUE(write_report(path, "second"));
  EXPECT_EQ(testing::contents(path), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // no temporary file is left
}

TEST_F(ReportFile, ReportsUnwritableFilesEarly) {
  EXPECT_TRUE(check_writable(""));
  EXPECT_TRUE(check_writable("-"));
  EXPECT_TRUE(check_writable(folder_ + "/new.json"));
  EXPECT_THAT(check_writable(folder_).error().text, HasSubstr("is a folder"));
  EXPECT_THAT(check_writable(folder_ + "/no/out.json").error().text, HasSubstr("there is no folder"));
  EXPECT_FALSE(write_report(folder_ + "/no/out.json", "x"));
}

}  // namespace
}  // namespace course::grader
