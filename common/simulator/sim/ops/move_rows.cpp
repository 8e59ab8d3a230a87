// SPDX-License-Identifier: MIT
// The rows of selections and copies, which move data without combining values. Compiled once per instruction
// set of the host.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

void add_move_rows(OpTable& table) {
  Rows r{table};
  for (const char* type : {"b16", "u16", "s16"})
    r.row<Select, u16, u16, u16, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b32", "u32", "s32", "f32"})
    r.row<Select, u32, u32, u32, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b64", "u64", "s64", "f64"})
    r.row<Select, u64, u64, u64, bool>(std::string("selp.") + type, OpKind::move);
  for (const char* type : {"b16", "u16", "s16"}) {
    r.row<SelectBySign<s32>, u16, u16, u16, s32>(std::string("slct.") + type + ".s32", OpKind::move);
    r.row<SelectBySign<f32>, u16, u16, u16, f32>(std::string("slct.") + type + ".f32", OpKind::move);
    r.row<SelectBySign<f32, true>, u16, u16, u16, f32>(std::string("slct.ftz.") + type + ".f32",
                                                       OpKind::move);
  }
  for (const char* type : {"b32", "u32", "s32", "f32"}) {
    r.row<SelectBySign<s32>, u32, u32, u32, s32>(std::string("slct.") + type + ".s32", OpKind::move);
    r.row<SelectBySign<f32>, u32, u32, u32, f32>(std::string("slct.") + type + ".f32", OpKind::move);
    r.row<SelectBySign<f32, true>, u32, u32, u32, f32>(std::string("slct.ftz.") + type + ".f32",
                                                       OpKind::move);
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    r.row<SelectBySign<s32>, u64, u64, u64, s32>(std::string("slct.") + type + ".s32", OpKind::move);
    r.row<SelectBySign<f32>, u64, u64, u64, f32>(std::string("slct.") + type + ".f32", OpKind::move);
    r.row<SelectBySign<f32, true>, u64, u64, u64, f32>(std::string("slct.ftz.") + type + ".f32",
                                                       OpKind::move);
  }
  r.row<Copy, u32, u32>("mov.narrow", OpKind::move);
  r.row<Copy, u64, u64>("mov.wide", OpKind::move);
  r.row<Copy, bool, bool>("mov.pred", OpKind::move);
  r.row<Pack, u64, u32, u32>("pack.b64", OpKind::move);
  r.row<HighWord, u32, u64>("high.b64", OpKind::move);
}

}  // namespace course::sim::SIM_ISA
