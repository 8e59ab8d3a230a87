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

using namespace lab;  // NOLINT: this file is written in that library's terms

using Item = std::int32_t;

// A lab with operators has their enumeration in place of `int`.
Case make(int op, DType dtype, std::uint64_t n, Pattern pattern, std::uint32_t purpose,
          std::uint32_t misalign) {
  return make_case({"i32"}, op, dtype, n, pattern, purpose, misalign);
}

namespace table {
using enum DType;
using enum Pattern;
constexpr CaseRow<int> kCases[] = {
    {0, i32, {0, 1, 31, 255, 257, 1024, 100003}},
    // All checkers are on.
    {0, i32, 300, random, kBoth},
    {0, i32, 3000, extremes, kBoth},
    {0, i32, 4099, random, kBoth, 4},
    {0, i32, 1 << 18, random, kCounted},
};
}  // namespace table

class TheProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    std::vector<Case> all;
    add_cases(all, table::kCases, make);
    if (!task.speedup.empty()) all.push_back(make(0, DType::i32, 1 << 22, Pattern::random, kTimed, 0));
    return all;
  }

  Shape shape(const Task&, const Case& c) const override {
    return {{{"d_in", DType::i32, c.n}}, {{"d_out", DType::i32, c.n}}, {}};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    fill_items(inputs[0].as<Item>(), c.pattern, seed);
  }

  std::optional<Mismatch> check(const Task&, const Case&, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    const auto in = inputs[0].as<Item>();
    std::vector<Item> expected(in.size());
    answer(in, expected);
    return compare_integers(outputs[0].spec, std::as_bytes(std::span(expected)), outputs[0].bytes);
  }

  void baseline(const Task&, const Case&, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    answer(inputs[0].as<Item>(), outputs[0].as<Item>());
  }

  Ideal ideal(const Task&, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    return {.items = n, .work = n, .steps = 1, .bytes = 8 * n};
  }

  Case example(const Task&, std::uint64_t n) const override {
    return make(0, DType::i32, n, Pattern::example, kCorrectness, 0);
  }
};

}  // namespace

const Problem& problem() {
  static const TheProblem kProblem;
  return kProblem;
}

}  // namespace course::LAB_ID
