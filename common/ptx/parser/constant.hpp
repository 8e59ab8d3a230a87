// SPDX-License-Identifier: MIT
// Constant expressions: 4, -1, 0x10U, (a ? b : c), 1 << 3, (.u64)-1, 1.5 * 2. Integers are 64 bits wide.
// Source: PTX ISA 4.5, "Constants", and table "Operator Precedence".
#pragma once

#include <cstdint>

#include "ptx/parser/lexer.hpp"

namespace course::ptx::detail {

struct Constant {
  enum class Kind : std::uint8_t { s64, u64, f64, f32 };
  Kind kind = Kind::s64;
  std::uint64_t bits = 0;  // f32: the pattern in the low half

  bool is_real() const { return kind == Kind::f64 || kind == Kind::f32; }
  double real() const;  // any kind, converted
  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
};

// Reads one; fails with "expected <what>" when none begins.
Constant parse_constant(Lexer& lexer, const char* what);
// The same, and it must be an integer.
std::int64_t parse_integer(Lexer& lexer, const char* what);
// Reads one that stands behind '+' or '-' of an address: no operator weaker than '+' is taken.
std::int64_t parse_offset(Lexer& lexer, const char* what);

}  // namespace course::ptx::detail
