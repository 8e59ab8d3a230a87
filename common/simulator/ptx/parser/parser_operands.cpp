// SPDX-License-Identifier: MIT
// The parser's fourth part: operands of instructions. See parser_state.hpp.
// Source: PTX ISA chapter 6 "Instruction Operands".
#include <fmt/format.h>

#include <utility>

#include "ptx/parser/constant.hpp"
#include "ptx/parser/parser_state.hpp"
#include "ptx/special_registers.hpp"

namespace course::ptx::detail {
namespace {

constexpr int kMaxOperandNesting = 16;

}  // namespace

Operand Parser::operand() {
  Operand first = primary();
  if (lexer_.peek() != '|') return first;
  lexer_.advance();
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.parts.reserve(2);
  pair.parts.push_back(std::move(first));
  ++nesting_;
  pair.parts.push_back(primary());
  --nesting_;
  return pair;
}

Operand Parser::primary() {
  const char c = lexer_.peek();
  if (is_class(c, kDigit)) return constant_operand();
  if (is_class(c, kNameStart)) {
    if (c != '_' || is_class(lexer_.ahead(1), kNamePart)) return sum_with_constant(named_operand());
    lexer_.advance();
    Operand sink;
    sink.kind = Operand::Kind::sink;
    return sink;
  }
  switch (c) {
    case '[': return address();
    case '{': {
      Operand vector;
      vector.kind = Operand::Kind::vector;
      lexer_.advance();
      operand_list(vector.parts, '}', "vector");
      return vector;
    }
    case '(':
      if (opcode_ == "call") {
        Operand list;
        list.kind = Operand::Kind::list;
        lexer_.advance();
        operand_list(list.parts, ')', "list");
        return list;
      }
      return constant_operand();
    case '!':
    case '-': {
      // A sign before a register belongs to the operand, otherwise to the constant.
      const Place sign = lexer_.place();
      lexer_.advance();
      if (is_class(lexer_.peek(), kNameStart)) {
        const Place place = lexer_.place();
        Operand operand = named_operand();
        if (operand.kind == Operand::Kind::reg) {
          operand.negated = true;
          return operand;
        }
        if (operand.kind != Operand::Kind::integer)
          lexer_.fail_at(place, fmt::format("expected a register after '{}'", c));
      }
      lexer_.rewind(sign);
      return constant_operand();
    }
    case '+':
    case '.':
    case '~': return constant_operand();
    default:
      if (operand_ != 0 || nesting_ != 0) lexer_.fail_expected("an operand");
      lexer_.fail_expected(fmt::format("an operand or ';' after '{}'", opcode_));
  }
}

// ptxas takes register + constant as an operand, too, but not inside braces.
Operand Parser::sum_with_constant(Operand operand) {
  if (operand.kind != Operand::Kind::reg || !operand.name.empty() || nesting_ != 0 || lexer_.peek() != '+')
    return operand;
  lexer_.advance();
  operand.integer = parse_integer(lexer_, "an integer after the '+'");
  return operand;
}

Operand Parser::constant_operand() {
  const Constant value = parse_constant(lexer_, "a constant");
  Operand operand;
  operand.kind = value.kind == Constant::Kind::f32   ? Operand::Kind::real32
                 : value.kind == Constant::Kind::f64 ? Operand::Kind::real64
                                                     : Operand::Kind::integer;
  operand.integer = value.integer();
  return operand;
}

void Parser::operand_list(std::vector<Operand>& parts, char close, const char* what) {
  if (++nesting_ > kMaxOperandNesting) lexer_.fail_at(lexer_.place(), "this operand is nested too deeply");
  if (!lexer_.accept(close)) {
    do {
      parts.push_back(operand());
    } while (lexer_.accept(','));
    if (!lexer_.accept(close))
      lexer_.fail_expected(fmt::format("',' or '{}' in the {} of '{}'", close, what, opcode_));
  }
  --nesting_;
}

Operand Parser::named_operand() {
  const Place place = lexer_.place();
  const std::string_view text = lexer_.take_name_here();
  const NameId name = names_.intern(text);
  const bool names_label =
      nesting_ == 0 && ((opcode_ == "bra" && operand_ == 0) || (opcode_ == "brx" && operand_ == 1));
  if (names_label) return forward_reference(name, place);
  Binding* binding = scopes_.find(name);
  if (binding != nullptr) {
    if (binding->kind == Binding::Kind::reg) return register_operand(name, *binding);
    return symbol_operand(*binding);
  }
  if (text.front() == '%') return special_operand(text, place);
  if (text == "WARP_SZ") {
    lexer_.rewind(place);
    return constant_operand();
  }
  return forward_reference(name, place);
}

// A name that may be a label, a table or a prototype of this block or an enclosing one, resolved later.
Operand Parser::forward_reference(NameId name, Place place) {
  if (nesting_ != 0) lexer_.fail_at(place, fmt::format("'{}' is not declared", names_.text(name)));
  references_.push_back(
      {name, false, static_cast<std::int32_t>(function_->instructions.size()) - 1, operand_, place});
  return {};
}

Operand Parser::special_operand(std::string_view name, Place place) {
  if (lexer_.here() == '.' && is_class(lexer_.ahead(1), kNameStart)) {
    lexer_.advance();
    const std::string_view member = lexer_.take_name_here();
    name = {name.data(), static_cast<std::size_t>(member.data() + member.size() - name.data())};
  }
  if (!is_special_register(name)) {
    lexer_.fail_at(
        place, fmt::format("the register '{}' is not declared, and no special register has this name", name));
  }
  Operand operand;
  operand.kind = Operand::Kind::special;
  std::string canonical(name);
  // "%tid.r" is "%tid.x".
  const std::size_t color = std::string_view("rgba").find(name.back());
  if (name[name.size() - 2] == '.' && color != std::string_view::npos) canonical.back() = "xyzw"[color];
  operand.name = names_.text(names_.intern(canonical));
  return operand;
}

std::int32_t Parser::register_index(NameId name, Binding& binding) {
  if (binding.index >= 0) return binding.index;
  std::vector<Register>& registers = function_->registers;
  const auto index = static_cast<std::int32_t>(registers.size());
  const std::uint16_t depth = binding.depth;
  const Type type = binding.type;
  const std::uint8_t width = binding.width;
  binding.index = index;
  const std::string_view unique = scopes_.unique(name, depth);  // may invalidate the bindings
  scopes_.find(name)->name = unique;
  if (width == 1) {
    registers.push_back({std::string(unique), type});
  } else {
    constexpr std::string_view kComponents = "xyzw";
    for (std::size_t i = 0; i < width; ++i)
      registers.push_back({fmt::format("{}.{}", unique, kComponents[i]), type});
  }
  return index;
}

Operand Parser::register_operand(NameId name, Binding& binding) {
  const std::uint8_t width = binding.width;
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.index = register_index(name, binding);
  const bool has_member = lexer_.here() == '.' && is_class(lexer_.ahead(1), kNameStart);
  if (!has_member && width == 1) return operand;
  if (!has_member) {
    Operand vector;
    vector.kind = Operand::Kind::vector;
    vector.parts.assign(width, operand);
    for (std::int32_t i = 0; i < width; ++i) vector.parts[static_cast<std::size_t>(i)].index += i;
    return vector;
  }
  lexer_.advance();
  const Place place = lexer_.place();
  const std::string_view member = lexer_.take_name_here();
  if (width == 1) {
    operand.name = names_.text(names_.intern(member));
    return operand;
  }
  std::size_t component = std::string_view("xyzw").find(member);
  if (component == std::string_view::npos) component = std::string_view("rgba").find(member);
  if (member.size() != 1 || component >= width) {
    lexer_.fail_at(place,
                   fmt::format("expected a component of a vector of {} like 'x', found '{}'", width, member));
  }
  operand.index += static_cast<std::int32_t>(component);
  return operand;
}

Operand Parser::symbol_operand(const Binding& binding) {
  Operand operand;
  operand.kind = Operand::Kind::symbol;
  operand.symbol = binding.index;
  operand.name = binding.name;
  switch (binding.kind) {
    case Binding::Kind::parameter: operand.table = Operand::Table::parameter; break;
    case Binding::Kind::result: operand.table = Operand::Table::result; break;
    case Binding::Kind::local: operand.table = Operand::Table::local; break;
    case Binding::Kind::variable: operand.table = Operand::Table::variable; break;
    case Binding::Kind::function: operand.table = Operand::Table::function; break;
    case Binding::Kind::reg:
    case Binding::Kind::none: break;
  }
  const char next = lexer_.peek();
  if (next == '+') lexer_.advance();
  if (next == '+' || next == '-') operand.integer = parse_offset(lexer_);
  if (next == '[') subscript(operand);
  return operand;
}

std::uint64_t Parser::element_bytes_of(const Operand& symbol) const {
  const auto index = static_cast<std::size_t>(symbol.symbol);
  const Variable* variable = nullptr;
  switch (symbol.table) {
    case Operand::Table::parameter: variable = &function_->parameters[index]; break;
    case Operand::Table::result: variable = &function_->results[index]; break;
    case Operand::Table::local: variable = &function_->variables[index]; break;
    case Operand::Table::variable: variable = &module_.variables[index]; break;
    default: return 0;
  }
  const int bytes = bits_of(variable->type) / 8 * variable->vector;
  return static_cast<std::uint64_t>(bytes);
}

// array[4], array[%r1], array[%r1 + 4]: an index counts elements.
void Parser::subscript(Operand& base) {
  const std::uint64_t bytes = element_bytes_of(base);
  if (bytes == 0)
    lexer_.fail_at(lexer_.place(), fmt::format("'{}' is not a variable and has no elements", base.name));
  lexer_.advance();
  if (opcode_ != "mov") base.kind = Operand::Kind::address;
  if (is_class(lexer_.peek(), kNameStart)) {
    const Place place = lexer_.place();
    const NameId name = names_.intern(lexer_.take_name_here());
    Binding* index = scopes_.find(name);
    if (index == nullptr || index->kind != Binding::Kind::reg || index->width != 1) {
      lexer_.fail_at(
          place, fmt::format("expected a register or a number as the index, found '{}'", names_.text(name)));
    }
    base.kind = Operand::Kind::address;
    base.index = register_index(name, *index);
    const char sign = lexer_.peek();
    if (sign == '+') lexer_.advance();
    if (sign == '+' || sign == '-') base.integer = parse_offset(lexer_);
  } else {
    const std::int64_t index = parse_integer(lexer_, "a register or a number as the index");
    base.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(index) * bytes);
  }
  lexer_.expect(']', "after the index");
}

Operand Parser::address() {
  lexer_.advance();
  Operand operand;
  if (++nesting_ > kMaxOperandNesting) lexer_.fail_at(lexer_.place(), "this operand is nested too deeply");
  if (is_class(lexer_.peek(), kNameStart)) {
    const Place place = lexer_.place();
    operand = named_operand();
    if (operand.kind == Operand::Kind::reg && operand.name.empty()) {
      const char sign = lexer_.peek();
      if (sign == '+') lexer_.advance();
      if (sign == '+' || sign == '-') operand.integer = parse_offset(lexer_);
    } else if (operand.kind != Operand::Kind::symbol && operand.kind != Operand::Kind::integer) {
      lexer_.fail_at(place, "expected a register, a variable or a number as the address");
    }
  } else {
    operand.integer = parse_integer(lexer_, "a register, a variable or a number as the address");
  }
  operand.kind = Operand::Kind::address;
  if (lexer_.accept(',')) {
    operand_list(operand.parts, ']', "address");
  } else if (!lexer_.accept(']')) {
    lexer_.fail_expected(fmt::format("']' after the address of '{}'", opcode_));
  }
  --nesting_;
  return operand;
}

}  // namespace course::ptx::detail
