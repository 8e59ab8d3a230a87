// SPDX-License-Identifier: MIT
// The lab's public tests. Run them on your kernels with
//   build/labs/first_steps_test --gtest_filter='index.*'
// Each task is a suite, each case a test. The tests below need no kernel: they test the lab's own answers.
#include <gtest/gtest.h>

#include <vector>

#include "first_steps/baseline.hpp"
#include "first_steps/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::first_steps {

const lab::Problem& problem();

namespace {

TEST(Baseline, GivesTheAnswersOfTheHandout) {
  const std::vector<int> items{3, 1, 7, 0, 4, 1, 6, 3};
  const std::vector<std::vector<int>> answers{
      {3, 1, 7, 0, 4, 1, 6, 3},
      {6, 2, 14, 0, 8, 2, 12, 6},
      {9, 1, 49, 0, 16, 1, 36, 9},
      {3, 6, 1, 4, 0, 7, 1, 3},
      {3},
  };
  for (std::size_t k = 0; k < answers.size(); ++k) {
    std::vector<int> out(answers[k].size());
    answer(static_cast<Rung>(k), items, out);
    EXPECT_EQ(out, answers[k]) << kTasks[k].id;
  }
}

TEST(Check, DetectsOneWrongItemInEveryCase) {
  for (const lab::Task& task : kTasks) {
    for (const lab::Case& c : problem().cases(task)) {
      lab::Tried t = lab::tried(problem(), task, c, 1);
      EXPECT_FALSE(problem().check(task, c, t.inputs, t.outputs)) << task.id << " " << c.name;
      t.output<int>().back() ^= 1;
      const auto mismatch = problem().check(task, c, t.inputs, t.outputs);
      ASSERT_TRUE(mismatch) << task.id << " " << c.name;
      EXPECT_EQ(mismatch->n_wrong, 1u);
    }
  }
}

TEST(Cases, OfKernelsWithoutAGuardFillTheirBlocks) {
  for (const std::size_t k : {0u, 3u})
    for (std::uint64_t n = 0; n < 20; ++n)
      EXPECT_EQ(
          problem().with_items(kTasks[k], problem().cases(kTasks[k])[0], n, lab::Pattern::random)->n % kBlock,
          0u);
}

}  // namespace
}  // namespace course::first_steps

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::first_steps::problem());
}
