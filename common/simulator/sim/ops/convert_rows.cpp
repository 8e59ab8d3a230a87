// SPDX-License-Identifier: MIT
// The rows of the most frequent cvt instructions: integers, f32, f64 rounded to nearest, f16 and bf16 to f32.
// Their lane loops vectorise. All other conversions are rows of any_convert_rows.cpp. Compiled once per
// instruction set of the host.
#include "sim/ops/narrow.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

template <typename To, typename From>
std::string spelt(const std::string& modifiers) {
  return "cvt" + modifiers + "." + suffix<To>() + "." + suffix<From>();
}

// Truncation does not depend on the signedness of the source, so both use one handler.
template <typename To, typename From>
using Seen = std::conditional_t<sizeof(To) <= sizeof(From), std::make_unsigned_t<From>, From>;

template <typename To, typename... From>
void integers_from(Rows r) {
  (r.row<Convert<To>, To, Seen<To, From>>(spelt<To, From>(""), OpKind::move), ...);
  (r.row<ConvertSat<To>, To, From>(spelt<To, From>(".sat"), OpKind::move), ...);
}

template <typename... To>
void integers(Rows r) {
  (integers_from<To, u8, s8, u16, s16, u32, s32, u64, s64>(r), ...);
}

// The result is clamped to the range with and without .sat.
template <typename From, typename... To>
void float_to_integers(Rows r) {
  const auto all = [&]<Round R>(const std::string& rounding) {
    (r.row<FloatToInt<R, To>, To, From>(spelt<To, From>(rounding), OpKind::move), ...);
    (r.row<FloatToInt<R, To>, To, From>(spelt<To, From>(rounding + ".sat"), OpKind::move), ...);
    if constexpr (std::is_same_v<From, f32>) {
      (r.row<Ftz<FloatToInt<R, To>>, To, From>(spelt<To, From>(rounding + ".ftz"), OpKind::move), ...);
      (r.row<Ftz<FloatToInt<R, To>>, To, From>(spelt<To, From>(rounding + ".ftz.sat"), OpKind::move), ...);
    }
  };
  all.template operator()<Round::nearest_even>(".rni");
  all.template operator()<Round::zero>(".rzi");
  all.template operator()<Round::down>(".rmi");
  all.template operator()<Round::up>(".rpi");
}

template <typename To, typename... From>
void integers_to_float(Rows r) {
  (r.row<Convert<To>, To, From>(spelt<To, From>(".rn"), OpKind::move), ...);
}

template <typename T>
void to_integral(Rows r) {
  r.row<Plain<RoundToIntegral<Round::nearest_even>>, T, T>(spelt<T, T>(".rni"), OpKind::move);
  r.row<Plain<RoundToIntegral<Round::zero>>, T, T>(spelt<T, T>(".rzi"), OpKind::move);
  r.row<Plain<RoundToIntegral<Round::down>>, T, T>(spelt<T, T>(".rmi"), OpKind::move);
  r.row<Plain<RoundToIntegral<Round::up>>, T, T>(spelt<T, T>(".rpi"), OpKind::move);
}

struct WidenHalf {
  static f32 of(u16 a) { return canonical(F16::widen(a)); }
};
// On sm_80 and later this is a shift to the left, so a NaN keeps its bits. (The ISA does not define which NaN
// a conversion gives.)
struct WidenBfloat {
  static u32 of(u16 a) { return static_cast<u32>(a) << 16; }
};
template <typename Format>
struct Narrow {
  static u16 of(f32 a) { return narrow<Format>(a); }
};

}  // namespace

void add_convert_rows(OpTable& table) {
  Rows r{table};
  integers<u8, s8, u16, s16, u32, s32, u64, s64>(r);
  float_to_integers<f32, u8, s8, u16, s16, u32, s32, u64, s64>(r);
  float_to_integers<f64, u8, s8, u16, s16, u32, s32, u64, s64>(r);
  integers_to_float<f32, u8, s8, u16, s16, u32, s32, u64, s64>(r);
  integers_to_float<f64, u8, s8, u16, s16, u32, s32, u64, s64>(r);
  to_integral<f32>(r);
  to_integral<f64>(r);
  r.row<Convert<f64>, f64, f32>("cvt.f64.f32", OpKind::move);
  r.row<Convert<f32>, f32, f64>("cvt.rn.f32.f64", OpKind::move);  // a NaN keeps its sign and its first bits
  r.row<WidenHalf, f32, u16>("cvt.f32.f16", OpKind::move);
  r.row<WidenBfloat, u32, u16>("cvt.f32.bf16", OpKind::move);
  r.row<Copy, u32, u32>("cvt.f32.f32", OpKind::move);  // needs no instruction on a GPU
  r.row<Copy, u64, u64>("cvt.f64.f64", OpKind::move);
  r.row<Narrow<F16>, u16, f32>("cvt.rn.f16.f32", OpKind::move);
  r.row<Narrow<BF16>, u16, f32>("cvt.rn.bf16.f32", OpKind::move);
}

}  // namespace course::sim::SIM_ISA
