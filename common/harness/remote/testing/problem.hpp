// SPDX-License-Identifier: MIT
// What the verifier knows of the submission in several.cu.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/problem.hpp"
#include "remote/testing/several.hpp"

namespace course::several {

using namespace lab;  // NOLINT: for tests alone

inline constexpr Task kTasks[] = {{"sum", "Sum", "", 100, {}, {}}};
inline constexpr Manifest kManifest{.id = "several",
                                    .title = "Several",
                                    .paper = "",
                                    .handout = "handouts/00.md",
                                    .tasks = kTasks,
                                    .most_devices = 8};

class Sums : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }
  std::vector<Case> cases(const Task&) const override { return {}; }
  // Shards of different lengths; those of ranks 1, 4 and 7 are empty.
  Shape shape(const Task&, const Case& c) const override {
    Shape shape;
    shape.n_devices = static_cast<std::uint32_t>(c.params[0]);
    for (std::uint32_t r = 0; r < shape.n_devices; ++r) {
      shape.inputs.push_back({fmt::format("d_in[{}]", r), DType::u32, r % 3 == 1 ? 0 : c.n + r});
      shape.outputs.push_back({fmt::format("d_out[{}]", r), DType::u64, 1});
    }
    shape.workspace.add("d_workspace", DType::u8, 4096);
    return shape;
  }
  void fill(const Task&, const Case&, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    Rng rng(seed);
    for (HostBuffer& input : inputs)
      for (auto& x : input.as<std::uint32_t>()) x = static_cast<std::uint32_t>(rng());
  }
  std::optional<Mismatch> check(const Task&, const Case&, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    std::uint64_t sum = 0;
    for (const HostBuffer& input : inputs)
      for (const auto x : input.as<std::uint32_t>()) sum += x;
    for (const HostBuffer& output : outputs)
      if (auto wrong = compare_integers(output.spec, std::as_bytes(std::span(&sum, 1)), output.bytes))
        return wrong;
    return std::nullopt;
  }
  void baseline(const Task&, const Case&, std::span<const HostBuffer>, std::span<HostBuffer>) const override {
  }
  Ideal ideal(const Task&, const Case&) const override { return {}; }
  Case example(const Task&, std::uint64_t) const override { return {}; }
};

inline Case make(How how, int n_devices, std::uint64_t n) {
  Case c{.name = fmt::format("sum_{}_{}_n{}", static_cast<int>(how), n_devices, n),
         .op = static_cast<std::uint32_t>(how),
         .dtype = DType::u32,
         .n = n};
  c.params[0] = n_devices;
  return c;
}

}  // namespace course::several
