// SPDX-License-Identifier: MIT
// The value tracker: attaches something of type T to the values in the registers of a warp, and passes it on
// from the operands of each op to its results. T{}: nothing is attached. Three observers use it:
//   observation/dataflow.cpp   how deep the operations are that led to a value
//   observation/origins.cpp    from which elements of arrays it was computed
//   checkers/initcheck         which of its bits come from memory that was never written
// Each register has a mask of the lanes with something attached, so that ops on other values cost little.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/flow_rule.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

template <typename Each>
void for_lanes(std::uint32_t mask, const Each& each) {
  for (; mask != 0; mask &= mask - 1) each(std::countr_zero(mask));
}

// An operand: a slot of the register file, of which kind, and whether it is the high word of a 64-bit slot.
struct ValueSlot {
  std::uint32_t slot = MicroOp::kNoSlot;
  bool predicate = false, wide = false;

  static ValueSlot source(const MicroOp& op, int k) {
    return {op.src[k], (op.pred_src >> k & 1) != 0, (op.wide_src >> k & 1) != 0};
  }
  static ValueSlot result(const MicroOp& op, int k) {
    return {op.dst[k], (op.pred_dst >> k & 1) != 0, (op.wide_dst >> k & 1) != 0};
  }
  static ValueSlot guard(const MicroOp& op) { return {op.guard, true, false}; }
  // The value that a store or an atomic writes to element k.
  static ValueSlot stored(const MicroOp& op, int k) {
    return {k < 3 ? op.src[1 + k] : op.dst[3], false, op.width == 8};
  }
  bool exists() const { return slot != MicroOp::kNoSlot; }
};

template <typename T>
class Values {
 public:
  using Lanes = std::array<T, kLanes>;
  struct Words {
    Lanes low{}, high{};
  };

  void reset(const Program& program) {
    const std::size_t n = program.register_bytes / 4 + 2 * kLanes;
    if (n_ != 0 || masks_.size() != n) masks_.assign(n, 0);
    n_ = 0;
    words_.resize(n);
    predicates_.clear();
  }
  // Whether nothing is attached to any value.
  bool empty() const { return n_ == 0; }

  // The lanes in which something is attached to the value.
  std::uint32_t lanes(ValueSlot at) const {
    if (!at.exists()) return 0;
    return masks_[at.slot / 4] | (at.wide ? masks_[at.slot / 4 + kLanes] : 0);
  }
  // The lanes in which something is attached to a source of the op.
  std::uint32_t lanes_of_sources(const MicroOp& op) const {
    std::uint32_t all = 0;
    for (int k = 0; k < 4; ++k) all |= lanes(ValueSlot::source(op, k));
    return all;
  }

  T low(ValueSlot at, int lane) const { return at.exists() ? word(at.slot / 4, at, lane) : T{}; }
  T high(ValueSlot at, int lane) const {
    return at.exists() && at.wide ? word(at.slot / 4 + kLanes, at, lane) : T{};
  }
  void set(ValueSlot at, int lane, T low, T high) {
    if (!at.exists()) return;
    set_word(at.slot / 4, at, lane, low);
    if (at.wide) set_word(at.slot / 4 + kLanes, at, lane, high);
  }
  void forget(ValueSlot at, std::uint32_t lanes) {
    if (!at.exists()) return;
    clear(at.slot / 4, lanes);
    if (at.wide) clear(at.slot / 4 + kLanes, lanes);
  }
  void forget_results(const MicroOp& op, std::uint32_t lanes) {
    for (int k = 0; k < 4; ++k)
      if (k < 3 || op.kind != OpKind::store) forget(ValueSlot::result(op, k), lanes);
  }

  // Calls `each(lane, value)` for all that is attached in `lanes`; forgets it if that returns true.
  template <typename Each>
  void forget_if(std::uint32_t lanes, const Each& each) {
    for (std::size_t k = 0; k < masks_.size(); ++k) {
      const ValueSlot at{static_cast<std::uint32_t>(4 * k),
                         predicates_.contains(static_cast<std::uint32_t>(4 * k))};
      for_lanes(masks_[k] & lanes, [&](int lane) {
        if (each(lane, word(k, at, lane))) clear(k, 1u << lane);
      });
    }
  }

  // For an op that computes its results from its sources in each lane: the values of active lane `lane`.
  // join(a, b): of two values of which one moves, or both as parts of one; combine(a, b): of an operation's
  // result. A selection passes on what it selects, and its condition.
  template <typename Join, typename Combine>
  void flow(Warp& w, const MicroOp& op, const FlowRule& rule, int lane, const Join& join,
            const Combine& combine) {
    const auto whole = [&](int k) {
      const ValueSlot at = ValueSlot::source(op, k);
      return at.wide ? join(low(at, lane), high(at, lane)) : low(at, lane);
    };
    const ValueSlot a = ValueSlot::source(op, 0), b = ValueSlot::source(op, 1);
    T first{}, second{};
    if (rule.words == FlowRule::packs) {
      first = low(a, lane), second = low(b, lane);
    } else if (rule.words != FlowRule::all) {
      first = rule.words == FlowRule::high_word ? high(a, lane) : low(a, lane), second = high(a, lane);
    } else if (rule.selects) {
      const T by = whole(2);
      const bool known = by == T{} && (op.pred_src & 4) != 0;
      const bool is_first = known && (w.predicate(op.src[2]) >> lane & 1) != 0;
      const auto one = [&](T x, T y) { return !known ? join(join(x, y), by) : is_first ? x : y; };
      first = one(low(a, lane), low(b, lane)), second = one(high(a, lane), high(b, lane));
    } else {
      for (int k = 0; k < std::max<int>(op.n_src, 1) && k < 4; ++k) {
        if (!ValueSlot::source(op, k).exists() || std::find(op.src, op.src + k, op.src[k]) != op.src + k)
          continue;
        first = op.kind == OpKind::combine || op.kind == OpKind::divide ? combine(first, whole(k))
                                                                        : join(first, whole(k));
      }
      second = first;
    }
    for (int k = 0; k < 4; ++k) set(ValueSlot::result(op, k), lane, first, second);
  }

 private:
  T word(std::size_t k, ValueSlot at, int lane) const {
    if ((masks_[k] >> lane & 1) == 0) return T{};
    return at.predicate ? predicates_.at(at.slot)[static_cast<std::size_t>(lane)]
                        : words_[k + static_cast<std::size_t>(lane)];
  }
  void set_word(std::size_t k, ValueSlot at, int lane, T value) {
    if (value == T{}) return clear(k, 1u << lane);
    if ((masks_[k] >> lane & 1) == 0) ++n_;
    masks_[k] |= 1u << lane;
    (at.predicate ? predicates_[at.slot][static_cast<std::size_t>(lane)]
                  : words_[k + static_cast<std::size_t>(lane)]) = value;
  }

  void clear(std::size_t k, std::uint32_t lanes) {
    n_ -= static_cast<std::size_t>(std::popcount(masks_[k] & lanes));
    masks_[k] &= ~lanes;
  }

  std::size_t n_ = 0;                                    // words of lanes with something attached
  std::vector<std::uint32_t> masks_;                     // by word
  std::vector<T> words_;                                 // by word and lane
  std::unordered_map<std::uint32_t, Lanes> predicates_;  // by slot
};

}  // namespace course::sim
