// SPDX-License-Identifier: MIT
// See constant.hpp. Precedence climbing over a table of binary operators.
#include "ptx/parser/constant.hpp"

#include <fmt/format.h>

#include <bit>

namespace course::ptx::detail {
namespace {

using Kind = Constant::Kind;

// The deepest nesting that is accepted.
constexpr int kMaxDepth = 200;
constexpr int kAdditive = 9;

struct Operator {
  char op = 0;  // its first character; 0: none
  int precedence = 0;
  int characters = 0;
};

Operator next_operator(Lexer& lexer) {
  const char c = lexer.peek();
  switch (c) {
    case '*':
    case '/': return {c, 10, 1};
    case '%':
      // "%r1" is a register. The right operand of a remainder starts with a digit, a sign, '(' or a blank.
      return is_class(lexer.ahead(1), kNameStart) ? Operator{} : Operator{c, 10, 1};
    case '+':
    case '-': return {c, kAdditive, 1};
    case '<':
    case '>': return lexer.ahead(1) == c ? Operator{c, 8, 2} : Operator{};
    case '&': return {c, 5, 1};
    case '^': return {c, 4, 1};
    case '|': return {c, 3, 1};
    default: return {};
  }
}

class Expression {
 public:
  Expression(Lexer& lexer, const char* what) : lexer_(lexer), what_(what) {}

  Constant parse(int lowest) {
    if (++depth_ > kMaxDepth) lexer_.fail_at(lexer_.place(), "this constant expression is nested too deeply");
    const Constant value = parse_operators(lowest);
    --depth_;
    return value;
  }

 private:
  Constant parse_operators(int lowest) {
    Constant left = unary();
    while (true) {
      const Operator op = next_operator(lexer_);
      if (op.op == 0 || op.precedence < lowest) return left;
      const Place place = lexer_.place();
      for (int i = 0; i < op.characters; ++i) lexer_.advance();
      left = apply(op.op, left, parse(op.precedence + 1), place);
    }
  }

  Constant unary() {
    if (++depth_ > kMaxDepth) lexer_.fail_at(lexer_.place(), "this constant expression is nested too deeply");
    const Constant value = unary_unguarded();
    --depth_;
    return value;
  }

  Constant unary_unguarded() {
    const char c = lexer_.peek();
    const Place place = lexer_.place();
    if (is_class(c, kDigit) || (c == '.' && is_class(lexer_.ahead(1), kDigit))) {
      const Lexer::Number number = lexer_.take_number();
      return {static_cast<Kind>(number.kind), number.bits};
    }
    switch (c) {
      case '+': lexer_.advance(); return unary();
      case '-': lexer_.advance(); return negate(unary());
      case '~': {
        lexer_.advance();
        const Constant value = unary();
        if (value.is_real()) lexer_.fail_at(place, "'~' needs an integer");
        return {value.kind, ~value.bits};
      }
      case '(': return parenthesised();
      default: break;
    }
    if (lexer_.accept_word("WARP_SZ")) return {Kind::s64, 32};
    lexer_.fail_expected(what_);
  }

  Constant parenthesised() {
    lexer_.advance();
    const Constant value = parse(0);
    lexer_.expect(')', "that closes the constant expression");
    return value;
  }

  static Constant negate(const Constant& value) {
    if (value.kind == Kind::f64) return {Kind::f64, value.bits ^ (std::uint64_t{1} << 63)};
    if (value.kind == Kind::f32) return {Kind::f32, value.bits ^ (std::uint64_t{1} << 31)};
    return {value.kind, 0 - value.bits};
  }

  Constant apply(char op, const Constant& left, const Constant& right, Place place) {
    if (left.is_real() || right.is_real()) lexer_.fail_at(place, "this operator needs integers");
    const Kind kind = left.kind == Kind::u64 || right.kind == Kind::u64 ? Kind::u64 : Kind::s64;
    const std::uint64_t a = left.bits, b = right.bits;
    switch (op) {
      case '*': return {kind, a * b};
      case '+': return {kind, a + b};
      case '-': return {kind, a - b};
      case '<': return {left.kind, b < 64 ? a << b : 0};
      case '>':
        if (left.kind == Kind::u64) return {left.kind, b < 64 ? a >> b : 0};
        return {left.kind, static_cast<std::uint64_t>(left.integer() >> (b < 64 ? b : 63))};
      case '&': return {kind, a & b};
      case '^': return {kind, a ^ b};
      case '|': return {kind, a | b};
      default: return divide(op == '/', left, right, kind, place);
    }
  }

  Constant divide(bool quotient, const Constant& left, const Constant& right, Kind kind, Place place) {
    if (right.bits == 0) lexer_.fail_at(place, "division by zero in a constant expression");
    if (kind == Kind::u64) return {kind, quotient ? left.bits / right.bits : left.bits % right.bits};
    if (right.integer() == -1) return {kind, quotient ? 0 - left.bits : 0};
    const std::int64_t value = quotient ? left.integer() / right.integer() : left.integer() % right.integer();
    return {kind, static_cast<std::uint64_t>(value)};
  }

  Lexer& lexer_;
  const char* what_;
  int depth_ = 0;
};

std::int64_t integer_or_fail(Lexer& lexer, const Constant& value, Place place, const char* what) {
  if (value.is_real()) lexer.fail_at(place, fmt::format("expected {}, found a floating-point number", what));
  return value.integer();
}

}  // namespace

double Constant::real() const {
  switch (kind) {
    case Kind::s64: return static_cast<double>(integer());
    case Kind::u64: return static_cast<double>(bits);
    case Kind::f64: return std::bit_cast<double>(bits);
    default: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
}

Constant parse_constant(Lexer& lexer, const char* what) {
  return Expression(lexer, what).parse(0);
}

std::int64_t parse_integer(Lexer& lexer, const char* what) {
  const Place place = lexer.place_of_next();
  return integer_or_fail(lexer, parse_constant(lexer, what), place, what);
}

std::int64_t parse_offset(Lexer& lexer) {
  const Place place = lexer.place_of_next();
  return integer_or_fail(lexer, Expression(lexer, "an offset").parse(kAdditive), place, "an offset");
}

}  // namespace course::ptx::detail
