// SPDX-License-Identifier: MIT
// The parser's first part: a module's directives and functions' headers. See parser_state.hpp.
// Source: PTX ISA, chapter 11, "Directives".
#include "ptx/parser/parser.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "ptx/parser/constant.hpp"
#include "ptx/parser/parser_state.hpp"

namespace course::ptx {

Result<Module> parse(std::string_view text) {
  // Indices are 32 bits wide.
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  if (text.size() > kMaxBytes) return Error{"PTX text: longer than 1 GiB"};
  // A copy that ends with NUL, so that the lexer can always read the next character.
  const std::string copy(text.substr(0, text.find('\0')));
  try {
    return detail::Parser(copy.c_str()).run();
  } catch (const detail::SyntaxError& error) {
    return Error{error.text};
  }
}

}  // namespace course::ptx

namespace course::ptx::detail {
namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

std::optional<Linkage> linkage_from(std::string_view word) {
  for (const Linkage linkage : {Linkage::visible, Linkage::weak, Linkage::common, Linkage::external}) {
    if (word == spelling(linkage)) return linkage;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Space> variable_space_from(std::string_view word) {
  for (const Space space :
       {Space::constant, Space::global, Space::local, Space::param, Space::shared, Space::tex}) {
    if (word == spelling(space)) return space;
  }
  return std::nullopt;
}

Parser::Parser(const char* text)
    : lexer_(text),
      names_(storage_->arena),
      spellings_(storage_->arena),
      scopes_(names_),
      locations_(names_) {}

Module Parser::run() {
  if (lexer_.peek() != '.' || take_directive("'.version'") != "version") {
    if (directive_.at != nullptr) lexer_.rewind(directive_);
    lexer_.fail_expected("'.version' at the beginning of the module");
  }
  version();
  while (!lexer_.at_end()) module_statement();
  module_.locations = locations_.finish(storage_->arena);
  module_.forms = static_cast<std::uint32_t>(storage_->forms.size());
  module_.storage = std::move(storage_);
  return std::move(module_);
}

std::string_view Parser::take_directive(const char* what) {
  directive_ = lexer_.place_of_next();
  if (!lexer_.accept('.')) lexer_.fail_expected(what);
  const std::string_view word = lexer_.take_modifier_here();
  if (word.empty()) lexer_.fail_expected("a directive's name right after '.'");
  return word;
}

void Parser::fail_unknown_directive(std::string_view word, const char* where) {
  lexer_.fail_at(directive_, fmt::format("unknown directive '.{}' {}", word, where));
}

void Parser::module_statement() {
  const char c = lexer_.peek();
  if (c == '@' && lexer_.ahead(1) == '@') return lexer_.skip_line();  // @@DWARF of PTX 1.x
  if (c == ';') return lexer_.advance();
  if (c == '#') return preprocessor_line();
  const std::string_view word = take_directive("a directive");
  if (common_directive(word)) return;
  if (const auto linkage = linkage_from(word)) return linked_declaration(*linkage);
  if (const auto space = variable_space_from(word)) return variables(*space, Linkage::internal);
  if (word == "func") return function(false, Linkage::internal);
  if (word == "entry") return function(true, Linkage::internal);
  if (word == "target") return target();
  if (word == "address_size") {
    const Place place = lexer_.place_of_next();
    const std::uint64_t bits = lexer_.expect_decimal("32 or 64", 64);
    if (bits != 32 && bits != 64) lexer_.fail_at(place, fmt::format("expected 32 or 64, found {}", bits));
    module_.address_bits = static_cast<int>(bits);
    return;
  }
  if (word == "alias") return alias();
  if (word == "pragma") {
    for (std::string& text : pragma_strings()) module_.pragmas.push_back(std::move(text));
    return;
  }
  if (word == "reg") lexer_.fail_at(directive_, "registers can only be declared inside a function");
  if (word == "version") lexer_.fail_at(directive_, "a module has only one '.version'");
  fail_unknown_directive(word, "outside of a function");
}

bool Parser::common_directive(std::string_view word) {
  if (word == "loc") {
    location_ = locations_.parse_loc(lexer_);
  } else if (word == "file") {
    file();
  } else if (word == "section") {
    section();
  } else {
    return false;
  }
  return true;
}

// `#line 3 "x"` and `# 3 "x"` give the origin of the text; other lines would need a preprocessor.
void Parser::preprocessor_line() {
  const Place place = lexer_.place();
  lexer_.advance();
  if (!is_class(lexer_.peek(), kDigit) && !lexer_.accept_word("line") && !lexer_.accept_word("file")) {
    lexer_.fail_at(place, "a preprocessor directive: run the text through a C preprocessor first");
  }
  lexer_.skip_line();
}

void Parser::version() {
  constexpr std::uint64_t kMaxVersion = 999;
  module_.version_major = static_cast<int>(lexer_.expect_decimal("a version like 9.0", kMaxVersion));
  if (lexer_.here() != '.') lexer_.fail_expected("'.' and the minor version");
  lexer_.advance();
  module_.version_minor = static_cast<int>(lexer_.expect_decimal("the minor version", kMaxVersion));
}

void Parser::target() {
  module_.target = lexer_.expect_name("a target like sm_90");
  module_.target_options.clear();
  while (lexer_.accept(',')) module_.target_options.emplace_back(lexer_.expect_name("a target's option"));
}

void Parser::file() {
  const auto number = static_cast<std::uint32_t>(lexer_.expect_decimal("a file number", kMax32));
  std::string path(lexer_.expect_string("the file's path in quotes"));
  // The modification time and the size may follow.
  while (lexer_.accept(','))
    lexer_.expect_decimal("the file's time or size", std::numeric_limits<std::uint64_t>::max());
  module_.files.push_back({number, std::move(path)});
}

void Parser::section() {
  lexer_.peek();
  const bool dotted = lexer_.accept('.');
  const std::string_view name = lexer_.take_modifier_here();
  if (!dotted || name.empty()) lexer_.fail_expected("a section's name, like .debug_str");
  while (lexer_.accept(',')) {
    if (lexer_.peek() == '"') {
      lexer_.expect_string("the section's flags");
    } else {
      lexer_.accept('@');
      lexer_.expect_name("the section's type");
    }
  }
  if (name == "debug_str") return locations_.parse_strings(lexer_);
  if (lexer_.peek() != '{') lexer_.fail_expected("'{' that opens the section");
  lexer_.skip_braces("this section");
}

void Parser::alias() {
  const Place place = lexer_.place_of_next();
  const NameId name = names_.intern(lexer_.expect_name("the alias's name"));
  lexer_.expect(',', "between the alias and the function that it stands for");
  const Place target_place = lexer_.place_of_next();
  const NameId target = names_.intern(lexer_.expect_name("a function's name"));
  lexer_.expect(';', "after '.alias'");
  const auto function_index = [&](NameId id, Place where) {
    const Binding* binding = scopes_.find(id);
    if (binding == nullptr || binding->kind != Binding::Kind::function) {
      lexer_.fail_at(where, fmt::format("'{}' is not a function declared before", names_.text(id)));
    }
    return binding->index;
  };
  const std::int32_t from = function_index(name, place);
  const std::int32_t to = function_index(target, target_place);
  Function& function = module_.functions[static_cast<std::size_t>(from)];
  if (!function.is_declaration) {
    lexer_.fail_at(place, fmt::format("'{}' has a body and cannot be an alias", function.name));
  }
  for (std::int32_t next = to; next >= 0; next = module_.functions[static_cast<std::size_t>(next)].alias_of) {
    if (next == from) lexer_.fail_at(place, fmt::format("'{}' would be an alias of itself", function.name));
  }
  function.alias_of = to;
}

std::vector<std::string> Parser::pragma_strings() {
  std::vector<std::string> texts;
  do {
    texts.emplace_back(lexer_.expect_string("the pragma's text in quotes"));
  } while (lexer_.accept(','));
  lexer_.expect(';', "after '.pragma'");
  return texts;
}

void Parser::attribute(bool* managed) {
  lexer_.expect('(', "after '.attribute'");
  do {
    const std::string_view word = take_directive("an attribute like .managed");
    if (word == "managed" && managed != nullptr) {
      *managed = true;
    } else if (word == "unified") {
      lexer_.expect('(', "after '.unified'");
      do {
        parse_integer(lexer_, "half of the attribute's identifier");
      } while (lexer_.accept(','));
      lexer_.expect(')', "after the attribute's identifier");
    } else {
      lexer_.fail_at(directive_, fmt::format("unknown attribute '.{}'", word));
    }
  } while (lexer_.accept(','));
  lexer_.expect(')', "after the attributes");
}

void Parser::linked_declaration(Linkage linkage) {
  const std::string_view word = take_directive("'.func', '.entry' or a state space");
  if (word == "func") return function(false, linkage);
  if (word == "entry") return function(true, linkage);
  const auto space = variable_space_from(word);
  if (!space) fail_unknown_directive(word, fmt::format("after '.{}'", spelling(linkage)).c_str());
  variables(*space, linkage);
}

void Parser::function(bool is_entry, Linkage linkage) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linkage;
  function_attributes(function);
  if (lexer_.peek() == '(') {
    const Place place = lexer_.place();
    function.results = parameter_list();
    if (is_entry && !function.results.empty()) lexer_.fail_at(place, "a kernel has no results");
  }
  function_attributes(function);
  const Place place = lexer_.place_of_next();
  const NameId name = names_.intern(lexer_.expect_name("the function's name"));
  function.name = names_.text(name);
  function_header(function);
  const bool has_body = lexer_.peek() == '{';
  if (!has_body) lexer_.expect(';', "or '{' after the function's header");
  const std::int32_t index = declare_function(name, place, function, has_body);
  if (!has_body) return;
  scopes_.begin_function();
  locations_.begin_function();
  location_ = -1;
  scopes_.open();
  function_ = &function;
  bind_parameters(function);
  body();
  function_ = nullptr;
  scopes_.close();
  module_.functions[static_cast<std::size_t>(index)] = std::move(function);
}

void Parser::function_header(Function& function) {
  if (lexer_.peek() == '(') function.parameters = parameter_list();
  std::uint64_t offset = 0;
  for (Variable& parameter : function.parameters) {
    const std::uint64_t alignment = parameter.alignment;
    parameter.offset = (offset + alignment - 1) / alignment * alignment;
    offset = parameter.offset + parameter.size;
  }
  function_attributes(function);
}

std::int32_t Parser::declare_function(NameId name, Place place, Function& header, bool has_body) {
  const Binding* known = scopes_.find(name);
  std::size_t index = module_.functions.size();
  if (known == nullptr) {
    scopes_.bind(name, {Binding::Kind::function, Type::none, 1, 0, static_cast<std::int32_t>(index),
                        names_.text(name)});
    module_.functions.emplace_back();
  } else {
    if (known->kind != Binding::Kind::function) {
      lexer_.fail_at(place, fmt::format("'{}' is already declared as a variable", header.name));
    }
    index = static_cast<std::size_t>(known->index);
    const Function& before = module_.functions[index];
    if (before.alias_of >= 0) lexer_.fail_at(place, fmt::format("'{}' is already an alias", header.name));
    if (before.is_entry != header.is_entry) {
      lexer_.fail_at(place, fmt::format("'{}' is declared both as '.entry' and as '.func'", header.name));
    }
    if (has_body && !before.is_declaration) {
      lexer_.fail_at(place, fmt::format("'{}' already has a body", header.name));
    }
    if (!has_body && !before.is_declaration) return known->index;
    header.forward_declared = true;
    header.noreturn = header.noreturn || before.noreturn;
  }
  // While the body is parsed, recursive calls use this header.
  header.is_declaration = true;
  module_.functions[index] = header;
  header.is_declaration = !has_body;
  return static_cast<std::int32_t>(index);
}

void Parser::bind_parameters(Function& function) {
  const auto bind = [&](std::vector<Variable>& list, Binding::Kind kind) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      Variable& variable = list[i];
      if (variable.name == "_") continue;
      const NameId id = names_.intern(variable.name);
      Binding binding{kind, Type::none, 1, 0, static_cast<std::int32_t>(i), {}};
      if (variable.space == Space::reg) {
        binding = {Binding::Kind::reg, variable.type, static_cast<std::uint8_t>(variable.vector), 0, -1, {}};
      } else {
        binding.name = scopes_.unique(id, 1);
        variable.name = binding.name;
      }
      if (!scopes_.bind(id, binding)) {
        lexer_.fail_at(lexer_.place(), fmt::format("the parameter '{}' of '{}' is declared twice",
                                                   names_.text(id), function.name));
      }
      if (variable.space == Space::reg) {
        variable.register_index = register_index(id, *scopes_.find(id));
        variable.name = scopes_.find(id)->name;
      }
    }
  };
  bind(function.results, Binding::Kind::result);
  bind(function.parameters, Binding::Kind::parameter);
}

std::vector<std::uint32_t> Parser::up_to_three(const char* what) {
  std::vector<std::uint32_t> values;
  do {
    const Place place = lexer_.place_of_next();
    const std::int64_t value = parse_integer(lexer_, what);
    if (value < 0 || value > static_cast<std::int64_t>(kMax32)) {
      lexer_.fail_at(place, fmt::format("{} out of range: {}", what, value));
    }
    if (values.size() == 3) lexer_.fail_at(place, fmt::format("expected at most three times {}", what));
    values.push_back(static_cast<std::uint32_t>(value));
  } while (lexer_.accept(','));
  return values;
}

void Parser::function_attributes(Function& function) {
  const auto one = [&](const char* what) {
    const Place place = lexer_.place_of_next();
    const std::vector<std::uint32_t> values = up_to_three(what);
    if (values.size() != 1) lexer_.fail_at(place, fmt::format("expected only one {}", what));
    return values.front();
  };
  while (lexer_.peek() == '.') {
    const std::string_view word = take_directive("a directive");
    if (word == "maxntid") {
      function.max_threads = up_to_three("a number of threads");
    } else if (word == "reqntid") {
      function.required_threads = up_to_three("a number of threads");
    } else if (word == "reqnctapercluster") {
      function.required_cluster = up_to_three("a number of blocks");
    } else if (word == "minnctapersm") {
      function.min_blocks = one("number of blocks");
    } else if (word == "maxnctapersm") {
      function.max_blocks = one("number of blocks");
    } else if (word == "maxnreg") {
      function.max_registers = one("number of registers");
    } else if (word == "maxclusterrank") {
      function.max_cluster_rank = one("cluster rank");
    } else if (word == "explicitcluster") {
      function.explicit_cluster = true;
    } else if (word == "blocksareclusters") {
      function.blocks_are_clusters = true;
    } else if (word == "noreturn") {
      function.noreturn = true;
    } else if (word == "attribute") {
      attribute(nullptr);
    } else if (word == "pragma") {
      for (std::string& text : pragma_strings()) function.pragmas.push_back({std::move(text), -1});
    } else if (word == "abi_preserve" || word == "abi_preserve_control") {
      one("number of registers");
    } else if (!common_directive(word)) {
      fail_unknown_directive(word, "in a function's header");
    }
  }
}

}  // namespace course::ptx::detail
