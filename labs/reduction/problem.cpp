// SPDX-License-Identifier: MIT
// The trusted side of the reduction lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: the tables list what is tried and why, fill() makes the items, check() decides what is
// accepted. Float sums and means are compared with the exact ones; the error bound is that of any reasonable
// order of additions, the same for every task (sum_depth). A product of floats may have the errors of its
// roundings, unless its factors are powers of two. Everything else must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "reduction/baseline.hpp"
#include "reduction/causes.hpp"
#include "reduction/lab.hpp"
#include "reduction/points.hpp"

namespace course::reduction {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

// The type of the result: lab.hpp's Op::Value.
DType value_type(OpId op, DType dtype) {
  const bool integer = dtype == DType::i32 || dtype == DType::i64;
  return op == OpId::mean && integer ? DType::f64 : dtype;
}

// Calls f(T{}, op) with the item type and the operator of the case.
template <typename F>
decltype(auto) with_types(const Case& c, F f) {
  return Offered::with(static_cast<OpId>(c.op), c.dtype,
                       [&](auto item, auto op) { return f(item, for_items(op, c.n)); });
}

// --- Items.

template <typename T>
T integer_item(OpId op, Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  using U = std::make_unsigned_t<T>;
  constexpr T kMax = std::numeric_limits<T>::max(), kMin = std::numeric_limits<T>::min();
  const bool last = i + 1 == n;
  switch (pattern) {
    case Pattern::random: {
      const U bits = static_cast<U>(rng());
      return static_cast<T>(op == OpId::product ? bits | 1u
                                                : bits);  // odd factors, so the product never becomes 0
    }
    case Pattern::all_equal: return op == OpId::max ? kMin : op == OpId::min ? kMax : T{3};
    case Pattern::ascending:
      return static_cast<T>(static_cast<T>(i) - static_cast<T>(n));  // -n … -1: all items are negative
    case Pattern::descending: return static_cast<T>(n - i);          // n … 1: all items are positive
    case Pattern::skewed:
      // The last item determines the result.
      if (last) return op == OpId::min ? kMin : kMax;
      return static_cast<T>(rng.below(100)) - 50;
    case Pattern::high_bits:
      return static_cast<T>(kMax - static_cast<T>(rng.below(1000)));  // a few of them are enough to overflow
    case Pattern::alternating: {
      const T small = static_cast<T>(i % 17);
      return i % 2 == 0 ? small : static_cast<T>(-small);
    }
    case Pattern::extremes: {
      const T values[] = {kMin, kMax, T{0}, T{-1}, T{1}};
      return values[rng.below(5)];
    }
    case Pattern::example: return lab::example_item<T>(i);
  }
  return 0;
}

template <typename T>
T float_item(OpId op, Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (op == OpId::product) {
    // Products of powers of two are exact in any order. At most 81 items differ from ±1, so no partial
    // product overflows.
    if (pattern == Pattern::random) {
      const std::uint64_t every = n / 80 + 1;
      const T sign = rng() % 2 == 0 ? T{1} : T{-1};
      if (i + 1 == n) return T{2};
      return i % every == 0 ? sign * (i / every % 2 == 0 ? T{2} : T{0.5}) : sign;
    }
    return static_cast<T>(1 + (rng.unit() - 0.5) / 64);
  }
  switch (pattern) {
    case Pattern::random: return static_cast<T>(2 * rng.unit() - 1);
    case Pattern::all_equal: return op == OpId::max ? -kInfinity : op == OpId::min ? kInfinity : T(0.7);
    case Pattern::ascending: return static_cast<T>(static_cast<double>(i) - static_cast<double>(n));
    case Pattern::descending: return static_cast<T>(n - i);
    case Pattern::skewed:
      if (i + 1 == n) return static_cast<T>(op == OpId::min ? -1e6 : 1e6);
      return static_cast<T>(rng.unit());
    case Pattern::high_bits: return lab::float_far_from_one<T>(n, rng);
    case Pattern::alternating:  // small integers: every partial sum is exact
      return static_cast<T>(i % 2 == 0 ? static_cast<double>(i % 9) : -static_cast<double>(i % 5));
    case Pattern::extremes: {
      const T values[] = {T{0},
                          -T{0},
                          std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::denorm_min(),
                          std::numeric_limits<T>::lowest(),
                          op == OpId::min ? -kInfinity : kInfinity};
      return n == 3 ? values[2] : values[rng.below(i % 7 == 0 ? 6 : 5)];  // or all are NaN
    }
    case Pattern::example: return lab::example_item<T>(i);
  }
  return 0;
}

// For the other operators than sums, `alternating` has one 0 that determines the result: all other items are
// negative, positive or, for a product, 1 and once 2.
template <typename T>
T item_of(OpId op, Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  if (pattern == Pattern::alternating && op != OpId::sum && op != OpId::mean) {
    if (i == n / 2) return 0;
    const T other = static_cast<T>(op != OpId::product ? 1 + i % 17 : i == 0 ? 2 : 1);
    return op == OpId::max ? static_cast<T>(-other) : other;
  }
  if constexpr (std::is_integral_v<T>)
    return integer_item<T>(op, pattern, i, n, rng);
  else
    return float_item<T>(op, pattern, i, n, rng);
}

// --- The right answers.

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

// The exact answer of a case whose Value is a floating-point type, and the allowed error.
template <typename T, typename Op>
Expected expected_float(const Case& c, std::span<const T> items, Op op) {
  const auto id = static_cast<OpId>(c.op);
  const DType type = value_type(id, c.dtype);
  const double u = lab::unit_roundoff(type);
  switch (id) {
    case OpId::min:
    case OpId::max: return {static_cast<long double>(fold_one_thread(items, op)), 0};
    case OpId::product: {
      long double product = 1;
      for (const T item : items) product *= static_cast<long double>(item);
      const bool exact = std::ranges::all_of(items, [](T item) { return is_power_of_two(item); });
      return {product, exact ? 0 : product_error_bound(type, c.n, static_cast<double>(product))};
    }
    case OpId::sum: return exact_sum(items).expected(type);
    case OpId::mean: {
      if (c.n == 0) return {std::numeric_limits<long double>::quiet_NaN(), 0};
      const Expected sum = exact_sum(items).expected(type);
      const auto n = static_cast<double>(c.n);
      const long double mean = sum.value / static_cast<long double>(n);
      return {mean, sum.bound / n + 2 * u * std::abs(static_cast<double>(mean))};  // the division rounds, too
    }
  }
  return {};
}

// --- The cases.

Case make(OpId op, DType dtype, std::uint64_t n, Pattern pattern, std::uint32_t purpose,
          std::uint32_t misalign) {
  return make_case({fmt::format("{}_{}", name_of(op), lab::name_of(dtype))}, op, dtype, n, pattern, purpose,
                   misalign);
}

namespace table {
using enum OpId;
using enum DType;
using enum Pattern;
using Row = CaseRow<OpId>;

constexpr Row kCases[] = {
    // Sizes: 0, 1, and around a warp, a block, two blocks, and 1,024 threads.
    {sum, i32, {0, 1, 2, 31, 32, 33, 255, 256, 511, 512, 513, 1023, 1024, 1025}},
    // Two blocks, the second with one item; a last block that is partly full; three levels of blocks of 256.
    // All checkers are on.
    {sum, i32, {257, 3000, 65537}, random, kBoth},
    // More partial results than one block of 1,024 threads, or two levels of 512 · 512 items, can reduce; 2^k
    // ± 1.
    {sum, i32, {65535, 65536, 262145, 524289, 1048575, 1048577, 4194307}},
    {sum, i32, kThreeTurns, random, kBoth, 0, 1},
    {sum, i32, 2 * kThreeTurns, random, kCorrectness, 0, 2},
    // Addresses where the first 16-byte load is not aligned; arrays too short for one vector load.
    {sum, i32, {3, 100003}, random, kCorrectness, 4},
    {sum, i32, 4099, random, kBoth, 12},
    {sum, f32, 4099, random, kCorrectness, 12},
    {sum, i64, 100003, random, kCorrectness, 8},
    {sum, i32, 5001, random, kCorrectness, 8},
    {sum, f64, 1001, random, kCorrectness, 8},
    // Sums of other types and items. Sums of integer-valued floats must be exact; 2^20 equal items show a sum
    // that adds too many items in a row.
    {sum, {i32, f32}, 5000, skewed},
    {sum, i32, 4096, all_equal},
    {sum, f32, 1048576, all_equal},
    {sum, i64, 70001, high_bits},
    {sum, {f32, f64}, {3001, 5000}, high_bits},
    {sum, i64, {0, 100}},
    {sum, f32, {0, 1, 33, 100003}},
    {sum, f64, {33, 100003}},
    {sum, f32, 65537, alternating},
    {sum, f64, 2000, skewed},
    // The other operators: the item that determines the result is the last one or anywhere, all items have
    // the same sign, there are no items, a 0 determines the result, or no item differs from the identity.
    {product, {i32, f32}, {0, 1025, 70001}},
    {{min, max}, {i32, f32}, {0, 70001}},
    {{min, max, product}, {i32, f32}, 3000, alternating},
    {max, {i32, f32}, {1000, 70001}, ascending},
    {min, {i32, f32}, {1000, 70001}, descending},
    {{min, max}, {i32, f32}, 1025, skewed},
    {{min, max}, {i32, f32}, 5000, extremes},
    {{min, max}, {i32, f32}, 2500, all_equal},
    {{min, max}, f32, 3, extremes},
    {product, f32, 300, skewed},
    {product, i32, 1},
    {mean, {i32, f32}, {0, 1}},
    {mean, {i32, f32}, 1000, skewed},
    {mean, {i32, f32}, 100003, high_bits},
    // 2^24 items do not fit the device's cache. The measured cases are also correctness cases, with another
    // seed, so an answer that was stored in one is wrong in the other.
    {sum, i32, 16777216, random, kTimed},
};
// The most that one block of the last rung reduces alone, and one item more.
constexpr Row kLastRung[] = {
    {sum, i32, {16384, 16385}, random, kBoth},
    {sum, i32, {16386, 16387, 32768}, random, kBoth, 4},
    {sum, f64, {8192, 8193}},
};
}  // namespace table

class ReductionProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    std::vector<Case> all;
    add_cases(all, table::kCases, make);
    if (task.id == "state_of_the_art") add_cases(all, table::kLastRung, make);
    // With 2^18 items, counting is quick. Where each thread combines many items, they are many for up to
    // 2,048 blocks, too.
    const bool many = task.id == "coarsened" || task.id == "single_launch";
    all.push_back(make(OpId::sum, DType::i32, many ? 4194304 : 262144, Pattern::random, kCounted, 0));
    return all;
  }

  Shape shape(const Task&, const Case& c) const override {
    const DType type = value_type(static_cast<OpId>(c.op), c.dtype);
    return {{{"d_in", c.dtype, c.n}}, {{"d_out", type, 1}}, workspace_of(c.n, type)};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_types(c, [&]<typename T, typename Op>(T, Op) {
      Rng rng(seed);
      std::uint64_t i = 0;
      for (T& item : inputs[0].as<T>()) {
        item = item_of<T>(static_cast<OpId>(c.op), c.pattern, i++, c.n, rng);
      }
    });
  }

  std::optional<Mismatch> check(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_types(c, [&]<typename T, typename Op>(T, Op op) -> std::optional<Mismatch> {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<T>();
      const auto& out = outputs[0];
      const Value got = out.as<Value>()[0];
      std::optional<Mismatch> mismatch;
      Expected expected;
      if constexpr (std::is_integral_v<Value>) {
        const Value right = fold_one_thread(items, op);
        expected.value = static_cast<long double>(right);
        mismatch = compare_integers(out.spec, std::as_bytes(std::span(&right, 1)), out.bytes);
      } else {
        expected = expected_float(c, items, op);
        mismatch = compare_floats(out.spec, std::span(&expected, 1), out.bytes);
      }
      if (mismatch) {
        using Here = Facts<T, Op>;
        diagnose<Here>(*mismatch, kRules<T, Op>, {c, items, op, got, expected});
      }
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_types(c, [&]<typename T, typename Op>(T, Op op) {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<T>();
      const auto fold = [&](auto with) { return fold_one_thread(items, with); };
      Value& out = outputs[0].as<Value>()[0];
      // A long float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>> || std::is_same_v<Op, Mean<float>>) {
        out = op.finish(static_cast<float>(fold(Sum<double>{})));
      } else {
        out = op.finish(fold(op));
      }
    });
  }

  // n - 1 operations, a tree of ⌈log2 n⌉ steps; every item is read once, one value is written.
  Ideal ideal(const Task&, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    const DType type = value_type(static_cast<OpId>(c.op), c.dtype);
    const double bytes = n * static_cast<double>(bytes_of(c.dtype)) + static_cast<double>(bytes_of(type));
    return {.items = n,
            .units = n / 1024,
            .work = std::max(n - 1, 0.0),
            .steps = n > 1 ? std::ceil(std::log2(n)) : 0,
            .bytes = bytes};
  }

  Case example(const Task&, std::uint64_t n) const override {
    return make_case({"sum_i32"}, OpId::sum, DType::i32, n, Pattern::example);
  }
};

}  // namespace

const Problem& problem() {
  static const ReductionProblem kProblem;
  return kProblem;
}

}  // namespace course::reduction
