// SPDX-License-Identifier: MIT
// See constant.hpp. Precedence climbing over a table of binary operators.
#include "ptx/parser/constant.hpp"

#include <fmt/format.h>

#include <cstring>

namespace course::ptx::detail {
namespace {

using Kind = Constant::Kind;

// The deepest nesting that is accepted.
constexpr int kMaxDepth = 200;
constexpr int kAdditive = 9;

enum class Op : std::uint8_t {
  none,
  multiply,
  divide,
  remainder,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  and_also,
  or_else,
};

struct Operator {
  Op op = Op::none;
  int precedence = 0;
  int characters = 0;
};

Operator next_operator(Lexer& lexer) {
  const char c = lexer.peek();
  const char d = lexer.ahead(1);
  switch (c) {
    case '*': return {Op::multiply, 10, 1};
    case '/': return {Op::divide, 10, 1};
    case '%':
      // "%r1" is a register. The right operand of a remainder starts with a digit, a sign, '(' or a blank.
      return is_class(d, kNameStart) ? Operator{} : Operator{Op::remainder, 10, 1};
    case '+': return {Op::add, kAdditive, 1};
    case '-': return {Op::subtract, kAdditive, 1};
    case '<':
      if (d == '<') return {Op::shift_left, 8, 2};
      return d == '=' ? Operator{Op::less_equal, 7, 2} : Operator{Op::less, 7, 1};
    case '>':
      if (d == '>') return {Op::shift_right, 8, 2};
      return d == '=' ? Operator{Op::greater_equal, 7, 2} : Operator{Op::greater, 7, 1};
    case '=': return d == '=' ? Operator{Op::equal, 6, 2} : Operator{};
    case '!': return d == '=' ? Operator{Op::not_equal, 6, 2} : Operator{};
    case '&': return d == '&' ? Operator{Op::and_also, 2, 2} : Operator{Op::bit_and, 5, 1};
    case '^': return {Op::bit_xor, 4, 1};
    case '|': return d == '|' ? Operator{Op::or_else, 1, 2} : Operator{Op::bit_or, 3, 1};
    default: return {};
  }
}

Constant from_real(double value) {
  Constant constant{Kind::f64, 0};
  std::memcpy(&constant.bits, &value, sizeof value);
  return constant;
}

Constant from_bool(bool value) {
  return {Kind::s64, value ? std::uint64_t{1} : std::uint64_t{0}};
}

bool truth(const Constant& value) {
  return value.is_real() ? value.real() != 0 : value.bits != 0;
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
      if (op.op == Op::none || op.precedence < lowest) break;
      const Place place = lexer_.place();
      for (int i = 0; i < op.characters; ++i) lexer_.advance();
      left = apply(op.op, left, parse(op.precedence + 1), place);
    }
    if (lowest > 0 || lexer_.peek() != '?') return left;
    lexer_.advance();
    const Constant yes = parse(0);
    lexer_.expect(':', "between the two values of '?'");
    const Constant no = parse(0);
    return truth(left) ? yes : no;
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
      case '!': lexer_.advance(); return from_bool(!truth(unary()));
      case '(': return parenthesised();
      default: break;
    }
    if (lexer_.accept_word("WARP_SZ")) return {Kind::s64, 32};
    lexer_.fail_expected(what_);
  }

  Constant parenthesised() {
    lexer_.advance();
    if (lexer_.peek() == '.') {
      lexer_.advance();
      const std::string_view type = lexer_.take_modifier_here();
      if (type != "s64" && type != "u64") lexer_.fail_expected("the cast '.s64' or '.u64'");
      lexer_.expect(')', "after the cast's type");
      const Place place = lexer_.place();
      const Constant value = unary();
      if (value.is_real()) lexer_.fail_at(place, "a cast needs an integer");
      return {type == "s64" ? Kind::s64 : Kind::u64, value.bits};
    }
    const Constant value = parse(0);
    lexer_.expect(')', "that closes the constant expression");
    return value;
  }

  static Constant negate(const Constant& value) {
    if (value.kind == Kind::f64) return {Kind::f64, value.bits ^ (std::uint64_t{1} << 63)};
    if (value.kind == Kind::f32) return {Kind::f32, value.bits ^ (std::uint64_t{1} << 31)};
    return {value.kind, 0 - value.bits};
  }

  Constant apply(Op op, const Constant& left, const Constant& right, Place place) {
    if (left.is_real() || right.is_real()) return apply_real(op, left, right, place);
    const bool is_unsigned = left.kind == Kind::u64 || right.kind == Kind::u64;
    const Kind kind = is_unsigned ? Kind::u64 : Kind::s64;
    const std::uint64_t a = left.bits;
    const std::uint64_t b = right.bits;
    const bool less = is_unsigned ? a < b : left.integer() < right.integer();
    switch (op) {
      case Op::multiply: return {kind, a * b};
      case Op::divide:
      case Op::remainder: return divide(op, left, right, kind, place);
      case Op::add: return {kind, a + b};
      case Op::subtract: return {kind, a - b};
      case Op::shift_left: return {left.kind, b < 64 ? a << b : 0};
      case Op::shift_right:
        if (left.kind == Kind::u64) return {left.kind, b < 64 ? a >> b : 0};
        return {left.kind, static_cast<std::uint64_t>(left.integer() >> (b < 64 ? b : 63))};
      case Op::less: return from_bool(less);
      case Op::less_equal: return from_bool(less || a == b);
      case Op::greater: return from_bool(!less && a != b);
      case Op::greater_equal: return from_bool(!less);
      case Op::equal: return from_bool(a == b);
      case Op::not_equal: return from_bool(a != b);
      case Op::bit_and: return {kind, a & b};
      case Op::bit_xor: return {kind, a ^ b};
      case Op::bit_or: return {kind, a | b};
      case Op::and_also: return from_bool(a != 0 && b != 0);
      case Op::or_else: return from_bool(a != 0 || b != 0);
      case Op::none: break;
    }
    return left;
  }

  Constant divide(Op op, const Constant& left, const Constant& right, Kind kind, Place place) {
    if (right.bits == 0) lexer_.fail_at(place, "division by zero in a constant expression");
    const bool quotient = op == Op::divide;
    if (kind == Kind::u64) return {kind, quotient ? left.bits / right.bits : left.bits % right.bits};
    if (right.integer() == -1) return {kind, quotient ? 0 - left.bits : 0};
    const std::int64_t value = quotient ? left.integer() / right.integer() : left.integer() % right.integer();
    return {kind, static_cast<std::uint64_t>(value)};
  }

  Constant apply_real(Op op, const Constant& left, const Constant& right, Place place) {
    const double a = left.real();
    const double b = right.real();
    switch (op) {
      case Op::multiply: return from_real(a * b);
      case Op::divide:
        if (b == 0) lexer_.fail_at(place, "division by zero in a constant expression");
        return from_real(a / b);
      case Op::add: return from_real(a + b);
      case Op::subtract: return from_real(a - b);
      case Op::less: return from_bool(a < b);
      case Op::less_equal: return from_bool(a <= b);
      case Op::greater: return from_bool(a > b);
      case Op::greater_equal: return from_bool(a >= b);
      case Op::equal: return from_bool(a == b);
      case Op::not_equal: return from_bool(a != b);
      case Op::and_also: return from_bool(a != 0 && b != 0);
      case Op::or_else: return from_bool(a != 0 || b != 0);
      default: lexer_.fail_at(place, "this operator needs integers");
    }
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
    case Kind::f64: {
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case Kind::f32: {
      const auto low = static_cast<std::uint32_t>(bits);
      float value = 0;
      std::memcpy(&value, &low, sizeof value);
      return static_cast<double>(value);
    }
  }
  return 0;
}

Constant parse_constant(Lexer& lexer, const char* what) {
  return Expression(lexer, what).parse(0);
}

std::int64_t parse_integer(Lexer& lexer, const char* what) {
  const Place place = lexer.place_of_next();
  return integer_or_fail(lexer, parse_constant(lexer, what), place, what);
}

std::int64_t parse_offset(Lexer& lexer, const char* what) {
  const Place place = lexer.place_of_next();
  return integer_or_fail(lexer, Expression(lexer, what).parse(kAdditive), place, what);
}

}  // namespace course::ptx::detail
