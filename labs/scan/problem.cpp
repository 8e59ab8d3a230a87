// SPDX-License-Identifier: MIT
// The trusted side of the scan lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: rows_for() lists what is tried and why, fill() makes the items, check() decides what is
// accepted. Each result of a float sum is compared with the exact sum of its prefix. The error bound is that
// of any reasonable order of additions, the same for every task (sum_depth). Everything else must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "scan/baseline.hpp"
#include "scan/causes.hpp"
#include "scan/lab.hpp"
#include "scan/points.hpp"

namespace course::scan {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

Rung rung_of(const Task& task) {
  return static_cast<Rung>(lab::index_of(kManifest, task));
}
std::string shape_word(std::uint64_t n, std::uint64_t row_length) {
  return fmt::format("n{}_row{}", n, row_length);
}
bool has_heads(const Task& task) {
  return rung_of(task) == Rung::segmented;
}

// Calls f(op) with the operator of the case.
template <typename F>
decltype(auto) with_op(const Case& c, F f) {
  return Offered::with(static_cast<OpId>(c.op), c.dtype, [&](auto, auto op) { return f(op); });
}

// --- Items.

// Odd scales: no product of them is ever 0, so the start of a prefix affects all results that follow. Of the
// extremes, some are 0, and others are even, so that they have no inverse. The example has small numbers.
Map map_item(Pattern pattern, std::uint64_t i, Rng& rng) {
  if (pattern == Pattern::example) return {i % 2 == 0 ? 3u : 1u, lab::example_item<std::uint32_t>(i)};
  const auto scale = static_cast<std::uint32_t>(rng()), shift = static_cast<std::uint32_t>(rng());
  return {pattern == Pattern::extremes ? scale << rng.below(32) : scale | 1u, shift};
}

std::uint8_t head_item(Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  switch (pattern) {
    case Pattern::extremes:
    case Pattern::all_equal: return 0;    // no heads
    case Pattern::alternating: return 1;  // every item is a segment
    case Pattern::ascending: return i + 1 == n;
    case Pattern::skewed: return rng.below(1000) == 0;
    case Pattern::example: return i % 8 == 0 || i % 8 == 3 || i % 8 == 6;
    default: return rng.below(16) == 0;
  }
}

// --- The right answers.

// The exact value of every result and its allowed error: the error bound for the items of its own prefix.
template <typename T>
std::vector<Expected> expected_sums(const Case& c, std::span<const HostBuffer> inputs) {
  const auto in = inputs[0].as<T>();
  const auto* heads =
      inputs.size() > 1 ? reinterpret_cast<const std::uint8_t*>(inputs[1].bytes.data()) : nullptr;
  std::vector<Expected> all(c.n);
  rows_one_thread(c.n, row_length_of(c), [&](std::size_t first, std::size_t length) {
    ExactSum sum;
    for (std::size_t i = first; i < first + length; ++i) {
      if (heads != nullptr && heads[i] != 0) sum = {};
      if (kind_of(c) == Kind::exclusive) all[i] = sum.expected(c.dtype);
      sum.add(static_cast<long double>(in[i]));
      if (kind_of(c) == Kind::inclusive) all[i] = sum.expected(c.dtype);
    }
  });
  return all;
}

// The sweeps compute the exclusive scan directly, the networks the inclusive one.
Kind natural_kind(Rung rung) {
  return is_blelloch(rung) ? Kind::exclusive : Kind::inclusive;
}

// --- The cases.

struct Scan {
  Kind kind;
  OpId op;
};
struct Size {
  std::uint64_t n, row_length;
};

Case make(Scan scan, DType dtype, Size size, Pattern pattern, std::uint32_t purpose, std::uint32_t misalign) {
  const auto variant = fmt::format("{}_{}_{}", name_of(scan.kind), name_of(scan.op), lab::name_of(dtype));
  Case c = make_case({variant, shape_word(size.n, size.row_length)}, scan.op, dtype, size.n, pattern, purpose,
                     misalign);
  c.params[kRowLengthParam] = static_cast<std::int64_t>(size.row_length);
  c.params[kKindParam] = static_cast<std::int64_t>(scan.kind);
  return c;
}

namespace table {
using enum DType;
using enum Pattern;
using Row = CaseRow<Scan, Size>;
using Scans = ShortList<Scan>;
constexpr Scan kExSum{Kind::exclusive, OpId::sum}, kInSum{Kind::inclusive, OpId::sum};
constexpr Scan kExMaps{Kind::exclusive, OpId::affine}, kInMaps{Kind::inclusive, OpId::affine};
constexpr Scans kSums{kExSum, kInSum}, kMaps{kExMaps, kInMaps};
constexpr Scans kMinMax{{Kind::exclusive, OpId::min},
                        {Kind::exclusive, OpId::max},
                        {Kind::inclusive, OpId::min},
                        {Kind::inclusive, OpId::max}};

// The cases of a rung, and some with rows that are too long for it.
std::vector<Row> rows_for(Rung rung) {
  // The longest row; for rungs without a limit, a row that needs several blocks.
  const std::uint64_t longest = std::min<std::uint64_t>(max_row_length(rung), 5000);
  const bool is_quadratic = rung == Rung::brute_force;  // it takes quadratic time for long rows
  const std::uint64_t many = is_quadratic ? 30007 : 300007, row_of_maps = is_quadratic ? 16384 : 65536;
  const Scan natural{natural_kind(rung), OpId::sum};
  const std::uint64_t measured = max_row_length(rung) == kAnyRow
                                     ? kThreadRow
                                     : std::bit_floor(std::min(max_row_length(rung), kSharedRow));
  std::vector<Row> rows{
      // One row: 0 and 1 items, sizes around powers of two and warps, up to the longest row; and rows that
      // are longer than the array.
      {kExSum, i32, {{0, 1}, {2, 2}, {8, 8}, {32, 32}, {256, 256}, {1000, 1000}, {1024, 1024}, {2048, 2048}}},
      {kInSum, i32, {{1, 1}, {3, 3}, {7, 7}, {9, 9}, {31, 31}, {33, 33}, {255, 255}, {257, 257}}},
      {kSums, i32, {{longest, longest}, {longest - 1, longest - 1}, {longest / 2 + 1, longest / 2 + 1}}},
      {kSums, i32, {{longest / 3, longest}, {1, longest}}},
      {kExSum, i32, {{0, longest}}},
      // Many rows; the last one is full, or has one or some of its items. All checkers are on: several warps
      // and rows, and a row that does not fill its warps.
      {kSums, i32, {{2 * longest + longest / 3, longest}}, random, kBoth},
      {kMaps, u64, {{2 * longest + 1, longest}}, random, kBoth},
      {kInSum, i32, {{3 * (longest - 2) + 5, longest - 2}, {5, 1}}, random, kBoth},
      {kExSum, i32, {{100, 8}}, random, kBoth},
      {kExSum, i32, {{5003, 1}, {5003, 8}, {5003, 20}, {5003, 32}, {5003, 33}, {5003, 100}, {5003, 257}}},
      {kInSum, i32, {{5003, 2}, {5003, 3}, {5003, 7}}},
      {kExMaps, u64, {{4001, 1}, {4001, 8}, {4001, 20}, {4001, 32}, {4001, 33}, {4001, 100}, {4001, 257}}},
      {kInMaps, u64, {{4001, 2}, {4001, 3}, {4001, 7}}},
      {kExSum, i32, {{5003, 1000}}},
      {kExMaps, u64, {{4001, 1000}}},
      // More rows than a 16-bit number can count.
      {kInSum, i32, {{132007, 2}}},
      // Arrays and rows that do not start at a multiple of 16 bytes.
      {kInSum, i32, {{20003, longest}}, random, kCorrectness, 4},
      {kExSum, i32, {{20003, longest - 3}}, random, kCorrectness, 12},
      {kInMaps, u64, {{9001, longest}}, random, kCorrectness, 8},
      {kExSum, i64, {{9001, longest}}, random, kCorrectness, 8},
      {kInSum, f32, {{9001, longest}}, random, kCorrectness, 4},
      {kExSum, f64, {{9001, longest}}, random, kCorrectness, 8},
      // Other patterns of int32 items, and the other operators and types. The item that determines the result
      // is anywhere, all items have the same sign, and none is 0, so a wrong identity changes the result.
      {kInSum, i32, {{9000, longest}}, {high_bits, all_equal}},
      {kExSum, i32, {{9000, longest}}, {alternating, skewed}},
      {kSums, {i64, f64}, {{9001, longest}}},
      {kSums, f32, {{20003, longest}}},
      {kSums, f32, {{9000, longest}}, alternating},
      {kSums, f32, {{3001, longest}}, skewed},
      {kMaps, u64, {{20003, longest}}},
      {kMaps, u64, {{9000, longest}}, skewed},
      {kMaps, u64, {{30011, longest}}, extremes},
      {kMinMax, {i32, f32}, {{9001, longest}}},
      {kMinMax, {i32, f32}, {{3001, longest}}, {all_equal, ascending}},
      {kMinMax, {i32, f32}, {{longest, longest}}, extremes},  // one row: its first item is no NaN
      {kInSum, f32, {{9000, longest}}, all_equal},
      {kInSum, {f32, f64}, {{3001, longest}, {5000, longest}}, high_bits},
      {kExSum, i64, {{0, longest}}},
      {kInSum, i64, {{20, 20}}},
      {kExSum, f64, {{100, std::min<std::uint64_t>(100, longest)}}},
      {kExMaps, u64, {{0, longest}}},
      // For rungs that are not limited to one block: rows that need many blocks, and the largest row length.
      {kInSum, i32, {{many, many}}},
      {kExMaps, u64, {{30007, row_of_maps}}},
      {kExSum, i32, {{10, kAnyRow}}},
      // The measured cases: with 2^18 items, counting work and steps is quick; 2^22 items fill the device.
      // Both are also correctness cases, with another seed, so an answer that was stored in one is wrong in
      // the other.
      {natural, i32, {{1 << 18, measured}}, random, kCounted},
  };
  if (!is_quadratic) rows.push_back({natural, i32, {{1 << 22, measured}}, random, kTimed});
  return rows;
}
}  // namespace table

class ScanProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::string print(const Case& c, DType dtype, const std::byte* element) const override {
    const bool is_map = static_cast<OpId>(c.op) == OpId::affine && dtype == DType::u64;
    return is_map ? print_map(element) : Problem::print(c, dtype, element);
  }

  std::vector<Case> cases(const Task& task) const override {
    const Rung rung = rung_of(task);
    std::vector<Case> all, some;
    add_cases(all, table::rows_for(rung), make);
    for (Case& c : all) {
      // For a short longest row, two rows of the table make the same case.
      const bool is_new = std::ranges::none_of(some, [&](const Case& one) { return one.name == c.name; });
      if (is_new && row_length_of(c) <= max_row_length(rung)) some.push_back(std::move(c));
    }
    return some;
  }

  Shape shape(const Task& task, const Case& c) const override {
    Shape shape{{{"d_in", c.dtype, c.n}}, {{"d_out", c.dtype, c.n}}, workspace_of(c.n, c.dtype)};
    if (has_heads(task)) shape.inputs.push_back({"d_heads", DType::u8, c.n});
    return shape;
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_op(c, [&]<typename Op>(Op) {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<Value>();
      if constexpr (kIsMap<Value>) {
        Rng rng(seed);
        std::uint64_t i = 0;
        for (Value& item : items) item = map_item(c.pattern, i++, rng);
      } else {
        lab::fill_items(items, c.pattern, seed);
        // Of max -infinity: a finite number in place of the identity is larger.
        if (c.pattern == Pattern::all_equal && static_cast<OpId>(c.op) != OpId::sum)
          std::ranges::fill(items, Op{}.identity());
      }
    });
    if (inputs.size() > 1) {
      Rng rng(seed_for(seed, "heads"));
      std::uint64_t i = 0;
      for (std::uint8_t& head : inputs[1].as<std::uint8_t>()) head = head_item(c.pattern, i++, c.n, rng);
    }
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_op(c, [&]<typename Op>(Op op) -> std::optional<Mismatch> {
      using Value = typename Op::Value;
      const auto& out = outputs[0];
      const auto got = out.as<Value>();
      std::vector<Value> right(c.n);
      scan_all(c, inputs, op, right.data());
      std::optional<Mismatch> mismatch;
      if constexpr (std::is_floating_point_v<Value>) {
        std::vector<Expected> expected;
        if constexpr (std::is_same_v<Op, Sum<Value>>) {
          expected = expected_sums<Value>(c, inputs);
        } else {
          for (const Value value : right) expected.push_back({static_cast<long double>(value), 0});
        }
        mismatch = compare_floats(out.spec, expected, out.bytes);
      } else {
        constexpr auto compare = kIsMap<Value> ? lab::compare_maps : lab::compare_integers;
        mismatch = compare(out.spec, std::as_bytes(std::span(right)), out.bytes);
      }
      if (mismatch) {
        const Facts<Op> facts{c, inputs, op, got, *mismatch, rung_of(task), std::move(right)};
        if (facts.row_length() > 1)
          mismatch->position = fmt::format("position {} of row {}, rows of {}", facts.position(), facts.row(),
                                           facts.row_length());
        diagnose<Facts<Op>>(*mismatch, kRules<Op>, facts);
      }
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_op(c, [&]<typename Op>(Op op) {
      const auto out = outputs[0].as<typename Op::Value>().data();
      // A float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>>) {
        scan_all(c, inputs, Sum<double>{}, out);
      } else {
        scan_all(c, inputs, op, out);
      }
    });
  }

  // A row of length items: length - 1 operations, as many as the loop's; ⌈log2 length⌉ steps, the fewest
  // possible; every item is read once and every result is written once.
  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n), row_length = static_cast<double>(row_length_of(c));
    const double n_rows = std::ceil(n / row_length), longest = std::min(n, row_length);
    const double bytes = n * (2 * static_cast<double>(bytes_of(c.dtype)) + (has_heads(task) ? 1 : 0));
    return {.items = n,
            .units = n_rows,
            .work = std::max(n - n_rows, 0.0),
            .steps = longest > 1 ? std::ceil(std::log2(longest)) : 0,
            .bytes = bytes};
  }

  // One row of n items, or several if n exceeds the task's limit; the kind that the task's network computes
  // directly.
  Case example(const Task& task, std::uint64_t n) const override {
    const Rung rung = rung_of(task);
    Case c = make_case({"sum_i32"}, OpId::sum, DType::i32, n, Pattern::example);
    c.params[kRowLengthParam] =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(n, 1, max_row_length(rung)));
    c.params[kKindParam] = static_cast<std::int64_t>(natural_kind(rung));
    return c;
  }

  // One row stays one row; of several rows, two.
  std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override {
    const std::uint64_t old_row = row_length_of(like);
    const std::uint64_t row =
        std::clamp<std::uint64_t>(old_row >= like.n ? n : (n + 1) / 2, 1, max_row_length(rung_of(task)));
    std::optional<Case> c = Problem::with_items(task, like, n, pattern);
    c->params[kRowLengthParam] = static_cast<std::int64_t>(row);
    c->words.shape = shape_word(n, row);
    return with_name(*c);
  }
};

}  // namespace

const Problem& problem() {
  static const ScanProblem kProblem;
  return kProblem;
}

}  // namespace course::scan
