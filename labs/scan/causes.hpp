// SPDX-License-Identifier: MIT
// Likely causes of wrong scans, for problem.cpp: one rule for each mistake that explains an output
// (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "scan/baseline.hpp"
#include "scan/lab.hpp"

namespace course::scan {

using namespace lab;  // NOLINT: this file is written in that library's terms

using Map = lab::AffineMap<std::uint32_t>;

inline Kind kind_of(const Case& c) {
  return static_cast<Kind>(c.params[kKindParam]);
}
inline std::size_t row_length_of(const Case& c) {
  return static_cast<std::size_t>(c.params[kRowLengthParam]);
}
template <typename Value>
constexpr bool kIsMap = std::is_same_v<Value, Map>;

template <typename Item, typename Op>
void scan_all(const Case& c, std::span<const HostBuffer> inputs, Op op, Item* out) {
  const auto in = inputs[0].as<Item>();
  if (inputs.size() > 1) {
    const auto heads = inputs[1].as<std::uint8_t>();
    rows_one_thread(c.n, row_length_of(c), [&](std::size_t first, std::size_t length) {
      scan_segments(in.data() + first, heads.data() + first, length, op, kind_of(c), out + first);
    });
  } else {
    rows_one_thread(c.n, row_length_of(c), [&](std::size_t first, std::size_t length) {
      scan_row(in.data() + first, length, op, kind_of(c), out + first);
    });
  }
}

// --- Likely causes of a wrong result: one rule for each mistake. Most rules compute another scan and compare
// the outputs with it.

inline bool is_blelloch(Rung rung) {
  return rung == Rung::blelloch || rung == Rung::compact || rung == Rung::conflict_free;
}

// op with its operands swapped: the result of a kernel that assumes that every operator is commutative.
template <typename Op>
struct Swapped : Op {
  COURSE_HD typename Op::Value operator()(typename Op::Value a, typename Op::Value b) const {
    return Op::operator()(b, a);
  }
};

template <typename Value>
bool is_same(const Value& a, const Value& b) {
  if constexpr (std::is_floating_point_v<Value>) {
    return a == b || std::abs(a - b) <= static_cast<Value>(1e-4) * (1 + std::abs(b));
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

template <typename Op>
struct Facts {
  using Value = typename Op::Value;
  const Case& c;
  std::span<const HostBuffer> inputs;
  Op op;
  std::span<const Value> got;
  const Mismatch& mismatch;
  Rung rung;
  std::vector<Value> right;  // from a loop

  bool exclusive() const { return kind_of(c) == Kind::exclusive; }
  bool has_heads() const { return inputs.size() > 1; }
  std::size_t row_length() const { return row_length_of(c); }
  std::size_t first() const { return mismatch.index; }
  std::size_t row() const { return first() / row_length(); }
  std::size_t position() const { return first() % row_length(); }
  std::span<const Value> in() const { return inputs[0].as<Value>(); }

  Case with(std::size_t param, std::int64_t value) const {
    Case changed = c;
    changed.params[param] = value;
    return changed;
  }
  std::vector<Value> scanned(const Case& how, std::span<const HostBuffer> with_inputs, auto operation) const {
    std::vector<Value> out(c.n);
    scan_all(how, with_inputs, operation, out.data());
    return out;
  }
  // Whether the outputs equal `other`, and `other` differs from the right results at the first wrong one.
  bool gives(const std::vector<Value>& other) const {
    return !is_same(other[first()], right[first()]) && std::ranges::equal(got, other, is_same<Value>);
  }
  bool gives(const Case& how, std::span<const HostBuffer> with_inputs, auto operation) const {
    return gives(scanned(how, with_inputs, operation));
  }
};

std::string other_kind(const auto& f) {
  const Kind other = f.exclusive() ? Kind::inclusive : Kind::exclusive;
  auto results = f.scanned(f.with(kKindParam, static_cast<std::int64_t>(other)), f.inputs, f.op);
  if (!f.gives(results)) {
    auto unmoved = results;  // without the row's first item
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool is_first = i % f.row_length() == 0;
      if (is_first) results[i] = f.op.identity();
      unmoved[i] = is_first ? f.op.identity() : f.op(unmoved[i - 1], f.in()[i]);
    }
    if (f.exclusive() && f.gives(results))
      return "but for a row's first result, this is the inclusive scan: each result includes its own item, "
             "which the exclusive one leaves out";
    return text_if(
        f.exclusive() && !f.has_heads() && f.gives(unmoved),
        "the items were not moved: in an exclusive scan, op.identity() stands before a row's first "
        "item, not in its place, and position i begins with item i - 1");
  }
  return f.exclusive()
             ? "this is the inclusive scan; the exclusive one was asked for: a row's first result is "
               "op.identity()"
             : "this is the exclusive scan; the inclusive one was asked for: each result includes its "
               "own item";
}

template <typename Op>
std::string swapped_operands(const Facts<Op>& f) {
  return text_if(kIsMap<typename Op::Value> && f.gives(f.c, f.inputs, Swapped<Op>{f.op}),
                 "op's operands are swapped: the items further left must be op's first operand, as not every "
                 "operator is commutative");
}

std::string heads_ignored(const auto& f) {
  return text_if(
      f.has_heads() && f.gives(f.c, f.inputs.first(1), f.op),
      "the segment heads are ignored: from element {} on, the results continue the segment before it",
      f.first());
}

// Every result combines the last `window` items alone, as far as a new row does not begin among them every
// `border` items. An exclusive result is the inclusive one of the row's items moved right by one position.
template <typename Op>
std::vector<typename Op::Value> windowed(const Facts<Op>& f, std::size_t border, std::size_t window) {
  std::vector<typename Op::Value> other(f.c.n);
  const auto item = [&](std::size_t i) {
    if (!f.exclusive()) return f.in()[i];
    return i % f.row_length() == 0 ? f.op.identity() : f.in()[i - 1];
  };
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::size_t n_before = std::min(i % border, window - 1);
    // A result without a border goes on from the one before it.
    const bool goes_on = i > 0 && n_before == i % border && i % border > 0;
    other[i] = goes_on ? f.op(other[i - 1], item(i)) : item(i - n_before);
    for (std::size_t k = i - n_before + 1; k <= i && !goes_on; ++k) other[i] = f.op(other[i], item(k));
  }
  return other;
}
constexpr std::size_t kMostCombined = std::size_t{1} << 24;

std::string rows_joined(const auto& f) {
  if (f.c.n <= f.row_length() || f.has_heads()) return "";
  // All items, moved right as one row or row by row; or as many as the rounds of a row reach.
  bool fits = f.gives(f.with(kRowLengthParam, static_cast<std::int64_t>(f.c.n)), f.inputs, f.op);
  for (const std::size_t window : {static_cast<std::size_t>(f.c.n), std::bit_ceil(f.row_length())})
    fits =
        fits || ((window == f.c.n || f.c.n * window <= kMostCombined) && f.gives(windowed(f, f.c.n, window)));
  return text_if(fits,
                 "results combine items of the row before: each row must start again, so what counts is the "
                 "position in the row");
}

std::string rounds_missing(const auto& f) {
  if (f.has_heads() || is_blelloch(f.rung)) return "";
  for (std::size_t window = 1; window < f.row_length() && f.c.n * window <= kMostCombined; window *= 2)
    if (f.gives(windowed(f, f.row_length(), window)))
      return fmt::format(
          "each result combines only the last {} of its row: the round with offset {} is missing, or its "
          "results are in the array that is not read",
          window == 1 ? "item" : fmt::format("{} items", window), window);
  return "";
}

std::string no_item(const auto& f) {
  if (f.c.n < 2) return "";
  if (!f.exclusive())  // otherwise a round is missing
    return text_if(is_blelloch(f.rung) && f.gives({f.in().begin(), f.in().end()}),
                   "every result is its own item alone: no item before it was combined into it");
  if (!f.gives(std::vector(f.c.n, f.op.identity()))) return "";
  return is_blelloch(f.rung)
             ? "every result is the identity: no item was combined into it, or what was combined was "
               "overwritten before it was used (in a down-sweep: the left child)"
             : "every result is the identity: no item was combined into it";
}

// In the round of its offset, the thread with this number takes no part: > instead of >=.
std::string first_item_lost(const auto& f) {
  if (f.has_heads() || f.c.n < 2) return "";
  auto other = f.right;
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    auto sum = f.op.identity();
    for (std::size_t i = first + (f.exclusive() ? 2 : 1); i < first + length; ++i)
      other[i] = sum = f.op(sum, f.in()[i - (f.exclusive() ? 1 : 0)]);
  });
  if (!f.gives(other)) return "";
  return "a row's first item is missing from all results after it: does the thread whose number "
         "is the offset combine, too (>=, not >)?";
}

// The results are moved right by one position, but the first result stays the first item.
std::string first_item_kept(const auto& f) {
  if (!f.exclusive()) return "";
  auto other = f.right;
  bool tells = false;  // a first item of 0 may as well be an identity of 0
  for (std::size_t i = 0; i < other.size(); i += f.row_length()) {
    other[i] = f.in()[i];
    tells = tells || !(other[i] == std::remove_cvref_t<decltype(other[i])>{});
  }
  return text_if(tells && f.gives(other),
                 "a row's first exclusive result is op.identity(), not its first item");
}

template <typename Op>
std::string added_instead_of_op(const Facts<Op>& f) {
  using Value = typename Op::Value;
  if constexpr (!kIsMap<Value> && !std::is_same_v<Op, Sum<Value>>) {
    for (const Value outside : {Value{0}, f.op.identity()}) {
      std::vector<Value> sums = f.scanned(f.c, f.inputs, Sum<Value>{});
      if (f.exclusive() && outside != Value{0})
        for (std::size_t i = 0; i < sums.size(); i += f.row_length()) sums[i] = outside;
      if (f.gives(sums))
        return fmt::format("these are sums, and {} was asked for: combine with op(a, b), not +",
                           name_of(static_cast<OpId>(f.c.op)));
    }
  }
  return "";
}

// Shuffles of a warp without a check of the lane: __shfl_up_sync returns their own value to lanes below the
// offset. The first warp of the row shows it.
template <typename Op>
std::string lane_combined_itself(const Facts<Op>& f) {
  constexpr std::size_t kWarp = 32;
  const std::size_t start = f.row() * f.row_length(),
                    n = std::min<std::uint64_t>({kWarp, f.row_length(), f.c.n - start});
  if (f.has_heads()) return "";
  std::vector<typename Op::Value> lanes(f.in().begin() + static_cast<std::ptrdiff_t>(start),
                                        f.in().begin() + static_cast<std::ptrdiff_t>(start + n));
  for (std::size_t offset = 1; offset < kWarp; offset *= 2) {
    const auto before = lanes;
    for (std::size_t lane = 0; lane < n; ++lane)
      lanes[lane] = f.op(before[lane < offset ? lane : lane - offset], before[lane]);
  }
  if (f.exclusive()) {  // the same results, one lane further right
    std::rotate(lanes.begin(), lanes.end() - 1, lanes.end());
    lanes[0] = f.op.identity();
  }
  const bool itself =
      f.first() < start + n && !is_same(lanes[f.first() - start], f.right[f.first()]) &&
      std::equal(lanes.begin(), lanes.end(), f.got.begin() + static_cast<std::ptrdiff_t>(start),
                 is_same<typename Op::Value>);
  return text_if(itself,
                 "lanes below the shuffle's offset combine their own value twice: __shfl_up_sync gives them "
                 "their own value back, so only lanes from `offset` on may combine");
}

// The row is scanned in pieces; a new piece begins at the first wrong result.
std::string pieces_on_their_own(const auto& f) {
  // A few items at the end show no piece of many.
  if (f.position() < 2 || 4 * f.mismatch.n_wrong < f.position()) return "";
  auto other = f.right;
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    rows_one_thread(length, f.position(), [&](std::size_t at, std::size_t k) {
      scan_row(f.in().data() + first + at, k, f.op, kind_of(f.c), other.data() + first + at);
    });
  });
  return text_if(f.gives(other),
                 "every {} items of a row are scanned on their own: the total of the items "
                 "before them is not combined into their results",
                 f.position());
}

// If the root was not set to the identity, every result includes the row's total.
std::string root_not_identity(const auto& f) {
  if (f.position() != 0 || f.c.n == 0) return "";
  const auto sums = f.scanned(f.with(kKindParam, static_cast<std::int64_t>(Kind::inclusive)), f.inputs, f.op);
  auto other = f.right;
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    const auto total = sums[first + length - 1];
    for (std::size_t i = first; i < first + length; ++i) other[i] = f.op(total, other[i]);
  });
  if (!f.gives(other)) return "";
  return is_blelloch(f.rung) ? "every result has the row's total in front: the root must become "
                               "op.identity() between the two sweeps"
                             : "every result has the row's total in front";
}

// What is wrong with the prefixes of the parts in which a row is scanned.
enum class Prefix {
  with_own,            // each includes the part itself: the totals of the parts were scanned inclusively
  with_own_at_lane_0,  // only those of the parts of lane 0 do, but for the block's first warp
  of_first_lanes,      // a warp's total is that of its first lane
  without_last_lanes,  // or it lacks that of its last lane
  alone                // no item of the part itself is combined with it, but for each result's own item
};

constexpr const char* kPrefixTexts[] = {
    "the prefix of each part of a row includes the part itself: the totals of the parts must be scanned "
    "exclusively",
    "lane 0 of every warp but a block's first keeps its own value in its exclusive result: lane 0 is where "
    "threadIdx.x % 32 is 0, not only where threadIdx.x is",
    "the prefix holds only the first lane's items of each warp before: the inclusive result of the last lane "
    "is a warp's total",
    "the prefix lacks the last lane's items of each warp before: the inclusive result of the last lane is a "
    "warp's total",
    "each result lacks the items before it in its part of {} items: combine each item with what is before "
    "it, before going on to the next one",
};

// (If a row is one part that includes itself, root_not_identity says so.)
template <Prefix kPrefix, typename Op>
std::string wrong_prefix(const Facts<Op>& f) {
  constexpr std::size_t kWarp = 32, kBlock = 256;
  if (f.has_heads()) return "";
  const std::size_t chunk = (f.row_length() + kBlock - 1) / kBlock | 1;  // of a thread of the coarsened rungs
  const std::size_t rows = f.rung == Rung::kogge_stone ? kBlock / kWarp : 1;  // of a block
  constexpr bool kOfLanes = kPrefix == Prefix::of_first_lanes || kPrefix == Prefix::without_last_lanes;
  for (const std::size_t part : {kWarp, kWarp * chunk, chunk}) {
    const bool is_of_lane = kPrefix == Prefix::with_own_at_lane_0;
    if (is_of_lane ? part != chunk : kOfLanes ? part != kWarp * chunk : part < 2) continue;
    std::vector<typename Op::Value> other(f.c.n);
    rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
      auto before = f.op.identity();  // what the parts' totals give
      rows_one_thread(length, part, [&](std::size_t at, std::size_t k) {
        const auto item = [&](std::size_t i) { return f.in()[first + at + i]; };
        const auto fold = [&](std::size_t n) {
          auto sum = f.op.identity();
          for (std::size_t i = 0; i < n; ++i) sum = f.op(sum, item(i));
          return sum;
        };
        const std::size_t thread = first / f.row_length() % rows * kWarp + at / part,
                          lane_items = std::min(chunk, k);
        const bool has_own = kPrefix == Prefix::with_own || (is_of_lane && thread > 0 && thread % kWarp == 0);
        const auto prefix = has_own ? f.op(before, fold(k)) : before;
        auto local = f.op.identity();
        for (std::size_t i = 0; i < k; ++i) {
          const auto next = f.op(kPrefix == Prefix::alone ? f.op.identity() : local, item(i));
          other[first + at + i] = f.op(prefix, f.exclusive() ? local : next);
          if (kPrefix != Prefix::alone) local = next;
        }
        before = f.op(before, fold(kPrefix == Prefix::of_first_lanes       ? lane_items
                                   : kPrefix == Prefix::without_last_lanes ? k - lane_items
                                                                           : k));
      });
    });
    if (f.gives(other))
      return fmt::format(fmt::runtime(kPrefixTexts[static_cast<std::size_t>(kPrefix)]), part);
  }
  return "";
}

// The two sweeps over a tree in which a row's items are the first leaves. Positions from `threads` on have no
// thread; `keeps_left`: the down-sweep does not change the left children.
template <typename Op>
std::vector<typename Op::Value> swept(const Facts<Op>& f, std::size_t leaves, std::size_t threads,
                                      bool keeps_left) {
  std::vector<typename Op::Value> other(f.c.n);
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    std::vector tree(std::max(leaves, length), f.op.identity());
    std::copy_n(f.in().begin() + static_cast<std::ptrdiff_t>(first), length, tree.begin());
    for (std::size_t half = 1; half < leaves; half *= 2)
      for (std::size_t k = 2 * half - 1; k < threads; k += 2 * half) tree[k] = f.op(tree[k - half], tree[k]);
    if (leaves <= threads) tree[leaves - 1] = f.op.identity();
    for (std::size_t half = std::bit_ceil(leaves) / 2; half > 0; half /= 2)
      for (std::size_t k = 2 * half - 1; k < threads; k += 2 * half) {
        const auto left = tree[k - half];
        if (!keeps_left) tree[k - half] = tree[k];
        tree[k] = f.op(tree[k], left);
      }
    for (std::size_t k = 0; k < length; ++k)
      other[first + k] = f.exclusive() ? tree[k] : f.op(tree[k], f.in()[first + k]);
  });
  return other;
}

std::string left_child_keeps_its_sum(const auto& f) {
  if (!is_blelloch(f.rung) || f.row_length() > (std::size_t{1} << 16)) return "";
  for (const std::size_t leaves :
       {std::bit_ceil(f.row_length()), std::bit_ceil(std::min<std::size_t>(f.row_length(), f.c.n))})
    if (f.gives(swept(f, leaves, leaves, true)))
      return "the left children keep the sums of the up-sweep: on the way down a left child must take its "
             "parent's value, all that is left of the node";
  return "";
}

// As many threads as a row has items, where that is no power of two: with a tree of so many leaves, or with a
// larger one whose last positions have no thread.
std::string no_power_of_two(const auto& f) {
  const std::size_t items = f.row_length(), leaves = std::bit_ceil(items);
  if (!is_blelloch(f.rung) || items > (std::size_t{1} << 16) || leaves == items) return "";
  if (f.gives(swept(f, items, items, false)))
    return fmt::format(
        "the tree has {} leaves, as many as a row has items: the sweeps need a power of two, so launch "
        "leaves_for(row_length) threads",
        items);
  return text_if(
      f.gives(swept(f, leaves, items, false)),
      "the tree has {} leaves, but a block only {} threads, as many as a row has items: no thread works at "
      "the last positions, among them the root. Launch leaves_for(row_length) threads",
      leaves, items);
}

// --- Weaker evidence: rules that do not compute the whole output.

// 0 was combined into every wrong result, in place of the identity.
template <typename Op>
std::string zero_for_identity(const Facts<Op>& f) {
  using Value = typename Op::Value;
  if (is_same(f.op.identity(), Value{})) return "";
  bool telling = false;
  for (std::size_t i = 0; i < f.got.size(); ++i) {
    if (is_same(f.got[i], f.right[i])) continue;
    const Value zero = f.op(Value{}, f.right[i]);
    bool holds = is_same(f.got[i], zero) || is_same(f.got[i], Value{});
    if constexpr (kIsMap<Value>) holds = holds || f.got[i].scale == 0;
    if (!holds) return "";
    telling = true;
  }
  return text_if(telling, "0 is not the identity of {}: use op.identity() where there is no item",
                 name_of(static_cast<OpId>(f.c.op)));
}

// A segmented scan whose combined flags forget the head of the left operand: an exclusive result begins at
// the last head of its own part of the row, or holds all items before that part.
template <typename Op>
std::string head_forgotten(const Facts<Op>& f) {
  if (!f.has_heads() || !heads_ignored(f).empty()) return "";
  const auto is_head = [&](std::size_t i) { return f.inputs[1].bytes[i] != std::byte{}; };
  const auto got = f.got[f.first()];
  const std::size_t row = f.row() * f.row_length();
  // Backwards from the result: what it combines, and whether that goes beyond the segment's head.
  auto sum = f.exclusive() ? f.op.identity() : f.in()[f.first()];
  bool beyond = !f.exclusive() && is_head(f.first());
  for (std::size_t i = f.first(); i-- > row;) {
    sum = f.op(f.in()[i], sum);
    if (beyond && is_same(sum, got))
      return fmt::format(
          "the result at position {} combines items from position {} on, from before its segment's head: a "
          "combined flag must be set if either operand has a head, or the head is lost",
          f.position(), i - row);
    beyond = beyond || is_head(i);
  }
  return "";
}

std::string first_of_segment(const auto& f) {
  const bool head = f.has_heads() && f.exclusive() && f.position() > 0 &&
                    static_cast<std::uint8_t>(f.inputs[1].bytes[f.first()]) != 0;
  return text_if(head, "a segment's first exclusive result is op.identity()");
}

// The scale of a composed map is the product of all scales, in whatever order.
template <typename Op>
std::string order_of_operands(const Facts<Op>& f) {
  if constexpr (kIsMap<typename Op::Value>) {
    const auto same_scale = [](const Map& a, const Map& b) { return a.scale == b.scale; };
    if (std::equal(f.got.begin(), f.got.end(), f.right.begin(), f.right.end(), same_scale))
      return "each result has its items in the wrong order: affine is not commutative, and some op has its "
             "operands swapped";
  }
  return "";
}

template <typename Op>
constexpr Rule<Facts<Op>> kRules[] = {
    {"other_kind", other_kind<Facts<Op>>},
    {"swapped_operands", swapped_operands<Op>},
    {"heads_ignored", heads_ignored<Facts<Op>>},
    {"rows_joined", rows_joined<Facts<Op>>},
    {"rounds_missing", rounds_missing<Facts<Op>>},
    {"no_item", no_item<Facts<Op>>},
    {"added_instead_of_op", added_instead_of_op<Op>},
    {"lane_combined_itself", lane_combined_itself<Op>},
    {"pieces_on_their_own", pieces_on_their_own<Facts<Op>>},
    {"root_not_identity", root_not_identity<Facts<Op>>},
    {"own_part_in_prefix", wrong_prefix<Prefix::with_own, Op>},
    {"lane_0_of_first_warp", wrong_prefix<Prefix::with_own_at_lane_0, Op>},
    {"total_of_first_lane", wrong_prefix<Prefix::of_first_lanes, Op>},
    {"total_without_last_lane", wrong_prefix<Prefix::without_last_lanes, Op>},
    {"prefix_alone", wrong_prefix<Prefix::alone, Op>},
    {"first_item_kept", first_item_kept<Facts<Op>>},
    {"first_item_lost", first_item_lost<Facts<Op>>},
    {"left_child_keeps_its_sum", left_child_keeps_its_sum<Facts<Op>>},
    {"no_power_of_two", no_power_of_two<Facts<Op>>},
    {"zero_for_identity", zero_for_identity<Op>},
    {"head_forgotten", head_forgotten<Op>},
    {"first_of_segment", first_of_segment<Facts<Op>>, true},
    {"order_of_operands", order_of_operands<Op>, true},
};

}  // namespace course::scan
