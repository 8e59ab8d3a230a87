// SPDX-License-Identifier: MIT
// The trusted side of the reduction lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: cases() lists what is tried and why, fill() makes the items, check() decides what is
// accepted. Float sums are compared with the exact sum. The error bound is that of a tree, or of a serial
// chunk and a tree if the task adds several items per thread first. Everything else must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "reduction/baseline.hpp"
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
    case Pattern::all_equal: return static_cast<T>(op == OpId::max ? -3 : 3);
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
    case Pattern::all_equal: return static_cast<T>(op == OpId::max ? -0.7 : 0.7);
    case Pattern::ascending: return static_cast<T>(static_cast<double>(i) - static_cast<double>(n));
    case Pattern::descending: return static_cast<T>(n - i);
    case Pattern::skewed:
      if (i + 1 == n) return static_cast<T>(op == OpId::min ? -1e6 : 1e6);
      return static_cast<T>(rng.unit());
    case Pattern::high_bits: return static_cast<T>(1048576.0 + static_cast<double>(rng.below(1000)));
    case Pattern::alternating:  // small integers: every partial sum is exact
      return static_cast<T>(i % 2 == 0 ? static_cast<double>(i % 9) : -static_cast<double>(i % 5));
    case Pattern::extremes: {
      const T values[] = {T{0},
                          -T{0},
                          std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::denorm_min(),
                          std::numeric_limits<T>::lowest(),
                          op == OpId::min ? -kInfinity : kInfinity};
      return values[rng.below(i % 7 == 0 ? 6 : 5)];
    }
    case Pattern::example: return lab::example_item<T>(i);
  }
  return 0;
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

template <typename T>
ExactSum exact_sum(std::span<const T> items) {
  ExactSum sum;
  for (const T item : items) sum.add(static_cast<long double>(item));
  return sum;
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

// --- Likely causes of a wrong result: one rule for each mistake.

template <typename T, typename Op>
struct Facts {
  using Value = typename Op::Value;
  const Case& c;
  std::span<const T> items;
  Op op;
  Value got;
  Expected expected;

  OpId id() const { return static_cast<OpId>(c.op); }
  // Whether `got` is this value: for floats up to rounding, for integers exactly.
  bool is(long double value) const {
    const auto difference = std::abs(static_cast<long double>(got) - value);
    if constexpr (std::is_integral_v<Value>) return difference == 0;
    return difference <= 1e-6L * std::abs(value);
  }
  // Whether `value` differs from the right result. If it does not, it explains nothing.
  bool tells(long double value) const {
    return std::abs(value - expected.value) > 1e-4L * (std::abs(value) + std::abs(expected.value));
  }
  // Whether the integers differ so much that a wrong result hardly ever matches a rule by chance.
  bool has_telling_integers() const {
    return std::is_integral_v<Value> && c.pattern == Pattern::random &&
           (id() == OpId::sum || id() == OpId::product);
  }
};

std::string no_item(const auto& f) {
  // Of no items, the identity is right, except for op.finish.
  if (!(f.c.n > 0 && f.got == f.op.identity())) return "";
  return fmt::format("{} is the identity: no item was combined into the result", f.got);
}

template <typename F>
std::string zero_for_identity(const F& f) {
  using Value = typename F::Value;
  if (!(f.got == Value{0} && f.op.identity() != Value{0} && f.expected.value != 0)) return "";
  return fmt::format("0 is not the identity of {0}: fill the places that have no item with op.identity()",
                     name_of(f.id()));
}

std::string finish_forgotten(const auto& f) {
  if (f.id() != OpId::mean) return "";
  const bool total = f.c.n == 0 ? f.got == f.op.identity()
                                : f.c.n > 1 && f.is(f.expected.value * static_cast<long double>(f.c.n));
  return total ? "this is the total: op.finish was not applied to it" : "";
}

std::string finished_twice(const auto& f) {
  return f.id() == OpId::mean && f.c.n > 1 && f.expected.value != 0 &&
                 f.is(f.expected.value / static_cast<long double>(f.c.n))
             ? "op.finish was applied twice: only the last launch's result gets it"
             : "";
}

template <typename T, typename Op>
std::string sum_in_32_bits(const Facts<T, Op>& f) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const auto wrapped = static_cast<double>(fold_one_thread(f.items, Sum<T>{})) / static_cast<double>(f.c.n);
    if (f.id() == OpId::mean && f.c.n > 1 && static_cast<double>(f.got) == wrapped)
      return "the sum overflowed 32 bits: keep it in Op::Value";
  }
  return "";
}

// An integer sum that was computed in a floating-point type: it loses low digits and saturates at the ends of
// the integer's range.
template <typename T, typename Op>
std::string integers_in_floats(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_integral_v<Value>) {
    if (f.id() != OpId::sum) return "";
    const long double exact = exact_sum(f.items).value(), got = static_cast<long double>(f.got);
    constexpr auto kMin = std::numeric_limits<Value>::min(), kMax = std::numeric_limits<Value>::max();
    const bool fits = exact >= static_cast<long double>(kMin) && exact <= static_cast<long double>(kMax);
    const bool sticks = !fits && (f.got == kMin || f.got == kMax);
    // A float has 24 significant bits, a double 53.
    const bool short_enough = sizeof(Value) == 4
                                  ? got == static_cast<long double>(static_cast<float>(f.got))
                                  : got == static_cast<long double>(static_cast<double>(f.got));
    const bool rounded =
        fits && short_enough && std::abs(exact) > 0x1p24L && std::abs(got - exact) <= 1e-4L * std::abs(exact);
    // Partial sums wrapped around, which is right, but were rounded: this many zero bits at the end are no
    // coincidence.
    constexpr long double kLarge = sizeof(Value) == 4 ? 0x1p30L : 0x1p59L;
    const long double wrapped = f.expected.value;
    const bool passed_through =
        short_enough && std::abs(wrapped) > kLarge && std::abs(got - wrapped) <= 1e-6L * std::abs(wrapped);
    if (sticks || rounded || passed_through)
      return "the integers were added in a floating-point type, which rounds large sums: keep them in "
             "Op::Value";
  }
  return "";
}

template <typename T, typename Op>
std::string added_instead_of_op(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if (f.id() == OpId::sum || f.id() == OpId::mean) return "";
  long double total = 0;
  if constexpr (std::is_integral_v<Value>)
    total = static_cast<long double>(fold_one_thread(f.items, Sum<T>{}));
  else
    total = exact_sum(f.items).value();
  // If the block size is a power of two, its last positions hold identities, level by level, and these are
  // combined, too.
  for (std::uint64_t block = 16; block <= 4096; block *= 2) {
    std::uint64_t n_identities = 0;
    for (std::uint64_t n = f.c.n, n_blocks = 0; block > 16 && n_blocks != 1; n = n_blocks) {
      n_blocks = std::max<std::uint64_t>((n + block - 1) / block, 1);
      n_identities += n_blocks * block - n;
    }
    bool is_sum = false;
    if constexpr (std::is_integral_v<Value>) {
      using U = std::make_unsigned_t<Value>;
      const auto identities =
          static_cast<Value>(static_cast<U>(n_identities) * static_cast<U>(f.op.identity()));
      const Value with = lab::wrapping_add(static_cast<Value>(total), identities);
      is_sum = f.got == with && static_cast<long double>(with) != f.expected.value;
    } else {
      const auto with = n_identities == 0 ? total
                                          : total + static_cast<long double>(n_identities) *
                                                        static_cast<long double>(f.op.identity());
      is_sum = f.tells(with) && f.is(with);
    }
    if (is_sum)
      return fmt::format(
          "this is the sum of the items, and their {} was asked for: combine with op(a, b), not +",
          name_of(f.id()));
  }
  return "";
}

template <typename F>
std::string counted_twice(const F& f) {
  using Value = typename F::Value;
  if ((f.id() != OpId::sum && f.id() != OpId::mean) || f.c.n == 0 || f.expected.value == 0) return "";
  if constexpr (std::is_integral_v<Value>) {
    const auto right = static_cast<Value>(f.expected.value);
    if (f.has_telling_integers() && f.got == lab::wrapping_add(right, right))
      return "every item was combined twice";
  } else if (f.is(2 * f.expected.value)) {
    return "every item was combined twice";
  }
  return "";
}

// --- Mistakes in the tree over a block. These rules compute what a kernel with the mistake gives.

// Whether a result that equals another value by chance is unlikely.
template <typename F>
bool has_telling_items(const F& f) {
  if (f.c.n == 0 || f.c.n > (1 << 16) || f.c.pattern != Pattern::random) return false;
  return f.has_telling_integers() ||
         (std::is_floating_point_v<typename F::Value> && (f.id() == OpId::sum || f.id() == OpId::mean));
}

template <typename F>
bool explains(const F& f, typename F::Value value) {
  if constexpr (std::is_integral_v<typename F::Value>)
    return f.got == value && static_cast<long double>(value) != f.expected.value;
  return f.is(static_cast<long double>(value)) && f.tells(static_cast<long double>(value));
}

// Reduces blocks of `block` items with reduce_block(items of a block, filled up with identities; index of the
// first one), then their results, until one is left.
template <typename F, typename ReduceBlock>
typename F::Value by_blocks(const F& f, std::size_t block, ReduceBlock reduce_block) {
  using Value = typename F::Value;
  std::vector<Value> values;
  for (const auto item : f.items) values.push_back(static_cast<Value>(item));
  std::vector<Value> of_block;
  do {
    std::vector<Value> next;
    for (std::size_t first = 0; first < values.size(); first += block) {
      of_block.assign(block, f.op.identity());
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), std::min(block, values.size() - first),
                  of_block.begin());
      next.push_back(reduce_block(of_block, first));
    }
    values = std::move(next);
  } while (values.size() > 1);
  return f.op.finish(values[0]);
}

// The rounds of a tree down to the stride `last`. round(a, b, stride) combines a value with its partner's.
template <typename Value, typename Round>
void tree(std::vector<Value>& values, std::size_t last, Round round) {
  for (std::size_t stride = values.size() / 2; stride >= last; stride /= 2)
    for (std::size_t i = 0; i < stride; ++i) values[i] = round(values[i], values[i + stride], stride);
}

template <typename F>
std::string one_side_twice(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  for (std::size_t block = 32; block <= 1024; block *= 2)
    for (const bool own : {true, false}) {
      const Value value = by_blocks(f, block, [&](std::vector<Value>& values, std::size_t) {
        tree(values, 1, [&](Value a, Value b, std::size_t) { return f.op(f.op(a, own ? a : b), b); });
        return values[0];
      });
      if (explains(f, value))
        return fmt::format(
            "in every round of the tree, {} is combined twice, as in x += op(x, y): a round is x = op(x, y)",
            own ? "the thread's own value" : "the partner's value");
    }
  return "";
}

template <typename F>
std::string round_left_out(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  for (std::size_t block = 64; block <= 1024; block *= 2)
    for (std::size_t missing = 1; missing < block; missing *= 2) {
      // What is missing is the end of the array: more likely rest_left_out.
      if (missing >= 32 && f.c.n <= 2 * missing) continue;
      const Value value = by_blocks(f, block, [&](std::vector<Value>& values, std::size_t) {
        tree(values, 1,
             [&](Value a, Value b, std::size_t stride) { return stride == missing ? a : f.op(a, b); });
        return values[0];
      });
      if (explains(f, value))
        return fmt::format(
            "the round in which values {} apart are combined is missing: of each {} items the second half "
            "was left out",
            missing, 2 * missing);
    }
  return "";
}

// Shuffles that give lane 0 its own value: __shfl_up_sync. Before them, a block's values are reduced to 32.
template <typename F>
std::string lane_0_combined_itself(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  for (std::size_t block = 32; block <= 1024; block *= 2) {
    const Value value = by_blocks(f, block, [&](std::vector<Value>& values, std::size_t) {
      tree(values, 32, [&](Value a, Value b, std::size_t) { return f.op(a, b); });
      for (int k = 0; k < 5; ++k) values[0] = f.op(values[0], values[0]);
      return values[0];
    });
    if (explains(f, value))
      return "lane 0 has combined its own value with itself five times: it must get the values of the lanes "
             "above it, with __shfl_down_sync and offsets 16, 8, 4, 2 and 1";
  }
  return "";
}

// The index lacks blockIdx: every block of a launch has the result of the first one.
template <typename F>
std::string first_block_repeated(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  for (std::size_t block = 32; block <= 4096 && block < f.c.n; block *= 2) {
    Value of_first = f.op.identity();
    const Value value = by_blocks(f, block, [&](std::vector<Value>& values, std::size_t first) {
      if (first > 0) return of_first;
      tree(values, 1, [&](Value a, Value b, std::size_t) { return f.op(a, b); });
      return of_first = values[0];
    });
    if (explains(f, value))
      return fmt::format(
          "every block reduced the first {} items: the index of a thread's item must contain blockIdx.x",
          block);
  }
  return "";
}

// The loop over the array advances by less than the whole grid: every block also reads what the blocks after it
// read. Groups are the items that a block loads at once, in words of 16 bytes or alone.
template <typename F>
std::string stride_of_a_block(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  const std::size_t n = f.c.n, n_pack = 16 / sizeof(f.items[0]);
  const std::size_t misaligned = f.c.misalign % 16 / sizeof(f.items[0]);
  for (const bool packed : {true, false}) {
    const std::size_t head = packed ? std::min(n, (n_pack - misaligned) % n_pack) : 0;
    const std::size_t tail = packed ? head + (n - head) / n_pack * n_pack : n;
    for (std::size_t block = 64; block <= 1024; block *= 2) {
      const std::size_t group = packed ? block * n_pack : block;
      Value once = f.op.identity();  // of the items that only one thread reads
      for (std::size_t i = 0; i < head; ++i) once = f.op(once, static_cast<Value>(f.items[i]));
      for (std::size_t i = tail; i < n; ++i) once = f.op(once, static_cast<Value>(f.items[i]));
      // With one more block, the items from its first group on are combined once more.
      std::vector<Value> from((tail - head + group - 1) / group, f.op.identity());  // group k: from there on
      for (std::size_t i = tail; i-- > head;) {
        Value& sum = from[(i - head) / group];
        sum = f.op(static_cast<Value>(f.items[i]), sum);
        if ((i - head) % group == 0 && i > head) from[(i - head) / group - 1] = sum;
      }
      Value total = once;
      for (std::size_t blocks = 1; blocks <= from.size(); ++blocks) {
        total = f.op(total, from[blocks - 1]);
        if (blocks > 1 && explains(f, f.op.finish(total)))
          return fmt::format(
              "each of {} blocks has also combined what the blocks after it read: the loop must advance by "
              "all threads of the grid, gridDim.x * blockDim.x, not by those of a block",
              blocks);
      }
    }
  }
  return "";
}

// `got` is the result of the first items only.
template <typename T, typename Op>
std::string rest_left_out(const Facts<T, Op>& f) {
  if (!f.has_telling_integers() || f.id() != OpId::sum) return "";
  typename Op::Value total = f.op.identity();
  for (std::size_t i = 0; i + 1 < f.items.size(); ++i) {
    total = f.op(total, static_cast<typename Op::Value>(f.items[i]));
    if (total == f.got)
      return i == 0 ? "this is the first item alone: no other one was combined with it"
                    : fmt::format("this is the {} of the first {} of the {} items: the rest was left out",
                                  name_of(f.id()), i + 1, f.c.n);
  }
  return "";
}

// `got` lacks items that follow each other, or has them twice: one item, or more of them. (If the last ones
// are missing, rest_left_out says so.)
template <typename T, typename Op>
std::string items_off(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_integral_v<Value>) {
    // If all of many are there twice, counted_twice says so; a few may be all of a part.
    // In a long array only few at once, so that hardly any other items match by chance.
    constexpr std::size_t kMost = 2048, kTelling = 32, kMaxOfLong = 16384, kFew = 32;
    const std::size_t n = f.items.size();
    if (f.id() != OpId::sum || !f.has_telling_integers() || n < 2 || n > kMaxOfLong) return "";
    using U = std::make_unsigned_t<Value>;
    const U right = static_cast<U>(fold_one_thread(f.items, f.op)), got = static_cast<U>(f.got);
    U up_to = 0;  // the sum of the items before i
    std::map<U, std::size_t> ends_at{{U{0}, 0}};
    const auto from = [&](U sum) {
      const auto found = ends_at.find(sum);
      return found == ends_at.end() ? n : found->second;
    };
    for (std::size_t i = 0; i < n; ++i) {
      up_to += static_cast<U>(static_cast<Value>(f.items[i]));
      for (const bool twice : {false, true}) {
        const std::size_t begin = from(static_cast<U>(up_to - (twice ? got - right : right - got)));
        if (begin > i || (i + 1 == n && (!twice || (begin == 0 && n >= kTelling)))) continue;
        if (n > kMost && i - begin >= kFew) continue;
        const char* what = twice ? "combined twice" : "left out";
        return begin == i ? fmt::format("d_in[{}] was {}", i, what)
                          : fmt::format("the items from {} to {} were {}", begin, i, what);
      }
      ends_at.try_emplace(up_to, i + 1);
    }
  }
  return "";
}

// The error is about that of a serial sum of the same items, and in the same direction.
template <typename T, typename Op>
std::string one_by_one(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_floating_point_v<Value>) {
    if ((f.id() != OpId::sum && f.id() != OpId::mean) || f.c.n <= 4096) return "";
    const Value serial = f.op.finish(fold_one_thread(f.items, f.op));
    const auto error = static_cast<long double>(f.got) - f.expected.value;
    const auto serial_error = static_cast<long double>(serial) - f.expected.value;
    if (std::abs(error) <= 4 * std::abs(serial_error) &&
        std::abs(serial_error) > static_cast<long double>(f.expected.bound))
      return "the error is as large as that of adding the items one by one in this type: a long sum loses "
             "digits. A tree, or many short sums, loses far fewer";
  }
  return "";
}

template <typename F>
std::string nearly_right(const F& f) {
  if constexpr (std::is_floating_point_v<typename F::Value>) {
    if ((f.id() == OpId::sum || f.id() == OpId::mean) && f.c.n > 4096 && f.tells(0) &&
        std::abs(static_cast<long double>(f.got) - f.expected.value) <= 1e-3L * std::abs(f.expected.value))
      return "nearly right, but the difference is larger than rounding can explain";
  }
  return "";
}

template <typename T, typename Op>
constexpr Rule<Facts<T, Op>> kRules[] = {
    {"no_item", no_item<Facts<T, Op>>, false, "this is the identity: no item was combined into the result"},
    {"zero_for_identity", zero_for_identity<Facts<T, Op>>},
    {"finish_forgotten", finish_forgotten<Facts<T, Op>>},
    {"finished_twice", finished_twice<Facts<T, Op>>},
    {"sum_in_32_bits", sum_in_32_bits<T, Op>},
    {"integers_in_floats", integers_in_floats<T, Op>},
    {"added_instead_of_op", added_instead_of_op<T, Op>},
    {"counted_twice", counted_twice<Facts<T, Op>>},
    {"lane_0_combined_itself", lane_0_combined_itself<Facts<T, Op>>},
    {"one_side_twice", one_side_twice<Facts<T, Op>>},
    {"round_left_out", round_left_out<Facts<T, Op>>},
    {"first_block_repeated", first_block_repeated<Facts<T, Op>>},
    {"stride_of_a_block", stride_of_a_block<Facts<T, Op>>},
    {"items_off", items_off<T, Op>},
    {"rest_left_out", rest_left_out<T, Op>},
    {"one_by_one", one_by_one<T, Op>},
    {"nearly_right", nearly_right<Facts<T, Op>>, true},
};

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
        if constexpr (std::is_integral_v<T>) {
          item = integer_item<T>(static_cast<OpId>(c.op), c.pattern, i++, c.n, rng);
        } else {
          item = float_item<T>(static_cast<OpId>(c.op), c.pattern, i++, c.n, rng);
        }
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
    Ideal ideal = depends_on({std::max(n - 1, 0.0), n > 1 ? std::ceil(std::log2(n)) : 0, bytes}, n, 1, n);
    // Every item enters the only result once, so the operations that lead to it are a tree.
    ideal.most_needed_work = ideal.work;
    return ideal;
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
  add(OpId::sum, DType::f64, 100003, Pattern::random);
  add(OpId::sum, DType::f64, 2000, Pattern::skewed);
  // The other operators: the item that determines the result is the last one or anywhere, all items have the
  // same sign, or there are no items.
  for (const DType dtype : {DType::i32, DType::f32}) {
    add(OpId::product, dtype, 0, Pattern::random);
    add(OpId::product, dtype, 1025, Pattern::random);
    add(OpId::product, dtype, 70001, Pattern::random);
    add(OpId::max, dtype, 0, Pattern::random);
    add(OpId::max, dtype, 1000, Pattern::ascending);
    add(OpId::max, dtype, 70001, Pattern::ascending);
    add(OpId::max, dtype, 1025, Pattern::skewed);
    add(OpId::max, dtype, 70001, Pattern::random);
    add(OpId::max, dtype, 5000, Pattern::extremes);
    add(OpId::min, dtype, 0, Pattern::random);
    add(OpId::min, dtype, 1000, Pattern::descending);
    add(OpId::min, dtype, 70001, Pattern::descending);
    add(OpId::min, dtype, 1025, Pattern::skewed);
    add(OpId::min, dtype, 70001, Pattern::random);
    add(OpId::min, dtype, 5000, Pattern::extremes);
    add(OpId::mean, dtype, 0, Pattern::random);
    add(OpId::mean, dtype, 1, Pattern::random);
    add(OpId::mean, dtype, 1000, Pattern::skewed);
    add(OpId::mean, dtype, 100003, Pattern::high_bits);
  }
  add(OpId::product, DType::f32, 300, Pattern::skewed);
  add(OpId::product, DType::i32, 1, Pattern::random);

  // The measured cases: with 2^18 items, counting work and steps is quick; 2^24 items do not fit the device's
  // cache. Both are also correctness cases, with another seed, so an answer that was stored in one is wrong
  // in the other.
  add(OpId::sum, DType::i32, 262144, Pattern::random, kEfficiency | kCorrectness);
  add(OpId::sum, DType::i32, 16777216, Pattern::random, kSpeedup | kCorrectness);
  return all;
}

}  // namespace

const Problem& problem() {
  static const ReductionProblem kProblem;
  return kProblem;
}

}  // namespace course::reduction
