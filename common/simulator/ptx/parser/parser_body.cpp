// SPDX-License-Identifier: MIT
// The parser's third part: function bodies. See parser_state.hpp. Operands: parser_operands.cpp.
// Blocks are flattened while they are read. References to labels are resolved when their block closes, so
// that a branch may precede its label. Source: PTX ISA 4.2 "Statements", 11.2 "Control Flow Directives".
#include <fmt/format.h>

#include <utility>

#include "ptx/parser/parser_state.hpp"

namespace course::ptx::detail {
namespace {

constexpr std::size_t kMaxBlocks = 256;

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

// Resolves the references to labels of this block; the others are passed to the enclosing block.
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
                     fmt::format("'{}' is not a label of an instruction", names_.text(label.name)));
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

// Reads an instruction. The cursor must be at '@' or at the opcode.
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

// Reads the opcode with its modifiers. White space before a dot is legal but rare.
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

}  // namespace course::ptx::detail
