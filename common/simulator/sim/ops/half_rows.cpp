// SPDX-License-Identifier: MIT
// The rows of f16 and bf16 arithmetic, for one element and for two in a word. Compiled once per instruction
// set of the host.
#include "sim/ops/interpolator.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

template <typename Format>
constexpr const char* kName = std::is_same_v<Format, F16> ? "f16" : "bf16";

std::string spelt(s64 flags) {
  return std::string((flags & kFtz) != 0 ? ".ftz" : "") + ((flags & kNanWins) != 0 ? ".NaN" : "") +
         ((flags & kXorSign) != 0 ? ".xorsign.abs" : "") + ((flags & kSat) != 0 ? ".sat" : "") +
         ((flags & kRelu) != 0 ? ".relu" : "");
}

// Applies an op to both halves of a word.
template <typename Op>
struct Two {
  template <typename... Args>
  static u32 of(s64 flags, Args... a) {
    const u16 low = Op::of(flags, static_cast<u16>(a)...), high = Op::of(flags, static_cast<u16>(a >> 16)...);
    return static_cast<u32>(high) << 16 | low;
  }
};

template <std::size_t, typename T>
using Always = T;

template <typename Format, typename Op, std::size_t... K>
void add_pair(Rows r, const std::string& name, std::initializer_list<s64> variants,
              std::index_sequence<K...>) {
  using One = Half<Format, Op>;
  for (const s64 flags : variants) {
    const std::string key = name + spelt(flags) + "." + kName<Format>;
    r.flagged<One, u16, Always<K, u16>...>(key, flags);
    r.flagged<Two<One>, u32, Always<K, u32>...>(key + "x2", flags);
  }
}
// Adds rows for one and two elements, for each set of modifiers.
template <typename Format, typename Op, std::size_t N>
void add(Rows r, const std::string& name, std::initializer_list<s64> variants) {
  add_pair<Format, Op>(r, name, variants, std::make_index_sequence<N>{});
}

template <typename Op>
void add_arithmetic(Rows r, const std::string& name) {
  add<F16, HalfArithmetic<Op>, 2>(r, name, {0, kFtz, kSat, kFtz | kSat});
  add<BF16, HalfArithmetic<Op>, 2>(r, name, {0});
}

// setp for one element. decode/alu.cpp splits a pair, with one predicate each, into two of these.
template <typename Format, typename Op>
struct HalfCompare {
  static bool of(s64 flags, u16 a, u16 b) {
    const bool ftz = (flags & kFtz) != 0;
    return Op::of(Format::widen(flush_half<Format>(a, ftz)), Format::widen(flush_half<Format>(b, ftz)));
  }
};
template <typename Format, typename Op>
void add_compare(Rows r, const std::string& name) {
  for (const s64 flags : {s64{0}, s64{kFtz}}) {
    if (flags != 0 && std::is_same_v<Format, BF16>) continue;
    r.flagged<HalfCompare<Format, Op>, bool, u16, u16>("setp." + name + spelt(flags) + "." + kName<Format>,
                                                       flags);
  }
}
template <typename Op>
void add_compare(Rows r, const std::string& name) {
  add_compare<F16, Op>(r, name);
  add_compare<BF16, Op>(r, name);
}

}  // namespace

void add_half_rows(OpTable& table) {
  Rows r{table};
  add_arithmetic<Add>(r, "add");
  add_arithmetic<Sub>(r, "sub");
  add_arithmetic<Mul>(r, "mul");
  add<F16, HalfFma, 3>(r, "fma", {0, kFtz, kSat, kFtz | kSat, kRelu, kFtz | kRelu});
  add<BF16, HalfFma, 3>(r, "fma", {0, kRelu});
  add<F16, HalfNeg, 1>(r, "neg", {0, kFtz});
  add<BF16, HalfNeg, 1>(r, "neg", {0});
  add<F16, HalfAbs, 1>(r, "abs", {0, kFtz});
  add<BF16, HalfAbs, 1>(r, "abs", {0});
  add<F16, HalfExtreme<false>, 2>(r, "min", {0, 1, 8, 9, 16, 17, 24, 25});
  add<F16, HalfExtreme<true>, 2>(r, "max", {0, 1, 8, 9, 16, 17, 24, 25});
  add<BF16, HalfExtreme<false>, 2>(r, "min", {0, 8, 16, 24});
  add<BF16, HalfExtreme<true>, 2>(r, "max", {0, 8, 16, 24});
  add<F16, HalfEx2, 1>(r, "ex2.approx", {0});
  add<BF16, HalfEx2, 1>(r, "ex2.approx", {kFtz});
  add<F16, HalfTanh, 1>(r, "tanh.approx", {0});
  add<BF16, HalfTanh, 1>(r, "tanh.approx", {0});
  add_compare<Eq>(r, "eq");
  add_compare<Ne>(r, "ne");
  add_compare<Lt>(r, "lt");
  add_compare<Le>(r, "le");
  add_compare<Gt>(r, "gt");
  add_compare<Ge>(r, "ge");
  add_compare<Equ>(r, "equ");
  add_compare<Neu>(r, "neu");
  add_compare<Ltu>(r, "ltu");
  add_compare<Leu>(r, "leu");
  add_compare<Gtu>(r, "gtu");
  add_compare<Geu>(r, "geu");
  add_compare<Num>(r, "num");
  add_compare<Nan>(r, "nan");
}

}  // namespace course::sim::SIM_ISA
