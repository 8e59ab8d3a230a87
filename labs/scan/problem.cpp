// SPDX-License-Identifier: MIT
// The trusted side of the scan lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: CaseList has what is tried and why, fill() makes the items, check() decides what is
// accepted. Each result of a float sum is compared with the exact sum of its prefix. The error bound is that
// of two sweeps over a tree and, if the task adds several items per thread first, of a chunk. Everything else
// must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "scan/baseline.hpp"
#include "scan/lab.hpp"
#include "scan/points.hpp"

namespace course::scan {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

using Map = lab::AffineMap<std::uint32_t>;

Rung rung_of(const Task& task) {
  return static_cast<Rung>(lab::index_of(kManifest, task));
}
Kind kind_of(const Case& c) {
  return static_cast<Kind>(c.params[kKindParam]);
}
std::size_t row_length_of(const Case& c) {
  return static_cast<std::size_t>(c.params[kRowLengthParam]);
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
  return scan::with_op(static_cast<OpId>(c.op), c.dtype, f);
}

template <typename Value>
constexpr bool kIsMap = std::is_same_v<Value, Map>;

// --- Items.

// Odd scales: no product of them is ever 0, so the start of a prefix affects all results that follow. The
// example has small numbers.
Map map_item(Pattern pattern, std::uint64_t i, Rng& rng) {
  if (pattern == Pattern::example) return {i % 2 == 0 ? 3u : 1u, lab::example_item<std::uint32_t>(i)};
  return {static_cast<std::uint32_t>(rng()) | 1u, static_cast<std::uint32_t>(rng())};
}

std::uint8_t head_item(Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  switch (pattern) {
    case Pattern::all_equal: return 0;    // no heads
    case Pattern::alternating: return 1;  // every item is a segment
    case Pattern::ascending: return i + 1 == n;
    case Pattern::skewed: return rng.below(1000) == 0;
    case Pattern::example: return i % 8 == 0 || i % 8 == 3 || i % 8 == 6;
    default: return rng.below(16) == 0;
  }
}

// --- The right answers.

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

// The largest number of additions that an item may pass through in a sound kernel: two sweeps over a tree (a
// network has half that depth), and a serial chunk before and after them if the task has one.
double depth(const Task& task, const Case& c) {
  const double tree =
      2 * std::log2(static_cast<double>(std::min<std::uint64_t>(row_length_of(c), c.n)) + 2) + 8;
  switch (rung_of(task)) {
    case Rung::coarsened:
    case Rung::segmented: return tree + 2 * 64;
    case Rung::brute_force: return static_cast<double>(std::min<std::uint64_t>(row_length_of(c), c.n));
    default: return tree;
  }
}

// The exact value of every result and its allowed error: the error bound for the items of its own prefix.
template <typename T>
std::vector<Expected> expected_sums(const Task& task, const Case& c, std::span<const HostBuffer> inputs) {
  const auto in = inputs[0].as<T>();
  const auto* heads =
      inputs.size() > 1 ? reinterpret_cast<const std::uint8_t*>(inputs[1].bytes.data()) : nullptr;
  std::vector<Expected> all(c.n);
  const double additions = depth(task, c);
  rows_one_thread(c.n, row_length_of(c), [&](std::size_t first, std::size_t length) {
    ExactSum sum;
    for (std::size_t i = first; i < first + length; ++i) {
      if (heads != nullptr && heads[i] != 0) sum = {};
      if (kind_of(c) == Kind::exclusive) all[i] = sum.expected(c.dtype, additions);
      sum.add(static_cast<long double>(in[i]));
      if (kind_of(c) == Kind::inclusive) all[i] = sum.expected(c.dtype, additions);
    }
  });
  return all;
}

// --- Likely causes of a wrong result: one rule for each mistake. Most rules compute another scan and compare
// the outputs with it.

bool is_blelloch(Rung rung) {
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
  std::span<const Expected> allowed = {};  // of float sums
  std::vector<Value> right = {};           // from a loop

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
  for (std::size_t i = 0; i < other.size(); i += f.row_length()) other[i] = f.in()[i];
  return f.gives(other) ? "a row's first exclusive result is op.identity(), not its first item" : "";
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

// The errors are about those of a serial sum in the item's type, which is too long for that type.
template <typename Op>
std::string one_by_one(const Facts<Op>& f) {
  if (f.allowed.empty()) return "";
  if constexpr (std::is_floating_point_v<typename Op::Value>) {
    bool beyond = false;
    for (std::size_t i = 0; i < f.got.size(); ++i) {
      const auto error = std::abs(static_cast<long double>(f.got[i]) - f.allowed[i].value);
      const auto serial = std::abs(static_cast<long double>(f.right[i]) - f.allowed[i].value);
      const auto bound = static_cast<long double>(f.allowed[i].bound);
      if (!(error <= bound || error <= 4 * serial)) return "";
      beyond = beyond || (error > bound && serial > bound);
    }
    if (beyond)
      return "the errors are as large as those of adding the items one by one in this type: a long sum loses "
             "digits. A tree loses far fewer";
  }
  return "";
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

std::string first_of_row(const auto& f) {
  if (f.position() != 0) return "";
  if (!f.exclusive()) return "a row's first inclusive result is its first item";
  if (!is_same(f.got[f.first()], f.in()[f.first()])) return "";
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
    {"one_by_one", one_by_one<Op>},
    {"zero_for_identity", zero_for_identity<Op>, true},
    {"first_of_segment", first_of_segment<Facts<Op>>, true},
    {"first_of_row", first_of_row<Facts<Op>>, true},
    {"order_of_operands", order_of_operands<Op>, true},
};

// The sweeps compute the exclusive scan directly, the networks the inclusive one.
Kind natural_kind(Rung rung) {
  return is_blelloch(rung) ? Kind::exclusive : Kind::inclusive;
}

constexpr Kind kKinds[] = {Kind::exclusive, Kind::inclusive};
constexpr auto kBoth = kCorrectness | kChecks;

class CaseList {
 public:
  explicit CaseList(Rung rung) : rung_(rung) {
    add_sizes_of_one_row();
    add_many_rows();
    add_items_and_operators();
    if (max_row_length(rung) == kAnyRow) add_long_rows();
    add_measured();
  }

  std::vector<Case> all;

 private:
  void add(Kind kind, OpId op, DType dtype, std::uint64_t n, std::uint64_t row_length,
           Pattern pattern = Pattern::random, std::uint32_t purpose = kCorrectness,
           std::uint32_t misalign = 0) {
    const auto variant = fmt::format("{}_{}_{}", name_of(kind), name_of(op), lab::name_of(dtype));
    Case c = make_case({variant, shape_word(n, row_length)}, op, dtype, n, pattern, purpose, misalign);
    c.params[kRowLengthParam] = static_cast<std::int64_t>(row_length);
    c.params[kKindParam] = static_cast<std::int64_t>(kind);
    for (const Case& other : all) {
      if (other.name == c.name) return;  // for short longest rows, two of the calls below make the same case
    }
    all.push_back(std::move(c));
  }

  void add_sizes_of_one_row() {
    // One row: 0 and 1 items, sizes around powers of two and warps, up to the longest row; and rows that are
    // longer than the array.
    for (const std::uint64_t n :
         {0u, 1u, 2u, 3u, 7u, 8u, 9u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u, 1024u, 2048u}) {
      if (n <= longest_) add(kKinds[n % 2], OpId::sum, DType::i32, n, std::max<std::uint64_t>(n, 1));
    }
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i32, longest_, longest_);
      add(kind, OpId::sum, DType::i32, longest_ - 1, longest_ - 1);
      add(kind, OpId::sum, DType::i32, longest_ / 2 + 1, longest_ / 2 + 1);
      add(kind, OpId::sum, DType::i32, longest_ / 3, longest_);
      add(kind, OpId::sum, DType::i32, 1, longest_);
    }
    add(Kind::exclusive, OpId::sum, DType::i32, 0, longest_);
  }

  void add_many_rows() {
    // Many rows; the last one is full, or has one or some of its items. All checkers are on: several warps
    // and rows, and a row that does not fill its warps.
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i32, 2 * longest_ + longest_ / 3, longest_, Pattern::random, kBoth);
      add(kind, OpId::affine, DType::u64, 2 * longest_ + 1, longest_, Pattern::random, kBoth);
    }
    add(Kind::inclusive, OpId::sum, DType::i32, 3 * (longest_ - 2) + 5, longest_ - 2, Pattern::random, kBoth);
    add(Kind::exclusive, OpId::sum, DType::i32, 100, 8, Pattern::random, kBoth);
    add(Kind::inclusive, OpId::sum, DType::i32, 5, 1, Pattern::random, kBoth);
    for (const std::uint64_t row_length : {1u, 2u, 3u, 7u, 8u, 20u, 32u, 33u, 100u, 257u, 1000u}) {
      if (row_length > longest_) continue;
      add(kKinds[row_length / 2 % 2], OpId::sum, DType::i32, 5003, row_length);
      add(kKinds[row_length / 2 % 2], OpId::affine, DType::u64, 4001, row_length);
    }
    // More rows than a 16-bit number can count.
    add(Kind::inclusive, OpId::sum, DType::i32, 132007, 2);
    // Arrays and rows that do not start at a multiple of 16 bytes.
    add(Kind::inclusive, OpId::sum, DType::i32, 20003, longest_, Pattern::random, kCorrectness, 4);
    add(Kind::exclusive, OpId::sum, DType::i32, 20003, longest_ - 3, Pattern::random, kCorrectness, 12);
    add(Kind::inclusive, OpId::affine, DType::u64, 9001, longest_, Pattern::random, kCorrectness, 8);
    add(Kind::exclusive, OpId::sum, DType::i64, 9001, longest_, Pattern::random, kCorrectness, 8);
    add(Kind::inclusive, OpId::sum, DType::f32, 9001, longest_, Pattern::random, kCorrectness, 4);
    add(Kind::exclusive, OpId::sum, DType::f64, 9001, longest_, Pattern::random, kCorrectness, 8);
  }

  void add_items_and_operators() {
    // Other patterns of int32 items, and the other operators and types. The item that determines the result
    // is anywhere, all items have the same sign, and none is 0, so a wrong identity changes the result.
    for (const Pattern pattern :
         {Pattern::high_bits, Pattern::alternating, Pattern::all_equal, Pattern::skewed})
      add(kKinds[static_cast<int>(pattern) % 2], OpId::sum, DType::i32, 9000, longest_, pattern);
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i64, 9001, longest_);
      add(kind, OpId::sum, DType::f32, 20003, longest_);
      add(kind, OpId::sum, DType::f32, 9000, longest_, Pattern::alternating);
      add(kind, OpId::sum, DType::f64, 9001, longest_);
      add(kind, OpId::affine, DType::u64, 20003, longest_);
      add(kind, OpId::affine, DType::u64, 9000, longest_, Pattern::skewed);
      for (const DType dtype : {DType::i32, DType::f32}) {
        for (const OpId op : {OpId::min, OpId::max}) {
          add(kind, op, dtype, 9001, longest_);
          add(kind, op, dtype, 3001, longest_, Pattern::high_bits);
          add(kind, op, dtype, 3001, longest_, Pattern::ascending);
        }
      }
    }
    add(Kind::inclusive, OpId::sum, DType::f32, 9000, longest_, Pattern::all_equal);
    add(Kind::inclusive, OpId::sum, DType::f32, 3001, longest_, Pattern::high_bits);
    add(Kind::exclusive, OpId::sum, DType::i64, 0, longest_);
    add(Kind::exclusive, OpId::affine, DType::u64, 0, longest_);
  }

  // For rungs that are not limited to one block: rows that need many blocks, and the largest row length.
  void add_long_rows() {
    add(Kind::inclusive, OpId::sum, DType::i32, is_network_ ? 300007 : 30007, is_network_ ? 300007 : 30007);
    add(Kind::exclusive, OpId::affine, DType::u64, 30007, is_network_ ? 65536 : 16384);
    add(Kind::exclusive, OpId::sum, DType::i32, 10, kAnyRow);
  }

  // The measured cases: with 2^18 items, counting work and steps is quick; 2^22 items fill the device. Both
  // are also correctness cases, with another seed, so an answer that was stored in one is wrong in the other.
  void add_measured() {
    const Kind natural = natural_kind(rung_);
    const std::uint64_t measured = std::bit_floor(std::min<std::uint64_t>(max_row_length(rung_), 1024u * 4));
    const std::uint64_t row =
        rung_ == Rung::brute_force || rung_ == Rung::global_rounds ? kThreadRow : measured;
    add(natural, OpId::sum, DType::i32, 1 << 18, row, Pattern::random, kEfficiency | kCorrectness);
    if (is_network_)
      add(natural, OpId::sum, DType::i32, 1 << 22, row, Pattern::random, kSpeedup | kCorrectness);
  }

  Rung rung_;
  // The longest row; for rungs without a limit, a row that needs several blocks.
  std::uint64_t longest_ = std::min<std::uint64_t>(max_row_length(rung_), 5000);
  bool is_network_ = rung_ != Rung::brute_force;  // brute force takes quadratic time for long rows
};

class ScanProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::string print(const Case& c, DType dtype, const std::byte* element) const override {
    const bool is_map = static_cast<OpId>(c.op) == OpId::affine && dtype == DType::u64;
    return is_map ? print_map(element) : Problem::print(c, dtype, element);
  }

  std::vector<Case> cases(const Task& task) const override { return CaseList(rung_of(task)).all; }

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
      std::optional<Mismatch> mismatch;
      std::vector<Expected> allowed;
      if constexpr (std::is_same_v<Op, Sum<float>> || std::is_same_v<Op, Sum<double>>) {
        allowed = expected_sums<Value>(task, c, inputs);
        mismatch = compare_floats(out.spec, allowed, out.bytes);
      } else if constexpr (std::is_floating_point_v<Value>) {
        std::vector<Value> right(c.n);
        scan_all(c, inputs, op, Baseline::one_thread, right.data());
        std::vector<Expected> expected;
        for (const Value value : right) expected.push_back({static_cast<long double>(value), 0});
        mismatch = compare_floats(out.spec, expected, out.bytes);
      } else {
        std::vector<Value> right(c.n);
        scan_all(c, inputs, op, Baseline::one_thread, right.data());
        constexpr auto compare = kIsMap<Value> ? lab::compare_maps : lab::compare_integers;
        mismatch = compare(out.spec, std::as_bytes(std::span(right)), out.bytes);
      }
      if (mismatch) {
        Facts<Op> facts{c, inputs, op, got, *mismatch, rung_of(task), allowed};
        facts.right = facts.scanned(c, inputs, op);
        if (facts.row_length() > 1)
          mismatch->position = fmt::format("position {} of row {}, rows of {}", facts.position(), facts.row(),
                                           facts.row_length());
        diagnose<Facts<Op>>(*mismatch, kRules<Op>, facts);
      }
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs, std::span<HostBuffer> outputs,
                Baseline which) const override {
    with_op(c, [&]<typename Op>(Op op) {
      const auto out = outputs[0].as<typename Op::Value>().data();
      // A float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>>) {
        scan_all(c, inputs, Sum<double>{}, which, out);
      } else {
        scan_all(c, inputs, op, which, out);
      }
    });
  }

  // A row of length items: length - 1 operations, as many as the loop's; ⌈log2 length⌉ steps, the fewest
  // possible; every item is read once and every result is written once.
  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n), row_length = static_cast<double>(row_length_of(c));
    const double n_rows = std::ceil(n / row_length), longest = std::min(n, row_length);
    const double bytes = n * (2 * static_cast<double>(bytes_of(c.dtype)) + (has_heads(task) ? 1 : 0));
    const Ideal ideal{std::max(n - n_rows, 0.0), longest > 1 ? std::ceil(std::log2(longest)) : 0, bytes};
    if (has_heads(task)) return ideal;  // each item may be a segment of its own
    // The last result of an exclusive scan does not depend on the last item.
    const double last = kind_of(c) == Kind::exclusive ? 1 : 0;
    return depends_on(ideal, n - last * n_rows, n_rows, longest - last);
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
    return named(*c);
  }
};

}  // namespace

const Problem& problem() {
  static const ScanProblem kProblem;
  return kProblem;
}

}  // namespace course::scan
