// SPDX-License-Identifier: MIT
// Sorting on the CPU: with the standard library (the right answers), and by digits (the baseline for
// speedups, and the right answers of long arrays, which tests compare with the library's). Plain loops,
// compiled with -O3, without tuning for a particular CPU. Keys are bits; `order` (Order below) says how to
// compare them. All sorts are stable.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "radix_sort/lab.hpp"

namespace course::radix_sort {

// The order of keys: ascending by rank(key).
template <typename Bits>
struct Order {
  KeyKind kind = KeyKind::unsigned_number;
  bool descending = false;
  unsigned begin_bit = 0, end_bit = 8 * sizeof(Bits);

  // The key's bits, flipped so that they have the same order as the keys.
  constexpr Bits flipped(Bits key) const {
    constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1);
    if (kind == KeyKind::signed_number) key ^= kTop;
    if (kind == KeyKind::floating)
      key = (key & kTop) != 0 ? static_cast<Bits>(~key) : static_cast<Bits>(key | kTop);
    return descending ? static_cast<Bits>(~key) : key;
  }
  // The bits of these that are sorted.
  constexpr Bits rank(Bits key) const { return sorted_bits(flipped(key)); }
  constexpr Bits sorted_bits(Bits flipped) const {
    if (begin_bit == end_bit) return 0;
    const unsigned n_bits = end_bit - begin_bit;
    const Bits all =
        n_bits == 8 * sizeof(Bits) ? static_cast<Bits>(~Bits{0}) : static_cast<Bits>((Bits{1} << n_bits) - 1);
    return static_cast<Bits>(flipped >> begin_bit) & all;
  }
};

// A key and its value, or only the key.
template <typename Bits, typename Value>
struct Item {
  Bits key;
  [[no_unique_address]] Value value;
  auto operator<=>(const Item&) const = default;
};

// O(n log n) comparisons: std::sort for keys without values that are sorted by all bits (equal keys are
// identical), otherwise std::stable_sort.
template <typename Bits, typename Value>
void sort_by_library(std::span<Item<Bits, Value>> items, const Order<Bits>& order) {
  const auto before = [&](const auto& a, const auto& b) { return order.rank(a.key) < order.rank(b.key); };
  if (!kHasValues<Value> && order.begin_bit == 0 && order.end_bit == 8 * sizeof(Bits)) {
    std::ranges::sort(items, before);
  } else {
    std::ranges::stable_sort(items, before);
  }
}

// Least significant digit first. For each digit: add up the counts, then move the items. All digits are
// counted in one pass at the start.
template <typename Bits, typename Value>
void sort_one_thread(std::span<Item<Bits, Value>> items, const Order<Bits>& order) {
  constexpr unsigned kDigitBits = 8;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const unsigned n_bits = order.end_bit - order.begin_bit;
  const unsigned n_passes = (n_bits + kDigitBits - 1) / kDigitBits;
  const auto digit = [](Bits rank, unsigned pass) {
    return static_cast<std::size_t>(rank >> (pass * kDigitBits)) % kDigits;
  };
  std::vector<std::array<std::size_t, kDigits>> places(n_passes);
  for (const auto& item : items) {
    const Bits rank = order.rank(item.key);
    for (unsigned pass = 0; pass < n_passes; ++pass) ++places[pass][digit(rank, pass)];
  }
  std::vector<Item<Bits, Value>> spare(items.size());
  std::span<Item<Bits, Value>> from = items, to = spare;
  for (unsigned pass = 0; pass < n_passes; ++pass) {
    std::size_t sum = 0;
    for (std::size_t& place : places[pass]) sum += std::exchange(place, sum);
    for (const auto& item : from) to[places[pass][digit(order.rank(item.key), pass)]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

inline bool is_merge(Rung rung) {
  return rung == Rung::merge || rung == Rung::merge_path;
}

// Calls f with each tile of the items.
template <typename T, typename F>
void for_tiles(std::span<T> items, F f, std::size_t tile = kTile) {
  for (std::size_t first = 0; first < items.size(); first += tile)
    f(items.subspan(first, std::min(tile, items.size() - first)));
}

// What the task computes, by sort(items, order).
template <typename Bits, typename Value, typename Sort>
void solve(Rung rung, std::span<Item<Bits, Value>> items, const Order<Bits>& order, Sort sort) {
  if (rung != Rung::tile_sort) return sort(items, order);
  for_tiles(items, [&](auto tile) { sort(tile, order); });
}

}  // namespace course::radix_sort
