// SPDX-License-Identifier: MIT
// The arithmetic of reductions, one class for each data type: how a value is stored, and in which type it is
// computed. A sum or product of two 16-bit floats that is rounded to float and then to 16 bits is rounded
// correctly (S. Figueroa, "When is double rounding innocuous?", ACM SIGNUM 30(3), 1995).
#pragma once

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

struct Float16 {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(Stored bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    if (exponent == 31)
      magnitude = fraction != 0 ? NAN : INFINITY;
    else if (exponent != 0)
      magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return std::copysign(magnitude, (bits >> 15) != 0 ? -1.0f : 1.0f);
  }
  static Stored store(float value) {
    if (std::isnan(value)) return 0x7fff;
    const unsigned sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    constexpr float kTooLarge = 65520;  // halfway between the largest number and the next power of two
    if (magnitude >= kTooLarge) return static_cast<Stored>(sign | 0x7c00);
    // The unit of the last place; of subnormal numbers and 0 2^-24. nearbyint rounds ties to even.
    const int unit = magnitude < 0x1p-14f ? -24 : std::ilogb(magnitude) - 10;
    const auto multiple = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // A carry out of the fraction increments the exponent.
    return static_cast<Stored>(sign | (static_cast<unsigned>(unit + 24) * 1024 + multiple));
  }
};

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
