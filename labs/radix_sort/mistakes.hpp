// SPDX-License-Identifier: MIT
// What common mistakes do with the keys of a case: causes.hpp looks for those that give the wrong output.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "radix_sort/baseline.hpp"
#include "radix_sort/lab.hpp"

namespace course::radix_sort {

template <typename Bits>
struct Mistake {
  std::string rule;
  std::function<void(std::span<Bits>)> apply;  // changes the input as a program with the mistake does
  std::string hint;
};

template <typename Bits>
void stable_sort_by(auto&& keys, const Order<Bits>& order) {
  std::ranges::stable_sort(keys, [&](Bits a, Bits b) { return order.rank(a) < order.rank(b); });
}

// The stages of task merge. Without the flip, the second run of a pair is not read backwards. `without`: the
// stride of stages that are left out.
template <typename Bits>
void merge_by_stages(std::span<Bits> keys, bool flips, std::uint64_t without) {
  for (std::uint64_t run = kTile; run < keys.size(); run *= 2) {
    const auto stage = [&](std::uint64_t stride, auto high_of) {
      for (std::uint64_t low = 0; low < keys.size(); ++low) {
        const std::uint64_t high = high_of(low);
        if (low / stride % 2 == 0 && high < keys.size() && keys[high] < keys[low])
          std::swap(keys[low], keys[high]);
      }
    };
    if (flips) stage(run, [&](std::uint64_t low) { return low / run * run * 2 + 2 * run - 1 - low; });
    for (std::uint64_t stride = flips ? run / 2 : run; stride > 0; stride /= 2)
      if (stride != without) stage(stride, [&](std::uint64_t low) { return low + stride; });
  }
}

// What common mistakes do with the keys of a case.
template <typename Bits>
class Mistakes {
 public:
  Mistakes(Rung rung, const Order<Bits>& right, std::uint64_t n) : rung_(rung), right_(right) {
    all.push_back({"nothing_moved", [](auto) {}, "this is the input as it was: nothing was moved"});
    add_runs(n);
    if (is_merge(rung)) {
      all.push_back({"no_flip", [](auto keys) { merge_by_stages(keys, false, 0); },
                     "this is what the stages give without the flip: the second run of a pair must be read "
                     "from its end"});
      for (std::uint64_t stride = 1; stride < n; stride *= 2)
        all.push_back({fmt::format("stage_missing {}", stride),
                       [stride](auto keys) { merge_by_stages(keys, true, stride); },
                       fmt::format("this is what the stages give without those of stride {}", stride)});
      return;
    }
    add_orders();
    add_bits();
    add_passes();
  }

  std::vector<Mistake<Bits>> all;

 private:
  // What a mistake does with the keys, or with each tile alone if the task sorts tiles.
  void add_sort(std::string rule, auto sort, std::string hint) {
    all.push_back({std::move(rule),
                   [sort, rung = rung_](std::span<Bits> keys) {
                     if (rung == Rung::tile_sort) return for_tiles(keys, sort);
                     sort(keys);
                   },
                   std::move(hint)});
  }
  // The right order with a change.
  void add_with(std::string rule, auto change, std::string hint) {
    Order<Bits> order = right_;
    change(order);
    add_sort(
        std::move(rule), [order](auto keys) { stable_sort_by(keys, order); }, std::move(hint));
  }

  // Runs that are too long or too short.
  void add_runs(std::uint64_t n) {
    const auto by_order = [right = right_](auto keys) { stable_sort_by(keys, right); };
    if (rung_ == Rung::tile_sort) {
      all.push_back(
          {"whole_array", by_order,
           fmt::format("the whole array is in order: sort each tile of {} keys for itself", kTile)});
    }
    const char* advice =
        is_merge(rung_) ? "no merge moved a key from one run to another: check which two positions a pair "
                          "compares, and that merging goes on until one run is left"
        : rung_ == Rung::tile_sort ? "sort each tile as a whole"
                                   : "a key's place depends on the counts of all tiles";
    // After a wrong merge, too, the last few keys can stand as they did.
    for (std::uint64_t run = 256; run + (is_merge(rung_) ? 8 : 1) <= n; run *= 2) {
      if (rung_ == Rung::tile_sort && run == kTile) continue;
      all.push_back({fmt::format("sorted_runs {}", run),
                     [by_order, run](std::span<Bits> keys) { for_tiles(keys, by_order, run); },
                     fmt::format("these are sorted runs of {} keys: {}", run, advice)});
    }
  }

  // Orders of another kind of keys, or in the other direction.
  void add_orders() {
    if (right_.kind != KeyKind::unsigned_number) {
      add_with(
          "as_unsigned", [](auto& o) { o.kind = KeyKind::unsigned_number; },
          "this is the order of the bits as unsigned numbers: flip them as the kind of key asks for");
    }
    if (right_.kind == KeyKind::floating) {
      add_with(
          "as_signed", [](auto& o) { o.kind = KeyKind::signed_number; },
          "this is the order of the bits as signed numbers: of two negative floats the one with the "
          "larger bits is the smaller one");
      add_sort(
          "flips_swapped",
          [right = right_](auto keys) {
            constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1);
            const auto rank = [&](Bits key) {
              const Bits flipped = (key & kTop) != 0 ? key ^ kTop : static_cast<Bits>(~key);
              return right.sorted_bits(right.descending ? static_cast<Bits>(~flipped) : flipped);
            };
            std::ranges::stable_sort(keys, [&](Bits a, Bits b) { return rank(a) < rank(b); });
          },
          "the floats from 0 up are in the wrong direction, and so are those below: the two flips are "
          "exchanged. A float with its sign bit set needs every bit flipped, another one the sign bit");
    }
    add_with(
        "other_direction", [](auto& o) { o.descending = !o.descending; },
        right_.descending ? "this is ascending order" : "this is descending order");
  }

  // Other ranges of bits than the case's.
  void add_bits() {
    if (right_.begin_bit != 0 || right_.end_bit != 8 * sizeof(Bits)) {
      add_with(
          "all_bits", [](auto& o) { o.begin_bit = 0, o.end_bit = 8 * sizeof(Bits); },
          fmt::format("this is in order by all bits: only bits {} to {} count, and keys that are equal "
                      "there keep their order",
                      right_.begin_bit, static_cast<int>(right_.end_bit) - 1));
      const unsigned n_bits = right_.end_bit - right_.begin_bit;
      for (const unsigned end : std::set{n_bits, std::min<unsigned>((n_bits + 7) / 8 * 8, 8 * sizeof(Bits))})
        if (right_.begin_bit != 0)
          add_with(
              end == n_bits ? "from_0" : "from_0 rounded",
              [end](auto& o) { o.begin_bit = 0, o.end_bit = end; },
              fmt::format("this is in order by bits 0 to {}: the first digit begins at begin_bit = {}",
                          end - 1, right_.begin_bit));
      if (right_.begin_bit != 0)
        add_with(
            "bits_below", [](auto& o) { o.begin_bit = 0; },
            "the bits below begin_bit count, too, in this order");
    }
    if (sizeof(Bits) == 8 && right_.end_bit > 32) {
      add_with(
          "lower_half", [](auto& o) { o.begin_bit = std::min(o.begin_bit, 32u), o.end_bit = 32; },
          fmt::format(
              "only the lower 32 of 64 bits count in this order{}: were digits taken from a 32-bit variable?",
              right_.begin_bit < 32 ? "" : ", so nothing was moved"));
    }
  }

  // Passes that are missing, that take too many bits, or in the wrong order.
  void add_passes() {
    // If several match, the ends of whole digits come first.
    std::vector<unsigned> ends;
    for (unsigned end = right_.begin_bit + 1; end < right_.end_bit; ++end)
      if (sizeof(Bits) == 4 || end != 32) ends.push_back(end);
    std::ranges::stable_sort(
        ends, [](unsigned a, unsigned b) { return std::countr_zero(a) > std::countr_zero(b); });
    for (const unsigned end : ends) {
      add_with(
          fmt::format("upper_bits_missing {}", end), [end](auto& o) { o.end_bit = end; },
          fmt::format(
              "this is in order by bits {} to {} alone: the passes for the bits above left nothing behind",
              right_.begin_bit, end - 1));
      add_with(
          fmt::format("lower_bits_missing {}", end), [end](auto& o) { o.begin_bit = end; },
          fmt::format("this is in order by bits {} to {} alone: the passes for the bits below left nothing "
                      "behind (each pass must read what the one before it stored)",
                      end, right_.end_bit - 1));
    }
    for (unsigned end = right_.end_bit + 1; end <= 8 * sizeof(Bits); ++end) {
      if (right_.begin_bit == 0 && end == 8 * sizeof(Bits)) break;  // all bits
      add_with(
          fmt::format("bits_above {}", end), [end](auto& o) { o.end_bit = end; },
          fmt::format("bits {} to {} count, too, in this order: only the bits below end_bit = {} may. Mask "
                      "the last digit, which has fewer bits than the others",
                      right_.end_bit, end - 1, right_.end_bit));
    }
    for (const unsigned digit : {1u, 4u, 8u}) {
      if (right_.end_bit - right_.begin_bit <= digit) continue;
      add_sort(
          fmt::format("top_digit_first {}", digit),
          [right = right_, digit](auto keys) {
            for (unsigned end = right.end_bit; end > right.begin_bit;
                 end -= std::min(digit, end - right.begin_bit)) {
              Order<Bits> one = right;
              one.begin_bit = std::max(right.begin_bit + digit, end) - digit;
              one.end_bit = end;
              stable_sort_by(keys, one);
            }
          },
          "this is what passes from the most significant bits down give: start with the least significant");
    }
  }

  Rung rung_;
  Order<Bits> right_;
};

}  // namespace course::radix_sort
