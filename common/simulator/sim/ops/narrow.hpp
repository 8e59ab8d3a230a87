// SPDX-License-Identifier: MIT
// The 16-bit float formats f16 (5 exponent bits, 10 fraction bits) and bf16 (8 and 7), converted to f32 and
// back. A sum, difference or product of two such numbers that is rounded to f32 and then to 16 bits is
// rounded correctly, because f32 has at least twice the precision plus two bits (S. Figueroa, "When is double
// rounding innocuous?", ACM SIGNUM 30(3), 1995). For a fused multiply-add, the double sum is first rounded to
// odd (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57(4),
// 2008).
#pragma once

#include "sim/ops/float.hpp"

namespace course::sim::SIM_ISA::alu {

struct F16 {
  static constexpr int kPrecision = 11, kMinExponent = -14;
  static constexpr f32 kMinNormal = 0x1p-14f;
  static constexpr u32 kInfinity = 0x7c00, kNan = 0x7fff, kOne = 0x3c00;

  static f32 widen(u16 bits) {
    const u32 sign = static_cast<u32>(bits & 0x8000) << 16;
    const u32 magnitude = static_cast<u32>(bits & 0x7fff) << 13;
    // The multiplication adjusts the exponent and also normalises subnormals.
    const u32 scaled = std::bit_cast<u32>(std::bit_cast<f32>(magnitude) * 0x1p112f);
    const u32 special = magnitude | 0x7f800000;
    return std::bit_cast<f32>((magnitude >= 0x0f800000 ? special : scaled) | sign);
  }
};
struct BF16 {
  static constexpr int kPrecision = 8, kMinExponent = -126;
  static constexpr f32 kMinNormal = 0x1p-126f;
  static constexpr u32 kInfinity = 0x7f80, kNan = 0x7fff, kOne = 0x3f80;

  static f32 widen(u16 bits) { return std::bit_cast<f32>(static_cast<u32>(bits) << 16); }
};

// Rounds to nearest even. A NaN becomes the canonical NaN.
template <typename Format, typename T>
inline u16 narrow(T value) {
  using U = Stored<T>;
  using S = std::make_signed_t<U>;
  constexpr int kFraction = std::numeric_limits<T>::digits - 1;
  constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
  const U bits = std::bit_cast<U>(value);
  const U sign = bits >> (kBits<U> - 1);
  const U absolute = magnitude(value);
  const S exponent = static_cast<S>(absolute >> kFraction) - kBias;
  const U one = U{1} << kFraction;
  // A subnormal source is far below the smallest target number, or (bf16 from f32) has the smallest exponent
  // of the target itself.
  const bool is_subnormal = (absolute >> kFraction) == 0;
  const U significand = (absolute & (one - 1)) | (is_subnormal ? 0 : one);
  const S actual = is_subnormal ? 1 - kBias : exponent;
  S shift = kFraction - (Format::kPrecision - 1);
  const S below = Format::kMinExponent - actual;
  shift += below > 0 ? below : 0;
  shift = shift > kFraction + 2 ? kFraction + 2 : shift;  // nothing of it remains
  const U quotient = significand >> shift;
  const U rest = significand & ((U{1} << shift) - 1), half = U{1} << (shift - 1);
  U q = quotient + ((rest > half || (rest == half && (quotient & 1) != 0)) ? 1 : 0);
  // The hidden bit is added to the exponent, so that a carry out of the fraction increments the exponent.
  const S above = actual - Format::kMinExponent;
  q += above > 0 ? static_cast<U>(above) << (Format::kPrecision - 1) : 0;
  U r = q > Format::kInfinity || absolute >= infinity_bits<T>() ? U{Format::kInfinity} : q;
  r |= sign << 15;
  return static_cast<u16>(absolute > infinity_bits<T>() ? U{Format::kNan} : r);
}

// a·b + c rounded to odd: the last bit is set if the result is inexact, so that rounding it again gives the
// correctly rounded exact value.
inline f64 fma_to_odd(f64 a, f64 b, f64 c) {
  const f64 p = a * b;  // exact: at most 22 bits
  const f64 s = p + c;
  const f64 c_part = s - p;
  const f64 error = (p - (s - c_part)) + (c - c_part);
  const u64 bits = std::bit_cast<u64>(s);
  const bool away = (error > 0) == (s > 0);
  const u64 odd = away ? bits + 1 : bits - 1;
  return (bits & 1) == 0 && (error > 0 || error < 0) ? std::bit_cast<f64>(odd) : s;
}

enum HalfFlags : s64 { kFtz = 1, kSat = 2, kRelu = 4, kNanWins = 8, kXorSign = 16 };

template <typename Format>
inline u16 flush_half(u16 bits, bool ftz) {
  const bool tiny = (bits & 0x7fff) < (1u << (Format::kPrecision - 1));
  return ftz && tiny ? static_cast<u16>(bits & 0x8000) : bits;
}

// Result modifiers of 16-bit instructions.
template <typename Format>
inline u16 finish_half(u16 bits, s64 flags) {
  bits = flush_half<Format>(bits, (flags & kFtz) != 0);
  const u32 absolute = bits & 0x7fff;
  const bool nan = absolute > Format::kInfinity, negative = (bits & 0x8000) != 0 && !nan;
  if ((flags & kSat) != 0)
    bits = static_cast<u16>(nan || negative ? 0 : absolute > Format::kOne ? Format::kOne : bits);
  if ((flags & kRelu) != 0 && negative) bits = 0;
  return bits;
}

// An instruction on one 16-bit element; `flags` are the same for all lanes.
template <typename Format, typename Op>
struct Half {
  template <typename... Args>
  static u16 of(s64 flags, Args... a) {
    const bool ftz = (flags & kFtz) != 0;
    return finish_half<Format>(Op::template of<Format>(flags, flush_half<Format>(a, ftz)...), flags);
  }
};
// With .ftz, a result that is below the smallest normal number after rounding to the format's precision is
// flushed, even if rounding to the fewer bits of a subnormal would give that number.
template <typename Format, typename T>
inline u16 narrow_or_flush(T value, s64 flags) {
  // The smallest value that rounds to it (a tie, rounded to even).
  constexpr T kMin = Format::kMinNormal * (1 - T{1} / (1 << (Format::kPrecision + 1)));
  const bool flush = (flags & kFtz) != 0 && std::fabs(value) < kMin;
  return narrow<Format>(flush ? std::copysign(T{0}, value) : value);
}
template <typename Op>
struct HalfArithmetic {
  template <typename Format>
  static u16 of(s64 flags, u16 a, u16 b) {
    return narrow_or_flush<Format>(Op::of(Format::widen(a), Format::widen(b)), flags);
  }
};
struct HalfFma {
  template <typename Format>
  static u16 of(s64 flags, u16 a, u16 b, u16 c) {
    return narrow_or_flush<Format>(fma_to_odd(Format::widen(a), Format::widen(b), Format::widen(c)), flags);
  }
};
template <bool kMax>
struct HalfExtreme {
  template <typename Format>
  static u16 of(s64 flags, u16 a, u16 b) {
    return narrow<Format>(
        extreme<kMax>(Format::widen(a), Format::widen(b), (flags & kNanWins) != 0, (flags & kXorSign) != 0));
  }
};
template <typename Format>
bool is_nan(u16 a) {
  const f32 value = Format::widen(a);
  return value != value;
}
struct HalfNeg {
  template <typename Format>
  static u16 of(s64, u16 a) {
    return is_nan<Format>(a) ? u16{0x7fff} : static_cast<u16>(a ^ 0x8000);
  }
};
struct HalfAbs {
  template <typename Format>
  static u16 of(s64, u16 a) {
    return is_nan<Format>(a) ? u16{0x7fff} : static_cast<u16>(a & 0x7fff);
  }
};
struct HalfTanh {
  template <typename Format>
  static u16 of(s64, u16 a) {
    return narrow<Format>(std::tanh(static_cast<f64>(Format::widen(a))));
  }
};

}  // namespace course::sim::SIM_ISA::alu
