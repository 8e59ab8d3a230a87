// SPDX-License-Identifier: MIT
// Pure semantics of the arithmetic, logic and comparison instructions: functions of values without machine
// state.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.1 to 9.7.8. Included once per instruction set, see
// lane.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/ops/lane.hpp"

namespace course::sim::SIM_ISA::alu {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Twice as wide, same signedness.
template <typename T>
struct WiderOf;
template <>
struct WiderOf<u16> {
  using type = u32;
};
template <>
struct WiderOf<s16> {
  using type = s32;
};
template <>
struct WiderOf<u32> {
  using type = u64;
};
template <>
struct WiderOf<s32> {
  using type = s64;
};
template <>
struct WiderOf<u64> {
  using type = u128;
};
template <>
struct WiderOf<s64> {
  using type = s128;
};
template <typename T>
using Wider = typename WiderOf<T>::type;

template <typename T>
inline constexpr int kBits = static_cast<int>(sizeof(T) * 8);

// Wrapping integer arithmetic: through an unsigned type at least as wide as int, so that nothing overflows.
template <typename T>
using Wrap = std::conditional_t<sizeof(T) == 8, u64, u32>;

struct Add {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
};
struct Mul {
  template <typename T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct MulLo {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};
struct MulHi {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b) >> kBits<T>);
  }
};
struct MulWide {
  template <typename T>
  static Wider<T> of(T a, T b) {
    return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
  }
};
struct MadLo {
  template <typename T>
  static T of(T a, T b, T c) {
    return Add::of<T>(MulLo::of<T>(a, b), c);
  }
};
struct MadHi {
  template <typename T>
  static T of(T a, T b, T c) {
    return Add::of<T>(MulHi::of<T>(a, b), c);
  }
};
struct MadWide {
  template <typename T>
  static Wider<T> of(T a, T b, Wider<T> c) {
    return Add::of<Wider<T>>(MulWide::of<T>(a, b), c);
  }
};
template <typename T>
inline T low24(T a) {
  return static_cast<T>(static_cast<T>(static_cast<u32>(a) << 8) >> 8);
}
struct Mul24Lo {
  template <typename T>
  static T of(T a, T b) {
    return MulLo::of<T>(low24(a), low24(b));
  }
};
struct Sad {
  template <typename T>
  static T of(T a, T b, T c) {
    const auto difference = a < b ? static_cast<Wrap<T>>(b) - static_cast<Wrap<T>>(a)
                                  : static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b);
    return static_cast<T>(static_cast<Wrap<T>>(c) + difference);
  }
};
// Integer division by zero gives all ones, for quotient and remainder, as on an H200; the ISA does not define
// it.
struct Div {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a / b;
    else if constexpr (sizeof(T) <= 4)
      return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(quotient(a, b));
    else if (b == 0)
      return static_cast<T>(~T{0});
    else if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Sub::of<T>(T{0}, a);
    else
      return static_cast<T>(a / b);
  }
  // Of integers of up to 32 bits, for b != 0. In f64, where it is exact: CPUs divide vectors of these alone.
  template <typename T>
  static s64 quotient(T a, T b) {
    return static_cast<s64>(static_cast<f64>(a) / static_cast<f64>(b == 0 ? T{1} : b));
  }
};
struct Rem {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (sizeof(T) <= 4)
      return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a - Div::quotient(a, b) * b);
    if (b == 0) return static_cast<T>(~T{0});  // undefined in the ISA; as on an H200
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <typename T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
// The maximum of 0 and the op's result: .relu.
template <typename Op>
struct Relu {
  template <typename T>
  static T of(T a, T b) {
    return std::max(Op::of(a, b), T{0});
  }
};
// Applies an op to the two halves of a word: .u16x2, .s16x2.
template <typename Op, typename T>
struct OnHalves {
  static u32 of(u32 a, u32 b) {
    const auto low = static_cast<u16>(Op::of(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<u16>(Op::of(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return static_cast<u32>(high) << 16 | low;
  }
};
struct Neg {
  template <typename T>
  static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return Sub::of<T>(T{0}, a);
  }
};
struct Abs {
  template <typename T>
  static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Neg::of<T>(a) : a;
  }
};
// Logic operations on b16, b32, b64 and predicates.
struct And {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  static T of(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};
// Shifts by the width or more give 0 (or the sign).
struct Shl {
  template <typename T>
  static T of(T a, u32 by) {
    return by >= kBits<T> ? T{0} : static_cast<T>(a << by);
  }
};
struct Shr {
  template <typename T>
  static T of(T a, u32 by) {
    if (by >= kBits<T>) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
  }
};
// Funnel shifts of b:a (b is the high word).
inline u32 funnel_left(u32 low, u32 high, u32 by) {
  return static_cast<u32>(((static_cast<u64>(high) << 32 | low) << by) >> 32);
}
inline u32 funnel_right(u32 low, u32 high, u32 by) {
  return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> by);
}
struct ShfLeftWrap {
  static u32 of(u32 a, u32 b, u32 by) { return funnel_left(a, b, by & 31); }
};
struct ShfLeftClamp {
  static u32 of(u32 a, u32 b, u32 by) { return funnel_left(a, b, std::min(by, 32u)); }
};
struct ShfRightWrap {
  static u32 of(u32 a, u32 b, u32 by) { return funnel_right(a, b, by & 31); }
};
struct ShfRightClamp {
  static u32 of(u32 a, u32 b, u32 by) { return funnel_right(a, b, std::min(by, 32u)); }
};

struct PopCount {
  template <typename T>
  static u32 of(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  static u32 of(T a) {
    return static_cast<u32>(std::countl_zero(a));
  }
};
// The position of the most significant bit that differs from the sign bit; ~0 if there is none.
struct FindMsb {
  template <typename T>
  static u32 of(T a) {
    auto bits = static_cast<Unsigned<T>>(a);
    if (std::is_signed_v<T> && a < 0) bits = static_cast<Unsigned<T>>(~bits);
    return bits == 0 ? ~0u : static_cast<u32>(kBits<T> - 1 - std::countl_zero(bits));
  }
};
struct FindMsbShift {
  template <typename T>
  static u32 of(T a) {
    const u32 position = FindMsb::of<T>(a);
    return position == ~0u ? ~0u : static_cast<u32>(kBits<T> - 1) - position;
  }
};
struct BitReverse {
  template <typename T>
  static T of(T a) {
    T result = 0;
    for (int i = 0; i < kBits<T>; ++i) result = static_cast<T>(result | ((a >> i & 1) << (kBits<T> - 1 - i)));
    return result;
  }
};
struct BitExtract {
  template <typename T>
  static T of(T a, u32 position, u32 length) {
    const u32 pos = position & 0xff, len = length & 0xff;
    constexpr u32 msb = kBits<T> - 1;
    const auto bits = static_cast<Unsigned<T>>(a);
    u32 sign = 0;
    if (std::is_signed_v<T> && len != 0) sign = static_cast<u32>(bits >> std::min(pos + len - 1, msb) & 1);
    Unsigned<T> field = pos > msb ? 0 : static_cast<Unsigned<T>>(bits >> pos);
    if (len <= msb) {
      const Unsigned<T> keep = static_cast<Unsigned<T>>((Unsigned<T>{1} << len) - 1);
      field = static_cast<Unsigned<T>>(field & keep);
      if (sign != 0) field = static_cast<Unsigned<T>>(field | static_cast<Unsigned<T>>(~keep));
    }
    // Bits above the top of `a` are equal to the sign.
    if (sign != 0 && pos != 0) {
      const u32 have = pos > msb ? 0 : msb + 1 - pos;
      if (have <= msb)
        field = static_cast<Unsigned<T>>(field | static_cast<Unsigned<T>>(~((Unsigned<T>{1} << have) - 1)));
    }
    return static_cast<T>(field);
  }
};
struct BitInsert {
  template <typename T>
  static T of(T field, T into, u32 position, u32 length) {
    const u32 pos = position & 0xff, len = length & 0xff;
    if (pos >= kBits<T> || len == 0) return into;
    const T ones = len >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    const T keep = static_cast<T>(ones << pos);
    return static_cast<T>((into & static_cast<T>(~keep)) | (static_cast<T>(field << pos) & keep));
  }
};
inline u32 bit_mask(u32 pos, u32 len) {
  if (pos >= 32 || len == 0) return 0;
  const u32 ones = len >= 32 ? ~0u : (1u << len) - 1;
  return ones << pos;
}
struct BitMaskClamp {
  static u32 of(u32 pos, u32 len) { return bit_mask(pos, len); }
};
struct BitMaskWrap {
  static u32 of(u32 pos, u32 len) { return bit_mask(pos & 31, len & 31); }
};
struct Lop3 {
  static u32 of(u32 a, u32 b, u32 c, u32 table) {
    u32 result = 0;
    if (table & 0x01) result |= ~a & ~b & ~c;
    if (table & 0x02) result |= ~a & ~b & c;
    if (table & 0x04) result |= ~a & b & ~c;
    if (table & 0x08) result |= ~a & b & c;
    if (table & 0x10) result |= a & ~b & ~c;
    if (table & 0x20) result |= a & ~b & c;
    if (table & 0x40) result |= a & b & ~c;
    if (table & 0x80) result |= a & b & c;
    return result;
  }
};
inline u32 byte_of(u32 a, u32 b, u32 selector) {
  const u64 both = static_cast<u64>(b) << 32 | a;
  const u32 byte = static_cast<u32>(both >> (selector & 7) * 8) & 0xff;
  if ((selector & 8) == 0) return byte;
  return (byte & 0x80) != 0 ? 0xff : 0;  // replicate the sign
}
struct Permute {
  static u32 of(u32 a, u32 b, u32 c) {
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) result |= byte_of(a, b, c >> 4 * k & 0xf) << 8 * k;
    return result;
  }
};
template <int Mode>
struct PermuteMode {  // f4e b4e rc8 ecl ecr rc16, in this order
  static u32 of(u32 a, u32 b, u32 c) {
    constexpr u32 kSelect[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                   {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                   {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return Permute::of(a, b, kSelect[Mode][c & 3]);
  }
};

// Dot products of packed bytes and halves.
template <typename A, typename B>
struct Dp4a {
  template <typename R>
  static R of(u32 a, u32 b, R c) {
    u32 sum = static_cast<u32>(c);
    for (int k = 0; k < 4; ++k)
      sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> 8 * k)) *
                              static_cast<s32>(static_cast<B>(b >> 8 * k)));
    return static_cast<R>(sum);
  }
};

// Dot product of the halves of `a` and two bytes of `b`, the low (0) or the high (1) ones.
template <typename A, typename B, int kHigh>
struct Dp2a {
  template <typename R>
  static R of(u32 a, u32 b, R c) {
    u32 sum = static_cast<u32>(c);
    for (int k = 0; k < 2; ++k)
      sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> 16 * k)) *
                              static_cast<s32>(static_cast<B>(b >> 8 * (k + 2 * kHigh))));
    return static_cast<R>(sum);
  }
};
// The absolute differences of bytes (4 lanes) or halves (2 lanes): packed, or their sum and c. Of the SIMD
// video instructions, nvcc emits only these.
template <int kLanes, bool kAdd>
struct AbsoluteDifferences {
  static u32 of(u32 a, u32 b, u32 c) {
    constexpr int kBits = 32 / kLanes;
    u32 packed = 0;
    for (int start = 0; start < 32; start += kBits) {
      const u32 x = a >> start & ((1u << kBits) - 1), y = b >> start & ((1u << kBits) - 1);
      const u32 difference = x < y ? y - x : x - y;
      packed |= difference << start;
      c += difference;
    }
    return kAdd ? c : packed;
  }
};
// The position of the n-th set bit of `mask`, counted from `base` upwards (n > 0) or downwards (n < 0); n = 0
// tests bit `base` itself.
struct FindNthSet {
  static u32 of(u32 mask, u32 base, s32 n) {
    if (n == INT32_MIN) return 0;  // not defined in the ISA; as in sm_90's machine code
    if (base > 31) return ~0u;
    if (n == 0) return (mask >> base & 1) != 0 ? base : ~0u;
    const s32 step = n > 0 ? 1 : -1;
    u32 left = static_cast<u32>(n > 0 ? n : -n);
    for (s32 at = static_cast<s32>(base); at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
    return ~0u;
  }
};

// Comparisons. The unordered ones are true if one operand is NaN.
struct Eq {
  template <typename T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <typename T>
  static bool of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b;
    else
      return a != b;
  }
};
struct Lt {
  template <typename T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <typename T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct Equ {
  template <typename T>
  static bool of(T a, T b) {
    return !(a < b || a > b);
  }
};
struct Neu {
  template <typename T>
  static bool of(T a, T b) {
    return a != b;
  }
};
struct Ltu {
  template <typename T>
  static bool of(T a, T b) {
    return !(a >= b);
  }
};
struct Leu {
  template <typename T>
  static bool of(T a, T b) {
    return !(a > b);
  }
};
struct Gtu {
  template <typename T>
  static bool of(T a, T b) {
    return !(a <= b);
  }
};
struct Geu {
  template <typename T>
  static bool of(T a, T b) {
    return !(a < b);
  }
};
struct Num {
  template <typename T>
  static bool of(T a, T b) {
    return a == a && b == b;
  }
};
struct Nan {
  template <typename T>
  static bool of(T a, T b) {
    return a != a || b != b;
  }
};

struct Select {
  template <typename T>
  static T of(T a, T b, bool p) {
    return p ? a : b;
  }
};
// With Ftz, subnormals count as zeros, so negative ones select `a`.
template <typename C, bool kFtz = false>
struct SelectBySign {
  template <typename T>
  static T of(T a, T b, C c) {
    if constexpr (kFtz) return c > -std::numeric_limits<C>::min() ? a : b;
    return c >= C{0} ? a : b;
  }
};
struct Pack {
  static u64 of(u32 low, u32 high) { return static_cast<u64>(high) << 32 | low; }
};
struct HighWord {
  static u32 of(u64 a) { return static_cast<u32>(a >> 32); }
};
struct Copy {
  template <typename T>
  static T of(T a) {
    return a;
  }
};

// Signed 32-bit addition and subtraction with saturation: add.sat.s32.
struct AddSat {
  static s32 of(s32 a, s32 b) { return static_cast<s32>(std::clamp<s64>(s64{a} + b, INT32_MIN, INT32_MAX)); }
};
struct SubSat {
  static s32 of(s32 a, s32 b) { return static_cast<s32>(std::clamp<s64>(s64{a} - b, INT32_MIN, INT32_MAX)); }
};

// Conversions. Integer to integer truncates or extends; with .sat it clamps.
template <typename To>
struct Convert {
  template <typename From>
  static To of(From a) {
    return static_cast<To>(a);
  }
};
template <typename To>
struct ConvertSat {
  template <typename From>
  static To of(From a) {
    const auto wide = static_cast<s128>(a);
    const auto low = static_cast<s128>(std::numeric_limits<To>::min());
    const auto high = static_cast<s128>(std::numeric_limits<To>::max());
    return static_cast<To>(wide < low ? low : wide > high ? high : wide);
  }
};
}  // namespace course::sim::SIM_ISA::alu
