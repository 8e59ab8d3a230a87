// SPDX-License-Identifier: MIT
// Likely causes of wrong outputs, for problem.cpp: what the output is, beside the right one, or what is wrong
// with it (lab/diagnosis.hpp).
// Reading order: causes_of_keys and cause_of_values at the end; mistakes.hpp, whose outputs are compared.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/poison.hpp"
#include "radix_sort/baseline.hpp"
#include "radix_sort/lab.hpp"
#include "radix_sort/mistakes.hpp"

namespace course::radix_sort {

using namespace lab;  // NOLINT: this file is written in that library's terms

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
                 fmt::format("{}: the {} wrote to another array than the output, or did not run. The "
                             "number of passes may be odd or even",
                             left_there, last)};
  }
  return {};
}

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

// The last tile begins with what its positions without a key hold, as if they had keys.
template <typename Bits>
std::optional<Cause> padding_first(const Order<Bits>& right, std::span<const Bits> in,
                                   std::span<const Bits> out) {
  const std::size_t n_there = in.size() % kTile;
  if (n_there == 0) return {};
  const auto last = out.last(n_there);
  std::vector<Bits> tile(in.end() - static_cast<std::ptrdiff_t>(n_there), in.end());
  tile.resize(kTile, last[0]);
  stable_sort_by(tile, right);
  if (!std::equal(last.begin(), last.end(), tile.begin())) return {};
  return Cause{"padding_first",
               "the values of the positions past n come first: while the tile is sorted, these must hold the "
               "largest key"};
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
std::vector<Cause> causes_of_keys(Rung rung, const Case& c, const Order<Bits>& right,
                                  std::span<const Bits> in, std::span<const Bits> out) {
  constexpr std::uint64_t kTelling = 8, kWorthTrying = 1 << 17;  // so few keys are in many orders at once
  std::vector<Cause> causes;
  if (auto cause = last_passes_missing(rung, right, in, out)) causes.push_back(std::move(*cause));
  if (auto lost = lost_keys(c, in, out)) {
    if (auto padding = rung == Rung::tile_sort ? padding_first(right, in, out) : std::nullopt)
      causes.push_back(std::move(*padding));
    if (causes.empty()) causes.push_back(std::move(*lost));
    return causes;
  }
  // The same without the last digits is one mistake.
  const bool without_last = !causes.empty();
  if (c.n >= kTelling && c.n <= kWorthTrying) {
    for (auto& mistake : Mistakes<Bits>(rung, right, c.n).all) {
      // An unchanged input has one explanation, unless another case can show the cause.
      if (!causes.empty() && causes.front().rule == "nothing_moved" && mistake.rule != "lower_half" &&
          mistake.rule != "no_flip")
        continue;
      std::vector<Bits> keys(in.begin(), in.end());
      if (without_last && mistake.rule.starts_with("upper_bits_missing")) continue;
      mistake.apply(std::span(keys));
      if (std::equal(keys.begin(), keys.end(), out.begin()))
        causes.push_back({mistake.rule, std::move(mistake.hint)});
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
  if (sorted)
    causes.push_back({"unstable",
                      "in order, but keys that are equal in the bits that count are not in the order of the "
                      "input: is every pass stable?",
                      true});
  else
    causes.push_back({"not_sorted", "all keys are there, but not in order", true});
  return causes;
}

// The cause of wrong values; the keys are right.
template <typename Bits, typename Value>
Cause cause_of_values(std::vector<Item<Bits, Value>> had, std::vector<Item<Bits, Value>> has) {
  const auto same_value = [](const auto& a, const auto& b) { return a.value == b.value; };
  if (std::ranges::equal(had, has, same_value))
    return {"values_stayed", "the keys are in order, but their values stayed where they were"};
  std::ranges::sort(had);
  std::ranges::sort(has);
  if (had != has)
    return {"values_of_others",
            "the keys are in order, but these are not the values that belong to them: a value goes where its "
            "key goes",
            true};
  return {"values_changed_places",
          "the keys are in order, but values of equal keys changed places: a pass is not stable"};
}

}  // namespace course::radix_sort
