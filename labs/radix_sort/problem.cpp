// SPDX-License-Identifier: MIT
// The trusted side of the radix sort lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: the tables list what is tried and why, fill() makes the keys, check() decides what is
// accepted: every output is exact, bit by bit. causes.hpp explains wrong outputs, wrong_stores.hpp the first
// wrong store on the way to them.

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "radix_sort/baseline.hpp"
#include "radix_sort/causes.hpp"
#include "radix_sort/lab.hpp"
#include "radix_sort/points.hpp"
#include "radix_sort/wrong_stores.hpp"

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

// Calls f(Bits{}, Value{}) with the types of the case's keys and values.
template <typename F>
decltype(auto) with_types(const Case& c, F f) {
  return with_bits(c,
                   [&](auto bits) { return has_values(c) ? f(bits, std::uint32_t{}) : f(bits, NoValue{}); });
}

template <typename Bits>
Order<Bits> order_of(const Case& c) {
  return {kind_of(c.dtype), c.params[kDescending] != 0, static_cast<unsigned>(c.params[kBeginBit]),
          static_cast<unsigned>(c.params[kEndBit])};
}

// --- Keys.

// All kinds of floats, by their bits: zeros, infinities, numbers next to zero, NaNs of both signs with
// different payloads.
template <typename Float, typename Bits>
Bits float_bits(std::uint64_t choice) {
  using Limits = std::numeric_limits<Float>;
  const auto bits = [](Float number) { return std::bit_cast<Bits>(number); };
  const Bits values[] = {0,
                         1,
                         bits(1),
                         bits(1) + 1,
                         bits(Limits::infinity()) - 1,
                         bits(Limits::infinity()),
                         bits(Limits::quiet_NaN()),
                         bits(Limits::quiet_NaN()) | 5};
  const Bits value = values[choice / 2 % std::size(values)];
  return choice % 2 == 0 ? value : value | bits(-Float{0});
}

template <typename Key, typename Bits>
void fill_keys(HostBuffer& keys, const Case& c, std::uint64_t seed) {
  if (!std::is_floating_point_v<Key> || c.pattern != Pattern::extremes)
    return fill_items(keys.as<Key>(), c.pattern, seed);
  Rng rng(seed);
  for (Bits& key : keys.as<Bits>()) key = float_bits<Key, Bits>(rng.below(16));
}

template <typename Bits>
void fill_keys_of(HostBuffer& keys, const Case& c, std::uint64_t seed) {
  using Signed = std::make_signed_t<Bits>;
  using Float = std::conditional_t<sizeof(Bits) == 4, float, double>;
  switch (kind_of(c.dtype)) {
    case KeyKind::unsigned_number: return fill_keys<Bits, Bits>(keys, c, seed);
    case KeyKind::signed_number: return fill_keys<Signed, Bits>(keys, c, seed);
    case KeyKind::floating: return fill_keys<Float, Bits>(keys, c, seed);
  }
}

// --- The right answers.

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
void items_to(const std::vector<Item<Bits, Value>>& items, std::span<HostBuffer> buffers) {
  const auto keys = buffers[0].as<Bits>();
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = items[i].key;
  if constexpr (kHasValues<Value>) {
    const auto values = buffers[1].as<Value>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = items[i].value;
  }
}

// --- The cases.

// Without bits: all bits of a key.
struct Sort {
  OpId op;
  unsigned begin = 0, end = 0;
  bool descending = false;

  constexpr Sort bits(unsigned from, unsigned to) const { return {op, from, to, descending}; }
  constexpr Sort down() const { return {op, begin, end, true}; }
};

Case make(Sort sort, DType dtype, std::uint64_t n, Pattern pattern, std::uint32_t purpose,
          std::uint32_t misalign) {
  const auto key_bits = static_cast<unsigned>(8 * bytes_of(dtype));
  const unsigned end = sort.end == 0 && sort.begin == 0 ? key_bits : sort.end;
  CaseWords words{fmt::format("{}_{}", name_of(sort.op), lab::name_of(dtype))};
  if (sort.begin != 0 || end != key_bits) words.more = fmt::format("_bits{}to{}", sort.begin, end);
  if (sort.descending) words.more += "_descending";
  Case c = make_case(std::move(words), sort.op, dtype, n, pattern, purpose, misalign);
  c.params[kBeginBit] = sort.begin;
  c.params[kEndBit] = end;
  c.params[kDescending] = sort.descending ? 1 : 0;
  return c;
}

namespace table {
using enum DType;
using enum Pattern;
using Row = CaseRow<Sort>;
constexpr Sort kKeys{OpId::keys}, kPairs{OpId::pairs};
constexpr ShortList<Sort> kBothWays{kKeys, kPairs, kKeys.down(), kPairs.down()};
constexpr ShortList<Pattern> kAll{all_equal, ascending, descending, skewed, high_bits, alternating, extremes};
constexpr ShortList<DType> k32{u32, i32, f32}, k64{u64, i64, f64}, kTypes{u32, i32, f32, u64, i64, f64};

// Sizes around a warp, a block, a tile.
constexpr Row kSizes[] = {
    {kKeys, u32, {0, 1, 31, 33, 255, 257, 1023, 1024, 1025}},
    {kKeys, u32, 2, alternating},
};
// The handout's eight keys of three bits.
constexpr Row kByDigits[] = {
    {kKeys.bits(0, 3), u32, 8, example, kBoth},
    {kKeys.bits(0, 8), u32, kThreeTurns, random, kBoth, 0, 1},
    {kKeys.bits(0, 8), u32, 2 * kThreeTurns, random, kCorrectness, 0, 2},
};
constexpr Row kMerging[] = {
    {kKeys, u32, kThreeTurns, random, kBoth, 0, 1},
    {kKeys, u32, 2 * kThreeTurns, random, kCorrectness, 0, 2},
};
constexpr Row kSplit[] = {
    // High bits that are not sorted show the order of equal keys.
    {kKeys.bits(0, 4), u32, 3000, random, kBoth},
    {kKeys, u32, 300, random, kBoth},
    {kKeys, u32, 5000, kAll},
    {{kKeys.bits(5, 13), kKeys.bits(31, 32)}, u32, 2500},
    {kKeys, u32, 10001, random, kCorrectness, 4},
    {kKeys.bits(0, 8), u32, 65537},
    {kKeys.bits(0, 3), u32, 1048577},  // the scan needs three levels
    {kKeys.bits(0, 16), u32, 262144, random, kCounted},
};
constexpr Row kTileSort[] = {
    {kKeys.bits(0, 4), u32, 1000, random, kBoth},
    {kKeys, u32, 3000, random, kBoth},
    {kKeys, u32, 5000, kAll},
    {{kKeys.bits(5, 13), kKeys.bits(31, 32)}, u32, 2500},
    {kKeys.bits(7, 7), u32, 5000},
    {kKeys, u32, 10001, random, kCorrectness, 4},
    {kKeys, u32, 100000},
    {kKeys, u32, 262144, random, kCounted},
    {kKeys, u32, 1048576, random, kTimed},
};
constexpr Row kMerges[] = {
    {kKeys, u32, 8, example, kBoth},
    {kKeys, u32, {1500, 5000}, random, kBoth},
    {kKeys, u32, 9000, skewed, kBoth},
    {kKeys, u32, {2047, 2048, 2049, 3071, 3072, 3073, 4096, 4097, 6000, 8191, 16385}},
    {kKeys, u32, 7000, kAll},
    {kKeys, u32, 10001, random, kCorrectness, 4},
    {kKeys, u32, 100000},
    {kKeys, u32, 262144, random, kCounted},
    {kKeys, u32, 1048576, random, kTimed},
};
constexpr Row kDigits[] = {
    {kKeys.bits(0, 8), u32, 9000, random, kBoth},
    {kPairs, u32, 5000, skewed, kBoth},
    {kKeys.bits(3, 14), u32, 3000, random, kBoth},
    {kKeys, u32, {2047, 2048, 2049, 4095, 4096, 4097, 8191, 8193}},
    {kKeys, u32, 20000, kAll},
    {kPairs, u32, 12345, kAll},
    {kPairs, u32, {0, 1, 1000, 4096}},
    {kPairs.bits(0, 1), u32, 30000},
    {kPairs.bits(6, 29), u32, 4097},  // an odd number of passes
    {kKeys.bits(31, 32), u32, 5000},
    {kPairs.bits(7, 7), u32, 5000},
    {kPairs, u32, 10001, random, kCorrectness, 4},
    {kKeys, u32, 100003},
    {kPairs, u32, 262144},
    {kKeys, u32, 262144, random, kCounted},
    {kKeys, u32, 1048576, random, kTimed},
};
constexpr Row kAnyKey[] = {
    {kBothWays, kTypes, 5000},
    {kBothWays, kTypes, 3000, extremes},
    {{kKeys.bits(20, 32).down(), kPairs.bits(20, 32)}, k32, 3001, extremes},
    {{kKeys.bits(52, 64).down(), kPairs.bits(52, 64)}, k64, 3001, extremes},
    {{kKeys.bits(13, 24), kPairs.bits(13, 24).down()}, k32, 4097},
    {{kKeys.bits(29, 40), kPairs.bits(29, 40).down()}, k64, 4097},
    {kPairs.bits(8, 29), k32, 4099},
    {kPairs.bits(8, 61), k64, 4099},
    {kPairs, kTypes, 20001, alternating, kCorrectness, 8},
    {kKeys.down(), kTypes, 0},
    {kPairs, kTypes, 1},
    {kPairs.down(), kTypes, 2000, all_equal},
    {kPairs.bits(24, 32).down(), f32, 4500, extremes, kBoth},
    {kPairs.bits(56, 64), i64, 2500, skewed, kBoth},
    {kPairs.bits(40, 40), f64, 2500},
    {kPairs, u64, 100003},
    {kPairs, f32, 1048576, random, kTimed},
};
// One block sorts the short arrays of the cases above; here are longer ones, and the lengths around the most
// that one block of 512 threads sorts: 40 KB of items.
constexpr Row kLastRung[] = {
    {kBothWays, kTypes, 30001},
    {kBothWays, kTypes, 30000, extremes},
    {{kKeys.bits(13, 24).down(), kPairs.bits(13, 24)}, k32, 24577},
    {{kKeys.bits(29, 40).down(), kPairs.bits(29, 40)}, k64, 24577},
    {kKeys, k32, {10240, 10241}, random, kBoth},
    {kPairs, k32, {5120, 5121}, random, kBoth},
    {kKeys, k64, {5120, 5121}, random, kBoth},
    {kPairs, k64, {3072, 3073}, random, kBoth},
    {kPairs.down(), kTypes, 20003, all_equal},
    {kPairs, u32, {32, 128, 129, 512, 2049}, skewed, kBoth},
    // The upper digits of all keys are equal, and so are the keys of some tiles.
    {kPairs, u32, 40000, skewed, kBoth},
    {kPairs.bits(7, 7), u32, 40000, random, kBoth, 4},
    {kKeys.bits(40, 40), f64, 5001},
};

std::span<const Row> of(Rung rung) {
  switch (rung) {
    case Rung::split: return kSplit;
    case Rung::tile_sort: return kTileSort;
    case Rung::merge:
    case Rung::merge_path: return kMerges;
    case Rung::digits:
    case Rung::onesweep: return kDigits;
    case Rung::any_key:
    case Rung::counts_first:
    case Rung::state_of_the_art: return kAnyKey;
  }
  return {};
}
}  // namespace table

class RadixSortProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    const Rung rung = rung_of(task);
    std::vector<Case> all;
    add_cases(all, table::kSizes, make);
    add_cases(all, is_merge(rung) ? std::span<const table::Row>(table::kMerging) : table::kByDigits, make);
    add_cases(all, table::of(rung), make);
    if (rung == Rung::state_of_the_art) add_cases(all, table::kLastRung, make);
    return all;
  }

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
      fill_keys_of<Bits>(inputs[0], c, seed);
      if (is_merge(rung_of(task)))
        for_tiles(inputs[0].as<Bits>(), [](auto tile) { std::ranges::sort(tile); });
    });
    if (!has_values(c)) return;
    Rng rng(seed_for(seed, "values"));
    for (auto& value : inputs[1].as<std::uint32_t>()) value = static_cast<std::uint32_t>(rng());
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_types(c, [&]<typename Bits, typename Value>(Bits, Value) {
      return check_items<Bits, Value>(rung_of(task), c, inputs, outputs);
    });
  }

  std::optional<WrongStore> wrong_store(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                        const TracedRun& run) const override {
    if (bytes_of(c.dtype) != sizeof(std::uint32_t)) return std::nullopt;
    return WrongStores(rung_of(task), order_of<std::uint32_t>(c), inputs[0].as<std::uint32_t>(), run).first();
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_types(c, [&]<typename Bits, typename Value>(Bits, Value) {
      auto items = items_of<Bits, Value>(inputs);
      solve(rung_of(task), std::span(items), order_of<Bits>(c), sort_one_thread<Bits, Value>);
      items_to(items, outputs);
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
  static std::optional<Mismatch> check_items(Rung rung, const Case& c, std::span<const HostBuffer> inputs,
                                             std::span<const HostBuffer> outputs) {
    constexpr std::uint64_t kLong = 1 << 17;  // from here on the library is slow, and the baseline sorts
    const auto order = order_of<Bits>(c);
    const auto items = items_of<Bits, Value>(inputs);
    auto right = items;
    solve(rung, std::span(right), order,
          c.n < kLong ? sort_by_library<Bits, Value> : sort_one_thread<Bits, Value>);
    std::vector<HostBuffer> expected(outputs.begin(), outputs.end());
    items_to(right, expected);

    if (auto mismatch = compare_integers(outputs[0].spec, expected[0].bytes, outputs[0].bytes)) {
      if (mismatch->expected == mismatch->got) show_bits<Bits>(*mismatch, expected[0], outputs[0]);
      auto causes = causes_of_keys<Bits>(rung, c, order, inputs[0].as<Bits>(), outputs[0].as<Bits>());
      // An output that was not written may be a part of a mistake that other cases show.
      const bool elsewhere = !causes.empty() && causes.front().rule.starts_with("last_passes_missing");
      if (elsewhere || !is_explained(*mismatch)) add_causes(*mismatch, std::move(causes));
      return mismatch;
    }
    if constexpr (kHasValues<Value>) {
      if (auto mismatch = compare_integers(outputs[1].spec, expected[1].bytes, outputs[1].bytes)) {
        if (!is_explained(*mismatch))
          add_causes(*mismatch, {cause_of_values(items, items_of<Bits, Value>(outputs))});
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
};

}  // namespace

const Problem& problem() {
  static const RadixSortProblem kProblem;
  return kProblem;
}

}  // namespace course::radix_sort
