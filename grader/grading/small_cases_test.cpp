// SPDX-License-Identifier: MIT
// The cases of all labs, without a submission. The small ones (lab/smaller.hpp) can be filled, have a right
// answer that the lab's check accepts, and are found by their names.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "lab/poison.hpp"
#include "lab/smaller.hpp"
#include "registry.hpp"

namespace course::lab {
namespace {

constexpr std::uint64_t kMaxItems = 33;

TEST(SmallCasesOfAllLabs, HaveRightAnswersAndAreFoundByName) {
  ASSERT_FALSE(all_problems().empty());
  for (const Problem* problem : all_problems()) {
    int n_tried = 0;
    for (const Task& task : problem->manifest().tasks) {
      for (const Case& variant : variants(*problem, task)) {
        for (const Case& c : smaller_cases(*problem, task, variant)) {
          if (c.n > kMaxItems) break;
          const std::vector<HostBuffer> inputs = inputs_of(*problem, task, c, 1);
          std::vector<HostBuffer> outputs = buffers_of(problem->shape(task, c).outputs, kPoison);
          problem->baseline(task, c, inputs, outputs, Baseline::one_thread);
          EXPECT_FALSE(problem->check(task, c, inputs, outputs)) << task.id << " " << c.name;
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

TEST(DrawnCasesOfAllLabs, HaveRightAnswersAndAreFoundByName) {
  for (const Problem* problem : all_problems()) {
    std::set<std::uint64_t> lengths;
    for (const Task& task : problem->manifest().tasks) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const Case& c : drawn_cases(*problem, task, seed)) {
          lengths.insert(c.n);
          const auto found = find_case(*problem, task, c.name);
          EXPECT_TRUE(found && found->n == c.n && found->params == c.params) << task.id << " " << c.name;
          if (seed > 1) continue;  // references take time
          const std::vector<HostBuffer> inputs = inputs_of(*problem, task, c, 1);
          std::vector<HostBuffer> outputs = buffers_of(problem->shape(task, c).outputs, kPoison);
          problem->baseline(task, c, inputs, outputs, Baseline::one_thread);
          EXPECT_FALSE(problem->check(task, c, inputs, outputs)) << task.id << " " << c.name;
        }
      }
    }
    EXPECT_GT(lengths.size(), 50U) << problem->manifest().id;
  }
}

// A program may load 16 bytes at a time for one type of items, and take more care for another one.
TEST(CasesOfAllLabs, HaveUnalignedItemsOfEachType) {
  constexpr std::uint32_t kVector = 16;
  for (const Problem* problem : all_problems()) {
    if (problem->manifest().most_devices > 1) continue;  // a block of another device starts anywhere
    for (const Task& task : problem->manifest().tasks) {
      std::set<DType> used, unaligned;
      for (const Case& c : problem->cases(task)) {
        used.insert(c.dtype);
        if (c.misalign % kVector != 0 && c.n * bytes_of(c.dtype) > kVector) unaligned.insert(c.dtype);
      }
      for (const DType dtype : used)
        EXPECT_TRUE(unaligned.contains(dtype))
            << problem->manifest().id << " " << task.id << " " << name_of(dtype);
    }
  }
}

}  // namespace
}  // namespace course::lab
