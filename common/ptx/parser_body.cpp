// SPDX-License-Identifier: MIT
// The parser's third part: function bodies. See parser_state.hpp.
// Blocks are flattened as they are read; labels get their meaning when their block closes, so that a branch
// may stand before its label. Source: PTX ISA 4.2 "Statements", chapter 6 "Instruction Operands", 11.2
// "Control Flow Directives".
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptx/constant.hpp"
#include "ptx/parser_state.hpp"
#include "ptx/special_registers.hpp"

namespace course::ptx::detail {
namespace {

constexpr std::size_t kMaxBlocks = 256;
constexpr int kMaxOperandNesting = 16;

}  // namespace

std::optional<Space> variable_space_from(std::string_view word);  // parser.cpp

// --- blocks and labels ---

void Parser::body() {
  open_block();
  while (true) {
    const char c = lexer_.peek();
    if (is_class(c, kNameStart)) {
      named_statement();
    } else if (c == '@') {
      if (lexer_.ahead(1) == '@') {
        lexer_.skip_line();
      } else {
        instruction(lexer_.place());
      }
    } else if (c == '.') {
      body_directive();
    } else if (c == '{') {
      scopes_.open();
      open_block();
    } else if (c == '}') {
      close_block();
      if (blocks_.empty()) return;
      scopes_.close();
    } else if (c == ';') {
      lexer_.advance();
    } else if (c == '#') {
      preprocessor_line();
    } else if (c == '\0') {
      lexer_.fail_at(
          lexer_.place(),
          fmt::format("expected '}}' that closes the block opened on line {}, found the end of the text",
                      blocks_.back().open.line));
    } else {
      lexer_.fail_expected("an instruction, a label, a directive or '}'");
    }
  }
}

void Parser::open_block() {
  if (blocks_.size() == kMaxBlocks) {
    lexer_.fail_at(lexer_.place(), fmt::format("blocks are nested more than {} deep", kMaxBlocks));
  }
  blocks_.push_back({lexer_.place(), labels_.size(), references_.size(), function_->variables.size(),
                     static_cast<std::int32_t>(function_->instructions.size()), ++block_serial_});
  lexer_.advance();
}

void Parser::close_block() {
  lexer_.advance();
  const Block block = blocks_.back();
  resolve_block(block);
  blocks_.pop_back();
  if (blocks_.empty()) {
    if (references_.empty()) return;
    const Reference& lost = references_.front();
    lexer_.fail_at(lost.place, fmt::format("'{}' is not declared, and no label here has this name",
                                           names_.text(lost.name)));
  }
  for (std::size_t i = block.first_variable; i < function_->variables.size(); ++i) {
    Variable& variable = function_->variables[i];
    if (variable.scope_end < 0)
      variable.scope_end = static_cast<std::int32_t>(function_->instructions.size());
  }
}

// Gives a meaning to the references that name a label of this block; the others go to the block around it.
void Parser::resolve_block(const Block& block) {
  if (label_now_.size() < names_.count()) label_now_.resize(names_.count());
  for (std::size_t i = block.first_label; i < labels_.size(); ++i) {
    LabelNow& now = label_now_[labels_[i].name];
    if (now.block == block.serial) {
      lexer_.fail_at(labels_[i].place,
                     fmt::format("the label '{}' is already on line {}", names_.text(labels_[i].name),
                                 labels_[now.label].place.line));
    }
    now = {block.serial, static_cast<std::uint32_t>(i)};
  }
  std::size_t kept = block.first_reference;
  for (std::size_t i = block.first_reference; i < references_.size(); ++i) {
    const LabelNow now = label_now_[references_[i].name];
    if (now.block == block.serial) {
      resolve(references_[i], labels_[now.label]);
    } else {
      references_[kept++] = references_[i];
    }
  }
  references_.resize(kept);
  labels_.resize(block.first_label);
}

void Parser::resolve(const Reference& reference, const Label& label) {
  if (reference.in_table) {
    if (label.table != Operand::Table::none) {
      lexer_.fail_at(reference.place,
                     fmt::format("'{}' is no label of an instruction", names_.text(label.name)));
    }
    BranchTargets& table = function_->branch_targets[static_cast<std::size_t>(reference.instruction)];
    table.targets[static_cast<std::size_t>(reference.operand)] =
        function_->labels[static_cast<std::size_t>(label.index)].at;
    return;
  }
  Instruction& instruction = function_->instructions[static_cast<std::size_t>(reference.instruction)];
  Operand& operand = instruction.operands[static_cast<std::size_t>(reference.operand)];
  if (label.table == Operand::Table::none) {
    operand.kind = Operand::Kind::label;
    operand.index = function_->labels[static_cast<std::size_t>(label.index)].at;
    operand.symbol = label.index;
    return;
  }
  operand.kind = Operand::Kind::symbol;
  operand.table = label.table;
  operand.symbol = label.index;
  operand.name = label.unique;
}

void Parser::label(NameId name, Place place) {
  const auto at = static_cast<std::int32_t>(function_->instructions.size());
  const std::string_view unique = scopes_.unique(name, scopes_.depth());
  const auto index = static_cast<std::int32_t>(function_->labels.size());
  labels_.push_back({name, Operand::Table::none, index, place, unique});
  function_->labels.push_back({std::string(unique), at});
}

void Parser::call_prototype(NameId name, Place place) {
  Function header;
  if (lexer_.peek() == '(') header.results = parameter_list();
  if (!lexer_.accept_word("_")) lexer_.fail_expected("'_' in the place of the function's name");
  function_header(header);
  lexer_.expect(';', "after '.callprototype'");
  const auto index = static_cast<std::int32_t>(function_->prototypes.size());
  const std::string_view unique = scopes_.unique(name, scopes_.depth());
  labels_.push_back({name, Operand::Table::prototype, index, place, unique});
  function_->prototypes.push_back(
      {std::string(unique), std::move(header.results), std::move(header.parameters), header.noreturn});
}

void Parser::branch_targets(NameId name, Place place) {
  const auto index = static_cast<std::int32_t>(function_->branch_targets.size());
  const std::string_view unique = scopes_.unique(name, scopes_.depth());
  labels_.push_back({name, Operand::Table::branch_targets, index, place, unique});
  function_->branch_targets.push_back(
      {std::string(unique), {}, static_cast<std::int32_t>(function_->instructions.size())});
  std::int32_t entries = 0;
  do {
    const Place entry = lexer_.place_of_next();
    const NameId target = names_.intern(lexer_.expect_name("a label"));
    references_.push_back({target, true, index, entries, entry});
    ++entries;
  } while (lexer_.accept(','));
  lexer_.expect(';', "or ',' after a label");
  function_->branch_targets.back().targets.assign(static_cast<std::size_t>(entries), -1);
}

void Parser::call_targets(NameId name, Place place) {
  const auto index = static_cast<std::int32_t>(function_->call_targets.size());
  const std::string_view unique = scopes_.unique(name, scopes_.depth());
  labels_.push_back({name, Operand::Table::call_targets, index, place, unique});
  CallTargets table{std::string(unique), {}};
  do {
    const Place entry = lexer_.place_of_next();
    const NameId target = names_.intern(lexer_.expect_name("a function's name"));
    const Binding* binding = scopes_.find(target);
    if (binding == nullptr || binding->kind != Binding::Kind::function) {
      lexer_.fail_at(entry, fmt::format("'{}' is not a function declared before", names_.text(target)));
    }
    table.functions.push_back(binding->index);
  } while (lexer_.accept(','));
  lexer_.expect(';', "or ',' after a function's name");
  function_->call_targets.push_back(std::move(table));
}

void Parser::body_directive() {
  const std::string_view word = take_directive("a directive");
  if (common_directive(word)) return;
  if (word == "reg") return registers();
  if (const auto space = variable_space_from(word)) return variables(*space, Linkage::internal);
  if (word == "pragma") {
    for (std::string& text : pragma_strings()) {
      function_->pragmas.push_back(
          {std::move(text), static_cast<std::int32_t>(function_->instructions.size())});
    }
    return;
  }
  for (const Linkage linkage : {Linkage::visible, Linkage::weak, Linkage::common, Linkage::external}) {
    if (word != spelling(linkage)) continue;
    const std::string_view next = take_directive("a state space");
    const auto space = variable_space_from(next);
    if (!space) fail_unknown_directive(next, "inside a function");
    return variables(*space, linkage);
  }
  if (word == "entry" || word == "func") {
    lexer_.fail_at(directive_,
                   fmt::format("'.{}' inside the body of '{}', opened on line {}: is a '}}' missing?", word,
                               function_->name, blocks_.front().open.line));
  }
  fail_unknown_directive(word, "inside a function");
}

// A label, or an instruction without a guard.
void Parser::named_statement() {
  const Place start = lexer_.place();
  const std::string_view word = lexer_.take_name_here();
  if (lexer_.here() == '.' || lexer_.peek() != ':' || lexer_.ahead(1) == ':') {
    lexer_.rewind(start);
    return instruction(start);
  }
  lexer_.advance();
  const NameId name = names_.intern(word);
  if (lexer_.peek() == '.') {
    const Place dot = lexer_.place();
    const std::string_view directive = take_directive("a directive");
    if (directive == "callprototype") return call_prototype(name, start);
    if (directive == "branchtargets") return branch_targets(name, start);
    if (directive == "calltargets") return call_targets(name, start);
    lexer_.rewind(dot);
  }
  label(name, start);
}

// --- instructions ---

// The cursor stands on '@' or on the opcode.
void Parser::instruction(Place start) {
  Instruction& instruction = function_->instructions.emplace_back();
  instruction.location = location_;
  if (lexer_.accept('@')) {
    guard(instruction);
    start = lexer_.place_of_next();
  }
  instruction.text_line = start.line;
  instruction.form = form_of(full_opcode(start));
  Form& form = storage_->forms[instruction.form];
  instruction.opcode = form.opcode;
  instruction.modifiers = form.modifiers;
  instruction.types = form.types;
  opcode_ = form.opcode;
  operand_ = 0;
  if (lexer_.peek() != ';') {
    instruction.operands.reserve(form.usual_operands);
    do {
      instruction.operands.push_back(operand());
      ++operand_;
    } while (lexer_.accept(','));
    form.usual_operands = instruction.operands.size();
  }
  if (!lexer_.accept(';')) {
    lexer_.fail_expected(
        fmt::format("',' or ';' after operand {} of '{}'", operand_, instruction.full_opcode()));
  }
}

void Parser::guard(Instruction& instruction) {
  instruction.guard_negated = lexer_.accept('!');
  const Place place = lexer_.place_of_next();
  const NameId name = names_.intern(lexer_.expect_name("a predicate register after '@'"));
  Binding* binding = scopes_.find(name);
  if (binding == nullptr || binding->kind != Binding::Kind::reg) {
    lexer_.fail_at(place, fmt::format("the guard '{}' is not a declared register", names_.text(name)));
  }
  if (binding->type != Type::pred || binding->width != 1) {
    lexer_.fail_at(place, fmt::format("the guard '{}' is a '.{}' register, not a '.pred' one",
                                      names_.text(name), spelling(binding->type)));
  }
  instruction.guard = register_index(name, *binding);
}

// The opcode with its modifiers. White space before a dot is legal, though rare.
std::string_view Parser::full_opcode(Place start) {
  if (lexer_.peek() == '%' || lexer_.take_name_here().empty()) {
    lexer_.rewind(start);
    lexer_.fail_expected("an opcode");
  }
  const auto modifiers = [&] {
    while (lexer_.here() == '.') {
      lexer_.advance();
      if (lexer_.take_modifier_here().empty()) lexer_.fail_expected("a modifier right after '.'");
    }
  };
  modifiers();
  std::string_view spelling(start.at, static_cast<std::size_t>(lexer_.place().at - start.at));
  if (lexer_.peek() != '.') return spelling;
  std::string joined(spelling);
  while (lexer_.peek() == '.') {
    const char* from = lexer_.place().at;
    modifiers();
    joined.append(from, static_cast<std::size_t>(lexer_.place().at - from));
  }
  return storage_->arena.keep(joined);
}

std::uint32_t Parser::form_of(std::string_view spelling) {
  const NameId index = spellings_.intern(spelling);
  if (index < storage_->forms.size()) return index;
  Form& form = storage_->forms.emplace_back();
  std::string_view rest = spellings_.text(index);
  std::size_t dot = rest.find('.');
  form.opcode = rest.substr(0, dot);
  while (dot != std::string_view::npos) {
    rest.remove_prefix(dot + 1);
    dot = rest.find('.');
    const std::string_view modifier = rest.substr(0, dot);
    form.modifiers.push_back(modifier);
    if (const auto type = type_from(modifier)) form.types.push_back(*type);
  }
  return index;
}

// --- operands ---

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
    if (c != '_' || is_class(lexer_.ahead(1), kNamePart)) return named_operand();
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
      // A sign before a register is the operand's, before anything else the constant's.
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

// A name that may turn out to be a label, a table or a prototype of this block or one around it.
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
  const std::string_view unique = scopes_.unique(name, depth);  // may move the bindings
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
  if (next == '+' || next == '-') operand.integer = parse_offset(lexer_, "an offset");
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

// array[4], array[%r1], array[%r1 + 4]: indices count elements.
void Parser::subscript(Operand& base) {
  const std::uint64_t bytes = element_bytes_of(base);
  if (bytes == 0)
    lexer_.fail_at(lexer_.place(), fmt::format("'{}' is no variable and has no elements", base.name));
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
    if (sign == '+' || sign == '-') base.integer = parse_offset(lexer_, "an offset");
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
      if (sign == '+' || sign == '-') operand.integer = parse_offset(lexer_, "an offset");
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
