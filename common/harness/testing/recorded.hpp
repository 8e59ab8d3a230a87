// SPDX-License-Identifier: MIT
// Records a rung's outputs bit for bit, for tests that compare one run with another. RUNNER is the path of
// the runner.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/problem.hpp"
#include "testing/public_tests.hpp"
#include "verifier/session.hpp"

namespace course::lab {

// A problem that stores the buffers that it checks.
class Recorder final : public Problem {
 public:
  explicit Recorder(const Problem& problem) : problem_(problem) {}
  const Manifest& manifest() const override { return problem_.manifest(); }
  std::vector<Case> cases(const Task& task) const override { return problem_.cases(task); }
  Shape shape(const Task& task, const Case& c) const override { return problem_.shape(task, c); }
  void fill(const Task& task, const Case& c, std::uint64_t seed,
            std::span<HostBuffer> inputs) const override {
    problem_.fill(task, c, seed, inputs);
  }
  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    inputs_.assign(inputs.begin(), inputs.end());
    outputs_.assign(outputs.begin(), outputs.end());
    return problem_.check(task, c, inputs, outputs);
  }
  bool refuses(const Task& task, const Case& c) const override { return problem_.refuses(task, c); }
  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    problem_.baseline(task, c, inputs, outputs);
  }
  Ideal ideal(const Task& task, const Case& c) const override { return problem_.ideal(task, c); }
  Case example(const Task& task, std::uint64_t n) const override { return problem_.example(task, n); }

  const std::vector<HostBuffer>& inputs() const { return inputs_; }
  const std::vector<HostBuffer>& outputs() const { return outputs_; }

 private:
  const Problem& problem_;
  mutable std::vector<HostBuffer> inputs_, outputs_;
};

// The first input and the first output of a rung for a case, on the simulator. With `interleaved`, its blocks
// take short turns in random order, as with checkers; without, each block runs as far as possible, as with
// counters. The output must be right.
inline std::pair<std::vector<std::byte>, std::vector<std::byte>> recorded(const Problem& problem,
                                                                          std::string_view rung,
                                                                          const Case& c, bool interleaved) {
  const Recorder recorder(problem);
  Session session(session_options_for_tests(problem.manifest(), DeviceKind::sim));
  Measure measure{.counters = !interleaved, .checks = interleaved};
  const Task* task = find_task(problem.manifest(), rung);
  if (task == nullptr) {
    ADD_FAILURE() << "no rung " << rung;
    return {};
  }
  const Outcome outcome = session.run(recorder, *task, c, 1, measure);
  EXPECT_EQ(outcome.verdict, Verdict::ok) << rung << ": " << outcome.message();
  if (recorder.outputs().empty()) return {};
  return {recorder.inputs().front().bytes, recorder.outputs().front().bytes};
}

// The items and the results of a rung on floats, whose bits must not depend on the order of its blocks.
struct Floats {
  std::vector<float> in, out;
};
inline Floats same_in_any_order(const Problem& problem, std::string_view rung, const Case& c) {
  const auto in_turn = recorded(problem, rung, c, false), interleaved = recorded(problem, rung, c, true);
  EXPECT_EQ(in_turn.first, interleaved.first);
  EXPECT_TRUE(in_turn.second == interleaved.second) << rung << ": the bits depend on timing";
  const auto floats = [](const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  return {floats(in_turn.first), floats(in_turn.second)};
}

}  // namespace course::lab
