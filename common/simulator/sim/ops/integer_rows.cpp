// SPDX-License-Identifier: MIT
// The rows of integer arithmetic. Compiled once per instruction set of the host.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

template <typename Byte>
using HalfLike = std::conditional_t<std::is_signed_v<Byte>, s16, u16>;

template <typename A, typename B, typename R>
void dot_products(Rows r, const std::string& types) {
  r.row<Dp4a<A, B>, R, u32, u32, R>("dp4a." + types);
  r.row<Dp2a<HalfLike<A>, B, 0>, R, u32, u32, R>("dp2a.lo." + types);
  r.row<Dp2a<HalfLike<A>, B, 1>, R, u32, u32, R>("dp2a.hi." + types);
}

}  // namespace

void add_integer_rows(OpTable& table) {
  Rows r{table};
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
  r.ternary<Sad, u16, s16, u32, s32, u64, s64>("sad");
  r.binary<Div, u16, s16, u32, s32, u64, s64>("div", OpKind::divide);
  r.binary<Rem, u16, s16, u32, s32, u64, s64>("rem", OpKind::divide);
  r.unary<Neg, s16, s32, s64>("neg");
  r.unary<Abs, s16, s32, s64>("abs");
  r.binary<Min, u16, s16, u32, s32, u64, s64>("min");
  r.binary<Max, u16, s16, u32, s32, u64, s64>("max");
  r.row<Relu<Min>, s32, s32, s32>("min.relu.s32");
  r.row<Relu<Max>, s32, s32, s32>("max.relu.s32");
  r.row<OnHalves<Add, u16>, u32, u32, u32>("add.u16x2");
  r.row<OnHalves<Add, u16>, u32, u32, u32>("add.s16x2");
  r.row<OnHalves<Min, u16>, u32, u32, u32>("min.u16x2");
  r.row<OnHalves<Min, s16>, u32, u32, u32>("min.s16x2");
  r.row<OnHalves<Max, u16>, u32, u32, u32>("max.u16x2");
  r.row<OnHalves<Max, s16>, u32, u32, u32>("max.s16x2");
  r.row<OnHalves<Relu<Min>, s16>, u32, u32, u32>("min.relu.s16x2");
  r.row<OnHalves<Relu<Max>, s16>, u32, u32, u32>("max.relu.s16x2");
  dot_products<u8, u8, u32>(r, "u32.u32");
  dot_products<s8, s8, s32>(r, "s32.s32");
  dot_products<u8, s8, s32>(r, "u32.s32");
  dot_products<s8, u8, s32>(r, "s32.u32");
  r.row<AbsoluteDifferences<4, false>, u32, u32, u32, u32>("vabsdiff4.u32.u32.u32");
  r.row<AbsoluteDifferences<4, true>, u32, u32, u32, u32>("vabsdiff4.u32.u32.u32.add");
  r.row<AbsoluteDifferences<2, false>, u32, u32, u32, u32>("vabsdiff2.u32.u32.u32");
  r.row<AbsoluteDifferences<2, true>, u32, u32, u32, u32>("vabsdiff2.u32.u32.u32.add");
}

}  // namespace course::sim::SIM_ISA
