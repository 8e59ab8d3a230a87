// SPDX-License-Identifier: MIT
// The rows of the arithmetic, logic, comparison and selection instructions. Built once per instruction set of the host.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

void add_integer(Rows r) {
  r.binary<Add, u16, s16, u32, s32, u64, s64>("add");
  r.binary<Sub, u16, s16, u32, s32, u64, s64>("sub");
  r.row<AddSat, s32, s32, s32>("add.sat.s32");
  r.row<SubSat, s32, s32, s32>("sub.sat.s32");
  r.binary<MulLo, u16, s16, u32, s32, u64, s64>("mul.lo");
  r.binary<MulHi, u16, s16, u32, s32, u64, s64>("mul.hi");
  r.row<MulWide, u32, u16, u16>("mul.wide.u16");
  r.row<MulWide, s32, s16, s16>("mul.wide.s16");
  r.row<MulWide, u64, u32, u32>("mul.wide.u32");
  r.row<MulWide, s64, s32, s32>("mul.wide.s32");
  r.ternary<MadLo, u16, s16, u32, s32, u64, s64>("mad.lo");
  r.ternary<MadHi, u16, s16, u32, s32, u64, s64>("mad.hi");
  r.row<MadWide, u32, u16, u16, u32>("mad.wide.u16");
  r.row<MadWide, s32, s16, s16, s32>("mad.wide.s16");
  r.row<MadWide, u64, u32, u32, u64>("mad.wide.u32");
  r.row<MadWide, s64, s32, s32, s64>("mad.wide.s32");
  r.binary<Mul24Lo, u32, s32>("mul24.lo");
  r.binary<Mul24Hi, u32, s32>("mul24.hi");
  r.ternary<Mad24Lo, u32, s32>("mad24.lo");
  r.ternary<Mad24Hi, u32, s32>("mad24.hi");
  r.ternary<Sad, u16, s16, u32, s32, u64, s64>("sad");
  r.binary<Div, u16, s16, u32, s32, u64, s64>("div");
  r.binary<Rem, u16, s16, u32, s32, u64, s64>("rem");
  r.unary<Neg, s16, s32, s64>("neg");
  r.unary<Abs, s16, s32, s64>("abs");
  r.binary<Min, u16, s16, u32, s32, u64, s64>("min");
  r.binary<Max, u16, s16, u32, s32, u64, s64>("max");
  r.row<Dp4a<u8, u8>, u32, u32, u32, u32>("dp4a.u32.u32");
  r.row<Dp4a<s8, s8>, s32, u32, u32, s32>("dp4a.s32.s32");
  r.row<Dp4a<u8, s8>, s32, u32, u32, s32>("dp4a.u32.s32");
  r.row<Dp4a<s8, u8>, s32, u32, u32, s32>("dp4a.s32.u32");
}

void add_bits(Rows r) {
  r.bitwise2<And>("and");
  r.bitwise2<Or>("or");
  r.bitwise2<Xor>("xor");
  r.row<Not, u16, u16>("not.b16");
  r.row<Not, u32, u32>("not.b32");
  r.row<Not, u64, u64>("not.b64");
  r.row<Not, bool, bool>("not.pred");
  r.row<CNot, u16, u16>("cnot.b16");
  r.row<CNot, u32, u32>("cnot.b32");
  r.row<CNot, u64, u64>("cnot.b64");
  r.row<Shl, u16, u16, u32>("shl.b16");
  r.row<Shl, u32, u32, u32>("shl.b32");
  r.row<Shl, u64, u64, u32>("shl.b64");
  r.row<Shr, u16, u16, u32>("shr.b16");
  r.row<Shr, u32, u32, u32>("shr.b32");
  r.row<Shr, u64, u64, u32>("shr.b64");
  r.row<Shr, u16, u16, u32>("shr.u16");
  r.row<Shr, u32, u32, u32>("shr.u32");
  r.row<Shr, u64, u64, u32>("shr.u64");
  r.row<Shr, s16, s16, u32>("shr.s16");
  r.row<Shr, s32, s32, u32>("shr.s32");
  r.row<Shr, s64, s64, u32>("shr.s64");
  r.row<ShfLeftWrap, u32, u32, u32, u32>("shf.l.wrap.b32");
  r.row<ShfLeftClamp, u32, u32, u32, u32>("shf.l.clamp.b32");
  r.row<ShfRightWrap, u32, u32, u32, u32>("shf.r.wrap.b32");
  r.row<ShfRightClamp, u32, u32, u32, u32>("shf.r.clamp.b32");
  r.row<PopCount, u32, u32>("popc.b32");
  r.row<PopCount, u32, u64>("popc.b64");
  r.row<LeadingZeros, u32, u32>("clz.b32");
  r.row<LeadingZeros, u32, u64>("clz.b64");
  r.row<FindMsb, u32, u32>("bfind.u32");
  r.row<FindMsb, u32, s32>("bfind.s32");
  r.row<FindMsb, u32, u64>("bfind.u64");
  r.row<FindMsb, u32, s64>("bfind.s64");
  r.row<FindMsbShift, u32, u32>("bfind.shiftamt.u32");
  r.row<FindMsbShift, u32, s32>("bfind.shiftamt.s32");
  r.row<FindMsbShift, u32, u64>("bfind.shiftamt.u64");
  r.row<FindMsbShift, u32, s64>("bfind.shiftamt.s64");
  r.row<BitReverse, u32, u32>("brev.b32");
  r.row<BitReverse, u64, u64>("brev.b64");
  r.row<BitExtract, u32, u32, u32, u32>("bfe.u32");
  r.row<BitExtract, s32, s32, u32, u32>("bfe.s32");
  r.row<BitExtract, u64, u64, u32, u32>("bfe.u64");
  r.row<BitExtract, s64, s64, u32, u32>("bfe.s64");
  r.row<BitInsert, u32, u32, u32, u32, u32>("bfi.b32");
  r.row<BitInsert, u64, u64, u64, u32, u32>("bfi.b64");
  r.row<BitMaskClamp, u32, u32, u32>("bmsk.clamp.b32");
  r.row<BitMaskWrap, u32, u32, u32>("bmsk.wrap.b32");
  r.row<Lop3, u32, u32, u32, u32, u32>("lop3.b32");
  r.row<Permute, u32, u32, u32, u32>("prmt.b32");
  r.row<PermuteMode<0>, u32, u32, u32, u32>("prmt.b32.f4e");
  r.row<PermuteMode<1>, u32, u32, u32, u32>("prmt.b32.b4e");
  r.row<PermuteMode<2>, u32, u32, u32, u32>("prmt.b32.rc8");
  r.row<PermuteMode<3>, u32, u32, u32, u32>("prmt.b32.ecl");
  r.row<PermuteMode<4>, u32, u32, u32, u32>("prmt.b32.ecr");
  r.row<PermuteMode<5>, u32, u32, u32, u32>("prmt.b32.rc16");
}

void add_float(Rows r) {
  r.binary<Add, f32, f64>("add");
  r.binary<Sub, f32, f64>("sub");
  r.binary<Mul, f32, f64>("mul");
  r.ternary<Fma, f32, f64>("fma");
  r.ternary<Fma, f32, f64>("mad");
  r.typed<Saturate<Add>, f32, f32, f32, f32>("add.sat", OpKind::combine);
  r.typed<Saturate<Sub>, f32, f32, f32, f32>("sub.sat", OpKind::combine);
  r.typed<Saturate<Mul>, f32, f32, f32, f32>("mul.sat", OpKind::combine);
  r.typed<Saturate<Fma>, f32, f32, f32, f32, f32>("fma.sat", OpKind::combine);
  r.binary<Div, f32, f64>("div");
  r.binary<Div, f32>("div.full");
  r.binary<Div, f32>("div.approx");
  r.unary<Rcp, f32, f64>("rcp");
  r.unary<Rcp, f32>("rcp.approx");
  r.row<Rcp, f64, f64>("rcp.approx.ftz.f64");
  r.unary<Sqrt, f32, f64>("sqrt");
  r.unary<Sqrt, f32>("sqrt.approx");
  r.unary<Rsqrt, f32, f64>("rsqrt.approx");
  r.row<Rsqrt, f64, f64>("rsqrt.approx.ftz.f64");
  r.unary<Ex2, f32>("ex2.approx");
  r.unary<Lg2, f32>("lg2.approx");
  r.unary<Sin, f32>("sin.approx");
  r.unary<Cos, f32>("cos.approx");
  r.unary<Tanh, f32>("tanh.approx");
  r.unary<Neg, f32, f64>("neg");
  r.unary<Abs, f32, f64>("abs");
  r.binary<Min, f32, f64>("min");
  r.binary<Max, f32, f64>("max");
  r.binary<CopySign, f32, f64>("copysign");
  r.row<TestFinite, bool, f32>("testp.finite.f32");
  r.row<TestFinite, bool, f64>("testp.finite.f64");
  r.row<TestInfinite, bool, f32>("testp.infinite.f32");
  r.row<TestInfinite, bool, f64>("testp.infinite.f64");
  r.row<TestNumber, bool, f32>("testp.number.f32");
  r.row<TestNumber, bool, f64>("testp.number.f64");
  r.row<TestNotANumber, bool, f32>("testp.notanumber.f32");
  r.row<TestNotANumber, bool, f64>("testp.notanumber.f64");
  r.row<TestNormal, bool, f32>("testp.normal.f32");
  r.row<TestNormal, bool, f64>("testp.normal.f64");
  r.row<TestSubnormal, bool, f32>("testp.subnormal.f32");
  r.row<TestSubnormal, bool, f64>("testp.subnormal.f64");
}

void add_comparisons(Rows r) {
  r.compare<Eq, u16, s16, u32, s32, u64, s64, f32, f64>("eq");
  r.compare<Ne, u16, s16, u32, s32, u64, s64, f32, f64>("ne");
  r.compare<Lt, u16, s16, u32, s32, u64, s64, f32, f64>("lt");
  r.compare<Le, u16, s16, u32, s32, u64, s64, f32, f64>("le");
  r.compare<Gt, u16, s16, u32, s32, u64, s64, f32, f64>("gt");
  r.compare<Ge, u16, s16, u32, s32, u64, s64, f32, f64>("ge");
  r.compare<Lt, u16, u32, u64>("lo");
  r.compare<Le, u16, u32, u64>("ls");
  r.compare<Gt, u16, u32, u64>("hi");
  r.compare<Ge, u16, u32, u64>("hs");
  r.compare<Equ, f32, f64>("equ");
  r.compare<Neu, f32, f64>("neu");
  r.compare<Ltu, f32, f64>("ltu");
  r.compare<Leu, f32, f64>("leu");
  r.compare<Gtu, f32, f64>("gtu");
  r.compare<Geu, f32, f64>("geu");
  r.compare<Num, f32, f64>("num");
  r.compare<Nan, f32, f64>("nan");
  r.row<Eq, bool, u16, u16>("setp.eq.b16");
  r.row<Eq, bool, u32, u32>("setp.eq.b32");
  r.row<Eq, bool, u64, u64>("setp.eq.b64");
  r.row<Ne, bool, u16, u16>("setp.ne.b16");
  r.row<Ne, bool, u32, u32>("setp.ne.b32");
  r.row<Ne, bool, u64, u64>("setp.ne.b64");
}

// Selections and copies carry data along without combining it.
void add_moves(Rows r) {
  for (const char* type : {"b16", "u16", "s16"})
    r.row<Select, u16, u16, u16, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b32", "u32", "s32", "f32"})
    r.row<Select, u32, u32, u32, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b64", "u64", "s64", "f64"})
    r.row<Select, u64, u64, u64, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b16", "u16", "s16"})
    r.row<SelectBySign<s32>, u16, u16, u16, s32>(std::string("slct.") + type + ".s32", OpKind::move);
  for (const char* type : {"b32", "u32", "s32", "f32"}) {
    r.row<SelectBySign<s32>, u32, u32, u32, s32>(std::string("slct.") + type + ".s32", OpKind::move);
    r.row<SelectBySign<f32>, u32, u32, u32, f32>(std::string("slct.") + type + ".f32", OpKind::move);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    r.row<SelectBySign<s32>, u64, u64, u64, s32>(std::string("slct.") + type + ".s32", OpKind::move);
    r.row<SelectBySign<f32>, u64, u64, u64, f32>(std::string("slct.") + type + ".f32", OpKind::move);
  }
  r.row<Copy, u32, u32>("mov.narrow", OpKind::move);
  r.row<Copy, u64, u64>("mov.wide", OpKind::move);
  r.row<Copy, bool, bool>("mov.pred", OpKind::move);
  r.row<Pack, u64, u32, u32>("pack.b64", OpKind::move);
  r.row<HighWord, u32, u64>("high.b64", OpKind::move);
}

}  // namespace

void add_alu_rows(OpTable& table) {
  const Rows rows{table};
  add_integer(rows);
  add_bits(rows);
  add_float(rows);
  add_comparisons(rows);
  add_moves(rows);
}

}  // namespace course::sim::SIM_ISA
