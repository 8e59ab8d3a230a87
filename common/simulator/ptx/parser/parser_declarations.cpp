// SPDX-License-Identifier: MIT
// The parser's second part: variables, registers, parameters and initial values. See parser_state.hpp.
// Source: PTX ISA 5.1 "State Spaces", 5.4 "Variables", 7.1 "Function Declarations and Definitions".
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "ptx/parser/constant.hpp"
#include "ptx/parser/parser_state.hpp"

namespace course::ptx::detail {
namespace {

// No GPU has memory for larger variables. The limit prevents overflow in sums.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;
constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 30;
// `.b32 x<100>` declares a hundred variables; a module may declare this many in total.
constexpr std::uint64_t kMaxNumbered = std::uint64_t{1} << 16;
constexpr std::uint64_t kMaxRange = std::numeric_limits<std::int32_t>::max();

bool is_opaque(Type type) {
  return type == Type::texref || type == Type::samplerref || type == Type::surfref;
}

std::uint64_t element_bytes(const Variable& variable) {
  return static_cast<std::uint64_t>(bits_of(variable.type)) / 8;
}

int vector_width(std::string_view word) {
  if (word == "v2") return 2;
  if (word == "v4") return 4;
  return 0;
}

// The bits of a constant as an element of this type; std::nullopt if the type cannot hold a real number.
std::optional<std::uint64_t> bits_as(const Constant& value, Type type) {
  if (type == Type::f32) {
    if (value.kind == Constant::Kind::f32) return value.bits;
    const auto narrow = static_cast<float>(value.real());
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
  }
  if (type == Type::f64) {
    const double wide = value.real();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &wide, sizeof bits);
    return bits;
  }
  if (value.is_real()) return std::nullopt;
  return value.bits;
}

}  // namespace

std::optional<Space> variable_space_from(std::string_view word);  // parser.cpp

Variable Parser::shape(Space space) {
  Variable variable;
  variable.space = space;
  while (lexer_.peek() == '.') {
    const std::string_view word = take_directive("a type");
    if (word == "align") {
      const Place place = lexer_.place_of_next();
      const std::uint64_t bytes = lexer_.expect_decimal("an alignment in bytes", kMaxAlignment);
      if (bytes == 0 || (bytes & (bytes - 1)) != 0) {
        lexer_.fail_at(place, fmt::format("expected a power of two as the alignment, found {}", bytes));
      }
      (variable.is_pointer ? variable.pointee_alignment : variable.alignment) =
          static_cast<std::uint32_t>(bytes);
    } else if (const int width = vector_width(word)) {
      variable.vector = width;
    } else if (const auto type = type_from(word)) {
      if (variable.type != Type::none) lexer_.fail_at(directive_, fmt::format("a second type, '.{}'", word));
      variable.type = *type;
    } else if (word == "attribute") {
      attribute(&variable.managed);
    } else if (word == "ptr") {
      variable.is_pointer = true;
    } else if (const auto pointee = variable_space_from(word); pointee && variable.is_pointer) {
      variable.pointee_space = *pointee;
    } else {
      lexer_.fail_at(directive_, fmt::format("expected a type or '.align', found '.{}'", word));
    }
  }
  if (variable.type == Type::none) lexer_.fail_expected("a type like .b32");
  if (space != Space::reg && bits_of(variable.type) % 8 != 0) {
    lexer_.fail_at(directive_, fmt::format("a variable cannot have the type '.{}'", spelling(variable.type)));
  }
  if (variable.alignment == 0 && space != Space::reg) {
    variable.alignment =
        static_cast<std::uint32_t>(element_bytes(variable)) * static_cast<std::uint32_t>(variable.vector);
  }
  return variable;
}

void Parser::variables(Space space, Linkage linkage) {
  Variable shape = this->shape(space);
  shape.linkage = linkage;
  shape.is_extern = linkage == Linkage::external;
  do {
    const Place place = lexer_.place_of_next();
    const NameId name = names_.intern(lexer_.expect_name("a variable's name"));
    if (lexer_.peek() == '<') {
      numbered_variables(shape, name, place);
    } else {
      one_variable(shape, name, place);
    }
  } while (lexer_.accept(','));
  lexer_.expect(';', "after the variable's declaration");
}

void Parser::registers() {
  const Variable shape = this->shape(Space::reg);
  do {
    const Place place = lexer_.place_of_next();
    const NameId name = names_.intern(lexer_.expect_name("a register's name"));
    declare_registers(name, place, shape.type, static_cast<std::uint8_t>(shape.vector));
  } while (lexer_.accept(','));
  lexer_.expect(';', "after the register's declaration");
}

void Parser::declare_registers(NameId name, Place place, Type type, std::uint8_t width) {
  if (lexer_.accept('<')) {
    const std::uint64_t count = lexer_.expect_decimal("a number of registers", kMaxRange);
    lexer_.expect('>', "after the number of registers");
    if (count != 0 && !scopes_.bind_range(name, count, type, width)) {
      lexer_.fail_at(place, fmt::format("the registers '{}<...>' are already declared in this block",
                                        names_.text(name)));
    }
    return;
  }
  if (!scopes_.bind(name, {Binding::Kind::reg, type, width, 0, -1, {}})) {
    lexer_.fail_at(place, fmt::format("'{}' is already declared in this block", names_.text(name)));
  }
}

void Parser::numbered_variables(const Variable& shape, NameId prefix, Place place) {
  lexer_.expect('<', "after the variables' common name");
  const std::uint64_t count = lexer_.expect_decimal("a number of variables", kMaxNumbered);
  lexer_.expect('>', "after the number of variables");
  expanded_variables_ += count;
  if (expanded_variables_ > kMaxNumbered) {
    lexer_.fail_at(place, fmt::format("more than {} numbered variables in the module", kMaxNumbered));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Variable variable = shape;
    set_size(variable, {}, place);
    add_variable(std::move(variable), names_.intern(fmt::format("{}{}", names_.text(prefix), i)), place);
  }
}

void Parser::one_variable(const Variable& shape, NameId name, Place place) {
  Variable fresh = shape;
  bool unsized = false;
  std::vector<std::uint64_t> extent = extents(unsized);
  fresh.is_array = !extent.empty();
  if (!unsized) set_size(fresh, extent, place);
  // The name is bound before the initial value, which may contain the variable's own address.
  Variable& variable = add_variable(std::move(fresh), name, place);
  if (lexer_.accept('=')) {
    if (variable.is_extern)
      lexer_.fail_at(place, fmt::format("the extern variable '{}' has an initial value", variable.name));
    if (is_opaque(variable.type)) {
      if (lexer_.peek() != '{') lexer_.fail_expected("'{'");
      lexer_.skip_braces("this initial value");
    } else {
      initial_value(variable, extent, unsized);
      if (unsized) set_size(variable, extent, place);
    }
  } else if (unsized && !variable.is_extern && variable.space != Space::param) {
    lexer_.fail_at(place, fmt::format("the array '{}' needs an extent or an initial value", variable.name));
  }
}

Variable& Parser::add_variable(Variable variable, NameId name, Place place) {
  if (scopes_.depth() == 0) return add_module_variable(std::move(variable), name, place);
  const auto index = static_cast<std::int32_t>(function_->variables.size());
  const std::string_view unique = scopes_.unique(name, scopes_.depth());
  if (!scopes_.bind(name, {Binding::Kind::local, Type::none, 1, 0, index, unique})) {
    lexer_.fail_at(place, fmt::format("'{}' is already declared in this block", names_.text(name)));
  }
  variable.name = unique;
  variable.scope_begin = blocks_.back().begin;
  function_->variables.push_back(std::move(variable));
  return function_->variables.back();
}

Variable& Parser::add_module_variable(Variable variable, NameId name, Place place) {
  variable.name = names_.text(name);
  const auto index = static_cast<std::int32_t>(module_.variables.size());
  if (scopes_.bind(name, {Binding::Kind::variable, Type::none, 1, 0, index, names_.text(name)})) {
    module_.variables.push_back(std::move(variable));
    return module_.variables.back();
  }
  const Binding* known = scopes_.find(name);
  if (known->kind != Binding::Kind::variable) {
    lexer_.fail_at(place, fmt::format("'{}' is already declared as a function", names_.text(name)));
  }
  Variable& before = module_.variables[static_cast<std::size_t>(known->index)];
  if (before.is_extern) {
    before = std::move(variable);
  } else if (!variable.is_extern) {
    lexer_.fail_at(place, fmt::format("the variable '{}' is already declared", before.name));
  }
  return before;
}

std::vector<std::uint64_t> Parser::extents(bool& unsized) {
  std::vector<std::uint64_t> extent;
  while (lexer_.accept('[')) {
    if (lexer_.accept(']')) {
      if (!extent.empty()) lexer_.fail_at(lexer_.place(), "only an array's first extent may be left out");
      unsized = true;
      extent.push_back(0);
      continue;
    }
    const Place place = lexer_.place_of_next();
    const std::int64_t count = parse_integer(lexer_, "the array's extent or ']'");
    if (count < 0) lexer_.fail_at(place, fmt::format("the array's extent is negative: {}", count));
    extent.push_back(static_cast<std::uint64_t>(count));
    lexer_.expect(']', "after the array's extent");
  }
  return extent;
}

void Parser::set_size(Variable& variable, const std::vector<std::uint64_t>& extent, Place place) {
  std::uint64_t bytes = element_bytes(variable) * static_cast<std::uint64_t>(variable.vector);
  for (const std::uint64_t count : extent) {
    if (count != 0 && bytes > kMaxBytes / count) {
      lexer_.fail_at(place, fmt::format("this variable is larger than {} bytes", kMaxBytes));
    }
    bytes *= count;
  }
  variable.size = bytes;
}

void Parser::initial_value(Variable& variable, std::vector<std::uint64_t>& extent, bool unsized) {
  if (variable.space != Space::global && variable.space != Space::constant) {
    lexer_.fail_at(lexer_.place_of_next(),
                   fmt::format("a variable in '.{}' cannot have an initial value", spelling(variable.space)));
  }
  // The components of a vector are a further dimension.
  std::vector<std::uint64_t> all = extent;
  if (variable.vector > 1) all.push_back(static_cast<std::uint64_t>(variable.vector));
  if (lexer_.peek() != '{') {
    if (!all.empty()) lexer_.fail_expected("'{' that opens the initial values");
    return initial_element(variable);
  }
  if (all.empty()) all.push_back(1);
  const std::uint64_t rows = initial_list(variable, all, 0, unsized);
  if (unsized) extent[0] = rows;
}

// Nested lists only group values: after a short inner list the next list continues where it ended. ptxas does
// the same; C would not. Returns the number of rows of the outermost dimension.
std::uint64_t Parser::initial_list(Variable& variable, const std::vector<std::uint64_t>& extent,
                                   std::size_t level, bool unsized) {
  std::uint64_t row = 1;
  for (std::size_t i = level + 1; i < extent.size(); ++i) {
    if (extent[i] != 0 && row > kMaxBytes / extent[i])
      lexer_.fail_at(lexer_.place(), "this array is too large");
    row *= extent[i];
  }
  if (extent[level] > kMaxBytes / std::max<std::uint64_t>(row, 1)) {
    lexer_.fail_at(lexer_.place(), "this array is too large");
  }
  const std::uint64_t limit = unsized ? kMaxBytes : extent[level] * row;
  lexer_.expect('{', "that opens initial values");
  std::uint64_t elements = 0;
  while (lexer_.peek() != '}') {
    const Place place = lexer_.place();
    if (lexer_.peek() == '{') {
      if (level + 1 == extent.size())
        lexer_.fail_at(place, "more nested braces than the array has dimensions");
      initial_list(variable, extent, level + 1, false);
      elements += row;
    } else {
      initial_element(variable);
      ++elements;
    }
    if (elements > limit) {
      lexer_.fail_at(place, fmt::format("more initial values than '{}' has elements", variable.name));
    }
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect('}', "or ',' after an initial value");
  return row == 0 ? 0 : (elements + row - 1) / row;
}

void Parser::initial_element(Variable& variable) {
  const char c = lexer_.peek();
  const Place place = lexer_.place();
  if (is_class(c, kNameStart) && !lexer_.accept_word("WARP_SZ")) {
    Variable::Relocation relocation;
    relocation.bytes = static_cast<int>(element_bytes(variable));
    if (relocation.bytes < 4) {
      lexer_.fail_at(place, "an address needs an element of 4 or 8 bytes, or a mask like 0xff(name)");
    }
    return initial_address(variable, std::move(relocation));
  }
  lexer_.rewind(place);
  const Constant value = parse_constant(lexer_, "an initial value");
  if (!value.is_real() && lexer_.peek() == '(') {
    Variable::Relocation relocation;
    relocation.bytes = static_cast<int>(element_bytes(variable));
    while (relocation.shift < 64 && (value.bits >> relocation.shift) != 0xFF) relocation.shift += 8;
    if (relocation.shift == 64 || (std::uint64_t{0xFF} << relocation.shift) != value.bits) {
      lexer_.fail_at(place, "expected a mask of one byte, like 0xff or 0xff00");
    }
    lexer_.advance();
    // One byte of the address, for every element width.
    relocation.bytes = 1;
    initial_address(variable, std::move(relocation));
    lexer_.expect(')', "after the masked address");
    return;
  }
  const auto bits = bits_as(value, variable.type);
  if (!bits) {
    lexer_.fail_at(place, fmt::format("a floating-point number cannot initialise '.{}': give its bits",
                                      spelling(variable.type)));
  }
  write_initial(variable, *bits);
}

void Parser::initial_address(Variable& variable, Variable::Relocation relocation) {
  const auto offset = [&] {
    const char sign = lexer_.peek();
    if (sign == '+') lexer_.advance();
    if (sign == '+' || sign == '-') {
      relocation.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(relocation.addend) +
                                                    static_cast<std::uint64_t>(parse_offset(lexer_)));
    }
  };
  Place place = lexer_.place_of_next();
  if (lexer_.accept_word("generic")) {
    relocation.generic = lexer_.accept('(');
    if (!relocation.generic) lexer_.rewind(place);  // it is a variable with this name
    place = lexer_.place_of_next();
  }
  const NameId name = names_.intern(lexer_.expect_name("the name of a variable or function"));
  const Binding* binding = scopes_.find(name);
  if (binding == nullptr || binding->kind == Binding::Kind::reg) {
    lexer_.fail_at(place,
                   fmt::format("'{}' is not a variable or function declared before", names_.text(name)));
  }
  relocation.symbol = binding->name;
  offset();
  if (relocation.generic) {
    lexer_.expect(')', "after the name");
    offset();
  }
  relocation.offset = variable.initial.size();
  write_initial(variable, 0);
  variable.relocations.push_back(std::move(relocation));
}

void Parser::write_initial(Variable& variable, std::uint64_t bits) {
  // Little-endian. For a 128-bit element the constant is the low half.
  const std::uint64_t bytes = element_bytes(variable);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    variable.initial.push_back(i < 8 ? static_cast<std::uint8_t>(bits >> (8 * i)) : std::uint8_t{0});
  }
}

std::vector<Variable> Parser::parameter_list() {
  std::vector<Variable> list;
  lexer_.expect('(', "that opens the parameters");
  if (lexer_.accept(')')) return list;
  do {
    list.push_back(one_parameter());
  } while (lexer_.accept(','));
  lexer_.expect(')', "or ',' after a parameter");
  return list;
}

Variable Parser::one_parameter() {
  const std::string_view word = take_directive("'.param', '.reg' or ')'");
  if (word != "param" && word != "reg") {
    lexer_.fail_at(directive_, fmt::format("expected '.param' or '.reg', found '.{}'", word));
  }
  Variable parameter = shape(word == "param" ? Space::param : Space::reg);
  const Place place = lexer_.place_of_next();
  parameter.name = lexer_.expect_name("the parameter's name");
  bool unsized = false;
  const std::vector<std::uint64_t> extent = extents(unsized);
  parameter.is_array = !extent.empty();
  if (parameter.space == Space::param) {
    set_size(parameter, extent, place);
  } else {
    if (parameter.is_array) lexer_.fail_at(place, "a register parameter cannot be an array");
    parameter.alignment = 1;
  }
  return parameter;
}

}  // namespace course::ptx::detail
