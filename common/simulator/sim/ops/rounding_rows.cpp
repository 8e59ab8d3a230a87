// SPDX-License-Identifier: MIT
// The rows of f32 and f64 arithmetic rounded toward zero (.rz), down (.rm) and up (.rp), with the host's
// rounding mode. Compiled once per instruction set of the host, with -frounding-math. Lanes are loaded after
// the mode is set and stored before it is restored. The compiler must assume that fesetround accesses memory,
// so it moves no arithmetic across these calls.
// WebAssembly only rounds to nearest: there these rows are left out, and the decoder refuses the instruction.
#include <cfenv>

#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

template <int kMode, typename Op, typename Result, typename... Args>
void run_rounded(Warp& w, const MicroOp& op) {
  std::fesetround(kMode);
  run_alu<Op, Result, Args...>(w, op);
  std::fesetround(FE_TONEAREST);
}

template <int kMode, typename Op, typename T, typename... Args>
void add_one(Rows r, const std::string& key) {
  r.table.add(OpRow{
      key, &run_rounded<kMode, Op, T, Args...>, OpKind::combine, {slot_kind<Args>()...}, {slot_kind<T>()}});
}

template <int kMode, typename Op, typename... F32s>
void add_f32(Rows r, const std::string& name, bool saturates) {
  add_one<kMode, Plain<Op>, f32, F32s...>(r, name + ".f32");
  add_one<kMode, Ftz<Op>, f32, F32s...>(r, name + ".ftz.f32");
  if (!saturates) return;
  add_one<kMode, Sat<Op>, f32, F32s...>(r, name + ".sat.f32");
  add_one<kMode, FtzSat<Op>, f32, F32s...>(r, name + ".ftz.sat.f32");
}

template <int kMode>
void add_mode(Rows r, const std::string& mode) {
  add_f32<kMode, Add, f32, f32>(r, "add" + mode, true);
  add_f32<kMode, Sub, f32, f32>(r, "sub" + mode, true);
  add_f32<kMode, Mul, f32, f32>(r, "mul" + mode, true);
  add_f32<kMode, Fma, f32, f32, f32>(r, "fma" + mode, true);
  add_f32<kMode, Fma, f32, f32, f32>(r, "mad" + mode, true);
  add_f32<kMode, Div, f32, f32>(r, "div" + mode, false);
  add_f32<kMode, Rcp, f32>(r, "rcp" + mode, false);
  add_f32<kMode, Sqrt, f32>(r, "sqrt" + mode, false);
  add_one<kMode, Add, f64, f64, f64>(r, "add" + mode + ".f64");
  add_one<kMode, Sub, f64, f64, f64>(r, "sub" + mode + ".f64");
  add_one<kMode, Mul, f64, f64, f64>(r, "mul" + mode + ".f64");
  add_one<kMode, Fma, f64, f64, f64, f64>(r, "fma" + mode + ".f64");
  add_one<kMode, Fma, f64, f64, f64, f64>(r, "mad" + mode + ".f64");
  add_one<kMode, Div, f64, f64, f64>(r, "div" + mode + ".f64");
  add_one<kMode, Rcp, f64, f64>(r, "rcp" + mode + ".f64");
  add_one<kMode, Sqrt, f64, f64>(r, "sqrt" + mode + ".f64");
}

}  // namespace

void add_rounding_rows([[maybe_unused]] OpTable& table) {
#ifndef __wasm__
  Rows r{table};
  add_mode<FE_TOWARDZERO>(r, ".rz");
  add_mode<FE_DOWNWARD>(r, ".rm");
  add_mode<FE_UPWARD>(r, ".rp");
#endif
}

}  // namespace course::sim::SIM_ISA
