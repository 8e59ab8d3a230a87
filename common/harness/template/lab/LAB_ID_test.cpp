// SPDX-License-Identifier: MIT
// The lab's public tests. Run them on your kernels with
//   build/labs/LAB_ID_test --gtest_filter='TASK.*'
// Each task is a suite, each case a test. The tests below need no kernel: they test the lab's own checks.

#include "LAB_ID/lab.hpp"
#include "LAB_ID/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::LAB_ID {

const lab::Problem& problem();

namespace {

TEST(Check, DetectsOneWrongItem) {
  lab::Tried t = lab::tried(problem(), kTasks[0], "i32_n300_random");
  t.output<std::int32_t>()[256] ^= 1;
  const auto mismatch = problem().check(kTasks[0], t.c, t.inputs, t.outputs);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 256u);
}

}  // namespace
}  // namespace course::LAB_ID

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::LAB_ID::problem());
}
