// SPDX-License-Identifier: MIT
// Small integers in every element format of matrices: the sums of their products are exact on every chip.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "sim/conformance/format.hpp"

namespace course::sim {

using Word = std::uint64_t;

// Encodes an integer as sign, exponent, fraction;
inline Word encoded(int v, int exponent_bits, int fraction_bits) {
  if (v == 0) return 0;
  const auto magnitude = static_cast<unsigned>(v < 0 ? -v : v);
  const int top = static_cast<int>(std::bit_width(magnitude)) - 1, bias = (1 << (exponent_bits - 1)) - 1;
  const Word fraction = (Word{magnitude} << fraction_bits >> top) & ((Word{1} << fraction_bits) - 1);
  return Word{v < 0} << (exponent_bits + fraction_bits) | static_cast<Word>(top + bias) << fraction_bits |
         fraction;
}

// An element type, and the range of test values: least … most.
struct NumberFormat {
  std::string name;
  int bits, least, most;
  Word encode(int v) const {
    if (name == "f16") return encoded(v, 5, 10);
    if (name == "bf16") return encoded(v, 8, 7);
    if (name == "f32" || name == "tf32") return encoded(v, 8, 23);
    if (name == "f64") return encoded(v, 11, 52);
    if (name == "e4m3") return encoded(v, 4, 3);
    if (name == "e5m2") return encoded(v, 5, 2);
    return static_cast<Word>(v) & ((Word{1} << bits) - 1);
  }
};
inline NumberFormat number_format(const std::string& name) {
  static const std::vector<NumberFormat> kAll = {
      {"f16", 16, -7, 7}, {"bf16", 16, -7, 7},    {"tf32", 32, -9, 9},  {"f32", 32, -40, 40},
      {"f64", 64, -9, 9}, {"s32", 32, -900, 900}, {"s8", 8, -128, 127}, {"u8", 8, 0, 255},
      {"e4m3", 8, -7, 7}, {"e5m2", 8, -3, 3}};
  return *std::find_if(kAll.begin(), kAll.end(), [&](const NumberFormat& k) { return k.name == name; });
}

// The type of PTX registers for such elements.
inline const char* register_type(const NumberFormat& k) {
  return k.bits == 64 ? "f64" : k.name == "f32" ? "f32" : "b32";
}

inline std::vector<int> random_numbers(const NumberFormat& k, std::size_t n, Rng& rng) {
  std::vector<int> v(n);
  for (int& x : v) x = k.least + static_cast<int>(rng.below(static_cast<Word>(k.most - k.least + 1)));
  return v;
}

// "{%a0, %a1, …}"
inline std::string register_list(char name, std::size_t n) {
  std::string text = "{";
  for (std::size_t k = 0; k < n; ++k) text += fmt::format("{}%{}{}", k == 0 ? "" : ", ", name, k);
  return text + "}";
}

}  // namespace course::sim
