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

// Calls scan(first, length) for every row, or for every core's share of them.
template <typename F>
void for_rows(const Case& c, Baseline which, F scan) {
  if (which == Baseline::one_thread) {
    rows_one_thread(c.n, row_length_of(c), scan);
  } else {
    rows_all_cores(c.n, row_length_of(c), scan);
  }
}

template <typename Item, typename Op>
void scan_all(const Case& c, std::span<const HostBuffer> inputs, Op op, Baseline which, Item* out) {
  const auto in = inputs[0].as<Item>();
  if (inputs.size() > 1) {
    const auto heads = inputs[1].as<std::uint8_t>();
    for_rows(c, which, [&](std::size_t first, std::size_t length) {
      scan_segments(in.data() + first, heads.data() + first, length, op, kind_of(c), out + first);
    });
  } else {
    for_rows(c, which, [&](std::size_t first, std::size_t length) {
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
  std::vector<Value> right = {};  // from a loop

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
    scan_all(how, with_inputs, operation, Baseline::one_thread, out.data());
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
    for (std::size_t i = 0; i < results.size(); i += f.row_length()) results[i] = f.op.identity();
    return f.exclusive() && f.gives(results) ? "but for a row's first result, this is the inclusive scan: "
                                               "each result includes its own item, "
                                               "which the exclusive one leaves out"
                                             : "";
  }
  return f.exclusive()
             ? "this is the inclusive scan; the exclusive one was asked for: a row's first result is "
               "op.identity()"
             : "this is the exclusive scan; the inclusive one was asked for: each result includes its "
               "own item";
}

template <typename Op>
std::string swapped_operands(const Facts<Op>& f) {
  if (!(kIsMap<typename Op::Value> && f.gives(f.c, f.inputs, Swapped<Op>{f.op}))) return "";
  return "op's operands are swapped: the items further left must be op's first operand, as not every "
         "operator is commutative";
}

std::string heads_ignored(const auto& f) {
  if (!(f.has_heads() && f.gives(f.c, f.inputs.first(1), f.op))) return "";
  return fmt::format(
      "the segment heads are ignored: from element {} on, the results continue the segment before it",
      f.first());
}

std::string rows_joined(const auto& f) {
  return f.c.n > f.row_length() &&
                 f.gives(f.with(kRowLengthParam, static_cast<std::int64_t>(f.c.n)), f.inputs, f.op)
             ? "this is one scan of all items: each row must begin anew"
             : "";
}

std::string no_item(const auto& f) {
  if (f.c.n < 2) return "";
  if (f.exclusive()) {
    if (!f.gives(std::vector(f.c.n, f.op.identity()))) return "";
    return is_blelloch(f.rung)
               ? "every result is the identity: no item was combined into it, or what was combined was "
                 "overwritten before it was used (in a down-sweep: the left child)"
               : "every result is the identity: no item was combined into it";
  }
  if (!(f.gives({f.in().begin(), f.in().end()}))) return "";
  return "every result is its own item alone: no item before it was combined into it";
}

// In the round of its offset, the thread with this number takes no part: > instead of >=.
template <typename Op>
std::string first_item_lost(const Facts<Op>& f) {
  if (f.has_heads() || f.c.n < 2) return "";
  std::vector<typename Op::Value> other(f.c.n);
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    const std::size_t keep = std::min<std::size_t>(length, f.exclusive() ? 2 : 1);  // they are right
    std::copy_n(f.right.begin() + static_cast<std::ptrdiff_t>(first), keep,
                other.begin() + static_cast<std::ptrdiff_t>(first));
    auto sum = f.op.identity();
    for (std::size_t i = first + keep; i < first + length; ++i)
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
  return tells && f.gives(other) ? "a row's first exclusive result is op.identity(), not its first item" : "";
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

template <typename Op>
std::string own_item_twice(const Facts<Op>& f) {
  if (f.exclusive()) return "";
  std::vector<typename Op::Value> other = f.right;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const bool starts = i % f.row_length() == 0 || (f.has_heads() && static_cast<bool>(f.inputs[1].bytes[i]));
    if (!starts || !is_same(f.got[i], f.right[i])) other[i] = f.op(other[i], f.in()[i]);
  }
  return f.gives(other) ? "each result combines its own item twice: what is put in front must end before it"
                        : "";
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
  return itself ? "lanes below the shuffle's offset combine their own value twice: __shfl_up_sync gives them "
                  "their own value back, so only lanes from `offset` on may combine"
                : "";
}

// The row is scanned in pieces; a new piece begins at the first wrong result.
template <typename Op>
std::string pieces_on_their_own(const Facts<Op>& f) {
  // A few items at the end show no piece of many.
  if (f.position() < 2 || 4 * f.mismatch.n_wrong < f.position()) return "";
  std::vector<typename Op::Value> other(f.c.n);
  rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
    rows_one_thread(length, f.position(), [&](std::size_t at, std::size_t k) {
      scan_row(f.in().data() + first + at, k, f.op, kind_of(f.c), other.data() + first + at);
    });
  });
  return f.gives(other) ? fmt::format(
                              "every {} items of a row are scanned on their own: the total of the items "
                              "before them is not combined into their results",
                              f.position())
                        : "";
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

// The row is scanned in parts. Each part's prefix includes the part itself: the totals of the parts were
// scanned inclusively. (If a row is one part, root_not_identity says so.)
template <typename Op>
std::string own_part_in_prefix(const Facts<Op>& f) {
  if (f.has_heads()) return "";
  const std::size_t chunk = (f.row_length() + 255) / 256 | 1;  // items of a thread of the coarsened rungs
  const auto sums = f.scanned(f.with(kKindParam, static_cast<std::int64_t>(Kind::inclusive)), f.inputs, f.op);
  for (const std::size_t part : {std::size_t{32}, 32 * chunk, chunk}) {
    if (part < 2) continue;
    std::vector<typename Op::Value> other(f.c.n);
    rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
      rows_one_thread(length, part, [&](std::size_t at, std::size_t k) {
        const auto prefix = sums[first + at + k - 1];
        scan_row(f.in().data() + first + at, k, f.op, kind_of(f.c), other.data() + first + at);
        for (std::size_t i = first + at; i < first + at + k; ++i) other[i] = f.op(prefix, other[i]);
      });
    });
    if (f.gives(other))
      return "the prefix of each part of a row includes the part itself: the totals of the parts must be "
             "scanned exclusively";
  }
  return "";
}

// The heads of every row are those of the first one.
std::string heads_of_first_row(const auto& f) {
  if (!f.has_heads() || f.c.n <= f.row_length()) return "";
  std::vector<HostBuffer> inputs(f.inputs.begin(), f.inputs.end());
  for (std::size_t i = f.row_length(); i < f.c.n; ++i)
    inputs[1].bytes[i] = inputs[1].bytes[i % f.row_length()];
  return f.gives(f.c, inputs, f.op) ? "the segment heads of the first row are used in every row: the index "
                                      "must contain the row's start"
                                    : "";
}

// A down-sweep that does not change the left children, so they keep the sums of the up-sweep. The tree has a
// leaf for each item of a full row, or for each item that exists.
template <typename Op>
std::string left_child_keeps_its_sum(const Facts<Op>& f) {
  if (!is_blelloch(f.rung) || f.row_length() > (std::size_t{1} << 16)) return "";
  for (const std::size_t leaves :
       {std::bit_ceil(f.row_length()), std::bit_ceil(std::min<std::size_t>(f.row_length(), f.c.n))}) {
    std::vector<typename Op::Value> other(f.c.n);
    rows_one_thread(f.c.n, f.row_length(), [&](std::size_t first, std::size_t length) {
      std::vector tree(leaves, f.op.identity());
      std::copy_n(f.in().begin() + static_cast<std::ptrdiff_t>(first), length, tree.begin());
      for (std::size_t half = 1; half < leaves; half *= 2)
        for (std::size_t k = 2 * half - 1; k < leaves; k += 2 * half) tree[k] = f.op(tree[k - half], tree[k]);
      tree[leaves - 1] = f.op.identity();
      for (std::size_t half = leaves / 2; half > 0; half /= 2)
        for (std::size_t k = 2 * half - 1; k < leaves; k += 2 * half) tree[k] = f.op(tree[k], tree[k - half]);
      for (std::size_t k = 0; k < length; ++k)
        other[first + k] = f.exclusive() ? tree[k] : f.op(tree[k], f.in()[first + k]);
    });
    if (f.gives(other))
      return "the left children keep the sums of the up-sweep: on the way down a left child must take its "
             "parent's value, all that is left of the node";
  }
  return "";
}

// The two sweeps over a tree with as many leaves as a row has items, which is no power of two.
template <typename Op>
std::string no_power_of_two(const Facts<Op>& f) {
  const std::size_t leaves = f.row_length();
  if (!is_blelloch(f.rung) || leaves > (std::size_t{1} << 16) || std::has_single_bit(leaves)) return "";
  std::vector<typename Op::Value> other(f.c.n);
  rows_one_thread(f.c.n, leaves, [&](std::size_t first, std::size_t length) {
    std::vector tree(leaves, f.op.identity());
    std::copy_n(f.in().begin() + static_cast<std::ptrdiff_t>(first), length, tree.begin());
    for (std::size_t half = 1; half < leaves; half *= 2)
      for (std::size_t k = 2 * half - 1; k < leaves; k += 2 * half) tree[k] = f.op(tree[k - half], tree[k]);
    tree[leaves - 1] = f.op.identity();
    for (std::size_t half = leaves / 2; half > 0; half /= 2)
      for (std::size_t k = 2 * half - 1; k < leaves; k += 2 * half) {
        const auto left = tree[k - half];
        tree[k - half] = tree[k];
        tree[k] = f.op(tree[k], left);
      }
    for (std::size_t k = 0; k < length; ++k)
      other[first + k] = f.exclusive() ? tree[k] : f.op(tree[k], f.in()[first + k]);
  });
  return f.gives(other) ? fmt::format(
                              "the tree has {} leaves, as many as a row has items: the sweeps need a "
                              "power of two, so launch leaves_for(row_length) threads",
                              leaves)
                        : "";
}

// --- Weaker evidence: rules that look at the first wrong result only.

template <typename Op>
std::string zero_for_identity(const Facts<Op>& f) {
  using Value = typename Op::Value;
  const bool zero = f.exclusive() && f.position() == 0 && is_same(f.got[f.first()], Value{}) &&
                    !is_same(f.op.identity(), Value{});
  if (!zero) return "";
  return fmt::format("0 is not the identity of {}: use op.identity()", name_of(static_cast<OpId>(f.c.op)));
}

std::string first_of_segment(const auto& f) {
  const bool head = f.has_heads() && f.exclusive() && f.position() > 0 &&
                    static_cast<std::uint8_t>(f.inputs[1].bytes[f.first()]) != 0;
  return head ? "a segment's first exclusive result is op.identity()" : "";
}

template <typename Op>
std::string first_of_row(const Facts<Op>& f) {
  if (f.position() != 0) return "";
  if (!f.exclusive()) return "a row's first inclusive result is its first item";
  const auto got = f.got[f.first()];
  if (!is_same(got, f.in()[f.first()]) || is_same(got, typename Op::Value{})) return "";
  return "a row's first exclusive result is op.identity(), not its first item";
}

template <typename Op>
std::string order_of_operands(const Facts<Op>& f) {
  return kIsMap<typename Op::Value> && zero_for_identity(f).empty() && first_of_segment(f).empty() &&
                 first_of_row(f).empty()
             ? "affine is not commutative: if your sums are right, some op has its operands in the wrong "
               "order"
             : "";
}

template <typename Op>
constexpr Rule<Facts<Op>> kRules[] = {
    {"other_kind", other_kind<Facts<Op>>},
    {"swapped_operands", swapped_operands<Op>},
    {"heads_ignored", heads_ignored<Facts<Op>>},
    {"rows_joined", rows_joined<Facts<Op>>},
    {"no_item", no_item<Facts<Op>>},
    {"added_instead_of_op", added_instead_of_op<Op>},
    {"own_item_twice", own_item_twice<Op>},
    {"lane_combined_itself", lane_combined_itself<Op>},
    {"pieces_on_their_own", pieces_on_their_own<Op>},
    {"root_not_identity", root_not_identity<Facts<Op>>},
    {"own_part_in_prefix", own_part_in_prefix<Op>},
    {"heads_of_first_row", heads_of_first_row<Facts<Op>>},
    {"first_item_kept", first_item_kept<Facts<Op>>},
    {"first_item_lost", first_item_lost<Op>},
    {"left_child_keeps_its_sum", left_child_keeps_its_sum<Op>},
    {"no_power_of_two", no_power_of_two<Op>},
    {"zero_for_identity", zero_for_identity<Op>, true},
    {"first_of_segment", first_of_segment<Facts<Op>>, true},
    {"first_of_row", first_of_row<Op>, true},
    {"order_of_operands", order_of_operands<Op>, true},
};

}  // namespace course::scan
