// SPDX-License-Identifier: MIT
#include "bench/sandboxed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compile/session_runner.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

Result<std::string> shell(const std::string& script) {
  const char* enter = std::getenv("SANDBOX_ENTER");
  EXPECT_NE(enter, nullptr);
  const Layout layout{"/nowhere", std::filesystem::path(enter).parent_path().parent_path().string(), ""};
  ProcessOptions how;
  how.seconds = 20;
  // $2 is the file name after --json.
  return run_sandboxed(layout, {"/bin/sh", "-c", script, "sh"}, lab::DeviceKind::sim, "/usr/lib", how);
}

TEST(Sandboxed, ReturnsTheProgramsResults) {
  const auto text = shell("echo '{\"of\": 1}' > \"$2\"");
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_EQ(*text, "{\"of\": 1}\n");
}

TEST(Sandboxed, GivesNoAccessToOtherFiles) {
  const Layout layout{
      "/nowhere", std::filesystem::path(std::getenv("SANDBOX_ENTER")).parent_path().parent_path().string(),
      ""};
  if (isolation_here(layout).level < sandbox::Isolation::namespaces) GTEST_SKIP() << "no namespaces here";
  const std::string file = "/tmp/sandboxed_test." + std::to_string(getpid());
  const auto text = shell("echo owned > " + file + "; echo {} > \"$2\"");
  EXPECT_TRUE(text) << text.error().text;
  EXPECT_FALSE(std::filesystem::exists(file));
  std::filesystem::remove(file);
}

TEST(Sandboxed, ReportsHowTheProgramFailed) {
  const auto text = shell("echo no memory; exit 3");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text, HasSubstr("code 3"));
  EXPECT_THAT(text.error().text, HasSubstr("no memory"));
  const auto nothing = shell(":");
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, "");
}

}  // namespace
}  // namespace course::grader
