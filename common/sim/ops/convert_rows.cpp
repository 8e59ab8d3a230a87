// SPDX-License-Identifier: MIT
// The rows of cvt: between integers, between floats, and across, in every rounding. Built once per instruction set.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

template <typename To, typename From>
std::string spelt(const char* modifiers) {
  return std::string("cvt") + modifiers + "." + suffix<To>() + "." + suffix<From>();
}

template <typename To, typename... From>
void integers_from(Rows r) {
  (r.row<Convert<To>, To, From>(spelt<To, From>(""), OpKind::move), ...);
  (r.row<ConvertSat<To>, To, From>(spelt<To, From>(".sat"), OpKind::move), ...);
}

template <typename... To>
void integers(Rows r) {
  (integers_from<To, u8, s8, u16, s16, u32, s32, u64, s64>(r), ...);
}

template <typename From, typename... To>
void float_to_integers(Rows r) {
  const auto all = [&]<Round R>(const char* rounding) {
    const std::string plain = rounding, ftz = std::string(rounding) + ".ftz";
    (r.row<FloatToInt<R, To>, To, From>(spelt<To, From>(plain.c_str()), OpKind::move), ...);
    (r.row<FloatToInt<R, To>, To, From>(spelt<To, From>((plain + ".sat").c_str()), OpKind::move), ...);
    if constexpr (std::is_same_v<From, f32>) {
      (r.row<Ftz<FloatToInt<R, To>>, To, From>(spelt<To, From>(ftz.c_str()), OpKind::move), ...);
      (r.row<Ftz<FloatToInt<R, To>>, To, From>(spelt<To, From>((ftz + ".sat").c_str()), OpKind::move), ...);
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
  r.row<RoundToIntegral<Round::nearest_even>, T, T>(spelt<T, T>(".rni"), OpKind::move);
  r.row<RoundToIntegral<Round::zero>, T, T>(spelt<T, T>(".rzi"), OpKind::move);
  r.row<RoundToIntegral<Round::down>, T, T>(spelt<T, T>(".rmi"), OpKind::move);
  r.row<RoundToIntegral<Round::up>, T, T>(spelt<T, T>(".rpi"), OpKind::move);
  r.row<Saturate<Copy>, T, T>(spelt<T, T>(".sat"), OpKind::move);
  r.row<Copy, T, T>(spelt<T, T>(""), OpKind::move);
}

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
  r.row<Ftz<Copy>, f32, f32>("cvt.ftz.f32.f32", OpKind::move);
  r.row<Convert<f64>, f64, f32>("cvt.f64.f32", OpKind::move);
  r.row<Convert<f32>, f32, f64>("cvt.rn.f32.f64", OpKind::move);
}

}  // namespace course::sim::SIM_ISA
