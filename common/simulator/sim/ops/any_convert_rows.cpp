// SPDX-License-Identifier: MIT
// cvt between any two formats with any rounding: splits a number into sign, integer significand and exponent,
// and rounds it to the target. One handler, controlled by the row's flags. Slower than the rows of
// convert_rows.cpp, which have priority.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.9.21 (cvt), 9.7.9.22 (cvt.pack); for FP8, P.
// Micikevicius et al., "FP8 formats for deep learning", 2022 (arXiv:2209.05433).
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

struct Format {
  const char* name;
  int bits;
  bool is_float, is_signed;
  // For floats: bits of the significand including the hidden bit, and the exponent of the smallest normal
  // number.
  int precision, min_exponent;
  u64 infinity;  // its encoding; for formats without infinity, one above the encoding of the largest number
  u64 nan;
};

constexpr Format kFormats[] = {
    {"u8", 8, false, false, 0, 0, 0, 0},
    {"s8", 8, false, true, 0, 0, 0, 0},
    {"u16", 16, false, false, 0, 0, 0, 0},
    {"s16", 16, false, true, 0, 0, 0, 0},
    {"u32", 32, false, false, 0, 0, 0, 0},
    {"s32", 32, false, true, 0, 0, 0, 0},
    {"u64", 64, false, false, 0, 0, 0, 0},
    {"s64", 64, false, true, 0, 0, 0, 0},
    {"f16", 16, true, true, 11, -14, 0x7c00, 0x7fff},
    {"bf16", 16, true, true, 8, -126, 0x7f80, 0x7fff},
    {"f32", 32, true, true, 24, -126, 0x7f800000, 0x7fffffff},
    {"f64", 64, true, true, 53, -1022, 0x7ff0000000000000, 0x7ff8000000000000},
    {"tf32", 19, true, true, 11, -126, 0xff << 10, 0x3ffff},  // stored in the high bits of a word
    {"e4m3", 8, true, true, 4, -6, 0x7f, 0x7f},
    {"e5m2", 8, true, true, 3, -14, 0x7c, 0x7f},
};
enum Name : u8 { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBF16, kF32, kF64, kTF32, kE4M3, kE5M2 };

// The conversion of a row, encoded in its immediate.
struct Conversion {
  Name to = kU8, from = kU8;
  Round round = Round::nearest_even;
  bool integral = false;  // .rni, .rzi, …: rounds to an integer, for any target
  bool ftz = false, sat = false, relu = false, satfinite = false;

  s64 packed() const {
    return to | from << 4 | static_cast<int>(round) << 8 | integral << 12 | ftz << 13 | sat << 14 |
           relu << 15 | satfinite << 16;
  }
  static Conversion from_packed(s64 p) {
    Conversion c;
    c.to = static_cast<Name>(p & 15);
    c.from = static_cast<Name>(p >> 4 & 15);
    c.round = static_cast<Round>(p >> 8 & 15);
    c.integral = (p >> 12 & 1) != 0;
    c.ftz = (p >> 13 & 1) != 0;
    c.sat = (p >> 14 & 1) != 0;
    c.relu = (p >> 15 & 1) != 0;
    c.satfinite = (p >> 16 & 1) != 0;
    return c;
  }
};

// ± significand · 2^exponent, NaN or infinity.
struct Number {
  bool negative = false, nan = false, infinite = false;
  u64 significand = 0;
  int exponent = 0;
};

Number unpack(u64 bits, const Format& f) {
  Number n;
  if (f.bits < 64) bits &= (u64{1} << f.bits) - 1;
  if (!f.is_float) {
    n.negative = f.is_signed && (bits >> (f.bits - 1)) != 0;
    n.significand = n.negative ? (f.bits < 64 ? (u64{1} << f.bits) - bits : ~bits + 1) : bits;
    return n;
  }
  const int fraction_bits = f.precision - 1;
  n.negative = (bits >> (f.bits - 1)) != 0;
  const u64 magnitude = bits & ((u64{1} << (f.bits - 1)) - 1);
  const bool has_infinity = f.infinity != f.nan;
  n.infinite = has_infinity && magnitude == f.infinity;
  n.nan = has_infinity ? magnitude > f.infinity : magnitude == f.nan;
  const u64 field = magnitude >> fraction_bits;
  n.significand = magnitude & ((u64{1} << fraction_bits) - 1);
  if (field != 0) n.significand |= u64{1} << fraction_bits;
  n.exponent = f.min_exponent - fraction_bits + (field != 0 ? static_cast<int>(field) - 1 : 0);
  return n;
}

// significand / 2^shift, rounded. shift > 0.
u64 shift_out(u64 significand, int shift, bool negative, Round round) {
  const u64 quotient = shift < 64 ? significand >> shift : 0;
  const u64 rest = shift < 64 ? significand & ((u64{1} << shift) - 1) : significand;
  if (rest == 0) return quotient;
  const u64 half = shift <= 64 ? u64{1} << (shift - 1) : 0;  // for larger shifts the rest is less than half
  const bool above = shift <= 64 && rest > half, tie = shift <= 64 && rest == half;
  bool away = false;
  switch (round) {
    case Round::nearest_even: away = above || (tie && (quotient & 1) != 0); break;
    case Round::nearest_away: away = above || tie; break;
    case Round::zero: break;
    case Round::down: away = negative; break;
    case Round::up: away = !negative; break;
  }
  return quotient + (away ? 1 : 0);
}

// Rounds to an integer; one that needs more than 64 bits keeps its exponent.
void make_integral(Number& n, Round round) {
  if (n.exponent < 0) {
    n.significand = shift_out(n.significand, -n.exponent, n.negative, round);
    n.exponent = 0;
  }
}

u64 to_integer(Number n, const Format& f, const Conversion& c) {
  const u64 top = u64{1} << (f.bits - 1);
  const u64 most = f.is_signed ? top - 1 : top | (top - 1);
  if (n.nan) return f.bits == 64 || kFormats[c.from].bits == 64 ? top : 0;
  make_integral(n, c.round);
  const bool huge = n.infinite || (n.significand != 0 && n.exponent >= std::countl_zero(n.significand) + 1);
  const u64 magnitude = huge ? ~u64{0} : n.significand << n.exponent;
  if (n.negative && (huge || magnitude != 0)) {
    if (!f.is_signed) return 0;
    return huge || magnitude > top ? ~u64{0} - (top - 1) : ~magnitude + 1;
  }
  return huge || magnitude > most ? most : magnitude;
}

u64 to_float(Number n, const Format& f, const Conversion& c) {
  const u64 sign_bit = u64{1} << (f.bits - 1);
  if (n.nan) return c.sat ? 0 : f.nan;
  const u64 greatest = f.infinity - 1;
  const u64 sign = n.negative ? sign_bit : 0;
  u64 encoded = 0;
  // Flushed by .ftz: still below the smallest normal number after rounding to the format's full
  // precision.
  bool flushed = false;
  if (n.infinite) {
    encoded = f.infinity;
  } else if (n.significand != 0) {
    const int leading = 63 - std::countl_zero(n.significand);
    const int exponent = n.exponent + leading;  // exponent of the most significant bit
    const int shift = leading - (f.precision - 1) + std::max(0, f.min_exponent - exponent);
    if (c.ftz && f.bits == 32 && exponent < f.min_exponent) {
      const int cut = leading - (f.precision - 1);
      const u64 rounded = cut <= 0 ? 0 : shift_out(n.significand, cut, n.negative, c.round);
      flushed = exponent + 1 < f.min_exponent || rounded >> f.precision == 0;
    }
    const u64 q = shift <= 0 ? n.significand << -shift : shift_out(n.significand, shift, n.negative, c.round);
    // The hidden bit is added to the exponent field, so that a carry out of the fraction increments the
    // exponent.
    encoded = q + (static_cast<u64>(std::max(0, exponent - f.min_exponent)) << (f.precision - 1));
    if (encoded >= f.infinity) {
      const bool stays = c.round == Round::zero || (c.round == Round::up && n.negative) ||
                         (c.round == Round::down && !n.negative);
      encoded = stays ? greatest : f.infinity;
    }
  }
  if (c.satfinite && encoded >= f.infinity) encoded = greatest;
  if (flushed) encoded = 0;
  if (c.sat) {
    const u64 one = static_cast<u64>(1 - f.min_exponent) << (f.precision - 1);
    return n.negative ? 0 : std::min(encoded, one);
  }
  if (c.relu && n.negative) return 0;
  return encoded | sign;
}

// The NaN into which sm_90 converts an f64 NaN: quiet, with the sign and the first bits of the fraction.
u64 quiet_nan(const Number& n, const Format& f) {
  const u64 fraction = (n.significand & ((u64{1} << 52) - 1)) >> (53 - f.precision);
  return (n.negative ? u64{1} << (f.bits - 1) : 0) | f.infinity | u64{1} << (f.precision - 2) | fraction;
}

u64 convert(u64 bits, const Conversion& c) {
  const Format &from = kFormats[c.from], &to = kFormats[c.to];
  Number n = unpack(bits, from);
  if (c.ftz && c.from == kF32 && n.significand < (u64{1} << 23)) n.significand = 0;
  if (!to.is_float) return to_integer(n, to, c);
  // The ISA does not define the result for a NaN; sm_90 truncates its bits like those of a number.
  if (n.nan && c.to == kTF32 && c.round == Round::nearest_away && !c.satfinite) return bits >> 13 << 13;
  if (n.nan && c.from == kF64 && to.bits < 64 && !c.sat) return quiet_nan(n, to);
  if (c.integral && !n.nan && !n.infinite) make_integral(n, c.round);
  const u64 r = to_float(n, to, c);
  return c.to == kTF32 ? r << 13 : r;
}

// Converts one value; From and To are the types of the words that contain it.
template <typename From, typename To>
void run_convert(Warp& w, const MicroOp& op) {
  const Conversion c = Conversion::from_packed(op.imm);
  const From* in = w.slot<From>(op.src[0]);
  To* out = w.slot<To>(op.dst[0]);
  for (const int i : EachLane{w.mask}) {
    out[i] = static_cast<To>(convert(in[i], c));
  }
}

// Converts two values into one word; the first one becomes the high half.
void run_pack_two(Warp& w, const MicroOp& op) {
  const Conversion c = Conversion::from_packed(op.imm);
  const u32* high = w.slot<u32>(op.src[0]);
  const u32* low = w.slot<u32>(op.src[1]);
  u32* out = w.slot<u32>(op.dst[0]);
  const int bits = kFormats[c.to].bits;
  for (const int i : EachLane{w.mask}) {
    out[i] = static_cast<u32>(convert(high[i], c)) << bits | static_cast<u32>(convert(low[i], c));
  }
}

// Converts both halves of a word, element by element.
void run_two(Warp& w, const MicroOp& op) {
  const Conversion c = Conversion::from_packed(op.imm);
  const u32* in = w.slot<u32>(op.src[0]);
  u32* out = w.slot<u32>(op.dst[0]);
  const int from = kFormats[c.from].bits, to = kFormats[c.to].bits;
  for (const int i : EachLane{w.mask}) {
    out[i] = static_cast<u32>(convert(in[i] >> from, c)) << to | static_cast<u32>(convert(in[i], c));
  }
}

// cvt.pack.sat: clamps a and b and packs a above b; 8-bit results are packed above the low half of c.
template <typename T>
struct PackSat {
  static u32 clamped(s32 a) {
    const s32 r = std::clamp<s32>(a, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return static_cast<std::make_unsigned_t<T>>(r);
  }
  static u32 of(s32 a, s32 b) { return clamped(a) << kBits<T> | clamped(b); }
  static u32 of(s32 a, s32 b, u32 c) { return c << 2 * kBits<T> | of(a, b); }
};

constexpr struct {
  const char* name;
  Round round;
} kRoundings[] = {{"rn", Round::nearest_even}, {"rz", Round::zero}, {"rm", Round::down}, {"rp", Round::up}};

struct ConvertRows {
  OpTable& table;

  void one(const std::string& modifiers, const Conversion& c) {
    const Format &from = kFormats[c.from], &to = kFormats[c.to];
    const bool wide_in = from.bits == 64, wide_out = to.bits == 64;
    const Handler fn = wide_in ? (wide_out ? &run_convert<u64, u64> : &run_convert<u64, u32>)
                               : (wide_out ? &run_convert<u32, u64> : &run_convert<u32, u32>);
    table.add(OpRow{"cvt" + modifiers + "." + to.name + "." + from.name,
                    fn,
                    OpKind::move,
                    {wide_in ? SlotKind::wide : SlotKind::narrow},
                    {wide_out ? SlotKind::wide : SlotKind::narrow},
                    c.packed()});
  }
  // Adds rows with and without .ftz (if one type is f32) and, if `sat`, also with .sat.
  void with_modifiers(const std::string& rounding, Conversion c, bool sat) {
    for (const bool ftz : {false, true}) {
      if (ftz && c.to != kF32 && c.from != kF32) continue;
      for (const bool clamp : {false, true}) {
        if (clamp && !sat) continue;
        c.ftz = ftz;
        c.sat = clamp && kFormats[c.to].is_float;
        one(rounding + (ftz ? ".ftz" : "") + (clamp ? ".sat" : ""), c);
      }
    }
  }

  void integers_and_floats() {
    for (const Name f : {kF16, kBF16, kF32, kF64}) {
      for (const Name n : {kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64}) {
        for (const auto& r : kRoundings) {
          Conversion c;
          c.round = r.round;
          c.to = f;
          c.from = n;
          one(std::string(".") + r.name, c);
          if (f == kF32 || f == kF64) continue;  // all of these are in convert_rows.cpp
          c.to = n;
          c.from = f;
          with_modifiers(std::string(".") + r.name + "i", c, true);
        }
      }
    }
  }

  void same_format() {
    for (const Name f : {kF16, kBF16, kF32, kF64}) {
      Conversion c;
      c.to = c.from = f;
      with_modifiers("", c, true);
      c.integral = true;
      for (const auto& r : kRoundings) {
        c.round = r.round;
        with_modifiers(std::string(".") + r.name + "i", c, true);
      }
    }
  }

  void between_floats() {
    const auto widening = [&](Name to, Name from) {
      Conversion c;
      c.to = to;
      c.from = from;
      with_modifiers("", c, true);
    };
    widening(kF32, kF16);
    widening(kF32, kBF16);
    widening(kF64, kF16);
    widening(kF64, kBF16);
    widening(kF64, kF32);
    const auto narrowing = [&](Name to, Name from) {
      Conversion c;
      c.to = to;
      c.from = from;
      for (const auto& r : kRoundings) {
        c.round = r.round;
        with_modifiers(std::string(".") + r.name, c, true);
      }
    };
    narrowing(kF32, kF64);
    narrowing(kF16, kF64);
    narrowing(kBF16, kF64);
    narrowing(kF16, kF32);
    narrowing(kBF16, kF32);
    narrowing(kF16, kBF16);
    narrowing(kBF16, kF16);
  }

  // The forms for machine learning: .relu, .satfinite, packed pairs, tf32, FP8.
  void packed() {
    for (const Round round : {Round::nearest_even, Round::zero, Round::nearest_away}) {
      const std::string name = round == Round::nearest_even ? ".rn" : round == Round::zero ? ".rz" : ".rna";
      for (const bool relu : {false, true}) {
        for (const bool satfinite : {false, true}) {
          Conversion c;
          c.round = round;
          c.relu = relu;
          c.satfinite = satfinite;
          const std::string r = relu ? ".relu" : "", s = satfinite ? ".satfinite" : "";
          c.from = kF32;
          c.to = kTF32;
          if (round != Round::nearest_away || !relu) one(name + s + r, c);
          if (round == Round::nearest_away) continue;
          for (const Name half : {kF16, kBF16}) {
            c.to = half;
            one(name + r + s, c);
            pack_two(name + r + s, c);
          }
          if (round != Round::nearest_even) continue;
          for (const Name byte : {kE4M3, kE5M2}) {
            if (satfinite) {
              c.to = byte;
              c.from = kF32;
              pack_two(name + s + r, c);
              c.from = kF16;
              two(name + s + r, c);
            } else {
              c.to = kF16;
              c.from = byte;
              two(name + r, c);
            }
          }
        }
      }
    }
  }
  void pack_two(const std::string& modifiers, const Conversion& c) {
    table.add(OpRow{"cvt" + modifiers + "." + kFormats[c.to].name + "x2." + kFormats[c.from].name,
                    &run_pack_two,
                    OpKind::move,
                    {SlotKind::narrow, SlotKind::narrow},
                    {SlotKind::narrow},
                    c.packed()});
  }
  void two(const std::string& modifiers, const Conversion& c) {
    table.add(OpRow{"cvt" + modifiers + "." + kFormats[c.to].name + "x2." + kFormats[c.from].name + "x2",
                    &run_two,
                    OpKind::move,
                    {SlotKind::narrow},
                    {SlotKind::narrow},
                    c.packed()});
  }
};

}  // namespace

void add_any_convert_rows(OpTable& table) {
  ConvertRows rows{table};
  rows.integers_and_floats();
  rows.same_format();
  rows.between_floats();
  rows.packed();
  Rows r{table};
  r.row<PackSat<u16>, u32, s32, s32>("cvt.pack.sat.u16.s32", OpKind::move);
  r.row<PackSat<s16>, u32, s32, s32>("cvt.pack.sat.s16.s32", OpKind::move);
  r.row<PackSat<u8>, u32, s32, s32, u32>("cvt.pack.sat.u8.s32.b32", OpKind::move);
  r.row<PackSat<s8>, u32, s32, s32, u32>("cvt.pack.sat.s8.s32.b32", OpKind::move);
}

}  // namespace course::sim::SIM_ISA
