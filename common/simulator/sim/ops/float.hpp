// SPDX-License-Identifier: MIT
// Pure semantics of the f32 and f64 instructions, and the modifiers around them.
// The NaN results of f32 instructions are the canonical NaN 0x7fffffff (PTX ISA 9.7.3); f64 instructions keep
// an operand's bits. The approximate instructions are in interpolator.hpp.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.3. Included once per instruction set, see lane.hpp.
#pragma once

#include <cmath>
#include <limits>

#include "sim/ops/alu.hpp"

namespace course::sim::SIM_ISA::alu {

inline constexpr u32 kNan32 = 0x7fffffff;

// Replaces an f32 NaN by the canonical one.
template <typename T>
inline T canonical(T a) {
  if constexpr (std::is_same_v<T, f32>)
    return a != a ? std::bit_cast<f32>(kNan32) : a;
  else
    return a;
}

// Flushes subnormals to zero with the same sign: the .ftz modifier.
template <typename T>
inline T flushed(T a) {
  if constexpr (std::is_same_v<T, f32>)
    return std::fabs(a) < std::numeric_limits<f32>::min() ? std::copysign(0.0f, a) : a;
  else
    return a;
}
// Clamps to [0, 1], and NaN to +0: the .sat modifier.
template <typename T>
inline T saturated(T a) {
  return a > T{0} ? (a < T{1} ? a : T{1}) : T{0};
}

struct Fma {
  template <typename T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Rcp {
  template <typename T>
  static T of(T a) {
    return T{1} / a;
  }
};

// The flushed result of Op on flushed operands. A GPU rounds to 24 bits for every exponent and then flushes
// results that are still below the smallest normal number. The host has fewer bits there and may round up to
// the smallest normal number, so such results are also computed 2^32 times as large. (Sums are exact there.)
template <typename Op>
inline f32 flushed_result(f32 a, f32 b = 0, f32 c = 0) {
  constexpr f32 kScale = 0x1p32f, kMin = std::numeric_limits<f32>::min();
  f32 result, scaled;
  if constexpr (std::is_same_v<Op, Mul> || std::is_same_v<Op, Div>) {
    result = Op::of(a, b);
    scaled = Op::of(a * kScale, b);
  } else if constexpr (std::is_same_v<Op, Fma>) {
    result = Op::of(a, b, c);
    scaled = Op::of(a * kScale, b, c * kScale);
  } else {
    result = Op::of(a);
    scaled = kScale / a;
  }
  return std::fabs(result) <= kMin && std::fabs(scaled) < kMin * kScale ? std::copysign(0.0f, result)
                                                                        : result;
}
template <typename Op>
inline constexpr bool kRoundsSubnormals =
    std::is_same_v<Op, Mul> || std::is_same_v<Op, Div> || std::is_same_v<Op, Fma> || std::is_same_v<Op, Rcp>;

// An op with its modifiers: canonical result, flushed operands and result, clamped result.
template <typename Op>
struct Plain {
  template <typename... T>
  static auto of(T... a) {
    return canonical(Op::of(a...));
  }
};
template <typename Op>
struct Ftz {
  template <typename... T>
  static auto of(T... a) {
    if constexpr (kRoundsSubnormals<Op>)
      return canonical(flushed_result<Op>(flushed(a)...));
    else if constexpr (std::is_floating_point_v<decltype(Op::of(a...))>)
      return canonical(flushed(Op::of(flushed(a)...)));
    else
      return Op::of(flushed(a)...);
  }
};
template <typename Op>
struct Sat {
  template <typename... T>
  static auto of(T... a) {
    return saturated(Op::of(a...));
  }
};
template <typename Op>
struct FtzSat {
  template <typename... T>
  static auto of(T... a) {
    if constexpr (kRoundsSubnormals<Op>)
      return saturated(flushed_result<Op>(flushed(a)...));
    else
      return saturated(flushed(Op::of(flushed(a)...)));
  }
};

struct Sqrt {
  template <typename T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Tanh {
  static f32 of(f32 a) { return static_cast<f32>(std::tanh(static_cast<double>(a))); }
};
struct CopySign {
  template <typename T>
  static T of(T a, T b) {
    return std::copysign(b, a);
  }
};

// Minimum and maximum. If one operand is NaN, the result is the other one, or NaN with `nan_wins`. −0 is less
// than +0. With `xor_sign` the magnitudes are compared and the result gets the exclusive or of the signs.
template <bool kMax, typename T>
inline T extreme(T a, T b, bool nan_wins, bool xor_sign) {
  const bool negative = std::signbit(a) != std::signbit(b);
  const T x = xor_sign ? std::fabs(a) : a, y = xor_sign ? std::fabs(b) : b;
  const bool y_wins = kMax ? x < y || (x == y && std::signbit(x)) : y < x || (x == y && std::signbit(y));
  T r = y_wins ? y : x;
  r = x != x ? y : y != y ? x : r;
  r = nan_wins ? (x != x ? x : y != y ? y : r) : r;
  r = xor_sign ? std::copysign(r, negative ? T{-1} : T{1}) : r;
  return r;
}
struct FloatMin {
  template <typename T>
  static T of(T a, T b) {
    return extreme<false>(a, b, false, false);
  }
};
struct FloatMax {
  template <typename T>
  static T of(T a, T b) {
    return extreme<true>(a, b, false, false);
  }
};

// The bits of the absolute value, by which testp classifies numbers.
template <typename T>
inline auto magnitude(T a) {
  using U = Stored<T>;
  return static_cast<U>(std::bit_cast<U>(a) & static_cast<U>(~(U{1} << (8 * sizeof(T) - 1))));
}
template <typename T>
inline auto infinity_bits() {
  return std::bit_cast<Stored<T>>(std::numeric_limits<T>::infinity());
}
struct TestFinite {
  template <typename T>
  static bool of(T a) {
    return magnitude(a) < infinity_bits<T>();
  }
};
struct TestInfinite {
  template <typename T>
  static bool of(T a) {
    return magnitude(a) == infinity_bits<T>();
  }
};
struct TestNumber {
  template <typename T>
  static bool of(T a) {
    return a == a;
  }
};
struct TestNotANumber {
  template <typename T>
  static bool of(T a) {
    return a != a;
  }
};
struct TestNormal {  // zeros count as normal numbers
  template <typename T>
  static bool of(T a) {
    return magnitude(a) == 0 || (magnitude(a) >= std::bit_cast<Stored<T>>(std::numeric_limits<T>::min()) &&
                                 magnitude(a) < infinity_bits<T>());
  }
};
struct TestSubnormal {
  template <typename T>
  static bool of(T a) {
    return magnitude(a) != 0 && magnitude(a) < std::bit_cast<Stored<T>>(std::numeric_limits<T>::min());
  }
};

enum class Round : u8 { nearest_even, zero, down, up, nearest_away };
template <Round R, typename T>
inline T rounded(T a) {
  if constexpr (R == Round::nearest_even)
    return std::nearbyint(a);
  else if constexpr (R == Round::zero)
    return std::trunc(a);
  else if constexpr (R == Round::down)
    return std::floor(a);
  else
    return std::ceil(a);
}
// Float to integer: rounds, then clamps to the range. NaN gives 0, or only the top bit set if one type has 64
// bits.
template <Round R, typename To>
struct FloatToInt {
  template <typename From>
  static To of(From a) {
    if (a != a) {
      if constexpr (sizeof(To) == 8 || sizeof(From) == 8)
        return static_cast<To>(u64{1} << (kBits<To> - 1));
      else
        return To{0};
    }
    const From r = rounded<R>(a);
    // 2^bits is exact in every float type, max() is not, so compare with 2^bits.
    constexpr int digits = std::numeric_limits<To>::digits;
    constexpr From past = static_cast<From>(u64{1} << (digits - 1)) * 2;
    if (r >= past) return std::numeric_limits<To>::max();
    if (std::is_signed_v<To> ? r < -past : r < From{0}) return std::numeric_limits<To>::min();
    return static_cast<To>(r);
  }
};
template <Round R>
struct RoundToIntegral {
  template <typename T>
  static T of(T a) {
    return rounded<R>(a);
  }
};

}  // namespace course::sim::SIM_ISA::alu
