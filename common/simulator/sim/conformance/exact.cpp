// SPDX-License-Identifier: MIT
#include "sim/conformance/exact.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace course::sim::exact {

// --- naturals ----------------------------------------------------------------------------------------------

Natural::Natural(std::uint64_t value) {
  for (; value != 0; value >>= 32) limbs_.push_back(static_cast<std::uint32_t>(value));
}
void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}
int Natural::bits() const {
  if (zero()) return 0;
  return static_cast<int>(32 * limbs_.size()) - std::countl_zero(limbs_.back());
}
bool Natural::bit(int k) const {
  const auto limb = static_cast<std::size_t>(k / 32);
  return k >= 0 && limb < limbs_.size() && (limbs_[limb] >> k % 32 & 1) != 0;
}
bool Natural::any_below(int k) const {
  for (int i = 0; i < std::min(k, bits()); ++i)
    if (bit(i)) return true;
  return false;
}
std::uint64_t Natural::low() const {
  std::uint64_t value = 0;
  for (std::size_t k = std::min<std::size_t>(limbs_.size(), 2); k-- > 0;) value = value << 32 | limbs_[k];
  return value;
}
int Natural::compare(const Natural& b) const {
  if (limbs_.size() != b.limbs_.size()) return limbs_.size() < b.limbs_.size() ? -1 : 1;
  for (std::size_t k = limbs_.size(); k-- > 0;)
    if (limbs_[k] != b.limbs_[k]) return limbs_[k] < b.limbs_[k] ? -1 : 1;
  return 0;
}
Natural Natural::operator<<(int k) const {
  if (zero()) return {};
  Natural r;
  r.limbs_.assign(static_cast<std::size_t>(k / 32), 0);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : limbs_) {
    carry |= static_cast<std::uint64_t>(limb) << k % 32;
    r.limbs_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  r.limbs_.push_back(static_cast<std::uint32_t>(carry));
  r.trim();
  return r;
}
Natural Natural::operator>>(int k) const {
  Natural r;
  for (auto i = static_cast<std::size_t>(k / 32); i < limbs_.size(); ++i) {
    std::uint64_t both = limbs_[i];
    if (i + 1 < limbs_.size()) both |= static_cast<std::uint64_t>(limbs_[i + 1]) << 32;
    r.limbs_.push_back(static_cast<std::uint32_t>(both >> k % 32));
  }
  r.trim();
  return r;
}
Natural Natural::operator+(const Natural& b) const {
  Natural r;
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < std::max(limbs_.size(), b.limbs_.size()); ++k) {
    carry += k < limbs_.size() ? limbs_[k] : 0;
    carry += k < b.limbs_.size() ? b.limbs_[k] : 0;
    r.limbs_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  r.limbs_.push_back(static_cast<std::uint32_t>(carry));
  r.trim();
  return r;
}
Natural Natural::operator-(const Natural& b) const {
  Natural r;
  std::int64_t borrow = 0;
  for (std::size_t k = 0; k < limbs_.size(); ++k) {
    std::int64_t d = static_cast<std::int64_t>(limbs_[k]) - borrow;
    if (k < b.limbs_.size()) d -= b.limbs_[k];
    borrow = d < 0;
    r.limbs_.push_back(static_cast<std::uint32_t>(d));
  }
  r.trim();
  return r;
}
Natural Natural::operator*(const Natural& b) const {
  Natural r;
  r.limbs_.assign(limbs_.size() + b.limbs_.size() + 1, 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
      carry += r.limbs_[i + j];
      if (j < b.limbs_.size()) carry += static_cast<std::uint64_t>(limbs_[i]) * b.limbs_[j];
      r.limbs_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  r.trim();
  return r;
}
// Both functions compute the result bit by bit.
Natural Natural::divided_by(const Natural& b, bool& rest) const {
  Natural quotient, left;
  for (int k = bits() - 1; k >= 0; --k) {
    left = left << 1;
    if (bit(k)) left = left + Natural(1);
    quotient = quotient << 1;
    if (left.compare(b) >= 0) {
      left = left - b;
      quotient = quotient + Natural(1);
    }
  }
  rest = !left.zero();
  return quotient;
}
Natural Natural::square_root(bool& rest) const {
  Natural root, left;
  for (int k = (bits() + 1) / 2 - 1; k >= 0; --k) {
    left = (left << 2) + Natural((bit(2 * k + 1) ? 2u : 0u) + (bit(2 * k) ? 1u : 0u));
    const Natural trial = (root << 2) + Natural(1);
    root = root << 1;
    if (left.compare(trial) >= 0) {
      left = left - trial;
      root = root + Natural(1);
    }
  }
  rest = !left.zero();
  return root;
}

// --- numbers -----------------------------------------------------------------------------------------------

std::uint64_t Format::infinity() const {
  if (no_infinity) return nan;
  return ((std::uint64_t{1} << exponent_bits) - 1) << (precision - 1);
}

Real not_a_number() {
  Real r;
  r.nan = true;
  return r;
}

Real integer(bool negative, std::uint64_t magnitude) {
  return Real{.negative = negative, .magnitude = Natural(magnitude)};
}

Real number(const Format& f, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (f.bits - 1);
  const std::uint64_t magnitude = bits & (sign - 1);
  Real r;
  r.negative = (bits & sign) != 0;
  if (magnitude >= f.infinity()) {
    r.nan = f.no_infinity || magnitude > f.infinity();
    r.infinite = !r.nan;
    return r;
  }
  const auto field = static_cast<int>(magnitude >> (f.precision - 1));
  std::uint64_t significand = magnitude % (std::uint64_t{1} << (f.precision - 1));
  if (field > 0) significand += std::uint64_t{1} << (f.precision - 1);
  r.magnitude = Natural(significand);
  r.exponent = std::max(field, 1) - f.bias() - (f.precision - 1);
  return r;
}

Real negated(Real a) {
  a.negative = !a.negative;
  return a;
}

Real add(const Real& a, const Real& b, Mode mode) {
  if (a.nan || b.nan) return not_a_number();
  if (a.infinite || b.infinite) {
    if (a.infinite && b.infinite && a.negative != b.negative) return not_a_number();
    return a.infinite ? a : b;
  }
  if (a.zero() && b.zero()) {
    Real r = a;
    if (a.negative != b.negative) r.negative = mode == Mode::down;
    return r;
  }
  if (a.magnitude.zero()) return b;
  if (b.magnitude.zero()) return a;
  Real r;
  r.exponent = std::min(a.exponent, b.exponent);
  const Natural x = a.magnitude << (a.exponent - r.exponent), y = b.magnitude << (b.exponent - r.exponent);
  if (a.negative == b.negative) {
    r.magnitude = x + y;
    r.negative = a.negative;
  } else {
    const int order = x.compare(y);
    r.magnitude = order >= 0 ? x - y : y - x;
    r.negative = order == 0 ? mode == Mode::down : order > 0 ? a.negative : b.negative;
  }
  return r;
}

Real multiply(const Real& a, const Real& b) {
  if (a.nan || b.nan) return not_a_number();
  if ((a.infinite && b.zero()) || (b.infinite && a.zero())) return not_a_number();
  Real r{.infinite = a.infinite || b.infinite, .negative = a.negative != b.negative};
  if (r.infinite) return r;
  r.magnitude = a.magnitude * b.magnitude;
  r.exponent = a.exponent + b.exponent;
  return r;
}

Real divide(const Real& a, const Real& b) {
  if (a.nan || b.nan || (a.infinite && b.infinite) || (a.zero() && b.zero())) return not_a_number();
  Real r;
  r.negative = a.negative != b.negative;
  if (a.infinite || b.zero()) {
    r.infinite = true;
    return r;
  }
  if (b.infinite || a.zero()) return r;
  constexpr int kExtra = 140;  // more bits than any format has, including subnormal divisors
  r.magnitude = (a.magnitude << kExtra).divided_by(b.magnitude, r.more);
  r.exponent = a.exponent - b.exponent - kExtra;
  return r;
}

Real square_root(const Real& a) {
  if (a.nan || (a.negative && !a.zero())) return not_a_number();
  if (a.zero() || a.infinite) return a;
  Real r;
  const int odd = a.exponent & 1;
  constexpr int kExtra = 160;
  r.magnitude = (a.magnitude << (kExtra + odd)).square_root(r.more);
  r.exponent = (a.exponent - odd - kExtra) / 2;
  return r;
}

std::optional<int> compare(const Real& a, const Real& b) {
  if (a.nan || b.nan) return std::nullopt;
  if (a.infinite && b.infinite && a.negative == b.negative) return 0;
  if (a.infinite) return a.negative ? -1 : 1;
  if (b.infinite) return b.negative ? 1 : -1;
  const Real d = add(a, negated(b), Mode::nearest_even);
  if (d.zero()) return 0;
  return d.negative ? -1 : 1;
}

// --- rounding ----------------------------------------------------------------------------------------------

namespace {

// magnitude · 2^exponent as a multiple of 2^unit.
Natural multiple(const Real& a, int unit, Mode mode) {
  const int drop = unit - a.exponent;
  if (drop <= 0) return a.magnitude << -drop;
  Natural q = a.magnitude >> drop;
  const bool half = a.magnitude.bit(drop - 1);
  const bool less = a.magnitude.any_below(drop - 1) || a.more;
  bool up = false;
  switch (mode) {
    case Mode::nearest_even: up = half && (less || q.bit(0)); break;
    case Mode::nearest_away: up = half; break;
    case Mode::zero: break;
    case Mode::down: up = (half || less) && a.negative; break;
    case Mode::up: up = (half || less) && !a.negative; break;
  }
  return up ? q + Natural(1) : q;
}

}  // namespace

std::uint64_t round_to(const Format& f, const Real& a, Mode mode) {
  if (a.nan) return f.nan;
  const std::uint64_t sign = a.negative ? std::uint64_t{1} << (f.bits - 1) : 0;
  if (a.infinite) return sign | f.infinity();
  if (a.magnitude.zero()) return sign;
  const int leading = a.exponent + a.magnitude.bits() - 1;
  int unit = std::max(leading, f.min_exponent()) - (f.precision - 1);
  Natural q = multiple(a, unit, mode);
  if (q.bits() > f.precision) {
    q = q >> 1;
    ++unit;
  }
  const bool normal = q.bits() == f.precision;
  const int exponent = unit + f.precision - 1;
  std::uint64_t encoded = q.low();
  if (normal) {
    encoded -= std::uint64_t{1} << (f.precision - 1);
    encoded += static_cast<std::uint64_t>(exponent + f.bias()) << (f.precision - 1);
  }
  if (encoded >= f.infinity()) {
    const bool stays =
        mode == Mode::zero || (mode == Mode::down && !a.negative) || (mode == Mode::up && a.negative);
    encoded = stays ? f.infinity() - 1 : f.infinity();
  }
  return sign | encoded;
}

bool is_flushed(const Format& f, const Real& a, Mode mode) {
  if (a.nan || a.infinite) return false;
  const Format wide{f.bits + 3, f.precision, f.exponent_bits + 3, 0};
  const std::uint64_t least = static_cast<std::uint64_t>(f.min_exponent() + wide.bias()) << (f.precision - 1);
  const std::uint64_t sign = std::uint64_t{1} << (wide.bits - 1);
  return (round_to(wide, a, mode) & (sign - 1)) < least;
}

Real to_integral(const Real& a, Mode mode) {
  if (a.nan || a.infinite) return a;
  Real r = a;
  r.magnitude = multiple(a, 0, mode);
  r.exponent = 0;
  r.more = false;
  return r;
}

std::uint64_t to_integer(const Real& a, Mode mode, int bits, bool is_signed) {
  const Real r = to_integral(a, mode);
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  const std::uint64_t most = is_signed ? top - 1 : top + (top - 1);
  const std::uint64_t least = is_signed ? -top : 0;
  if (a.infinite) return a.negative ? least : most;
  if (!a.negative) return r.magnitude.compare(Natural(most)) > 0 ? most : r.magnitude.low();
  if (!is_signed) return 0;
  return r.magnitude.compare(Natural(top)) > 0 ? least : -r.magnitude.low();
}

double to_double(const Real& a) {
  if (a.nan) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(round_to(kF64, a, Mode::nearest_even));
}

}  // namespace course::sim::exact
