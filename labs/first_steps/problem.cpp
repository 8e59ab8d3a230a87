// SPDX-License-Identifier: MIT
// The trusted side of the lab: its cases, their inputs and expected outputs. Never linked into a runner.
#include <algorithm>
#include <vector>

#include "first_steps/baseline.hpp"
#include "first_steps/lab.hpp"
#include "first_steps/points.hpp"
#include "lab/compare.hpp"
#include "lab/items.hpp"
#include "lab/problem.hpp"

namespace course::first_steps {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

Rung rung_of(const Task& task) {
  return static_cast<Rung>(index_of(kManifest, task));
}

// The kernels of two tasks have no guard and take whole blocks.
std::uint64_t length(const Task& task, std::uint64_t n) {
  const Rung rung = rung_of(task);
  const std::uint64_t unit = rung == Rung::index || rung == Rung::barrier ? kBlock : 1;
  return (std::max<std::uint64_t>(n, 1) + unit - 1) / unit * unit;
}

Case make(const Task& task, std::uint64_t n, Pattern pattern, std::uint32_t misalign = 0) {
  return make_case({"i32"}, 0, DType::i32, length(task, n), pattern, kBoth, misalign);
}

class TheProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    return {make(task, 8, Pattern::example),   make(task, 13, Pattern::example),
            make(task, 100, Pattern::random),  make(task, 501, Pattern::random, 4),
            make(task, 1000, Pattern::random), make(task, 4099, Pattern::random)};
  }

  Shape shape(const Task& task, const Case& c) const override {
    const bool counts = rung_of(task) == Rung::atomic;  // the kernel's name for its output
    return {{{"d_in", DType::i32, c.n}}, {{counts ? "d_count" : "d_out", DType::i32, counts ? 1 : c.n}}};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    fill_items(inputs[0].as<int>(), c.pattern, seed);
    for (int& item : inputs[0].as<int>()) item &= 63;
  }

  std::optional<Mismatch> check(const Task& task, const Case&, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    std::vector<int> expected(outputs[0].spec.count);
    answer(rung_of(task), inputs[0].as<int>(), expected);
    return compare_integers(outputs[0].spec, std::as_bytes(std::span(expected)), outputs[0].bytes);
  }

  void baseline(const Task& task, const Case&, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    answer(rung_of(task), inputs[0].as<int>(), outputs[0].as<int>());
  }

  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    return {.items = n, .work = n, .steps = 1, .bytes = 4 * (n + (rung_of(task) == Rung::atomic ? 1 : n))};
  }

  Case example(const Task& task, std::uint64_t n) const override { return make(task, n, Pattern::example); }

  std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override {
    return Problem::with_items(task, like, length(task, n), pattern);
  }
};

}  // namespace

const Problem& problem() {
  static const TheProblem kProblem;
  return kProblem;
}

}  // namespace course::first_steps
