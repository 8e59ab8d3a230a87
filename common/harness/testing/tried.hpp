// SPDX-License-Identifier: MIT
// One case of a Problem with inputs and the outputs of the CPU baseline, for tests of a lab's checks: they
// change the output and examine the result of check().
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/compare.hpp"
#include "lab/poison.hpp"
#include "lab/problem.hpp"

namespace course::lab {

struct Tried {
  const Problem* problem = nullptr;
  const Task* task = nullptr;
  Case c;
  std::vector<HostBuffer> inputs, outputs;

  // By the check of its task, or of the one with that id.
  std::optional<Mismatch> check(std::string_view id = {}) const {
    return problem->check(id.empty() ? *task : *find_task(problem->manifest(), id), c, inputs, outputs);
  }
  // What check() reports: the hint, "right", or "wrong".
  std::string hint(std::string_view id = {}) const {
    const auto mismatch = check(id);
    if (!mismatch) return "right";
    return mismatch->hint().empty() ? "wrong" : mismatch->hint();
  }

  template <typename T>
  std::span<const T> input(std::size_t i = 0) const {
    return inputs[i].as<T>();
  }
  template <typename T>
  std::span<T> output(std::size_t i = 0) {
    return outputs[i].as<T>();
  }
};

// The rules that explain the output.
inline std::set<std::string> rules_of(const Tried& t, std::string_view id = {}) {
  std::set<std::string> rules;
  const std::optional<Mismatch> mismatch = t.check(id);
  for (const Cause& cause : mismatch->causes) rules.insert(cause.rule);
  return rules;
}

// Whether the hint holds these words.
inline testing::AssertionResult says(const Tried& t, std::string_view words, std::string_view id = {}) {
  const std::string hint = t.hint(id);
  if (hint.find(words) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << t.c.name << ", it says: " << hint;
}

// The case `c` with inputs from `seed`. The baseline writes the outputs, which are poisoned before.
inline Tried tried(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed = 1) {
  Tried t{&problem, &task, c, inputs_of(problem, task, c, seed),
          buffers_of(problem.shape(task, c).outputs, kPoison)};
  problem.baseline(task, c, t.inputs, t.outputs);
  return t;
}

// The task's case with this name; the test fails if there is none.
inline Tried tried(const Problem& problem, const Task& task, std::string_view case_name,
                   std::uint64_t seed = 1) {
  for (const Case& c : problem.cases(task)) {
    if (c.name == case_name) return tried(problem, task, c, seed);
  }
  ADD_FAILURE() << "no case " << case_name << " of task " << task.id;
  return {&problem, &task, {}, {}, {}};
}
inline Tried tried(const Problem& problem, std::string_view id, std::string_view case_name,
                   std::uint64_t seed = 1) {
  return tried(problem, *find_task(problem.manifest(), id), case_name, seed);
}

// The cases of a task that are wanted must have each operator and type that the lab offers, and no others.
template <typename Offered, typename Id>
void expect_all_offered(
    const Problem& problem, const Task& task, std::uint32_t n_ids,
    bool (*wanted)(const Case&) = [](const Case&) { return true; }) {
  std::set<std::pair<std::uint32_t, DType>> seen;
  for (const Case& c : problem.cases(task))
    if (wanted(c)) seen.emplace(c.op, c.dtype);
  for (std::uint32_t id = 0; id < n_ids; ++id)
    for (const DType dtype :
         {DType::u8, DType::i32, DType::u32, DType::i64, DType::u64, DType::f32, DType::f64})
      EXPECT_EQ(seen.contains({id, dtype}), Offered::has(static_cast<Id>(id), dtype)) << task.id << id;
}

// The first wrong store of a traced run: its array, element and right value or element, or "none".
inline std::string wrong_in(const Tried& t, std::string_view id, const TracedRun& run) {
  const auto wrong = t.problem->wrong_store(*find_task(t.problem->manifest(), id), t.c, t.inputs, run);
  if (!wrong) return "none";
  return wrong->store->array + "[" + std::to_string(wrong->store->element) + "] " +
         std::to_string(wrong->right);
}

}  // namespace course::lab
