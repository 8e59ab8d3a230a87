// SPDX-License-Identifier: MIT
// The small cases of all labs (lab/smaller.hpp), without a submission: each can be filled, has a right answer
// that the lab's check accepts, and is found by its name.
#include <gtest/gtest.h>

#include "lab/smaller.hpp"
#include "registry.hpp"
#include "testing/tried.hpp"

namespace course::lab {
namespace {

constexpr std::uint64_t kMostItems = 33;

TEST(SmallCasesOfAllLabs, HaveRightAnswersAndAreFoundByName) {
  ASSERT_FALSE(all_problems().empty());
  for (const Problem* problem : all_problems()) {
    int n_tried = 0;
    for (const Task& task : problem->manifest().tasks) {
      for (const Case& variant : variants(*problem, task)) {
        for (const Case& c : smaller_cases(*problem, task, variant)) {
          if (c.n > kMostItems) break;
          const Tried t = tried(*problem, task, c);
          EXPECT_FALSE(problem->check(task, c, t.inputs, t.outputs)) << task.id << " " << c.name;
          ++n_tried;
          if (c.n > 2) continue;
          const auto found = find_case(*problem, task, c.name);
          EXPECT_TRUE(found && found->n == c.n && found->op == c.op && found->dtype == c.dtype) << c.name;
        }
      }
    }
    EXPECT_GT(n_tried, 100) << problem->manifest().id;
  }
}

}  // namespace
}  // namespace course::lab
