// SPDX-License-Identifier: MIT
// The rows of setp. (set is setp and a selection, see decode/alu.cpp.) Compiled once per instruction set of
// the host.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

void add_compare_rows(OpTable& table) {
  Rows r{table};
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

}  // namespace course::sim::SIM_ISA
