// SPDX-License-Identifier: MIT
// The cases of all labs, without a submission. The small ones (lab/derived_cases.hpp) can be filled, have a
// right answer that the lab's check accepts, and are found by their names.
#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/derived_cases.hpp"
#include "lab/poison.hpp"
#include "registry.hpp"

namespace course::lab {
namespace {

constexpr std::uint64_t kMaxItems = 33;

bool has_right_answer(const Problem& problem, const Task& task, const Case& c) {
  const std::vector<HostBuffer> inputs = inputs_of(problem, task, c, 1);
  std::vector<HostBuffer> outputs = buffers_of(problem.shape(task, c).outputs, kPoison);
  problem.baseline(task, c, inputs, outputs);
  return !problem.check(task, c, inputs, outputs);
}

TEST(SmallCasesOfAllLabs, HaveRightAnswersAndAreFoundByName) {
  ASSERT_FALSE(all_problems().empty());
  for (const Problem* problem : all_problems()) {
    int n_tried = 0;
    for (const Task& task : problem->manifest().tasks) {
      for (const Case& variant : variants(*problem, task)) {
        for (const Case& c : smaller_cases(*problem, task, variant)) {
          if (c.n > kMaxItems) break;
          EXPECT_TRUE(has_right_answer(*problem, task, c)) << task.id << " " << c.name;
          ++n_tried;
          if (c.n > 2) continue;
          const auto found = find_case(*problem, task, c.name);
          EXPECT_TRUE(found && found->n == c.n && found->op == c.op && found->dtype == c.dtype &&
                      found->pattern == c.pattern)
              << c.name;
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
        const std::vector<Case> cases = graded_cases(*problem, task, seed);
        for (const Case& c : std::span(cases).subspan(problem->cases(task).size())) {
          lengths.insert(c.n);
          const auto found = find_case(*problem, task, c.name);
          EXPECT_TRUE(found && found->n == c.n && found->params == c.params &&
                      found->multiprocessors == c.multiprocessors)
              << task.id << " " << c.name;
          if (seed > 1) continue;  // references take time
          EXPECT_TRUE(has_right_answer(*problem, task, c)) << task.id << " " << c.name;
        }
      }
    }
    EXPECT_GT(lengths.size(), 50U) << problem->manifest().id;
  }
}

// Each offset that the type allows in 16 bytes, with an odd and an even number of items, in the cases of each
// lab; and addresses that are no multiple of 128 bytes, but of 16.
TEST(GradedCasesOfAllLabs, MeetEveryOffsetAndAreFoundByName) {
  constexpr std::uint32_t kVector = 16;
  for (const Problem* problem : all_problems()) {
    for (const Task& task : problem->manifest().tasks) {
      std::set<std::uint64_t> wanted, met;
      bool in_a_line = false;
      for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const std::vector<Case> typed = problem->cases(task), cases = graded_cases(*problem, task, seed);
        ASSERT_GE(cases.size(), typed.size());
        std::set<std::string> names;
        for (std::size_t i = 0; i < typed.size(); ++i) {
          const Case& c = cases[i];
          EXPECT_TRUE(names.insert(c.name).second) << c.name;
          EXPECT_TRUE(c.n == typed[i].n && c.params == typed[i].params) << c.name;
          const bool is_measured = (c.purpose & (kEfficiency | kSpeedup)) != 0;
          EXPECT_TRUE(!is_measured || c.name == typed[i].name) << c.name;
          for (const BufferSpec& spec : problem->shape(task, c).inputs)
            EXPECT_EQ(c.misalign % bytes_of(spec.dtype), 0U) << c.name;
          for (std::size_t offset = 0; offset < kVector; offset += bytes_of(c.dtype))
            wanted.insert(64 * bytes_of(c.dtype) + 2 * offset + c.n % 2);
          met.insert(64 * bytes_of(c.dtype) + 2 * (c.misalign % kVector) + c.n % 2);
          in_a_line = in_a_line || (c.misalign % kVector == 0 && c.misalign % 128 != 0);
          if (seed > 1) continue;
          const auto found = find_case(*problem, task, c.name);
          EXPECT_TRUE(found && found->n == c.n && found->params == c.params && found->misalign == c.misalign)
              << task.id << " " << c.name;
        }
      }
      EXPECT_EQ(met, wanted) << problem->manifest().id << " " << task.id;
      EXPECT_TRUE(in_a_line) << problem->manifest().id << " " << task.id;
    }
  }
  const Problem& first = *all_problems().front();
  const Task& task = first.manifest().tasks[0];
  const std::string aligned = first.cases(task)[0].name;
  EXPECT_TRUE(find_case(first, task, aligned + "_off4"));
  EXPECT_FALSE(find_case(first, task, aligned + "_off3")) << "an address no int can have";
}

// Such as the flags of a segmented scan: bytes, beside items of 4 or 8.
TEST(GradedCasesOfAllLabs, MeetOddOffsetsOfEachInput) {
  for (const Problem* problem : all_problems()) {
    for (const Task& task : problem->manifest().tasks) {
      std::set<std::string> inputs, odd, apart;  // apart: no vector where the first input has one
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        for (const Case& c : graded_cases(*problem, task, seed)) {
          const Shape shape = problem->shape(task, c);
          for (std::size_t k = 0; k < shape.inputs.size(); ++k) {
            const BufferSpec& spec = shape.inputs[k];
            inputs.insert(spec.name);
            const std::uint32_t offset = misalign_of(c, spec, k);
            EXPECT_EQ(offset % bytes_of(spec.dtype), 0U) << c.name;
            if (offset / bytes_of(spec.dtype) % 2 != 0) odd.insert(spec.name);
            if (k > 0 && offset % 16 != 0 && c.misalign != 0 && c.misalign % 16 == 0) apart.insert(spec.name);
          }
        }
      }
      EXPECT_EQ(odd, inputs) << problem->manifest().id << " " << task.id;
      EXPECT_EQ(apart.size() + 1, inputs.size()) << problem->manifest().id << " " << task.id;
    }
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
