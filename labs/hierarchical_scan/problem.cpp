// SPDX-License-Identifier: MIT
// The trusted side of the hierarchical scan lab: its cases, their inputs, and the right answers. Never linked
// into a runner.
// Reading order: the tables list what is tried and why, fill() makes the items, check() decides what is
// accepted. Prefix sums of floats are compared with the exact ones. The error bound is that of any reasonable
// order of additions, the same for every task (sum_depth). Everything else must be exact.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/rng.hpp"
#include "hierarchical_scan/baseline.hpp"
#include "hierarchical_scan/lab.hpp"
#include "hierarchical_scan/points.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"

namespace course::hierarchical_scan {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

using Map = AffineMap<std::uint32_t>;

Kind kind_of(const Case& c) {
  return static_cast<Kind>(c.params[0]);
}

// Calls f(op) with the operator of the case.
template <typename F>
decltype(auto) with_op(const Case& c, F f) {
  return Offered::with(static_cast<OpId>(c.op), c.dtype, [&](auto, auto op) { return f(op); });
}

// --- Items.

template <typename Op>
typename Op::Value item_for(Op, Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  using Value = typename Op::Value;
  if constexpr (std::is_same_v<Value, Map>) {
    // Odd scales have inverses modulo 2^32, so the result of a map always depends on the maps before it. Of
    // the extremes, some are 0.
    const auto scale = item_of<std::uint32_t>(pattern, i, n, rng);
    const auto shift = item_of<std::uint32_t>(pattern, i + 1, n, rng);
    const bool any = pattern == Pattern::example || pattern == Pattern::extremes;
    return {any ? scale : scale | 1, shift};
  } else {
    if constexpr (std::is_same_v<Op, Max<Value>>) {
      if (pattern == Pattern::all_equal) return Op{}.identity();  // any other number in its place is larger
      // No item is positive, so a 0 used as the identity changes the result. If the items ascend, every item
      // is a new maximum.
      if (pattern == Pattern::ascending)
        return static_cast<Value>(static_cast<double>(i) - static_cast<double>(n));
      if (pattern == Pattern::descending) return static_cast<Value>(-1 - static_cast<double>(i));
      if (pattern == Pattern::high_bits && std::is_floating_point_v<Value>)  // subnormal
        return static_cast<Value>(-static_cast<double>(1 + rng.below(1000)) * 0x1p-149);
    }
    return item_of<Value>(pattern, i, n, rng);
  }
}

// --- The right answers.

template <typename T>
std::vector<Expected> expected_sums(const Case& c, std::span<const T> items) {
  std::vector<Expected> expected(items.size());
  ExactSum sum;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kind_of(c) == Kind::exclusive) expected[i] = sum.expected(c.dtype);
    sum.add(static_cast<long double>(items[i]));
    if (kind_of(c) == Kind::inclusive) expected[i] = sum.expected(c.dtype);
  }
  return expected;
}

template <typename Op>
std::vector<typename Op::Value> right_scan(std::span<const typename Op::Value> items, Kind kind, Op op) {
  std::vector<typename Op::Value> out(items.size());
  scan_one_thread(items, std::span(out), kind, op, op.identity());
  return out;
}

// --- Likely causes of a wrong result: one rule for each mistake. The rules for single elements apply only to
// sums and maps of many different numbers, where a match by chance is very unlikely.

template <typename Op>
struct Facts {
  using Value = typename Op::Value;
  const Case& c;
  std::span<const Value> items, got;
  Op op;
  std::uint64_t first;  // index of the first wrong element

  Kind kind() const { return kind_of(c); }
  bool is_sum() const { return static_cast<OpId>(c.op) != OpId::max; }
  // Whether a sum of some items shows which items they were, except for rare equal sums.
  bool is_telling() const {
    const bool affine = std::is_same_v<Value, Map>;
    return is_sum() && (c.pattern == Pattern::random || (affine && c.pattern == Pattern::alternating));
  }
  static bool is_same(Value a, Value b) {
    if constexpr (std::is_floating_point_v<Value>) {
      constexpr auto kNear = static_cast<Value>(sizeof(Value) == 4 ? 1e-5 : 1e-10);
      return std::abs(a - b) <= kNear * (1 + std::abs(b));
    } else {
      return a == b;
    }
  }
  Value fold(std::uint64_t begin, std::uint64_t end) const {
    Value sum = op.identity();
    for (std::uint64_t i = begin; i < end; ++i) sum = op(sum, items[i]);
    return sum;
  }
  // Whether the first wrong element and those after it match a scan that starts there with `prefix`.
  bool goes_on_from(Value prefix) const {
    return matches(first, [&](Value local) { return op(prefix, local); });
  }
  template <typename WithPrefix>
  bool matches(std::uint64_t start, WithPrefix with_prefix) const {
    constexpr std::uint64_t kLook = 8;  // elements
    const std::uint64_t end = std::min<std::uint64_t>(start + kLook, items.size());
    Value local = op.identity();
    for (std::uint64_t i = start; i < end; ++i) {
      const Value next = op(local, items[i]);
      if (!is_same(got[i], with_prefix(kind() == Kind::inclusive ? next : local))) return false;
      local = next;
    }
    return true;
  }
  // Whether the third tile, which begins at `third`, has the carry of the second.
  bool has_late_carry(std::uint64_t third) const {
    const Value carry = fold(0, first);
    return third < items.size() && matches(third, [&](Value local) { return op(carry, local); });
  }
  // Whether a tile begins at the first wrong element and visibly has no carry; false if the items can't tell.
  bool starts_again() const {
    const bool is_far = std::is_floating_point_v<Value> && is_sum() && c.pattern == Pattern::high_bits;
    return (is_telling() || is_far) && first > 0 && goes_on_from(op.identity());
  }
  bool is_last_tile() const { return first % kTile == 0 && items.size() - first <= kTile; }
  // Whether what is on the left of the first wrong element is one tile, or what a tile of sums scans.
  bool is_second() const {
    return std::has_single_bit(first) && !(is_last_tile() && first > kTile && first < kTwoLevelItems);
  }
  // The smallest tile size for which `fits` holds, or 0 if there is none. If items are equal or 0, it must be
  // the only one.
  template <typename Fits>
  std::uint64_t tile(Fits fits) const {
    if (!is_sum()) return 0;
    std::uint64_t found = 0;
    for (std::uint64_t tile = 32; tile <= 65536; tile *= 2) {
      if (!fits(tile)) continue;
      if (is_telling()) return tile;
      if (found != 0) return 0;
      found = tile;
    }
    return found;
  }
  std::uint64_t end_of(std::uint64_t tile) const {
    return std::min<std::uint64_t>(first + tile, items.size());
  }
  // Beyond the end of the array, larger tiles have the same items.
  bool is_first_with_end(std::uint64_t tile) const { return tile == 32 || end_of(tile / 2) < items.size(); }
};

template <typename Op>
std::string zero_for_identity(const Facts<Op>& f) {
  using Value = typename Op::Value;
  return text_if(f.got[f.first] == Value{} && !(f.op.identity() == Value{}),
                 "0 is not the identity of {}: what has nothing on its left gets op.identity()",
                 name_of(static_cast<OpId>(f.c.op)));
}

template <typename Op>
std::string other_kind(const Facts<Op>& f) {
  if (std::is_floating_point_v<typename Op::Value>) return "";
  const Kind other = f.kind() == Kind::inclusive ? Kind::exclusive : Kind::inclusive;
  const auto other_scan = right_scan(f.items, other, f.op);
  return text_if(std::equal(f.got.begin(), f.got.end(), other_scan.begin()),
                 "this is the {} scan; the {} one was asked for", name_of(other), name_of(f.kind()));
}

template <typename Op>
std::string added_instead_of_op(const Facts<Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_same_v<Op, Max<Value>>) {
    auto sums = right_scan(f.items, f.kind(), Sum<Value>{});
    if (!sums.empty() && f.kind() == Kind::exclusive) sums[0] = f.got[0];
    const bool added = sums.size() > 2 && std::equal(sums.begin(), sums.end(), f.got.begin());
    if (added) return "these are sums, and max was asked for: combine with op(a, b), not +";
  }
  return "";
}

// Each tile has the carry of the one before it: the second tile has none, and the third that of the second.
// Of two tiles, the second may also be one of many without a carry, or the last one.
std::string carry_too_late(const auto& f) {
  if (!f.starts_again() || !f.is_second() || (2 * f.first < f.items.size() && !f.has_late_carry(2 * f.first)))
    return "";
  return fmt::format(
      "the carries are one tile late: the tile at element {} has none, and each one after it has that of the "
      "tile before it",
      f.first);
}

std::string last_tile_on_its_own(const auto& f) {
  return text_if(
      f.starts_again() && f.is_last_tile(),
      "only the last tile, from element {} on, has no carry: the total of the items left of it is not "
      "combined into it. Is its number left out?",
      f.first);
}

std::string tile_on_its_own(const auto& f) {
  return text_if(f.starts_again() && f.is_second() && !f.has_late_carry(2 * f.first),
                 "from element {} on the scan starts again: the total of the items left of the tile is not "
                 "combined into it",
                 f.first);
}

std::string wrong_side(const auto& f) {
  if (!f.is_telling()) return "";
  // In an exclusive scan, the first element of a tile is the prefix alone, which is right on either side. So
  // the tile begins one element before the first wrong one.
  const std::uint64_t start = f.kind() == Kind::exclusive && f.first > 0 ? f.first - 1 : f.first;
  const auto prefix = f.fold(0, start);
  return text_if(f.matches(start, [&](auto local) { return f.op(local, prefix); }),
                 "from element {} on the prefix is on the wrong side: it must be op(prefix, x), since "
                 "op(x, prefix) is something else for this operator",
                 f.first);
}

// The last element of a tile has the prefix of the next one.
std::string carry_too_early(const auto& f) {
  const auto next = f.first + 1;
  const auto tile = f.tile([&](std::uint64_t n) {
    const auto own = f.fold(0, f.kind() == Kind::inclusive ? next : f.first);
    return n >= 256 && next % n == 0 && f.is_same(f.got[f.first], f.op(f.fold(0, next), own));
  });
  return text_if(
      tile != 0,
      "element {0}, the last one of its tile, also has the prefix of the tile that begins at element {1}: "
      "the prefixes are applied one element too early",
      f.first, next);
}

std::string own_tile_in_prefix(const auto& f) {
  const auto before = f.fold(0, f.is_sum() ? f.first : 0);
  const auto tile = f.tile([&](auto n) {
    return f.is_first_with_end(n) && f.goes_on_from(f.op(before, f.fold(f.first, f.end_of(n))));
  });
  return text_if(tile != 0,
                 "from element {} on the prefix holds items of the tile itself (up to element {}): the "
                 "scan of the sums must be exclusive, and the carry of a look-back begins with op.identity()",
                 f.first, f.end_of(tile) - 1);
}

std::string own_sum_for_prefix(const auto& f) {
  if (f.first == 0) return "";  // own_tile_in_prefix says so
  const auto tile =
      f.tile([&](auto n) { return f.is_first_with_end(n) && f.goes_on_from(f.fold(f.first, f.end_of(n))); });
  return text_if(tile != 0,
                 "from element {} on the prefix is the tile's own sum (up to element {}): it was not "
                 "scanned, or only after it was used",
                 f.first, f.end_of(tile) - 1);
}

std::string look_back_stops(const auto& f) {
  const auto tile =
      f.tile([&](auto n) { return n < f.first && f.goes_on_from(f.fold(f.first - n, f.first)); });
  return text_if(
      tile != 0,
      "from element {} on only the last {} items before it are counted: what is further left is missing",
      f.first, tile);
}

// The total of every tile before lacks its last item, or more of them: a thread's, or a vector.
std::string last_items_lost(const auto& f) {
  std::uint64_t n_lost = 0;
  const auto tile = f.tile([&](std::uint64_t n) {
    for (std::uint64_t lost = 1; f.first % n == 0 && n <= f.first && lost <= n / 2; lost *= 2) {
      auto prefix = f.op.identity();
      for (std::uint64_t end = n; end <= f.first; end += n)
        prefix = f.op(prefix, f.fold(end - n, end - lost));
      if (!f.goes_on_from(prefix)) continue;
      n_lost = lost;
      return true;
    }
    return false;
  });
  return text_if(
      tile != 0,
      "from element {} on the prefix lacks the last {} of every tile before: a tile's total is the "
      "inclusive result of its last item (an exclusive one leaves this item out)",
      f.first, n_lost == 1 ? "item" : fmt::format("{} items", n_lost));
}

// A look-back that goes on after the prefix that it has found: the first tiles are in the prefix twice.
std::string prefix_twice(const auto& f) {
  if (!f.is_sum() || f.first == 0) return "";
  const auto before = f.fold(0, f.first);
  const auto tile = f.tile([&](std::uint64_t n) {
    for (std::uint64_t end = n; f.first % n == 0 && end < f.first && end <= 4 * n; end += n)
      if (f.goes_on_from(f.op(f.fold(0, end), before))) return true;
    return false;
  });
  return text_if(tile != 0,
                 "from element {} on the prefix holds the first items twice: in a look-back nothing "
                 "must be added after the first prefix that is found",
                 f.first);
}

// A look back that combines what it finds, nearest tile first, in this order.
std::string look_back_reversed(const auto& f) {
  constexpr int kMaxTiles = 32;
  if (!f.is_telling()) return "";
  const auto tile = f.tile([&](std::uint64_t n) {
    auto found = f.op.identity();
    std::uint64_t end = f.first % n == 0 ? f.first : 0;
    for (int k = 0; k < kMaxTiles && end > n; ++k, end -= n) {
      found = f.op(found, f.fold(end - n, end));
      if (f.goes_on_from(f.op(found, f.fold(0, end - n)))) return true;
    }
    return false;
  });
  return text_if(tile != 0,
                 "from element {} on the prefix has the tiles before it in reverse order: in a look-back "
                 "what is found further left must be op's first operand",
                 f.first);
}

template <typename Op>
constexpr Rule<Facts<Op>> kRules[] = {
    {"other_kind", other_kind<Op>},
    {"added_instead_of_op", added_instead_of_op<Op>},
    {"tile_on_its_own", tile_on_its_own<Facts<Op>>},
    {"carry_too_late", carry_too_late<Facts<Op>>},
    {"last_tile_on_its_own", last_tile_on_its_own<Facts<Op>>},
    {"wrong_side", wrong_side<Facts<Op>>},
    {"last_items_lost", last_items_lost<Facts<Op>>},
    {"carry_too_early", carry_too_early<Facts<Op>>},
    {"own_tile_in_prefix", own_tile_in_prefix<Facts<Op>>},
    {"own_sum_for_prefix", own_sum_for_prefix<Facts<Op>>},
    {"look_back_stops", look_back_stops<Facts<Op>>},
    {"prefix_twice", prefix_twice<Facts<Op>>},
    {"look_back_reversed", look_back_reversed<Facts<Op>>},
    {"zero_for_identity", zero_for_identity<Op>, true},
};

// --- The cases.

struct Scan {
  Kind kind;
  OpId op;
};

Case make(Scan scan, DType dtype, std::uint64_t n, Pattern pattern, std::uint32_t purpose,
          std::uint32_t misalign) {
  const auto variant = fmt::format("{}_{}_{}", name_of(scan.kind), name_of(scan.op), lab::name_of(dtype));
  Case c = make_case({variant}, scan.op, dtype, n, pattern, purpose, misalign);
  c.params[0] = static_cast<std::int64_t>(scan.kind);
  return c;
}

namespace table {
using enum DType;
using enum Pattern;
using Row = CaseRow<Scan>;
constexpr Scan kInSum{Kind::inclusive, OpId::sum}, kExSum{Kind::exclusive, OpId::sum};
constexpr Scan kInMax{Kind::inclusive, OpId::max}, kExMax{Kind::exclusive, OpId::max};
constexpr Scan kInAffine{Kind::inclusive, OpId::affine}, kExAffine{Kind::exclusive, OpId::affine};

constexpr Row kCases[] = {
    // Sizes: 0, 1, and around a warp, a block, a tile, several tiles; both kinds.
    {{kInSum, kExSum}, i32, {0, 1, 2, 31, 33, 255, 257, 1023, 1025, 2047, 2048, 4095, 4096}},
    // One item more than a tile; a partial last tile; many tiles. First with all checkers on, then without.
    {kExSum, i32, {2049, 65537}, random, kBoth},
    {kInSum, i32, 10000, random, kBoth},
    {kInAffine, u64, 20001, random, kBoth},
    {kInSum, i32, {65535, 131073, 524288, 1048577}},
    {kInSum, i32, kThreeTurns, random, kBoth, 0, 1},
    {kInSum, i32, 2 * kThreeTurns, random, kCorrectness, 0, 2},
    // As many tiles as a tile has items, and one item more, which needs a third level; two_levels must refuse
    // that.
    {kExSum, i32, kTwoLevelItems},
    {kInSum, i32, kTwoLevelItems + 1},
    // Addresses where the first 16-byte load is not aligned.
    {kInSum, i32, 100003, random, kCorrectness, 4},
    {kExSum, i32, 5001, random, kBoth, 12},
    {kInSum, u32, 5001, random, kCorrectness, 8},
    {kInSum, f32, 5001, random, kCorrectness, 4},
    {kExSum, i64, 5001, random, kCorrectness, 8},
    {kInSum, f64, 5001, random, kCorrectness, 8},
    {kInAffine, u64, 5001, random, kCorrectness, 8},
    // The order of operands: maps are not commutative.
    {kExAffine, u64, {0, 1, 33, 2048, 2049, 70001}},
    {kInAffine, u64, 262145},
    {kInAffine, u64, 3000, alternating},
    {kExAffine, u64, 3000, extremes},
    // Other types and items. Sums of integer-valued floats must be exact; 2^20 equal items show a sum that
    // adds too many items in a row. An item may be much larger than the sum before it. Short arrays.
    {kInSum, {u32, i64}, 70001, high_bits},
    {kExSum, u32, 3001},
    {kExSum, i64, 10001, random, kBoth},
    {kInSum, i64, 100},
    {kExSum, i64, 262145},
    {kInSum, f32, 100003},
    {kExSum, f32, 65537, alternating},
    {kInSum, f32, 1048576, all_equal},
    {kExSum, f64, {33, 100003}},
    {kInSum, f64, 262145},
    {kExSum, f32, 5000, skewed},
    {kInSum, {f32, f64}, {2500, 2501}, high_bits},
    {kInSum, i32, 5000, skewed},
    {kInSum, i32, 4096, all_equal},
    {kInMax, f32, 2501, high_bits},
    {kInMax, {i32, f32}, 70001, ascending},
    {kExMax, {i32, f32}, 70001, descending},
    {kInMax, {i32, f32}, 5000, extremes},
    {kExMax, {i32, f32}, 3001, all_equal},
    {kExMax, {i32, f32}, 5003, extremes, kCorrectness, 8},
    // The measured cases: with 2^18 items, counting steps is quick.
    {kInSum, i32, 262144, random, kCounted},
};
// What two levels cannot do, or not fast. 2^24 items do not fit the device's cache. The measured cases are
// also correctness cases, with another seed, so an answer that was stored in one is wrong in the other.
constexpr Row kManyLevels[] = {
    {kExAffine, u64, kTwoLevelItems + 4099},
    {kInSum, i32, 16777216, random, kTimed},
};
}  // namespace table

class HierarchicalScanProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::string print(const Case& c, DType dtype, const std::byte* element) const override {
    const bool is_map = static_cast<OpId>(c.op) == OpId::affine && dtype == DType::u64;
    return is_map ? print_map(element) : Problem::print(c, dtype, element);
  }

  std::vector<Case> cases(const Task& task) const override {
    std::vector<Case> all;
    add_cases(all, table::kCases, make);
    if (task.id != "two_levels") add_cases(all, table::kManyLevels, make);
    return all;
  }

  Shape shape(const Task&, const Case& c) const override {
    return {.inputs = {{"d_in", c.dtype, c.n}},
            .outputs = {{"d_out", c.dtype, c.n}},
            .workspace = workspace_of(c.n, c.dtype),
            .misaligned_outputs = true};
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_op(c, [&]<typename Op>(Op op) {
      Rng rng(seed);
      std::uint64_t i = 0;
      for (auto& item : inputs[0].as<typename Op::Value>()) item = item_for(op, c.pattern, i++, c.n, rng);
    });
  }

  bool refuses(const Task& task, const Case& c) const override {
    return task.id == "two_levels" && c.n > kTwoLevelItems;
  }

  std::optional<Mismatch> check(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_op(c, [&]<typename Op>(Op op) -> std::optional<Mismatch> {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<Value>();
      const auto& out = outputs[0];
      const auto got = out.as<Value>();
      const Kind kind = kind_of(c);
      std::optional<Mismatch> mismatch;
      if constexpr (std::is_floating_point_v<Value>) {
        std::vector<Expected> expected;
        if constexpr (std::is_same_v<Op, Sum<Value>>) {
          expected = expected_sums(c, items);
        } else {
          for (const Value x : right_scan(items, kind, op))
            expected.push_back({static_cast<long double>(x), 0});
        }
        mismatch = compare_floats(out.spec, expected, out.bytes);
      } else {
        const auto right = right_scan(items, kind, op);
        constexpr auto compare = std::is_same_v<Value, Map> ? compare_maps : compare_integers;
        mismatch = compare(out.spec, std::as_bytes(std::span(right)), out.bytes);
      }
      if (mismatch) diagnose<Facts<Op>>(*mismatch, kRules<Op>, {c, items, got, op, mismatch->index});
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_op(c, [&]<typename Op>(Op op) {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<Value>();
      const auto out = outputs[0].as<Value>();
      const auto scan = [&](auto with) { scan_one_thread(items, out, kind_of(c), with, with.identity()); };
      // A long float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>>) {
        scan(Sum<double>{});
      } else {
        scan(op);
      }
    });
  }

  // n - 1 operations, a tree of ⌈log2 n⌉ steps; every item is read once, every prefix is written once.
  Ideal ideal(const Task&, const Case& c) const override {
    const auto n = static_cast<double>(c.n);
    return {.items = n,
            .work = std::max(n - 1, 0.0),
            .steps = n > 1 ? std::ceil(std::log2(n)) : 0,
            .bytes = 2 * n * static_cast<double>(bytes_of(c.dtype))};
  }

  Case example(const Task&, std::uint64_t n) const override {
    return make(table::kExSum, DType::i32, n, Pattern::example, kCorrectness, 0);
  }
};

}  // namespace

const Problem& problem() {
  static const HierarchicalScanProblem kProblem;
  return kProblem;
}

}  // namespace course::hierarchical_scan
