// SPDX-License-Identifier: MIT
#include "testing/submission.hpp"

#include <gtest/gtest.h>

namespace course::grader::testing {
namespace {

TEST(Submission, HeadersStateTheExpectedResult) {
  auto parsed = parse_submission(
      "// SPDX-License-Identifier: MIT\n// about: No barrier.\n// task: sequential\n// verdict: "
      "WRONG_ANSWER\n"
      "// checker: racecheck\n// says: race\n// says: s_data\n\n// task: later\n",
      "missing_barrier");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->about, "No barrier.");
  ASSERT_EQ(parsed->expected.size(), 1U);
  EXPECT_EQ(parsed->expected[0].task, "sequential");
  EXPECT_EQ(parsed->expected[0].verdict, lab::Verdict::wrong_answer);
  EXPECT_EQ(parsed->expected[0].checker, "racecheck");
  EXPECT_EQ(parsed->expected[0].says, (std::vector<std::string>{"race", "s_data"}));
}

TEST(Submission, HeadersMayCoverSeveralTasks) {
  auto parsed = parse_submission(
      "// about: Leaves.\n// expect: first CRASH ended the program\n// expect: second OK\nint x;\n",
      "leaves");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->expected.size(), 2U);
  EXPECT_EQ(parsed->expected[0].says, (std::vector<std::string>{"ended the program"}));
  EXPECT_EQ(parsed->expected[1].verdict, lab::Verdict::ok);
  EXPECT_TRUE(parsed->expected[1].says.empty());
}

// An empty header would make a test that cannot fail.
TEST(Submission, RefusesEmptyOrMisspeltHeaders) {
  EXPECT_FALSE(parse_submission("", "x"));
  EXPECT_FALSE(parse_submission("// about: a\n", "x"));
  EXPECT_FALSE(parse_submission("// about: a\n// task: t\n", "x"));
  EXPECT_FALSE(parse_submission("// about: a\n// task: t\n// verdict: WRONG\n", "x"));
  EXPECT_FALSE(parse_submission("// about: a\n// expect: t\n", "x"));
  EXPECT_FALSE(parse_submission("// about: a\n// expect: t OK\n// misses: u active_lanes\n", "x"));
}

}  // namespace
}  // namespace course::grader::testing
