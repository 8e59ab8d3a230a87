// SPDX-License-Identifier: MIT
// Sorting on the CPU: with the standard library, by digits on one core (the baseline for speedups), and by
// digits on all cores (the right answers of long arrays). Plain loops, compiled with -O3, without tuning for
// a particular CPU. Keys are bits; `order` (Order below) says how to compare them. All sorts are stable.
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "lab/all_cores.hpp"
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

inline constexpr std::size_t kTilesWorthAThread = 16;  // of 1,024 items
inline constexpr unsigned kBaselineDigitBits = 8;
inline constexpr std::size_t kBaselineDigits = std::size_t{1} << kBaselineDigitBits;

// Least significant digit first. For each digit: add up the counts, then move the items. All digits are
// counted in one pass at the start.
template <typename Bits, typename Value>
void sort_one_thread(std::span<Item<Bits, Value>> items, const Order<Bits>& order) {
  const unsigned n_bits = order.end_bit - order.begin_bit;
  const unsigned n_passes = (n_bits + kBaselineDigitBits - 1) / kBaselineDigitBits;
  const auto digit = [](Bits rank, unsigned pass) {
    return static_cast<std::size_t>(rank >> (pass * kBaselineDigitBits)) % kBaselineDigits;
  };
  std::vector<std::array<std::size_t, kBaselineDigits>> places(n_passes);
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

// The same with a contiguous share for each core: counts by (digit, share), so that all shares move their
// items at the same time.
template <typename Bits, typename Value>
void sort_all_cores(std::span<Item<Bits, Value>> items, const Order<Bits>& order) {
  constexpr std::size_t kWorthAThread =
      1 << 15;  // items; starting a thread costs about as much as sorting them
  const std::size_t n_shares = lab::n_shares_of(items.size(), kWorthAThread);
  if (n_shares == 1) return sort_one_thread(items, order);

  std::vector<Item<Bits, Value>> spare(items.size());
  std::vector<std::array<std::size_t, kBaselineDigits>> places(n_shares);
  const unsigned n_bits = order.end_bit - order.begin_bit;
  const unsigned n_passes = (n_bits + kBaselineDigitBits - 1) / kBaselineDigitBits;
  std::barrier all_there(static_cast<std::ptrdiff_t>(n_shares));
  const auto sort_share = [&](std::size_t share) {
    const std::size_t first = items.size() * share / n_shares, last = items.size() * (share + 1) / n_shares;
    std::span<Item<Bits, Value>> from = items, to = spare;
    for (unsigned pass = 0; pass < n_passes; ++pass) {
      const auto digit = [&](const auto& item) {
        return static_cast<std::size_t>(order.rank(item.key) >> (pass * kBaselineDigitBits)) %
               kBaselineDigits;
      };
      places[share].fill(0);
      for (std::size_t i = first; i < last; ++i) ++places[share][digit(from[i])];
      all_there.arrive_and_wait();
      if (share == 0) {
        std::size_t sum = 0;
        for (std::size_t d = 0; d < kBaselineDigits; ++d)
          for (auto& counts : places) sum += std::exchange(counts[d], sum);
      }
      all_there.arrive_and_wait();
      for (std::size_t i = first; i < last; ++i) to[places[share][digit(from[i])]++] = from[i];
      all_there.arrive_and_wait();
      std::swap(from, to);
    }
  };
  lab::on_all_cores(n_shares, sort_share);
  if (n_passes % 2 == 1) std::ranges::copy(spare, items.begin());
}

// Each tile of tile_items items is sorted on its own, by digits: on one core, or with a contiguous share of
// the tiles on each core.
template <typename Bits, typename Value>
void sort_tiles(std::span<Item<Bits, Value>> items, const Order<Bits>& order, std::size_t tile_items,
                bool all_cores) {
  const std::size_t n_tiles = (items.size() + tile_items - 1) / tile_items;
  const std::size_t least = all_cores ? kTilesWorthAThread : n_tiles;
  lab::on_shares(n_tiles, least, [&](std::size_t, std::size_t tile, std::size_t last) {
    for (; tile < last; ++tile) {
      const std::size_t first = tile * tile_items;
      sort_one_thread(items.subspan(first, std::min(tile_items, items.size() - first)), order);
    }
  });
}

}  // namespace course::radix_sort
