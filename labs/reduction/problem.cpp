// SPDX-License-Identifier: MIT
// The trusted side of the reduction lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: cases() lists what is tried and why, fill() makes the items, check() decides what is
// accepted. Float sums are compared with the exact sum. The error bound is that of a tree, or of a serial
// chunk and a tree if the task adds several items per thread first. Everything else must be exact.
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

bool folds_serially(const Task& task) {
  return task.id == "coarsened" || task.id == "single_launch" || task.id == "state_of_the_art";
}

// Calls f(T{}, op) with the item type and the operator of the case.
template <typename F>
decltype(auto) with_types(const Case& c, F f) {
  return reduction::with_types(static_cast<OpId>(c.op), c.dtype, c.n, f);
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

// The largest number of additions that an item may pass through in a sound kernel of this task: trees of
// blocks of at least 32 threads, level by level. If the task adds several items per thread, a serial chunk
// comes first; then at least 4,096 threads must share a long array.
double depth(const Task& task, std::uint64_t n) {
  const double tree = 2 * std::log2(static_cast<double>(n) + 2) + 10;
  const double serial = folds_serially(task) ? std::max(64.0, static_cast<double>(n) / 4096) : 8.0;
  return tree + serial;
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

// The exact answer of a case whose Value is a floating-point type, and the allowed error.
template <typename T, typename Op>
Expected expected_float(const Task& task, const Case& c, std::span<const T> items, Op op) {
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
    case OpId::sum: return exact_sum(items).expected(type, depth(task, c.n));
    case OpId::mean: {
      if (c.n == 0) return {std::numeric_limits<long double>::quiet_NaN(), 0};
      const Expected sum = exact_sum(items).expected(type, depth(task, c.n));
      const auto n = static_cast<double>(c.n);
      const long double mean = sum.value / static_cast<long double>(n);
      return {mean, sum.bound / n + 2 * u * std::abs(static_cast<double>(mean))};  // the division rounds, too
    }
  }
  return {};
}

class ReductionProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override;

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

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
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
        expected = expected_float(task, c, items, op);
        mismatch = compare_floats(out.spec, std::span(&expected, 1), out.bytes);
      }
      if (mismatch) {
        using Here = Facts<T, Op>;
        diagnose<Here>(*mismatch, kRules<T, Op>, {c, items, op, got, expected});
      }
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs, std::span<HostBuffer> outputs,
                Baseline which) const override {
    with_types(c, [&]<typename T, typename Op>(T, Op op) {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<T>();
      const auto fold = [&](auto with) {
        return which == Baseline::one_thread ? fold_one_thread(items, with) : fold_all_cores(items, with);
      };
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

std::vector<Case> ReductionProblem::cases(const Task& task) const {
  std::vector<Case> all;
  const auto add = [&all](OpId op, DType dtype, std::uint64_t n, Pattern pattern,
                          std::uint32_t purpose = kCorrectness, std::uint32_t misalign = 0) {
    all.push_back(make_case({fmt::format("{}_{}", name_of(op), lab::name_of(dtype))}, op, dtype, n, pattern,
                            purpose, misalign));
  };
  constexpr auto kBoth = kCorrectness | kChecks;

  // Sizes: 0, 1, and around a warp, a block, two blocks, and 1,024 threads.
  for (const std::uint64_t n :
       {0u, 1u, 2u, 31u, 32u, 33u, 255u, 256u, 511u, 512u, 513u, 1023u, 1024u, 1025u}) {
    add(OpId::sum, DType::i32, n, Pattern::random);
  }
  // Two blocks, the second with one item; a last block that is half full; three levels of blocks of 256. All
  // checkers are on.
  add(OpId::sum, DType::i32, 257, Pattern::random, kBoth);
  add(OpId::sum, DType::i32, 3000, Pattern::random, kBoth);
  add(OpId::sum, DType::i32, 65537, Pattern::random, kBoth);
  // More partial results than one block of 1,024 threads, or two levels of 512 · 512 items, can reduce; 2^k ±
  // 1.
  for (const std::uint64_t n : {65535u, 65536u, 262145u, 524289u, 1048575u, 1048577u, 4194307u})
    add(OpId::sum, DType::i32, n, Pattern::random);
  // The last rung: the most that one block reduces alone, and one item more.
  if (task.id == "state_of_the_art") {
    for (const std::uint64_t n : {16384u, 16385u}) add(OpId::sum, DType::i32, n, Pattern::random, kBoth);
    for (const std::uint64_t n : {16386u, 16387u, 32768u})
      add(OpId::sum, DType::i32, n, Pattern::random, kBoth, 4);
    for (const std::uint64_t n : {8192u, 8193u}) add(OpId::sum, DType::f64, n, Pattern::random);
  }
  // Addresses where the first 16-byte load is not aligned; arrays too short for one vector load.
  add(OpId::sum, DType::i32, 100003, Pattern::random, kCorrectness, 4);
  add(OpId::sum, DType::i32, 4099, Pattern::random, kBoth, 12);
  add(OpId::sum, DType::i32, 3, Pattern::random, kCorrectness, 4);
  add(OpId::sum, DType::i64, 100003, Pattern::random, kCorrectness, 8);
  add(OpId::sum, DType::i32, 5001, Pattern::random, kCorrectness, 8);
  add(OpId::sum, DType::f32, 4099, Pattern::random, kCorrectness, 12);
  add(OpId::sum, DType::f64, 1001, Pattern::random, kCorrectness, 8);
  // Sums of other types and items. Sums of integer-valued floats must be exact; 2^20 equal items show a sum
  // that adds too many items in a row.
  add(OpId::sum, DType::i32, 5000, Pattern::skewed);
  add(OpId::sum, DType::i32, 4096, Pattern::all_equal);
  add(OpId::sum, DType::i64, 70001, Pattern::high_bits);
  add(OpId::sum, DType::i64, 0, Pattern::random);
  add(OpId::sum, DType::f32, 0, Pattern::random);
  add(OpId::sum, DType::f32, 100003, Pattern::random);
  add(OpId::sum, DType::f32, 65537, Pattern::alternating);
  add(OpId::sum, DType::f32, 1048576, Pattern::all_equal);
  add(OpId::sum, DType::f32, 5000, Pattern::skewed);
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::uint64_t n : {3001u, 5000u}) add(OpId::sum, dtype, n, Pattern::high_bits);
  add(OpId::sum, DType::f64, 100003, Pattern::random);
  add(OpId::sum, DType::f64, 2000, Pattern::skewed);
  for (const std::uint64_t n : {1u, 33u}) add(OpId::sum, DType::f32, n, Pattern::random);
  add(OpId::sum, DType::i64, 100, Pattern::random);
  add(OpId::sum, DType::f64, 33, Pattern::random);
  // The other operators: the item that determines the result is the last one or anywhere, all items have the
  // same sign, there are no items, a 0 determines the result, or no item differs from the identity.
  for (const DType dtype : {DType::i32, DType::f32}) {
    add(OpId::product, dtype, 0, Pattern::random);
    add(OpId::product, dtype, 3000, Pattern::alternating);
    add(OpId::product, dtype, 1025, Pattern::random);
    add(OpId::product, dtype, 70001, Pattern::random);
    add(OpId::max, dtype, 0, Pattern::random);
    add(OpId::max, dtype, 1000, Pattern::ascending);
    add(OpId::max, dtype, 70001, Pattern::ascending);
    add(OpId::max, dtype, 1025, Pattern::skewed);
    add(OpId::max, dtype, 70001, Pattern::random);
    add(OpId::max, dtype, 5000, Pattern::extremes);
    add(OpId::max, dtype, 3000, Pattern::alternating);
    add(OpId::max, dtype, 2500, Pattern::all_equal);
    add(OpId::min, dtype, 0, Pattern::random);
    add(OpId::min, dtype, 1000, Pattern::descending);
    add(OpId::min, dtype, 70001, Pattern::descending);
    add(OpId::min, dtype, 1025, Pattern::skewed);
    add(OpId::min, dtype, 70001, Pattern::random);
    add(OpId::min, dtype, 5000, Pattern::extremes);
    add(OpId::min, dtype, 3000, Pattern::alternating);
    add(OpId::min, dtype, 2500, Pattern::all_equal);
    add(OpId::mean, dtype, 0, Pattern::random);
    add(OpId::mean, dtype, 1, Pattern::random);
    add(OpId::mean, dtype, 1000, Pattern::skewed);
    add(OpId::mean, dtype, 100003, Pattern::high_bits);
  }
  for (const OpId op : {OpId::min, OpId::max}) add(op, DType::f32, 3, Pattern::extremes);
  add(OpId::product, DType::f32, 300, Pattern::skewed);
  add(OpId::product, DType::i32, 1, Pattern::random);

  // The measured cases: with 2^18 items, counting is quick; 2^24 items do not fit the device's
  // cache. Both are also correctness cases, with another seed, so an answer that was stored in one is wrong
  // in the other.
  // Where each thread combines many items, they are many for up to 2,048 blocks, too.
  const bool many = task.id == "coarsened" || task.id == "single_launch";
  add(OpId::sum, DType::i32, many ? 4194304 : 262144, Pattern::random, kEfficiency | kCorrectness);
  add(OpId::sum, DType::i32, 16777216, Pattern::random, kSpeedup | kCorrectness);
  return all;
}

}  // namespace

const Problem& problem() {
  static const ReductionProblem kProblem;
  return kProblem;
}

}  // namespace course::reduction
