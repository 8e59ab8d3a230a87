// SPDX-License-Identifier: MIT
// Constant expressions: 4, -1, 0x10U, 1 << 3, (2 + 1) * 4. Integers are 64 bits wide. Floats are only
// literals with a sign. There are no comparisons, conditions or casts, which no compiler writes. Source: PTX
// ISA 4.5, "Constants", and table "Operator Precedence".
#pragma once

#include <cstdint>

#include "ptx/parser/lexer.hpp"

namespace course::ptx::detail {

struct Constant {
  enum class Kind : std::uint8_t { s64, u64, f64, f32 };
  Kind kind = Kind::s64;
  std::uint64_t bits = 0;  // f32: the pattern in the low half

  bool is_real() const { return kind == Kind::f64 || kind == Kind::f32; }
  double real() const;  // the value of any kind, converted
  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
};

// Reads a constant expression; fails with "expected <what>" if there is none.
Constant parse_constant(Lexer& lexer, const char* what);
// Reads a constant expression that must be an integer.
std::int64_t parse_integer(Lexer& lexer, const char* what);
// Reads the offset after '+' or '-' in an address: operators of lower precedence than '+' are not part of it.
std::int64_t parse_offset(Lexer& lexer);

}  // namespace course::ptx::detail
