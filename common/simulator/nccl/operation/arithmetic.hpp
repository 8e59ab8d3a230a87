// SPDX-License-Identifier: MIT
// The arithmetic of reductions, one class for each data type: how a value is stored, and in which type it is
// computed. A sum or product of two 8-bit or 16-bit floats that is rounded to float and then to their type is
// rounded correctly (S. Figueroa, "When is double rounding innocuous?", ACM SIGNUM 30(3), 1995).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace course::nccl {

// Types that the host computes with.
template <typename T>
struct Plain {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

struct BFloat16 {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(Stored bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  static Stored store(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return 0x7fff;
    return static_cast<Stored>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // to nearest, ties to even
  }
};

// A float of few bits with subnormal numbers. kOverflow is what a number becomes that is too large.
template <typename Bits, int kBias, int kFractionBits, Bits kLargest, Bits kInfinity, Bits kOverflow>
struct SmallFloat {
  using Stored = Bits;
  using Computed = float;
  static constexpr unsigned kSign = 1u << (8 * sizeof(Bits) - 1), kFractions = 1u << kFractionBits;
  static constexpr int kSmallest = 1 - kBias - kFractionBits;  // its exponent

  static float load(Stored bits) {
    const unsigned number = bits & (kSign - 1), fraction = number % kFractions;
    const int exponent = static_cast<int>(number / kFractions);
    float magnitude = std::ldexp(static_cast<float>(fraction), kSmallest);
    if (number > kLargest)
      magnitude = number == kInfinity ? INFINITY : NAN;
    else if (exponent != 0)
      magnitude = std::ldexp(static_cast<float>(fraction + kFractions), exponent - 1 + kSmallest);
    return std::copysign(magnitude, (bits & kSign) != 0 ? -1.0f : 1.0f);
  }
  static Stored store(float value) {
    if (std::isnan(value)) return static_cast<Stored>(kSign - 1);
    const unsigned sign = std::signbit(value) ? kSign : 0;
    const float magnitude = std::fabs(value);
    if (std::isinf(value)) return static_cast<Stored>(sign | kOverflow);
    // The unit of the last place. nearbyint rounds ties to even.
    const int unit = std::max(magnitude > 0 ? std::ilogb(magnitude) - kFractionBits : kSmallest, kSmallest);
    const auto multiple = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // A carry out of the fraction increments the exponent.
    const unsigned number = static_cast<unsigned>(unit - kSmallest) * kFractions + multiple;
    return static_cast<Stored>(sign | (number > kLargest ? kOverflow : number));
  }
};
using Float16 = SmallFloat<std::uint16_t, 15, 10, 0x7bff, 0x7c00, 0x7c00>;
// NCCL's 8-bit floats saturate. E4M3 has no infinity; 0x80 is none of its magnitudes.
using Float8E4M3 = SmallFloat<std::uint8_t, 7, 3, 0x7e, 0x80, 0x7e>;
using Float8E5M2 = SmallFloat<std::uint8_t, 15, 2, 0x7b, 0x7c, 0x7b>;

template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)  // wraps
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <typename T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <typename T>
T smaller(T a, T b) {
  return a != a || b < a ? b : a;  // a != a: NaN
}
template <typename T>
T larger(T a, T b) {
  return a != a || a < b ? b : a;
}

}  // namespace course::nccl
