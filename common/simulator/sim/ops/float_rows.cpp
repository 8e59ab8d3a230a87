// SPDX-License-Identifier: MIT
// The rows of f32 and f64 arithmetic, rounded to nearest even. (Other roundings: rounding_rows.cpp.) Compiled
// once per instruction set of the host.
#include "sim/ops/interpolator.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

enum MinMaxFlags : s64 { kFlush = 1, kNan = 2, kXor = 4 };

template <bool kMax>
struct FlaggedExtreme {
  static f32 of(s64 flags, f32 a, f32 b) {
    const bool ftz = (flags & kFlush) != 0;
    return canonical(
        extreme<kMax>(ftz ? flushed(a) : a, ftz ? flushed(b) : b, (flags & kNan) != 0, (flags & kXor) != 0));
  }
};

template <bool kMax>
void add_extremes(Rows r, const std::string& name) {
  for (const s64 flags : {2, 3, 4, 5, 6, 7}) {
    const std::string key = name + ((flags & kFlush) != 0 ? ".ftz" : "") +
                            ((flags & kNan) != 0 ? ".NaN" : "") +
                            ((flags & kXor) != 0 ? ".xorsign.abs" : "") + ".f32";
    r.flagged<FlaggedExtreme<kMax>, f32, f32, f32>(key, flags);
  }
}

// Rows for f32 with .sat, without and with .ftz.
template <typename Op, typename... Args>
void add_saturating(Rows r, const std::string& name) {
  r.row<Sat<Op>, f32, Args...>(name + ".sat.f32");
  r.row<FtzSat<Op>, f32, Args...>(name + ".ftz.sat.f32");
}

// The unit itself is the form with .ftz.
template <typename Approximate, typename Unit>
void add_approximate(Rows r, const std::string& name) {
  r.row<Plain<Approximate>, f32, f32>(name + ".f32");
  r.row<Unit, f32, f32>(name + ".ftz.f32");
}

template <typename Test>
void add_test(Rows r, const std::string& name) {
  r.row<Test, bool, f32>("testp." + name + ".f32");
  r.row<Test, bool, f64>("testp." + name + ".f64");
}

}  // namespace

void add_float_rows(OpTable& table) {
  Rows r{table};
  r.binary<Add, f32, f64>("add");
  r.binary<Sub, f32, f64>("sub");
  r.binary<Mul, f32, f64>("mul");
  r.ternary<Fma, f32, f64>("fma");
  r.ternary<Fma, f32, f64>("mad");
  add_saturating<Add, f32, f32>(r, "add");
  add_saturating<Sub, f32, f32>(r, "sub");
  add_saturating<Mul, f32, f32>(r, "mul");
  add_saturating<Fma, f32, f32, f32>(r, "fma");
  add_saturating<Fma, f32, f32, f32>(r, "mad");
  r.binary<Div, f32, f64>("div");
  r.row<Plain<DivByUnit<true>>, f32, f32, f32>("div.full.f32");
  r.row<Plain<DivByUnitFlushed<true>>, f32, f32, f32>("div.full.ftz.f32");
  r.row<Plain<DivByUnit<false>>, f32, f32, f32>("div.approx.f32");
  r.row<Plain<DivByUnitFlushed<false>>, f32, f32, f32>("div.approx.ftz.f32");
  r.unary<Rcp, f32, f64>("rcp");
  add_approximate<RcpApprox, RcpUnit>(r, "rcp.approx");
  r.row<HighHalfUnit<false>, f64, f64>("rcp.approx.ftz.f64");
  r.unary<Sqrt, f32, f64>("sqrt");
  add_approximate<RootApprox<SqrtUnit>, SqrtUnit>(r, "sqrt.approx");
  add_approximate<RootApprox<RsqrtUnit>, RsqrtUnit>(r, "rsqrt.approx");
  r.row<RsqrtApprox64, f64, f64>("rsqrt.approx.f64");
  r.row<HighHalfUnit<true>, f64, f64>("rsqrt.approx.ftz.f64");
  add_approximate<Ex2Approx, Ex2Unit>(r, "ex2.approx");
  add_approximate<Lg2Approx, Lg2Unit>(r, "lg2.approx");
  add_approximate<SinUnit, SinUnit>(r, "sin.approx");
  add_approximate<CosUnit, CosUnit>(r, "cos.approx");
  r.row<Plain<Tanh>, f32, f32>("tanh.approx.f32");
  r.unary<Neg, f32, f64>("neg");
  r.unary<Abs, f32, f64>("abs");
  r.row<CopySign, f32, f32, f32>("copysign.f32");
  r.row<CopySign, f64, f64, f64>("copysign.f64");
  r.binary<FloatMin, f32, f64>("min");
  r.binary<FloatMax, f32, f64>("max");
  add_extremes<false>(r, "min");
  add_extremes<true>(r, "max");
  add_test<TestFinite>(r, "finite");
  add_test<TestInfinite>(r, "infinite");
  add_test<TestNumber>(r, "number");
  add_test<TestNotANumber>(r, "notanumber");
  add_test<TestNormal>(r, "normal");
  add_test<TestSubnormal>(r, "subnormal");
}

}  // namespace course::sim::SIM_ISA
