// SPDX-License-Identifier: MIT
// The approximate functions of f32 as an H100 computes them, equal in every bit: its multifunction unit
// (MUFU) interpolates with a quadratic polynomial per segment, in fixed point, and truncates the result. The
// low columns of its squarer are missing. The coefficients (interpolator_tables.hpp) were fitted to
// measurements of all mantissas. The forms without .ftz scale their operand around the unit, as ptxas writes
// them. Source of the method: S. Oberman, M. Siu, "A High-Performance Area-Efficient Multifunction
// Interpolator", ARITH 2005. Included once per instruction set, see lane.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "sim/ops/float.hpp"
#include "sim/ops/interpolator_tables.hpp"
#include "sim/ops/narrow.hpp"

namespace course::sim::SIM_ISA::alu {

inline constexpr u32 kSign32 = 0x80000000, kInfinity32 = 0x7f800000;
inline constexpr u32 kMantissa32 = (1u << 23) - 1;

// The square of the low `kBits` bits of an argument without the columns below 2^kColumn.
template <int kBits>
inline s64 truncated_square(u32 x) {
  constexpr int kColumn = kBits == 17 ? 19 : 17;
  u32 sum = 0;
  for (int i = (kColumn + 1) / 2; i < kBits; ++i) {
    const u32 row = (x & ((1u << i) - 1)) >> (kColumn - 1 - i);
    sum += (row + (1u << (2 * i - kColumn))) & (0 - (x >> i & 1));
  }
  return s64{sum} << kColumn;
}

// The value of segment x >> kBits at its low bits, in units of 2^-36 of the table's unit.
template <int kBits>
[[gnu::always_inline]] inline s64 interpolated(const Segment* table, u32 x) {
  const Segment& s = table[x >> kBits];
  const u32 low = x & ((1u << kBits) - 1);
  return (s.c0 << 16) + s64{s.c1} * low * (s64{1} << (35 - kBits)) +
         s64{s.c2} * truncated_square<kBits>(low) * (s64{1} << (35 - 2 * kBits));
}

inline int exponent_of(u32 bits) {
  return static_cast<int>(bits >> 23 & 255) - 127;
}
// ± significand · 2^(exponent - 23), for a significand of 24 bits, or 2^24.
inline f32 assembled(u32 sign, int exponent, s64 significand) {
  const s64 bits = (s64{exponent + 127} << 23) + (significand - (s64{1} << 23));
  if (bits < s64{1} << 23) return std::bit_cast<f32>(sign);
  return std::bit_cast<f32>(sign | static_cast<u32>(bits));
}

struct RcpUnit {
  static f32 of(f32 a) {
    const u32 bits = std::bit_cast<u32>(a), sign = bits & kSign32, size = bits ^ sign;
    const f32 value =
        assembled(sign, -exponent_of(bits) - 1, interpolated<16>(kRcpTable, bits & kMantissa32) >> 36);
    if (a != a) return std::bit_cast<f32>(kNan32);
    if (size == kInfinity32) return std::bit_cast<f32>(sign);
    return size <= kMantissa32 ? std::bit_cast<f32>(sign | kInfinity32) : value;
  }
};

// The argument of the tables of square roots: the mantissa, and above it whether the exponent is odd.
inline u32 root_argument(u32 bits) {
  return (bits & kMantissa32) | (static_cast<u32>(exponent_of(bits)) & 1) << 23;
}
inline int half_exponent(u32 bits) {
  return exponent_of(bits) >> 1;
}

struct RsqrtUnit {
  static f32 of(f32 a) {
    const u32 bits = std::bit_cast<u32>(a), sign = bits & kSign32, size = bits ^ sign;
    const u32 argument = root_argument(bits);
    const f32 value = assembled(0, -half_exponent(bits) - (argument == 0 ? 0 : 1),
                                argument == 0 ? s64{1} << 23 : interpolated<17>(kRsqrtTable, argument) >> 36);
    if (size <= kMantissa32) return std::bit_cast<f32>(sign | kInfinity32);
    if (a != a || sign != 0) return std::bit_cast<f32>(kNan32);
    return size == kInfinity32 ? 0.0f : value;
  }
};

struct SqrtUnit {
  static f32 of(f32 a) {
    const u32 bits = std::bit_cast<u32>(a), sign = bits & kSign32, size = bits ^ sign;
    const u32 argument = root_argument(bits);
    const f32 value = assembled(0, half_exponent(bits),
                                argument == 0 ? s64{1} << 23 : interpolated<17>(kSqrtTable, argument) >> 36);
    if (size <= kMantissa32) return std::bit_cast<f32>(sign);
    if (a != a || sign != 0) return std::bit_cast<f32>(kNan32);
    return size == kInfinity32 ? a : value;
  }
};

struct Ex2Unit {
  static f32 of(f32 a) {
    if (a != a) return std::bit_cast<f32>(kNan32);
    if (a >= 128.0f) return std::numeric_limits<f32>::infinity();
    if (a < -126.0f) return 0.0f;
    // 23 bits after the point. A negative argument is complemented instead of negated.
    const s64 size = static_cast<s64>(std::fabs(static_cast<f64>(a)) * 0x1p23);
    const s64 fixed = !std::signbit(a) ? size : (size & kMantissa32) == 0 ? -size : ~size;
    const u32 fraction = static_cast<u32>(fixed) & kMantissa32;
    return assembled(0, static_cast<int>(fixed >> 23), interpolated<17>(kEx2Table, fraction) >> 36);
  }
};

// ± magnitude · 2^-52, truncated to 24 bits.
inline f32 normalized(u32 sign, u64 magnitude) {
  if (magnitude == 0) return std::bit_cast<f32>(sign);
  const int top = 63 - std::countl_zero(magnitude);
  const u64 significand = top > 23 ? magnitude >> (top - 23) : magnitude << (23 - top);
  return assembled(sign, top - 52, static_cast<s64>(significand));
}

struct Lg2Unit {
  static f32 of(f32 a) {
    const u32 bits = std::bit_cast<u32>(a), sign = bits & kSign32, size = bits ^ sign;
    if (size <= kMantissa32) return -std::numeric_limits<f32>::infinity();
    if (a != a || sign != 0) return std::bit_cast<f32>(kNan32);
    if (size == kInfinity32) return a;
    if (a == 1.0f) return 0.0f;
    // 36 bits after the point. A negative sum is complemented instead of negated.
    const s64 log = (s64{exponent_of(bits)} << 36) + (interpolated<17>(kLg2Table, bits & kMantissa32) >> 24);
    return normalized(log < 0 ? kSign32 : 0, static_cast<u64>(log < 0 ? ~log : log) << 16);
  }
};

// sin.approx and cos.approx: the argument is converted to turns, with 25 bits after the point, of which the
// first two select the quadrant.
template <bool kCosine>
struct CircularUnit {
  static f32 of(f32 a) {
    // The product with 1/(2 pi), rounded toward zero. (It is exact in f64.)
    const f64 exact = static_cast<f64>(std::fabs(a)) * static_cast<f64>(0x1.45f306p-3f);
    const u64 raw = std::bit_cast<u64>(exact) & ~((u64{1} << 29) - 1);
    const f64 turns = std::bit_cast<f64>(raw);
    if (!(turns <= static_cast<f64>(std::numeric_limits<f32>::max()))) return std::bit_cast<f32>(kNan32);
    const u64 fixed = turns < 0x1p38 ? static_cast<u64>(turns * 0x1p25) : 0;
    const u32 quadrant = static_cast<u32>(fixed >> 23) + (kCosine ? 1 : 0);
    const u32 fraction = static_cast<u32>(fixed) & kMantissa32;
    u32 sign = (quadrant & 2) != 0 ? kSign32 : 0;
    if (!kCosine) sign ^= std::bit_cast<u32>(a) & kSign32;
    if (fraction == 0) return std::bit_cast<f32>((quadrant & 1) != 0 ? sign | 0x3f800000u : sign);
    const u32 x = (quadrant & 1) != 0 ? kMantissa32 ^ fraction : fraction;
    const s64 value = interpolated<17>(kSinTable, x) >> 8;
    return normalized(sign, static_cast<u64>(value));
  }
};
using SinUnit = CircularUnit<false>;
using CosUnit = CircularUnit<true>;

// The forms without .ftz: subnormal (or too large) operands are scaled by powers of two.
inline bool is_subnormal_or_zero(f32 a) {
  return std::fabs(a) < std::numeric_limits<f32>::min();
}
struct RcpApprox {
  static f32 of(f32 a) {
    const f32 size = std::fabs(a), scale = size < std::numeric_limits<f32>::min() ? 0x1p24f
                                           : size > 0x1p126f                      ? 0.25f
                                                                                  : 1.0f;
    return RcpUnit::of(a * scale) * scale;
  }
};
template <typename Unit>
struct RootApprox {  // of a number that is scaled by 2^24
  static f32 of(f32 a) {
    constexpr f32 kBack = std::is_same_v<Unit, RsqrtUnit> ? 0x1p12f : 0x1p-12f;
    return is_subnormal_or_zero(a) ? Unit::of(a * 0x1p24f) * kBack : Unit::of(a);
  }
};
struct Ex2Approx {
  static f32 of(f32 a) {
    if (!(a < -126.0f)) return Ex2Unit::of(a);
    const f32 root = Ex2Unit::of(a * 0.5f);
    return root * root;
  }
};
struct Lg2Approx {
  static f32 of(f32 a) { return is_subnormal_or_zero(a) ? Lg2Unit::of(a * 0x1p24f) - 24.0f : Lg2Unit::of(a); }
};
// Both quotients are products with the reciprocal; the full range needs an operand of moderate size.
template <bool kFull>
struct DivByUnit {
  static f32 of(f32 a, f32 b) {
    const f32 size = std::fabs(b);
    const f32 scale = kFull && size > 0x1p126f                 ? 0.25f
                      : size < std::numeric_limits<f32>::min() ? 0x1p24f
                                                               : 1.0f;
    return RcpUnit::of(b * scale) * (a * scale);
  }
};
template <bool kFull>
struct DivByUnitFlushed {
  static f32 of(f32 a, f32 b) {
    const bool large = kFull && std::fabs(b) > 0x1p126f;
    const f32 scale = large ? 0.25f : 1.0f;
    return flushed_result<Mul>(RcpUnit::of(flushed(b) * scale), flushed(flushed(a) * scale));
  }
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write only the high 32 bits: the unit's value for f32,
// truncated to 20 bits.
template <bool kRoot>
struct HighHalfUnit {
  static f64 of(f64 a) {
    const u32 high = static_cast<u32>(std::bit_cast<u64>(a) >> 32), sign = high & kSign32, size = high ^ sign;
    const auto result = [](u32 bits) { return std::bit_cast<f64>(u64{bits} << 32); };
    if (size > 0x7ff00000) return result(kNan32);
    if (size < 0x00100000) return result(sign | 0x7ff00000);
    if (kRoot && sign != 0) return result(kNan32);
    if (size == 0x7ff00000) return result(sign);
    const int exponent = static_cast<int>(size >> 20) - 1023;
    const u32 argument = (size & 0xfffff) << 3 | (kRoot && (exponent & 1) != 0 ? 1u << 23 : 0);
    if (argument == 0)
      return result(sign | static_cast<u32>((kRoot ? -(exponent >> 1) : -exponent) + 1023) << 20);
    const s64 value =
        kRoot ? interpolated<17>(kRsqrtTable, argument) >> 36 : interpolated<16>(kRcpTable, argument) >> 36;
    const s64 bits =
        (s64{(kRoot ? -(exponent >> 1) : -exponent) - 1 + 1023} << 20) + ((value - (s64{1} << 23)) >> 3);
    return result(bits < 0x00100000 ? sign : sign | static_cast<u32>(bits));
  }
};

// rsqrt.approx.f64: one step of Newton's method (third order) from the unit's value.
struct RsqrtApprox64 {
  static f64 of(f64 a) {
    if (a != a) return a + a;
    if (a == 0) return std::copysign(std::numeric_limits<f64>::infinity(), a);
    if (a < 0) return std::bit_cast<f64>(u64{0xfff80000} << 32);
    if (a > std::numeric_limits<f64>::max()) return 0.0;
    const bool subnormal = a < std::numeric_limits<f64>::min();
    const f64 x = subnormal ? a * 0x1p54 : a, y = HighHalfUnit<true>::of(x);
    const f64 error = std::fma(x, -(y * y), 1.0);
    const f64 root = std::fma(std::fma(error, 0.375, 0.5), y * error, y);
    return subnormal ? root * 0x1p27 : root;
  }
};

// ex2.approx of f16 and bf16: the value for f32, truncated.
struct HalfEx2 {
  template <typename Format>
  static u16 of(s64, u16 a) {
    const u32 bits = std::bit_cast<u32>(Ex2Unit::of(Format::widen(a)));
    if constexpr (std::is_same_v<Format, BF16>) return static_cast<u16>(bits >> 16);
    const f32 value = std::bit_cast<f32>(bits);
    if (value != value) return u16{0x7fff};
    if (value >= 65536.0f) return u16{0x7c00};
    if (value < F16::kMinNormal) return static_cast<u16>(value * 0x1p24f);
    return static_cast<u16>((bits >> 13) - ((127 - 15) << 10));
  }
};

}  // namespace course::sim::SIM_ISA::alu
