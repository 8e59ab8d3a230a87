// SPDX-License-Identifier: MIT
// One case of a Problem with inputs and the outputs of the CPU baseline, for tests of a lab's checks: they
// change the output and examine the result of check().
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "lab/compare.hpp"
#include "lab/poison.hpp"
#include "lab/problem.hpp"

namespace course::lab {

struct Tried {
  Case c;
  std::vector<HostBuffer> inputs, outputs;

  template <typename T>
  std::span<const T> input(std::size_t i = 0) const {
    return inputs[i].as<T>();
  }
  template <typename T>
  std::span<T> output(std::size_t i = 0) {
    return outputs[i].as<T>();
  }
};

// The case `c` with inputs from `seed`. The baseline writes the outputs, which are poisoned before.
inline Tried tried(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed = 1,
                   Baseline which = Baseline::one_thread) {
  Tried t{c, inputs_of(problem, task, c, seed), buffers_of(problem.shape(task, c).outputs, kPoison)};
  problem.baseline(task, c, t.inputs, t.outputs, which);
  return t;
}

// The task's case with this name; the test fails if there is none.
inline Tried tried(const Problem& problem, const Task& task, std::string_view case_name,
                   std::uint64_t seed = 1) {
  for (const Case& c : problem.cases(task)) {
    if (c.name == case_name) return tried(problem, task, c, seed);
  }
  ADD_FAILURE() << "no case " << case_name << " of task " << task.id;
  return {};
}

}  // namespace course::lab
