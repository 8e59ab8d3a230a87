// SPDX-License-Identifier: MIT
// The rows of logic, shifts, and instructions on single bits and bytes. Compiled once per instruction set of
// the host.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

void add_bit_rows(OpTable& table) {
  Rows r{table};
  r.bitwise2<And>("and");
  r.bitwise2<Or>("or");
  r.bitwise2<Xor>("xor");
  r.row<Not, u16, u16>("not.b16");
  r.row<Not, u32, u32>("not.b32");
  r.row<Not, u64, u64>("not.b64");
  r.row<Not, bool, bool>("not.pred");
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
  r.row<FindNthSet, u32, u32, u32, s32>("fns.b32");
}

}  // namespace course::sim::SIM_ISA
