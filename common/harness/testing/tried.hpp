// SPDX-License-Identifier: MIT
// One case of a Problem with inputs and the outputs of the CPU baseline, for tests of a lab's checks: they
// change the output and examine the result of check().
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
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

}  // namespace course::lab
