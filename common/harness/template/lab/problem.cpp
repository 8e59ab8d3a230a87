// SPDX-License-Identifier: MIT
// The trusted side of the lab: its cases, their inputs and expected outputs. Never linked into a runner.
#include <vector>

#include "LAB_ID/baseline.hpp"
#include "LAB_ID/lab.hpp"
#include "LAB_ID/points.hpp"
#include "lab/compare.hpp"
#include "lab/items.hpp"
#include "lab/problem.hpp"

namespace course::LAB_ID {
namespace {

using lab::Case;
using lab::DType;
using lab::HostBuffer;
using lab::Pattern;
using lab::Task;

using Item = std::int32_t;

class TheProblem : public lab::Problem {
 public:
  const lab::Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    constexpr auto kBoth = lab::kCorrectness | lab::kChecks;
    std::vector<Case> all;
    for (const std::uint64_t n : {0u, 1u, 31u, 255u, 257u, 1024u, 100003u})
      all.push_back(make(n, Pattern::random));
    all.push_back(make(300, Pattern::random, kBoth));
    all.push_back(make(3000, Pattern::extremes, kBoth));
    all.push_back(make(4099, Pattern::random, kBoth, 4));
    all.push_back(make(1 << 18, Pattern::random, lab::kEfficiency | lab::kCorrectness));
    if (!task.speedup.empty())
      all.push_back(make(1 << 22, Pattern::random, lab::kSpeedup | lab::kCorrectness));
    return all;
  }

  lab::Shape shape(const Task&, const Case& c) const override {
    return {{{"d_in", DType::i32, c.n}}, {{"d_out", DType::i32, c.n}}, {}};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    lab::fill_items(inputs[0].as<Item>(), c.pattern, seed);
  }

  std::optional<lab::Mismatch> check(const Task&, const Case&, std::span<const HostBuffer> inputs,
                                     std::span<const HostBuffer> outputs) const override {
    const auto in = inputs[0].as<Item>();
    std::vector<Item> expected(in.size());
    answer_one_thread(in, expected);
    return lab::compare_integers(outputs[0].spec, std::as_bytes(std::span(expected)), outputs[0].bytes);
  }

  void baseline(const Task&, const Case&, std::span<const HostBuffer> inputs, std::span<HostBuffer> outputs,
                lab::Baseline which) const override {
    const auto in = inputs[0].as<Item>();
    const auto out = outputs[0].as<Item>();
    which == lab::Baseline::one_thread ? answer_one_thread(in, out) : answer_all_cores(in, out);
  }

  lab::Ideal ideal(const Task&, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    return {.items = n, .work = n, .steps = 1, .bytes = 8 * n};
  }

  Case example(const Task&, std::uint64_t n) const override { return make(n, Pattern::example); }

 private:
  static Case make(std::uint64_t n, Pattern pattern, std::uint32_t purpose = lab::kCorrectness,
                   std::uint32_t misalign = 0) {
    return lab::make_case({"i32"}, 0, DType::i32, n, pattern, purpose, misalign);
  }
};

}  // namespace

const lab::Problem& problem() {
  static const TheProblem kProblem;
  return kProblem;
}

}  // namespace course::LAB_ID
