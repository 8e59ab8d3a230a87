// SPDX-License-Identifier: MIT
// Input items by pattern, the same on every machine for the same seed. Used by Problem::fill of labs that do
// not need special inputs.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "base/rng.hpp"
#include "lab/problem.hpp"

namespace course::lab {

// Item i of Pattern::example.
template <typename T>
T example_item(std::uint64_t i) {
  constexpr int kItems[] = {3, 1, 7, 0, 4, 1, 6, 3};
  return static_cast<T>(kItems[i % 8]);
}

// For sums: of an odd number of floats tiny ones, else large ones, of which no array has so many that their
// sum overflows.
template <typename T>
T float_far_from_one(std::uint64_t n, Rng& rng) {
  const double scale = n % 2 != 0       ? (sizeof(T) == 4 ? 0x1p-100 : 0x1p-900)
                       : sizeof(T) == 4 ? 0x1p90
                                        : 0x1p900;
  return static_cast<T>(scale * static_cast<double>(1 + rng.below(1000)));
}

// Item i of n. Random integers use the whole range of T; random floats lie in [-1, 1). `extremes` includes
// the largest and smallest values of T, so that sums of them may overflow; of floats, NaN and both
// infinities, too, but item 0 is not NaN.
template <typename T>
T item_of(Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  switch (pattern) {
    case Pattern::random:
      if constexpr (kFloat) return static_cast<T>(2 * rng.unit() - 1);
      return static_cast<T>(rng());
    case Pattern::all_equal: return static_cast<T>(kFloat ? 0.7 : 3);
    case Pattern::ascending: return static_cast<T>(i);
    case Pattern::descending: return static_cast<T>(n - i);
    case Pattern::skewed:  // nine of ten items are equal
      if (rng.below(10) != 0) return static_cast<T>(kFloat ? 0.7 : 7);
      if constexpr (kFloat) return static_cast<T>((2 * rng.unit() - 1) * 0x1p20);
      return static_cast<T>(rng());
    case Pattern::high_bits:
      if constexpr (kFloat) return float_far_from_one<T>(n, rng);
      return static_cast<T>(Limits::max() - static_cast<T>(rng.below(100)));
    case Pattern::alternating:
      if constexpr (std::is_unsigned_v<T>)
        return static_cast<T>(i % 2 == 0 ? i % 17 : Limits::max() - i % 17);
      return static_cast<T>(i % 2 == 0 ? static_cast<double>(i % 9) : -static_cast<double>(i % 5));
    case Pattern::extremes: {
      const T values[] = {Limits::lowest(),
                          Limits::max(),
                          T{0},
                          T{1},
                          kFloat ? Limits::min() : static_cast<T>(-1),
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN()};
      return values[rng.below(!kFloat ? 5 : i == 0 ? 7 : 8)];
    }
    case Pattern::example: return example_item<T>(i);
  }
  return T{};
}

template <typename T>
void fill_items(std::span<T> items, Pattern pattern, std::uint64_t seed) {
  Rng rng(seed);
  std::uint64_t i = 0;
  for (T& item : items) item = item_of<T>(pattern, i++, items.size(), rng);
}

}  // namespace course::lab
