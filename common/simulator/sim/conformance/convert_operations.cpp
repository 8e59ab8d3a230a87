// SPDX-License-Identifier: MIT
// The expected results of cvt in every form, in exact arithmetic.
#include "sim/conformance/format.hpp"

#include <algorithm>

#include "sim/conformance/exact.hpp"
#include "sim/conformance/operation.hpp"

namespace course::sim {
namespace {

using exact::Format;
using exact::Mode;
using exact::Real;
using ptx::Type;

constexpr Type kIntegers[] = {Type::u8,  Type::s8,  Type::u16, Type::s16,
                              Type::u32, Type::s32, Type::u64, Type::s64};
constexpr Type kFloats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr struct {
  const char* name;
  Mode mode;
} kModes[] = {{"rn", Mode::nearest_even}, {"rz", Mode::zero}, {"rm", Mode::down}, {"rp", Mode::up}};

const Format* any_format(Type t) {
  switch (t) {
    case Type::tf32: return &exact::kTF32;
    case Type::e4m3x2: return &exact::kE4M3;
    case Type::e5m2x2: return &exact::kE5M2;
    default: return format_of(t);
  }
}

Real number(Type t, Bits bits) {
  if (const Format* f = any_format(t)) return exact::number(*f, bits);
  const int n = ptx::bits_of(t);
  const Bits mask = n == 64 ? ~Bits{0} : (Bits{1} << n) - 1;
  const bool negative = has_sign(t) && (bits >> (n - 1) & 1) != 0;
  return exact::integer(negative, (negative ? -bits : bits) & mask);
}

struct Modifiers {
  Mode mode = Mode::nearest_even;
  bool integral = false, ftz = false, sat = false, relu = false, satfinite = false;
};

Bits to_float(const Format& f, Real x, const Modifiers& m) {
  if (m.integral) x = exact::to_integral(x, m.mode);
  Bits r = exact::round_to(f, x, m.mode);
  const Bits sign = Bits{1} << (f.bits - 1);
  if (m.satfinite && !x.nan && (r & (sign - 1)) >= f.infinity()) r = (r & sign) | (f.infinity() - 1);
  if (m.ftz && f.bits == 32 && exact::is_flushed(f, x, m.mode)) r &= sign;
  if (m.sat) {
    if (x.nan || (r & sign) != 0) return 0;
    return std::min(r, exact::round_to(f, exact::integer(false, 1), Mode::zero));
  }
  if (m.relu && !x.nan && (r & sign) != 0) return 0;
  return r;
}

// The NaN into which sm_90 converts an f64 NaN, which the ISA does not define: quiet, with the sign and the
// first bits of the fraction.
Bits quiet_nan(const Format& f, Bits of_f64) {
  const Bits quiet = Bits{1} << (f.precision - 2), fraction = of_f64 >> (exact::kF64.precision - f.precision);
  return (of_f64 >> 63) << (f.bits - 1) | f.infinity() | quiet | (fraction & (quiet - 1));
}

Bits converted(Type to, Type from, Bits bits, const Modifiers& m) {
  if (m.ftz && from == Type::f32 && (bits & 0x7fffffff) < 0x800000) bits &= 0x80000000;
  const Real x = number(from, bits);
  if (x.nan && from == Type::f64 && to != Type::f64 && any_format(to) != nullptr && !m.sat)
    return quiet_nan(*any_format(to), bits);
  if (const Format* f = any_format(to)) return to_float(*f, x, m);
  const int n = ptx::bits_of(to);
  if (x.nan) return n == 64 || ptx::bits_of(from) == 64 ? Bits{1} << (n - 1) : 0;
  return exact::to_integer(x, m.mode, n, has_sign(to));
}

struct List {
  std::vector<Operation> all;

  Operation& add(const std::string& modifiers, Type to, Type from, const Modifiers& m) {
    Operation o;
    o.row = o.ptx = fmt::format("cvt{}.{}.{}", modifiers, ptx::spelling(to), ptx::spelling(from));
    o.result = to;
    o.sources = {from};
    o.expected = [=](Operands x) { return converted(to, from, x[0], m); };
    // Small integers are extended to the width of the register.
    if (ptx::bits_of(to) <= 16 && any_format(to) == nullptr) o.result_register_bits = 32;
    const bool has_bf16 = to == Type::bf16 || from == Type::bf16;
    if (has_bf16 && !((to == Type::bf16 && from == Type::f32) || (to == Type::f32 && from == Type::bf16)))
      o.least_sm = 90;
    if (to == Type::bf16 && (m.mode == Mode::down || m.mode == Mode::up)) o.least_sm = 90;
    if (to == Type::f64 && any_format(from) != nullptr) {  // any NaN is right
      const auto expected = o.expected;
      o.accepts = [=](Operands x, Bits got) {
        return got == expected(x) ||
               (exact::number(exact::kF64, got).nan && exact::number(exact::kF64, expected(x)).nan);
      };
    }
    all.push_back(std::move(o));
    return all.back();
  }

  // Adds forms with and without .ftz and .sat, where they are allowed.
  void with_modifiers(const std::string& rounding, Type to, Type from, Modifiers m) {
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if (ftz && to != Type::f32 && from != Type::f32) continue;
        m.ftz = ftz;
        m.sat = sat && any_format(to) != nullptr;
        Operation& o = add(rounding + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from, m);
        // sm_90 rounds a subnormal in the given direction instead of flushing it.
        const bool away = m.mode == Mode::up || (m.mode == Mode::down && !sat);
        if (ftz && away && to == Type::f16 && from == Type::f32) {
          Modifiers kept = m;
          kept.ftz = false;
          o.on_sm90 = [=](Operands x) { return converted(to, from, x[0], kept); };
        }
      }
  }
};

// NaN results that the ISA does not define and that sm_90's machine instructions determine: a copy, or a
// shift to the left, keeps the bits of a NaN.
void keep_nan(Operation& o, Type to, Type from) {
  const int shift = ptx::bits_of(to) - ptx::bits_of(from);
  o.expected = [=, expected = o.expected](Operands x) {
    return number(from, x[0]).nan ? x[0] << shift : expected(x);
  };
  o.accepts = nullptr;
}

// Converts two values into one word; the first becomes the high half.
void add_packed(List& list, const std::string& modifiers, Type half, Type packed, const Modifiers& m,
                int least_sm) {
  const int bits = ptx::bits_of(packed) / 2;
  Operation o;
  o.row = o.ptx = fmt::format("cvt{}.{}.f32", modifiers, ptx::spelling(packed));
  o.result = bits == 8 ? Type::b16 : Type::b32;
  o.sources = {Type::f32, Type::f32};
  o.expected = [=](Operands x) {
    return converted(half, Type::f32, x[0], m) << bits | converted(half, Type::f32, x[1], m);
  };
  o.least_sm = least_sm;
  list.all.push_back(std::move(o));
}

void add_machine_learning(List& list) {
  for (const bool relu : {false, true})
    for (const bool satfinite : {false, true}) {
      const std::string r = relu ? ".relu" : "", s = satfinite ? ".satfinite" : "";
      Modifiers m{.relu = relu, .satfinite = satfinite};
      for (const Mode mode : {Mode::nearest_even, Mode::zero}) {
        m.mode = mode;
        const std::string rounding = mode == Mode::zero ? ".rz" : ".rn";
        const int sm = satfinite ? 90 : 80;
        if (relu || satfinite) {
          list.add(rounding + r + s, Type::f16, Type::f32, m).least_sm = sm;
          list.add(rounding + r + s, Type::bf16, Type::f32, m).least_sm = sm;
        }
        add_packed(list, rounding + r + s, Type::f16, Type::f16x2, m, sm);
        add_packed(list, rounding + r + s, Type::bf16, Type::bf16x2, m, sm);
        Operation& o = list.add(rounding + s + r, Type::tf32, Type::f32, m);
        o.expected = [=](Operands x) { return converted(Type::tf32, Type::f32, x[0], m) << 13; };
        o.result = Type::b32;
        o.least_sm = 90;
      }
      m.mode = Mode::nearest_away;
      if (!relu) {
        Operation& o = list.add(".rna" + s, Type::tf32, Type::f32, m);
        o.expected = [=](Operands x) {
          // sm_90 truncates the bits of a NaN like those of a number, so that a NaN with zero high bits
          // becomes infinity.
          if (!satfinite && number(Type::f32, x[0]).nan) return x[0] >> 13 << 13;
          return converted(Type::tf32, Type::f32, x[0], m) << 13;
        };
        if (satfinite)  // the largest number is one below infinity; larger results are also mapped to it
          o.on_sm90 = [expected = o.expected](Operands x) {
            return number(Type::f32, x[0]).nan ? (x[0] >> 13 << 13) - 0x2000 : expected(x);
          };
        o.result = Type::b32;
        o.least_sm = satfinite ? 90 : 80;
      }
      m.mode = Mode::nearest_even;
      for (const Type pair : {Type::e4m3x2, Type::e5m2x2}) {
        Operation o;
        if (satfinite) {
          add_packed(list, ".rn" + s + r, pair, pair, m, 89);
          o.row = fmt::format("cvt.rn{}{}.{}.f16x2", s, r, ptx::spelling(pair));
          o.result = Type::b16;
          o.sources = {Type::f16x2};
          o.expected = [=](Operands x) {
            return converted(pair, Type::f16, x[0] >> 16, m) << 8 |
                   converted(pair, Type::f16, x[0] & 0xffff, m);
          };
        } else {
          o.row = fmt::format("cvt.rn{}.f16x2.{}", r, ptx::spelling(pair));
          o.result = Type::b32;
          o.sources = {Type::b16};
          o.expected = [=](Operands x) {
            return converted(Type::f16, pair, x[0] >> 8, m) << 16 |
                   converted(Type::f16, pair, x[0] & 0xff, m);
          };
        }
        o.ptx = o.row;
        o.least_sm = 89;
        list.all.push_back(std::move(o));
      }
    }
}

void add_pack_sat(List& list) {
  const auto clamped = [](Type t, Bits a) {
    return exact::to_integer(number(Type::s32, a), Mode::zero, ptx::bits_of(t), has_sign(t));
  };
  for (const Type t : {Type::u16, Type::s16, Type::u8, Type::s8}) {
    const int bits = ptx::bits_of(t);
    const Bits mask = (Bits{1} << bits) - 1;
    Operation o;
    o.row = o.ptx = fmt::format("cvt.pack.sat.{}.s32{}", ptx::spelling(t), bits == 8 ? ".b32" : "");
    o.result = Type::b32;
    o.sources = {Type::s32, Type::s32};
    if (bits == 8) o.sources.push_back(Type::b32);
    o.expected = [=](Operands x) {
      const Bits both = (clamped(t, x[0]) & mask) << bits | (clamped(t, x[1]) & mask);
      return bits == 8 ? (x[2] << 16 & 0xffffffff) | both : both;
    };
    list.all.push_back(std::move(o));
  }
}

}  // namespace

std::vector<Operation> convert_operations() {
  List list;
  for (const Type to : kIntegers)
    for (const Type from : kIntegers) {
      Modifiers m;
      Operation& o = list.add("", to, from, m);
      o.expected = [=](Operands x) {
        const Real r = number(from, x[0]);
        return r.negative ? -r.magnitude.low() : r.magnitude.low();
      };
      list.add(".sat", to, from, m);
    }
  for (const Type f : kFloats)
    for (const Type n : kIntegers)
      for (const auto& mode : kModes) {
        Modifiers m;
        m.mode = mode.mode;
        list.with_modifiers(std::string(".") + mode.name + "i", n, f, m);
        list.add(std::string(".") + mode.name, f, n, m);
      }
  for (const Type f : kFloats) {
    list.with_modifiers("", f, f, {});
    for (const auto& mode : kModes) {
      Modifiers m{.mode = mode.mode, .integral = true};
      list.with_modifiers(std::string(".") + mode.name + "i", f, f, m);
    }
  }
  const std::pair<Type, Type> kWidening[] = {{Type::f32, Type::f16},
                                             {Type::f32, Type::bf16},
                                             {Type::f64, Type::f16},
                                             {Type::f64, Type::bf16},
                                             {Type::f64, Type::f32}};
  for (const auto& [to, from] : kWidening) list.with_modifiers("", to, from, {});
  const std::pair<Type, Type> kNarrowing[] = {
      {Type::f32, Type::f64},  {Type::f16, Type::f64},  {Type::bf16, Type::f64}, {Type::f16, Type::f32},
      {Type::bf16, Type::f32}, {Type::f16, Type::bf16}, {Type::bf16, Type::f16}};
  for (const auto& [to, from] : kNarrowing)
    for (const auto& mode : kModes) {
      Modifiers m;
      m.mode = mode.mode;
      list.with_modifiers(std::string(".") + mode.name, to, from, m);
    }
  for (Operation& o : list.all) {
    if (o.row == "cvt.f32.f32") keep_nan(o, Type::f32, Type::f32);
    if (o.row == "cvt.f64.f64") keep_nan(o, Type::f64, Type::f64);
    if (o.row == "cvt.f32.bf16") keep_nan(o, Type::f32, Type::bf16);
  }
  add_machine_learning(list);
  add_pack_sat(list);
  return std::move(list.all);
}

}  // namespace course::sim
