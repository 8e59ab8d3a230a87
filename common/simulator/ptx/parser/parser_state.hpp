// SPDX-License-Identifier: MIT
// The state of the recursive-descent parser, shared by its four parts. Read parser.cpp (a module and its
// directives), then parser_declarations.cpp (variables, parameters, initial values), then parser_body.cpp
// (function bodies: blocks, labels, instructions), then parser_operands.cpp.
// Invariant: while a body is parsed, `function_` points to it. Every unresolved name is in `references_`. It
// is resolved when the block of its label closes, or reported as an error when the body closes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"
#include "ptx/names.hpp"
#include "ptx/parser/lexer.hpp"
#include "ptx/parser/locations.hpp"
#include "ptx/parser/scopes.hpp"

namespace course::ptx::detail {

class Parser {
 public:
  explicit Parser(const char* text);
  Module run();

 private:
  // The meaning of a label, a table or a prototype.
  struct Label {
    NameId name;
    Operand::Table table;  // none: Function::labels
    std::int32_t index;
    Place place;
    std::string_view unique;  // its unique name in the flattened function
  };
  // A use of a name that is not yet resolved.
  struct Reference {
    NameId name;
    bool in_table;  // entry `operand` of branch_targets[`instruction`]
    std::int32_t instruction;
    std::int32_t operand;
    Place place;
  };
  struct Block {
    Place open;
    std::size_t first_label;
    std::size_t first_reference;
    std::size_t first_variable;
    std::int32_t begin;  // the first instruction's index
    std::uint32_t serial;
  };

  // --- parser.cpp: the module ---
  void module_statement();
  void version();
  void target();
  void file();
  void section();
  void alias();
  std::vector<std::string> pragma_strings();
  void linked_declaration(Linkage linkage);
  void function(bool is_entry, Linkage linkage);
  void function_header(Function& function);
  void function_attributes(Function& function);
  void bind_parameters(Function& function);
  std::vector<std::uint32_t> up_to_three(const char* what);
  std::int32_t declare_function(NameId name, Place place, Function& header, bool has_body);
  // Handles directives with the same meaning everywhere; false if `word` is another directive.
  bool common_directive(std::string_view word);
  void attribute(bool* managed);
  void preprocessor_line();
  // Reads a directive and returns its word without the dot; its position is stored in `directive_`. Fails if
  // none is next, with "expected <what>".
  std::string_view take_directive(const char* what);
  [[noreturn]] void fail_unknown_directive(std::string_view word, const char* where);

  // --- parser_declarations.cpp: variables and parameters ---
  // Reads the part between state space and name, such as `.align 4 .v2 .f32`.
  Variable shape(Space space);
  void variables(Space space, Linkage linkage);
  void registers();
  void declare_registers(NameId name, Place place, Type type, std::uint8_t width);
  void one_variable(const Variable& shape, NameId name, Place place);
  void numbered_variables(const Variable& shape, NameId prefix, Place place);
  Variable& add_variable(Variable variable, NameId name, Place place);
  Variable& add_module_variable(Variable variable, NameId name, Place place);
  std::vector<std::uint64_t> extents(bool& unsized);
  void set_size(Variable& variable, const std::vector<std::uint64_t>& extent, Place place);
  void initial_value(Variable& variable, std::vector<std::uint64_t>& extent, bool unsized);
  std::uint64_t initial_list(Variable& variable, const std::vector<std::uint64_t>& extent, std::size_t level,
                             bool unsized);
  void initial_element(Variable& variable);
  void initial_address(Variable& variable, Variable::Relocation relocation);
  void write_initial(Variable& variable, std::uint64_t bits);
  // Reads a parameter list such as (.param .b32 a, .reg .u32 b).
  std::vector<Variable> parameter_list();
  Variable one_parameter();

  // --- parser_body.cpp: function bodies ---
  void body();
  void open_block();
  void close_block();
  void resolve_block(const Block& block);
  void resolve(const Reference& reference, const Label& label);
  void body_directive();
  void named_statement();
  void label(NameId name, Place place);
  void call_prototype(NameId name, Place place);
  void branch_targets(NameId name, Place place);
  void call_targets(NameId name, Place place);
  void instruction(Place start);
  std::string_view full_opcode(Place start);
  std::uint32_t form_of(std::string_view spelling);
  void guard(Instruction& instruction);

  // --- parser_operands.cpp ---
  Operand operand();
  Operand primary();
  Operand named_operand();
  Operand register_operand(NameId name, Binding& binding);
  Operand symbol_operand(const Binding& binding);
  Operand special_operand(std::string_view name, Place place);
  Operand sum_with_constant(Operand operand);
  Operand constant_operand();
  Operand address();
  void subscript(Operand& base);
  std::uint64_t element_bytes_of(const Operand& symbol) const;
  void operand_list(std::vector<Operand>& parts, char close, const char* what);
  Operand forward_reference(NameId name, Place place);
  std::int32_t register_index(NameId name, Binding& binding);

  std::shared_ptr<Storage> storage_ = std::make_shared<Storage>();
  Lexer lexer_;
  NameTable names_;
  NameTable spellings_;  // of full opcodes; ids are indices into Storage::forms
  Scopes scopes_;
  LocationTable locations_;
  Module module_;
  Place directive_;
  std::uint64_t expanded_variables_ = 0;

  // The current body.
  Function* function_ = nullptr;
  std::int32_t location_ = -1;
  std::vector<Block> blocks_;
  std::vector<Label> labels_;
  std::vector<Reference> references_;
  std::uint32_t block_serial_ = 0;
  // By name: labels of the block that is being closed.
  struct LabelNow {
    std::uint32_t block = 0;
    std::uint32_t label = 0;
  };
  std::vector<LabelNow> label_now_;
  // The current instruction.
  std::string_view opcode_;
  int nesting_ = 0;           // depth of nested vectors, lists and addresses
  std::int32_t operand_ = 0;  // index of the current operand
};

}  // namespace course::ptx::detail
