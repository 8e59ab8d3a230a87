// SPDX-License-Identifier: MIT
// The trusted side of the radix sort lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: CaseList has what is tried and why, fill() makes the keys, check() decides what is
// accepted: every output is exact, bit by bit. suspects.hpp lists the mistakes that may explain a wrong one.

#include <cmath>
#include <cstring>
#include <optional>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "lab/poison.hpp"
#include "radix_sort/baseline.hpp"
#include "radix_sort/lab.hpp"
#include "radix_sort/points.hpp"
#include "radix_sort/suspects.hpp"

namespace course::radix_sort {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

Rung rung_of(const Task& task) {
  return static_cast<Rung>(lab::index_of(kManifest, task));
}
bool has_values(const Case& c) {
  return static_cast<OpId>(c.op) == OpId::pairs;
}

// Calls f(Bits{}) with the unsigned type of the case's keys.
template <typename F>
decltype(auto) with_bits(const Case& c, F f) {
  return bytes_of(c.dtype) == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

template <typename Bits>
Order<Bits> order_of(const Case& c) {
  return {kind_of(c.dtype), c.params[kDescending] != 0, static_cast<unsigned>(c.params[kBeginBit]),
          static_cast<unsigned>(c.params[kEndBit])};
}

// --- Keys.

// All kinds of floats, by their bits: zeros, infinities, numbers next to zero, NaNs of both signs with
// different payloads.
template <typename Bits>
Bits float_bits(std::uint64_t choice) {
  constexpr unsigned kFraction = sizeof(Bits) == 4 ? 23 : 52;
  constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1),
                 kInfinity = static_cast<Bits>((kTop - 1) >> kFraction << kFraction);
  constexpr Bits kOne =
      sizeof(Bits) == 4 ? static_cast<Bits>(0x3f800000u) : static_cast<Bits>(0x3ff0000000000000u);
  constexpr Bits kQuiet = Bits{1} << (kFraction - 1);
  const Bits values[] = {0,
                         1,
                         kOne,
                         kOne + 1,
                         kInfinity - 1,
                         kInfinity,
                         static_cast<Bits>(kInfinity | kQuiet),
                         static_cast<Bits>(kInfinity | kQuiet | 5)};
  const Bits value = values[choice / 2 % std::size(values)];
  return choice % 2 == 0 ? value : static_cast<Bits>(value | kTop);
}

template <typename Key, typename Bits>
void fill_keys(std::span<Bits> keys, const Case& c, std::uint64_t seed) {
  Rng rng(seed);
  std::uint64_t i = 0;
  for (Bits& key : keys) {
    if constexpr (std::is_floating_point_v<Key>) {
      if (c.pattern == Pattern::extremes) {
        key = float_bits<Bits>(rng.below(16));
        ++i;
        continue;
      }
    }
    key = std::bit_cast<Bits>(item_of<Key>(c.pattern, i++, keys.size(), rng));
  }
}

template <typename Bits>
void fill_keys_of(std::span<Bits> keys, const Case& c, std::uint64_t seed) {
  using Signed = std::make_signed_t<Bits>;
  using Float = std::conditional_t<sizeof(Bits) == 4, float, double>;
  switch (kind_of(c.dtype)) {
    case KeyKind::unsigned_number: return fill_keys<Bits>(keys, c, seed);
    case KeyKind::signed_number: return fill_keys<Signed>(keys, c, seed);
    case KeyKind::floating: return fill_keys<Float>(keys, c, seed);
  }
}

// --- The right answers.

enum class How { library, one_thread, all_cores };

template <typename Bits, typename Value>
void sort_items(std::span<Item<Bits, Value>> items, const Order<Bits>& order, How how) {
  if (how == How::library) return sort_by_library(items, order);
  if (how == How::one_thread) return sort_one_thread(items, order);
  sort_all_cores(items, order);
}

// What the task does with its items.
template <typename Bits, typename Value>
void solve_on_cpu(Rung rung, std::span<Item<Bits, Value>> items, const Order<Bits>& order, How how) {
  if (rung != Rung::tile_sort) return sort_items(items, order, how);
  if (how != How::library) return sort_tiles(items, order, kTile, how == How::all_cores);
  for_tiles(items, [&](auto tile) { sort_by_library(tile, order); });
}

template <typename Bits, typename Value>
std::vector<Item<Bits, Value>> items_of(std::span<const HostBuffer> buffers) {
  const auto keys = buffers[0].as<Bits>();
  std::vector<Item<Bits, Value>> items(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) items[i].key = keys[i];
  if constexpr (kHasValues<Value>) {
    const auto values = buffers[1].as<Value>();
    for (std::size_t i = 0; i < values.size(); ++i) items[i].value = values[i];
  }
  return items;
}

template <typename Bits, typename Value>
void items_to(std::span<const Item<Bits, Value>> items, std::span<HostBuffer> buffers) {
  const auto keys = buffers[0].as<Bits>();
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = items[i].key;
  if constexpr (kHasValues<Value>) {
    const auto values = buffers[1].as<Value>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = items[i].value;
  }
}

// --- Likely causes of a wrong result.

// Whether the output is what the passes but for the last ones leave there: they wrote to another array, or
// did not run. If there is no other pass, nothing was written.
template <typename Bits>
std::optional<Cause> last_passes_missing(Rung rung, const Order<Bits>& right, std::span<const Bits> in,
                                         std::span<const Bits> out) {
  if (rung == Rung::tile_sort || is_merge(rung) || right.end_bit == right.begin_bit || in.empty()) return {};
  const unsigned digit = rung == Rung::split ? 1 : 8;
  const unsigned n_passes = (right.end_bit - right.begin_bit + digit - 1) / digit;
  for (unsigned missing = 1; missing <= std::min(n_passes, 3u); ++missing) {
    std::vector<Bits> left(in.begin(), in.end());
    if (missing == n_passes) {
      std::memset(left.data(), std::to_integer<int>(kPoison), left.size() * sizeof(Bits));
    } else {
      Order<Bits> others = right;
      others.end_bit = right.begin_bit + (n_passes - missing) * digit;
      stable_sort_by(left, others);
    }
    if (!std::equal(left.begin(), left.end(), out.begin())) continue;
    const std::string last = missing == 1 ? "last pass" : fmt::format("last {} passes", missing);
    const std::string left_there =
        missing == n_passes ? "nothing was written"
                            : fmt::format("this is in order by bits {} to {} alone", right.begin_bit,
                                          right.begin_bit + (n_passes - missing) * digit - 1);
    return Cause{fmt::format("last_passes_missing {}", missing),
                 fmt::format("{}: the {} left nothing in the output, but wrote to another array or did "
                             "not run. The number of passes may be odd or even",
                             left_there, last)};
  }
  return {};
}

constexpr const char* kUnstable =
    "in order, but keys that are equal in the bits that count are not in the order of the input: is every "
    "pass stable?";
// The first bit of the last pass if the keys are in order by its digit, but not by the bits below: what is
// left if a pass is not stable. With few keys, or few in one of two groups, this is no evidence.
template <typename Bits>
std::optional<unsigned> last_digit_alone(const Order<Bits>& right, std::span<const Bits> out) {
  constexpr std::size_t kEnough = 8;
  if (out.size() < kEnough) return std::nullopt;
  for (const unsigned digit : {8u, 4u, 1u}) {
    if (right.end_bit - right.begin_bit <= digit) continue;
    Order<Bits> last = right;
    last.begin_bit = right.begin_bit + (right.end_bit - right.begin_bit - 1) / digit * digit;
    const auto before = [&](Bits a, Bits b) { return last.rank(a) < last.rank(b); };
    const auto of_both_ends = [&](std::size_t k) {
      return before(out[k - 1], out[out.size() - k]);  // so there are k keys on either side
    };
    if (of_both_ends(digit == 1 ? kEnough / 2 : 1) && std::ranges::is_sorted(out, before))
      return last.begin_bit;
  }
  return std::nullopt;
}

constexpr const char* kUndone = "all keys are there, but not in order";

// If a key is in the output more often than in the input, it was written in the place of another one.
template <typename Bits>
std::optional<Cause> lost_keys(const Case& c, std::span<const Bits> in, std::span<const Bits> out) {
  std::vector<Bits> had(in.begin(), in.end()), has(out.begin(), out.end());
  std::ranges::sort(had);
  std::ranges::sort(has);
  if (had == has) return {};
  const auto differs = std::mismatch(had.begin(), had.end(), has.begin());
  const Bits key = std::min(*differs.first, *differs.second);
  const auto times = [key](const std::vector<Bits>& keys) {
    const auto range = std::equal_range(keys.begin(), keys.end(), key);
    return range.second - range.first;
  };
  const std::string printed = print_element(c.dtype, reinterpret_cast<const std::byte*>(&key));
  return Cause{
      "keys_lost",
      times(had) == 0 ? fmt::format("the output holds {}, which is not a key of the input", printed)
                      : fmt::format("the output does not hold the keys of the input: {} occurs {} time{} "
                                    "in the input and {} time{} in the output",
                                    printed, times(had), times(had) == 1 ? "" : "s", times(has),
                                    times(has) == 1 ? "" : "s"),
      true,
      "the output does not hold the keys of the input: some are lost, and others stand there more often"};
}

template <typename Bits>
bool is_in_order(Rung rung, const Order<Bits>& order, std::span<const Bits> keys) {
  const auto before = [&](Bits a, Bits b) { return order.rank(a) < order.rank(b); };
  if (rung != Rung::tile_sort) return std::ranges::is_sorted(keys, before);
  bool sorted = true;
  for_tiles(keys, [&](auto tile) { sorted = sorted && std::ranges::is_sorted(tile, before); });
  return sorted;
}

// The cause of wrong keys.
template <typename Bits>
std::vector<Cause> causes_of_keys(Rung rung, const Case& c, std::span<const Bits> in,
                                  std::span<const Bits> out) {
  constexpr std::uint64_t kTelling = 8, kWorthTrying = 1 << 17;  // so few keys are in many orders at once
  const Order<Bits> right = order_of<Bits>(c);
  std::vector<Cause> causes;
  if (auto cause = last_passes_missing(rung, right, in, out)) causes.push_back(std::move(*cause));
  if (auto lost = lost_keys(c, in, out)) {
    if (causes.empty()) causes.push_back(std::move(*lost));
    return causes;
  }
  // The same without the last digits is one mistake.
  const bool without_last = !causes.empty();
  if (c.n >= kTelling && c.n <= kWorthTrying) {
    Suspects<Bits> suspects(rung, right, c.n);
    for (auto& suspect : suspects.all) {
      // An unchanged input has one explanation, unless another case can show the cause.
      if (!causes.empty() && causes.front().rule == "nothing_moved" && suspect.rule != "lower_half" &&
          suspect.rule != "no_flip")
        continue;
      std::vector<Bits> keys(in.begin(), in.end());
      if (without_last && suspect.rule.starts_with("upper_bits_missing")) continue;
      suspect.treat(keys);
      if (std::equal(keys.begin(), keys.end(), out.begin()))
        causes.push_back({suspect.rule, std::move(suspect.hint)});
    }
  }
  if (is_merge(rung)) return causes;
  const bool sorted = is_in_order(rung, right, out);
  const auto last = sorted || rung == Rung::tile_sort ? std::nullopt : last_digit_alone(right, out);
  if (last && causes.empty())
    causes.push_back(
        {"last_digit_alone",
         fmt::format("in order by {}, the digit of the last pass, but not by the bits below: a pass does not "
                     "keep the order of keys with the same digit, or one before the last is wrong",
                     *last + 1 == right.end_bit ? fmt::format("bit {}", *last)
                                                : fmt::format("bits {} to {}", *last, right.end_bit - 1))});
  causes.push_back({sorted ? "unstable" : "not_sorted", sorted ? kUnstable : kUndone, true});
  return causes;
}

// --- The cases.

struct More {
  unsigned begin = 0, end = 0;  // end 0: all bits
  bool descending = false;
  std::uint32_t purpose = kCorrectness;
  std::uint32_t misalign = 0;
};
constexpr std::uint32_t kBoth = kCorrectness | kChecks;
constexpr std::uint32_t kMeasured = kEfficiency | kCorrectness, kTimed = kSpeedup | kCorrectness;
constexpr Pattern kPatterns[] = {Pattern::all_equal, Pattern::ascending, Pattern::descending,
                                 Pattern::skewed,    Pattern::high_bits, Pattern::alternating,
                                 Pattern::extremes};

class CaseList {
 public:
  explicit CaseList(Rung rung) {
    // The handout's eight keys of three bits; 0, 1 and 2 keys; sizes around a warp, a block, a tile.
    keys(8, Pattern::example, {.begin = 0, .end = is_merge(rung) ? 32u : 3u, .purpose = kBoth});
    for (const std::uint64_t n : {0u, 1u, 31u, 33u, 255u, 257u, 1023u, 1024u, 1025u})
      keys(n, Pattern::random);
    keys(2, Pattern::alternating);
    switch (rung) {
      case Rung::split: add_for_split(); break;
      case Rung::tile_sort: add_for_tile_sort(); break;
      case Rung::merge:
      case Rung::merge_path: add_for_merges(); break;
      case Rung::digits:
      case Rung::onesweep: add_for_digits(); break;
      case Rung::any_key:
      case Rung::counts_first: add_for_any_key(); break;
      case Rung::state_of_the_art:
        add_for_any_key();
        add_for_the_last_rung();
        break;
      case Rung::tiles_and_merge:
        for (const std::uint64_t n : {2048u, 2049u, 5000u, 100000u}) keys(n, Pattern::random);
        for (const Pattern pattern : kPatterns) keys(7000, pattern);
    }
    for (const unsigned few : {1u, 2u}) {
      keys(few * kThreeTurns, Pattern::random,
           {.end = is_merge(rung) || rung == Rung::tiles_and_merge ? 32u : 8u,
            .purpose = few == 1 ? kBoth : kCorrectness});
      all.back() = on_multiprocessors(few, all.back());
    }
  }

  std::vector<Case> all;

 private:
  void add(OpId op, DType dtype, std::uint64_t n, Pattern pattern, More more = {}) {
    const auto key_bits = static_cast<unsigned>(8 * bytes_of(dtype));
    const unsigned end = more.end == 0 && more.begin == 0 ? key_bits : more.end;
    lab::CaseWords words{fmt::format("{}_{}", name_of(op), lab::name_of(dtype))};
    if (more.begin != 0 || end != key_bits) words.more = fmt::format("_bits{}to{}", more.begin, end);
    if (more.descending) words.more += "_descending";
    Case& c =
        all.emplace_back(make_case(std::move(words), op, dtype, n, pattern, more.purpose, more.misalign));
    c.params[kBeginBit] = more.begin;
    c.params[kEndBit] = end;
    c.params[kDescending] = more.descending ? 1 : 0;
  }
  void keys(std::uint64_t n, Pattern pattern, More more = {}) {
    add(OpId::keys, DType::u32, n, pattern, more);
  }
  void pairs(std::uint64_t n, Pattern pattern, More more = {}) {
    add(OpId::pairs, DType::u32, n, pattern, more);
  }

  void add_for_split() {
    // High bits that are not sorted show the order of equal keys.
    keys(3000, Pattern::random, {.end = 4, .purpose = kBoth});
    keys(300, Pattern::random, {.purpose = kBoth});
    for (const Pattern pattern : kPatterns) keys(5000, pattern);
    keys(2500, Pattern::random, {.begin = 5, .end = 13});
    keys(2500, Pattern::random, {.begin = 31, .end = 32});
    keys(10001, Pattern::random, {.misalign = 4});
    keys(65537, Pattern::random, {.end = 8});
    keys(1048577, Pattern::random, {.end = 3});  // the scan needs three levels
    keys(262144, Pattern::random, {.end = 16, .purpose = kMeasured});
  }

  void add_for_tile_sort() {
    keys(1000, Pattern::random, {.end = 4, .purpose = kBoth});
    keys(3000, Pattern::random, {.purpose = kBoth});
    for (const Pattern pattern : kPatterns) keys(5000, pattern);
    keys(2500, Pattern::random, {.begin = 5, .end = 13});
    keys(2500, Pattern::random, {.begin = 31, .end = 32});
    keys(5000, Pattern::random, {.begin = 7, .end = 7});
    keys(10001, Pattern::random, {.misalign = 4});
    keys(100000, Pattern::random);
    keys(262144, Pattern::random, {.purpose = kMeasured});
    keys(1048576, Pattern::random, {.purpose = kTimed});
  }

  void add_for_merges() {
    keys(1500, Pattern::random, {.purpose = kBoth});
    keys(5000, Pattern::random, {.purpose = kBoth});
    keys(9000, Pattern::skewed, {.purpose = kBoth});
    for (const std::uint64_t n :
         {2047u, 2048u, 2049u, 3071u, 3072u, 3073u, 4096u, 4097u, 6000u, 8191u, 16385u})
      keys(n, Pattern::random);
    for (const Pattern pattern : kPatterns) keys(7000, pattern);
    keys(10001, Pattern::random, {.misalign = 4});
    keys(100000, Pattern::random);
    keys(262144, Pattern::random, {.purpose = kMeasured});
    keys(1048576, Pattern::random, {.purpose = kTimed});
  }

  void add_for_digits() {
    keys(9000, Pattern::random, {.end = 8, .purpose = kBoth});
    pairs(5000, Pattern::skewed, {.purpose = kBoth});
    keys(3000, Pattern::random, {.begin = 3, .end = 14, .purpose = kBoth});
    for (const std::uint64_t n : {2047u, 2048u, 2049u, 4095u, 4096u, 4097u, 8191u, 8193u})
      keys(n, Pattern::random);
    for (const Pattern pattern : kPatterns) keys(20000, pattern);
    for (const Pattern pattern : kPatterns) pairs(12345, pattern);
    for (const std::uint64_t n : {0u, 1u, 1000u, 4096u}) pairs(n, Pattern::random);
    pairs(30000, Pattern::random, {.begin = 0, .end = 1});
    pairs(4097, Pattern::random, {.begin = 6, .end = 29});  // an odd number of passes
    keys(5000, Pattern::random, {.begin = 31, .end = 32});
    pairs(5000, Pattern::random, {.begin = 7, .end = 7});
    pairs(10001, Pattern::random, {.misalign = 4});
    keys(100003, Pattern::random);
    pairs(262144, Pattern::random);
    keys(262144, Pattern::random, {.purpose = kMeasured});
    keys(1048576, Pattern::random, {.purpose = kTimed});
  }

  void add_for_any_key() {
    for (const DType dtype : {DType::u32, DType::i32, DType::f32, DType::u64, DType::i64, DType::f64}) {
      const auto half = static_cast<unsigned>(4 * bytes_of(dtype));
      for (const OpId op : {OpId::keys, OpId::pairs}) {
        for (const bool descending : {false, true}) {
          add(op, dtype, 5000, Pattern::random, {.descending = descending});
          add(op, dtype, 3000, Pattern::extremes, {.descending = descending});
        }
        add(op, dtype, 3001, Pattern::extremes,
            {.begin = 2 * half - 12, .end = 2 * half, .descending = op == OpId::keys});
        add(op, dtype, 4097, Pattern::random,
            {.begin = half - 3, .end = half + 8, .descending = op == OpId::pairs});
      }
      add(OpId::pairs, dtype, 4099, Pattern::random, {.begin = 8, .end = 2 * half - 3});
      add(OpId::pairs, dtype, 20001, Pattern::alternating, {.misalign = 8});
      add(OpId::keys, dtype, 0, Pattern::random, {.descending = true});
      add(OpId::pairs, dtype, 1, Pattern::random);
      add(OpId::pairs, dtype, 2000, Pattern::all_equal, {.descending = true});
    }
    add(OpId::pairs, DType::f32, 4500, Pattern::extremes,
        {.begin = 24, .end = 32, .descending = true, .purpose = kBoth});
    add(OpId::pairs, DType::i64, 2500, Pattern::skewed, {.begin = 56, .end = 64, .purpose = kBoth});
    add(OpId::pairs, DType::f64, 2500, Pattern::random, {.begin = 40, .end = 40});
    add(OpId::pairs, DType::u64, 100003, Pattern::random);
    add(OpId::pairs, DType::f32, 1048576, Pattern::random, {.purpose = kTimed});
  }

  // One block sorts the short arrays of the cases above; here are longer ones, and the lengths around the
  // most that one block of 512 threads sorts: 40 KB of items.
  void add_for_the_last_rung() {
    for (const DType dtype : {DType::u32, DType::i32, DType::f32, DType::u64, DType::i64, DType::f64}) {
      const auto half = static_cast<unsigned>(4 * bytes_of(dtype));
      for (const OpId op : {OpId::keys, OpId::pairs}) {
        for (const bool descending : {false, true}) {
          add(op, dtype, 30001, Pattern::random, {.descending = descending});
          add(op, dtype, 30000, Pattern::extremes, {.descending = descending});
        }
        add(op, dtype, 24577, Pattern::random,
            {.begin = half - 3, .end = half + 8, .descending = op == OpId::keys});
        const std::uint64_t most = 40960 / (bytes_of(dtype) + (op == OpId::pairs ? 4 : 0)) / 512 * 512;
        for (const std::uint64_t n : {most, most + 1}) add(op, dtype, n, Pattern::random, {.purpose = kBoth});
      }
      add(OpId::pairs, dtype, 20003, Pattern::all_equal, {.descending = true});
    }
    for (const std::uint64_t n : {32u, 128u, 129u, 512u, 2049u})
      pairs(n, Pattern::skewed, {.purpose = kBoth});
    // The upper digits of all keys are equal, and so are the keys of some tiles.
    pairs(40000, Pattern::skewed, {.purpose = kBoth});
    pairs(40000, Pattern::random, {.begin = 7, .end = 7, .purpose = kBoth, .misalign = 4});
    add(OpId::keys, DType::f64, 5001, Pattern::random, {.begin = 40, .end = 40});
  }
};

class RadixSortProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override { return CaseList(rung_of(task)).all; }

  Shape shape(const Task&, const Case& c) const override {
    Shape shape{{{"d_keys_in", c.dtype, c.n}},
                {{"d_keys_out", c.dtype, c.n}},
                workspace_of(c.n, c.dtype, has_values(c))};
    if (has_values(c)) {
      shape.inputs.push_back({"d_values_in", DType::u32, c.n});
      shape.outputs.push_back({"d_values_out", DType::u32, c.n});
    }
    return shape;
  }

  void fill(const Task& task, const Case& c, std::uint64_t seed,
            std::span<HostBuffer> inputs) const override {
    with_bits(c, [&]<typename Bits>(Bits) {
      const auto keys = inputs[0].as<Bits>();
      fill_keys_of(keys, c, seed);
      if (is_merge(rung_of(task))) for_tiles(keys, [](auto tile) { std::ranges::sort(tile); });
    });
    if (!has_values(c)) return;
    Rng rng(seed_for(seed, "values"));
    for (auto& value : inputs[1].as<std::uint32_t>()) value = static_cast<std::uint32_t>(rng());
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_bits(c, [&]<typename Bits>(Bits) {
      return has_values(c) ? check_items<Bits, std::uint32_t>(task, c, inputs, outputs)
                           : check_items<Bits, NoValue>(task, c, inputs, outputs);
    });
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs, Baseline which) const override {
    with_bits(c, [&]<typename Bits>(Bits) {
      const auto solve = [&]<typename Value>(Value) {
        auto items = items_of<Bits, Value>(inputs);
        solve_on_cpu(rung_of(task), std::span(items), order_of<Bits>(c),
                     which == Baseline::one_thread ? How::one_thread : How::all_cores);
        items_to(std::span<const Item<Bits, Value>>(items), outputs);
      };
      if (has_values(c)) {
        solve(std::uint32_t{});
      } else {
        solve(NoValue{});
      }
    });
  }

  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    const double bits = static_cast<double>(c.params[kEndBit] - c.params[kBeginBit]);
    const double item_bytes = static_cast<double>(bytes_of(c.dtype)) + (has_values(c) ? 4 : 0);
    Ideal ideal{.items = n, .units = std::ceil(n / kTile), .bytes = 2 * n * item_bytes};
    if (is_merge(rung_of(task))) {
      // A level that makes runs of 2m keys has log2(2m) stages of n/2 comparisons.
      double stages = 0;
      for (std::uint64_t run = kTile; run < c.n; run *= 2)
        stages += std::log2(2.0 * static_cast<double>(run));
      ideal.work = n / 2 * stages;
      ideal.steps = stages;
      return ideal;
    }
    // Every key is read once for each bit; the keys before it are counted in a tree.
    ideal.work = n * bits;
    ideal.steps = bits * (c.n > 1 ? std::ceil(std::log2(n)) : 0);
    return ideal;
  }

  Case example(const Task& task, std::uint64_t n) const override {
    Case c = make_case({"keys_u32"}, OpId::keys, DType::u32, n, Pattern::example);
    c.params[kEndBit] = is_merge(rung_of(task)) ? 32 : 3;
    return c;
  }

 private:
  template <typename Bits, typename Value>
  static std::optional<Mismatch> check_items(const Task& task, const Case& c,
                                             std::span<const HostBuffer> inputs,
                                             std::span<const HostBuffer> outputs) {
    // The library's sort gives the right answer; for long arrays the sort by digits on all cores does, which
    // the tests compare with it.
    constexpr std::uint64_t kLong = 1 << 17;
    const Rung rung = rung_of(task);
    auto right = items_of<Bits, Value>(inputs);
    solve_on_cpu(rung, std::span(right), order_of<Bits>(c), c.n < kLong ? How::library : How::all_cores);
    std::vector<HostBuffer> expected(outputs.begin(), outputs.end());
    items_to(std::span<const Item<Bits, Value>>(right), expected);

    if (auto mismatch = compare_integers(outputs[0].spec, expected[0].bytes, outputs[0].bytes)) {
      if (mismatch->expected == mismatch->got) show_bits<Bits>(*mismatch, expected[0], outputs[0]);
      std::vector<Cause> causes = causes_of_keys<Bits>(rung, c, inputs[0].as<Bits>(), outputs[0].as<Bits>());
      // An output that was not written may be a part of a mistake that other cases show.
      const bool elsewhere = !causes.empty() && causes.front().rule.starts_with("last_passes_missing");
      if (elsewhere || !is_explained(*mismatch)) add_causes(*mismatch, std::move(causes));
      return mismatch;
    }
    if constexpr (kHasValues<Value>) {
      if (auto mismatch = compare_integers(outputs[1].spec, expected[1].bytes, outputs[1].bytes)) {
        if (!is_explained(*mismatch)) add_causes(*mismatch, {cause_of_values<Bits, Value>(inputs, outputs)});
        return mismatch;
      }
    }
    return std::nullopt;
  }

  // Two different NaNs are printed alike, so print their bits, too.
  template <typename Bits>
  static void show_bits(Mismatch& mismatch, const HostBuffer& expected, const HostBuffer& got) {
    const auto bits = [&](const HostBuffer& buffer) {
      return fmt::format(" (bits {:#x})", buffer.as<Bits>()[mismatch.index]);
    };
    mismatch.expected += bits(expected);
    mismatch.got += bits(got);
  }

  // The cause of wrong values; the keys are right.
  template <typename Bits, typename Value>
  static Cause cause_of_values(std::span<const HostBuffer> inputs, std::span<const HostBuffer> outputs) {
    const auto pairs_of = [](std::span<const HostBuffer> buffers) {
      std::vector<std::pair<Bits, Value>> pairs;
      for (const auto& item : items_of<Bits, Value>(buffers)) pairs.emplace_back(item.key, item.value);
      return pairs;
    };
    auto had = pairs_of(inputs), has = pairs_of(outputs);
    if (std::equal(had.begin(), had.end(), has.begin(), [](auto a, auto b) { return a.second == b.second; }))
      return {"values_stayed", "the keys are in order, but their values stayed where they were"};
    std::ranges::sort(had);
    std::ranges::sort(has);
    if (had != has)
      return {"values_of_others",
              "the keys are in order, but these are not the values that belong to them: a value "
              "goes where its key goes",
              true};
    return {"values_changed_places",
            "the keys are in order, but values of equal keys changed places: a pass is not stable"};
  }
};

}  // namespace

const Problem& problem() {
  static const RadixSortProblem kProblem;
  return kProblem;
}

}  // namespace course::radix_sort
