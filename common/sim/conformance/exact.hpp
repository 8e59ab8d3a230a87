// SPDX-License-Identifier: MIT
// Exact arithmetic on numbers of any size, and one rounding at the end: what the tests hold the simulator's
// arithmetic against. Shares no code with it. Slow and plain on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace course::sim::exact {

// A natural number.
class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t value);

  bool zero() const { return limbs_.empty(); }
  int bits() const;  // position of the top bit + 1
  bool bit(int k) const;
  bool any_below(int k) const;  // is one of the bits 0 … k − 1 set?
  std::uint64_t low() const;    // the low 64 bits
  int compare(const Natural& b) const;

  Natural operator<<(int k) const;
  Natural operator>>(int k) const;
  Natural operator+(const Natural& b) const;
  Natural operator-(const Natural& b) const;  // b must not be greater
  Natural operator*(const Natural& b) const;
  // Quotient; `rest` tells whether anything is left.
  Natural divided_by(const Natural& b, bool& rest) const;
  Natural square_root(bool& rest) const;

 private:
  void trim();
  std::vector<std::uint32_t> limbs_;  // least first, no zero at the end
};

// A float format by its layout: sign, exponent field, fraction.
struct Format {
  int bits;
  int precision;  // fraction bits + 1
  int exponent_bits;
  std::uint64_t nan;         // the one that instructions make
  bool no_infinity = false;  // E4M3: the greatest encoding is NaN, the others are numbers

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
  std::uint64_t infinity()
      const;  // without the sign; with no_infinity, the encoding one past the greatest number
};
inline constexpr Format kF16{16, 11, 5, 0x7fff};
inline constexpr Format kBF16{16, 8, 8, 0x7fff};
inline constexpr Format kF32{32, 24, 8, 0x7fffffff};
inline constexpr Format kF64{64, 53, 11, 0x7ff8000000000000};
inline constexpr Format kTF32{19, 11, 8, 0x3ffff};
inline constexpr Format kE4M3{8, 4, 4, 0x7f, true};
inline constexpr Format kE5M2{8, 3, 5, 0x7f};

enum class Mode { nearest_even, nearest_away, zero, down, up };

// ± magnitude · 2^exponent; `more`: and a little more than that, less than the last bit.
struct Real {
  bool nan = false, infinite = false, negative = false, more = false;
  Natural magnitude;
  int exponent = 0;

  bool zero() const { return !nan && !infinite && !more && magnitude.zero(); }
};

Real number(const Format& f, std::uint64_t bits);
Real integer(bool negative, std::uint64_t magnitude);
Real not_a_number();

Real negated(Real a);
// The sign of an exact zero depends on the rounding.
Real add(const Real& a, const Real& b, Mode mode);
Real multiply(const Real& a, const Real& b);
Real divide(const Real& a, const Real& b);
Real square_root(const Real& a);
// −1, 0, 1; nothing when a side is NaN.
std::optional<int> compare(const Real& a, const Real& b);

std::uint64_t round_to(const Format& f, const Real& a, Mode mode);
// Does .ftz flush it? What sm_90 flushes lies below the least normal number when it is rounded to the
// format's full precision, whatever its exponent. (Rounded to the fewer bits of a subnormal, it might reach
// that number.)
bool is_flushed(const Format& f, const Real& a, Mode mode);
// To a whole number.
Real to_integral(const Real& a, Mode mode);
// Clamped to the integers of this size; NaN must be treated before.
std::uint64_t to_integer(const Real& a, Mode mode, int bits, bool is_signed);

double to_double(const Real& a);

}  // namespace course::sim::exact
