// SPDX-License-Identifier: MIT
// Exact arithmetic on numbers of any size with one rounding at the end: the reference for the simulator's
// arithmetic in tests. Shares no code with the simulator. Simple rather than fast.
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
  bool any_below(int k) const;  // whether one of the bits 0 … k − 1 is set
  std::uint64_t low() const;    // the low 64 bits
  int compare(const Natural& b) const;

  Natural operator<<(int k) const;
  Natural operator>>(int k) const;
  Natural operator+(const Natural& b) const;
  Natural operator-(const Natural& b) const;  // b must not be greater
  Natural operator*(const Natural& b) const;
  // The quotient; `rest`: whether there is a remainder.
  Natural divided_by(const Natural& b, bool& rest) const;
  Natural square_root(bool& rest) const;

 private:
  void trim();
  std::vector<std::uint32_t> limbs_;  // least significant first, no leading zeros
};

// A float format by its layout: sign, exponent field, fraction.
struct Format {
  int bits;
  int precision;  // fraction bits + 1
  int exponent_bits;
  std::uint64_t nan;         // the NaN that instructions produce
  bool no_infinity = false;  // E4M3: the largest encoding is NaN, all others are numbers

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
  // The encoding without the sign; with no_infinity, one above the encoding of the largest number.
  std::uint64_t infinity() const;
};
inline constexpr Format kF16{16, 11, 5, 0x7fff};
inline constexpr Format kBF16{16, 8, 8, 0x7fff};
inline constexpr Format kF32{32, 24, 8, 0x7fffffff};
inline constexpr Format kF64{64, 53, 11, 0x7ff8000000000000};
inline constexpr Format kTF32{19, 11, 8, 0x3ffff};
inline constexpr Format kE4M3{8, 4, 4, 0x7f, true};
inline constexpr Format kE5M2{8, 3, 5, 0x7f};

enum class Mode { nearest_even, nearest_away, zero, down, up };

// ± magnitude · 2^exponent; `more`: the exact value is larger by less than one unit of the last bit.
struct Real {
  bool nan = false, infinite = false, negative = false, more = false;
  Natural magnitude = {};
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
// −1, 0 or 1; std::nullopt if one operand is NaN.
std::optional<int> compare(const Real& a, const Real& b);

std::uint64_t round_to(const Format& f, const Real& a, Mode mode);
// Whether .ftz flushes the number. sm_90 flushes numbers that are below the smallest normal number after
// rounding to the format's full precision. (Rounded to the fewer bits of a subnormal, they might reach that
// number.)
bool is_flushed(const Format& f, const Real& a, Mode mode);
// Rounds to an integer.
Real to_integral(const Real& a, Mode mode);
// Rounds and clamps to the integers of this size; the caller must handle NaN.
std::uint64_t to_integer(const Real& a, Mode mode, int bits, bool is_signed);

double to_double(const Real& a);

}  // namespace course::sim::exact
