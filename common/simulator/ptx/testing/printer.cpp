// SPDX-License-Identifier: MIT
// See printer.hpp. Read BodyPrinter::print first: it goes through the instructions and, before
// each, closes and opens the blocks of its variables and prints labels, tables, pragmas and .loc directives.
// Invariant: the text parses to an equal module, except for line numbers of the text, locations that no
// instruction has, and the extents of arrays with several dimensions.
#include "ptx/testing/printer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

namespace course::ptx {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kBytesPerLine = 32;

std::string_view label_at(const Function& function, std::int32_t index) {
  const auto found =
      std::lower_bound(function.labels.begin(), function.labels.end(), index,
                       [](const Function::Label& label, std::int32_t at) { return label.at < at; });
  if (found == function.labels.end() || found->at != index) return "<no label>";
  return found->name;
}

std::string_view register_name(const Function& function, std::int32_t index) {
  return function.registers[static_cast<std::size_t>(index)].name;
}

void print_operand(std::string& text, const Function& function, const Operand& operand);

void print_parts(std::string& text, const Function& function, const std::vector<Operand>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += ", ";
    print_operand(text, function, parts[i]);
  }
}

void print_address(std::string& text, const Function& function, const Operand& operand) {
  const bool indexed = operand.index >= 0 && !operand.name.empty();
  if (indexed) text += operand.name;
  text += '[';
  if (operand.index >= 0) {
    text += register_name(function, operand.index);
  } else {
    text += operand.name;
  }
  if (operand.index < 0 && operand.name.empty()) {
    fmt::format_to(Out(text), "{}", operand.integer);
  } else if (operand.integer != 0) {
    fmt::format_to(Out(text), "+{}", operand.integer);
  }
  if (!operand.parts.empty()) text += ", ";
  print_parts(text, function, operand.parts);
  text += ']';
}

void print_operand(std::string& text, const Function& function, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::none: break;
    case Operand::Kind::reg: {
      const bool predicate = function.registers[static_cast<std::size_t>(operand.index)].type == Type::pred;
      if (operand.negated) text += predicate ? '!' : '-';
      text += register_name(function, operand.index);
      if (!operand.name.empty()) fmt::format_to(Out(text), ".{}", operand.name);
      if (operand.integer != 0) fmt::format_to(Out(text), "+{}", operand.integer);
      break;
    }
    case Operand::Kind::special: text += operand.name; break;
    case Operand::Kind::integer: fmt::format_to(Out(text), "{}", operand.integer); break;
    case Operand::Kind::real32:
      fmt::format_to(Out(text), "0f{:08X}", static_cast<std::uint32_t>(operand.integer));
      break;
    case Operand::Kind::real64:
      fmt::format_to(Out(text), "0d{:016X}", static_cast<std::uint64_t>(operand.integer));
      break;
    case Operand::Kind::symbol:
      text += operand.name;
      if (operand.integer != 0) fmt::format_to(Out(text), "+{}", operand.integer);
      break;
    case Operand::Kind::address: print_address(text, function, operand); break;
    case Operand::Kind::vector:
      text += '{';
      print_parts(text, function, operand.parts);
      text += '}';
      break;
    case Operand::Kind::label:
      // Use the label's own name, since several labels may have the same position.
      text += operand.symbol >= 0
                  ? std::string_view(function.labels[static_cast<std::size_t>(operand.symbol)].name)
                  : label_at(function, operand.index);
      break;
    case Operand::Kind::pair:
      print_operand(text, function, operand.parts[0]);
      text += '|';
      print_operand(text, function, operand.parts[1]);
      break;
    case Operand::Kind::sink: text += '_'; break;
    case Operand::Kind::list:
      text += '(';
      print_parts(text, function, operand.parts);
      text += ')';
      break;
  }
}

void print_instruction(std::string& text, const Function& function, const Instruction& instruction) {
  if (instruction.guard >= 0) {
    fmt::format_to(Out(text), "@{}{} ", instruction.guard_negated ? "!" : "",
                   register_name(function, instruction.guard));
  }
  text += instruction.opcode;
  for (const std::string_view modifier : instruction.modifiers) {
    text += '.';
    text += modifier;
  }
  if (!instruction.operands.empty()) text += ' ';
  print_parts(text, function, instruction.operands);
  text += ';';
}

// --- declarations ---

std::uint64_t unit_bytes(const Variable& variable) {
  return static_cast<std::uint64_t>(bits_of(variable.type)) / 8 * static_cast<std::uint64_t>(variable.vector);
}

// Prints everything except the initial value.
void print_variable_head(std::string& text, const Variable& variable) {
  fmt::format_to(Out(text), ".{} ", spelling(variable.space));
  if (variable.managed) text += ".attribute(.managed) ";
  if (variable.space != Space::reg && variable.alignment != unit_bytes(variable)) {
    fmt::format_to(Out(text), ".align {} ", variable.alignment);
  }
  if (variable.vector != 1) fmt::format_to(Out(text), ".v{} ", variable.vector);
  fmt::format_to(Out(text), ".{} ", spelling(variable.type));
  if (variable.is_pointer) {
    text += ".ptr ";
    if (variable.pointee_space != Space::generic)
      fmt::format_to(Out(text), ".{} ", spelling(variable.pointee_space));
    if (variable.pointee_alignment != 0) fmt::format_to(Out(text), ".align {} ", variable.pointee_alignment);
  }
  text += variable.name;
  if (!variable.is_array) return;
  if (variable.size == 0 && (variable.is_extern || variable.space == Space::param)) {
    text += "[]";
  } else {
    fmt::format_to(Out(text), "[{}]", variable.size / unit_bytes(variable));
  }
}

void print_relocation(std::string& text, const Variable::Relocation& relocation) {
  const bool masked = relocation.bytes == 1;
  if (masked) fmt::format_to(Out(text), "{:#x}(", std::uint64_t{0xFF} << relocation.shift);
  text += relocation.generic ? fmt::format("generic({})", relocation.symbol) : relocation.symbol;
  if (relocation.addend != 0) fmt::format_to(Out(text), "+{}", relocation.addend);
  if (masked) text += ')';
}

void print_initial_value(std::string& text, const Variable& variable) {
  if (variable.initial.empty()) return;
  const auto bytes = static_cast<std::size_t>(bits_of(variable.type)) / 8;
  const std::size_t elements = variable.initial.size() / bytes;
  const auto vector = static_cast<std::size_t>(variable.vector);
  const bool rows = variable.is_array && vector > 1;
  const bool braces = variable.is_array || vector > 1;
  auto relocation = variable.relocations.begin();
  text += braces ? " = {" : " = ";
  for (std::size_t i = 0; i < elements; ++i) {
    if (i != 0) text += i % kBytesPerLine == 0 ? ",\n  " : ", ";
    if (rows && i % vector == 0) text += '{';
    std::uint64_t bits = 0;
    for (std::size_t b = std::min<std::size_t>(bytes, 8); b-- > 0;)
      bits = bits << 8 | variable.initial[i * bytes + b];
    while (relocation != variable.relocations.end() && relocation->offset < i * bytes) ++relocation;
    if (relocation != variable.relocations.end() && relocation->offset == i * bytes) {
      print_relocation(text, *relocation);
    } else if (variable.type == Type::f32) {
      fmt::format_to(Out(text), "0f{:08X}", bits);
    } else if (variable.type == Type::f64) {
      fmt::format_to(Out(text), "0d{:016X}", bits);
    } else {
      fmt::format_to(Out(text), "{}", bits);
    }
    if (rows && (i % vector == vector - 1 || i + 1 == elements)) text += '}';
  }
  if (braces) text += '}';
}

void print_linkage(std::string& text, Linkage linkage) {
  if (linkage != Linkage::internal) fmt::format_to(Out(text), ".{} ", spelling(linkage));
}

void print_parameters(std::string& text, const std::vector<Variable>& parameters) {
  text += '(';
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0) text += ", ";
    print_variable_head(text, parameters[i]);
  }
  text += ')';
}

void print_sizes(std::string& text, const char* directive, const std::vector<std::uint32_t>& values) {
  if (!values.empty()) fmt::format_to(Out(text), "\n.{} {}", directive, fmt::join(values, ", "));
}

void print_size(std::string& text, const char* directive, const std::optional<std::uint32_t>& value) {
  if (value) fmt::format_to(Out(text), "\n.{} {}", directive, *value);
}

void print_header(std::string& text, const Function& function) {
  print_linkage(text, function.linkage);
  text += function.is_entry ? ".entry " : ".func ";
  if (!function.results.empty()) {
    print_parameters(text, function.results);
    text += ' ';
  }
  text += function.name;
  print_parameters(text, function.parameters);
  print_sizes(text, "maxntid", function.max_threads);
  print_sizes(text, "reqntid", function.required_threads);
  print_sizes(text, "reqnctapercluster", function.required_cluster);
  print_size(text, "minnctapersm", function.min_blocks);
  print_size(text, "maxnctapersm", function.max_blocks);
  print_size(text, "maxnreg", function.max_registers);
  print_size(text, "maxclusterrank", function.max_cluster_rank);
  if (function.explicit_cluster) text += "\n.explicitcluster";
  if (function.blocks_are_clusters) text += "\n.blocksareclusters";
  if (function.noreturn) text += "\n.noreturn";
}

// --- registers ---

// Splits a name into prefix and number: "%rd" and 12. Without a number, `number` is 0.
struct Numbered {
  std::string_view prefix;
  std::uint64_t number = 0;
  bool is_numbered = false;
};

Numbered split_number(std::string_view name) {
  constexpr std::size_t kMaxDigits = 9;
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  const std::string_view number = name.substr(name.size() - digits);
  const bool fits = digits != 0 && digits <= kMaxDigits && (digits == 1 || number.front() != '0');
  if (!fits || name.front() != '%') return {name};
  Numbered split{name.substr(0, name.size() - digits), 0, true};
  for (const char c : number) split.number = split.number * 10 + static_cast<std::uint64_t>(c - '0');
  return split;
}

std::vector<bool> parameter_registers(const Function& function) {
  std::vector<bool> marks(function.registers.size(), false);
  for (const auto* list : {&function.results, &function.parameters}) {
    for (const Variable& variable : *list) {
      for (std::int32_t i = 0; variable.register_index >= 0 && i < variable.vector; ++i) {
        const std::int32_t index = variable.register_index + i;
        marks[static_cast<std::size_t>(index)] = true;
      }
    }
  }
  return marks;
}

// Prints `.reg .b32 %r<10>` if all registers with that prefix have the same type, else one line per register.
void print_registers(std::string& text, const Function& function) {
  struct Prefix {
    Type type;
    std::uint64_t count = 0;
    bool mixed = false;
  };
  std::map<std::string_view, Prefix> prefixes;
  const std::vector<bool> declared = parameter_registers(function);
  for (const Register& reg : function.registers) {
    const Numbered split = split_number(reg.name);
    if (!split.is_numbered) continue;
    Prefix& prefix = prefixes.try_emplace(split.prefix, Prefix{reg.type}).first->second;
    prefix.mixed = prefix.mixed || prefix.type != reg.type;
    prefix.count = std::max(prefix.count, split.number + 1);
  }
  for (const auto& [name, prefix] : prefixes) {
    if (!prefix.mixed)
      fmt::format_to(Out(text), "  .reg .{} {}<{}>;\n", spelling(prefix.type), name, prefix.count);
  }
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    const Register& reg = function.registers[i];
    const Numbered split = split_number(reg.name);
    if (declared[i] || (split.is_numbered && !prefixes[split.prefix].mixed)) continue;
    const std::size_t dot = reg.name.rfind('.');
    if (dot == std::string::npos) {
      fmt::format_to(Out(text), "  .reg .{} {};\n", spelling(reg.type), reg.name);
      continue;
    }
    const std::string_view base = std::string_view(reg.name).substr(0, dot + 1);
    std::size_t width = 1;
    while (i + width < function.registers.size() && function.registers[i + width].name.starts_with(base))
      ++width;
    fmt::format_to(Out(text), "  .reg .v{} .{} {};\n", width, spelling(reg.type), base.substr(0, dot));
    i += width - 1;
  }
}

// --- locations ---

// Prints .loc directives so that the parser finds every call site: the last location at its position.
class LocationPrinter {
 public:
  explicit LocationPrinter(const Module& module) : module_(module) {}

  void begin_function() {
    latest_.clear();
    current_ = -1;
  }

  void print(std::string& text, std::int32_t index) {
    if (index < 0 || index == current_) return;
    current_ = index;
    print_chain(text, index);
  }

  void print_strings(std::string& text) const {
    if (names_.empty()) return;
    text += "\n.section .debug_str\n{\n";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      fmt::format_to(Out(text), "$L__info_string{}:\n", i);
      std::string bytes(names_[i]);
      bytes += '\0';
      for (std::size_t b = 0; b < bytes.size(); ++b) {
        text += b % kBytesPerLine != 0 ? "," : b == 0 ? ".b8 " : "\n.b8 ";
        fmt::format_to(Out(text), "{}", static_cast<unsigned>(static_cast<unsigned char>(bytes[b])));
      }
      text += '\n';
    }
    text += "}\n";
  }

 private:
  using Position = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  void print_chain(std::string& text, std::int32_t index) {
    // Outermost first: every caller must be the last location printed at its position.
    std::vector<std::int32_t> chain;
    for (std::int32_t i = index; i >= 0; i = at(i).inlined_at) chain.push_back(i);
    for (std::size_t i = chain.size(); i-- > 0;) {
      const Location& location = at(chain[i]);
      const Position position{location.file, location.line, location.column};
      const auto known = latest_.find(position);
      if (i != 0 && known != latest_.end() && known->second == chain[i]) continue;
      latest_[position] = chain[i];
      print_one(text, location);
    }
  }

  void print_one(std::string& text, const Location& location) {
    fmt::format_to(Out(text), "  .loc {} {} {}", location.file, location.line, location.column);
    if (!location.function.empty()) {
      const auto [entry, is_new] = name_index_.try_emplace(location.function, names_.size());
      if (is_new) names_.push_back(location.function);
      fmt::format_to(Out(text), ", function_name $L__info_string{}", entry->second);
    }
    if (location.inlined_at >= 0) {
      const Location& site = at(location.inlined_at);
      fmt::format_to(Out(text), ", inlined_at {} {} {}", site.file, site.line, site.column);
    }
    text += '\n';
  }

  const Location& at(std::int32_t index) const { return module_.locations[static_cast<std::size_t>(index)]; }

  const Module& module_;
  std::map<Position, std::int32_t> latest_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> name_index_;
  std::int32_t current_ = -1;
};

// --- bodies ---

class BodyPrinter {
 public:
  BodyPrinter(std::string& text, const Module& module, const Function& function, LocationPrinter& locations)
      : text_(text), module_(module), function_(function), locations_(locations) {}

  void print() {
    text_ += "\n{\n";
    print_registers(text_, function_);
    print_call_tables();
    locations_.begin_function();
    const auto count = static_cast<std::int32_t>(function_.instructions.size());
    for (std::int32_t i = 0; i <= count; ++i) {
      close_blocks(i);
      for (; label_ < function_.labels.size() && function_.labels[label_].at == i; ++label_) {
        fmt::format_to(Out(text_), "{}:\n", function_.labels[label_].name);
      }
      print_variables(i);
      print_branch_targets(i, {i, i});
      print_pragmas(i);
      if (i == count) break;
      const Instruction& instruction = function_.instructions[static_cast<std::size_t>(i)];
      locations_.print(text_, instruction.location);
      text_ += "  ";
      print_instruction(text_, function_, instruction);
      text_ += '\n';
    }
    text_ += "}\n";
  }

 private:
  struct Block {
    std::int32_t begin, end;
    bool operator==(const Block&) const = default;
  };

  void close_blocks(std::int32_t at) {
    while (!open_.empty() && open_.back().end == at) {
      text_ += "  }\n";
      open_.pop_back();
    }
  }

  // Variables are in the order of the text, so the block of the next one is already open, opens here, or
  // opens later.
  void print_variables(std::int32_t at) {
    for (; variable_ < function_.variables.size(); ++variable_) {
      const Variable& variable = function_.variables[variable_];
      const Block block{variable.scope_begin, variable.scope_end};
      const bool outermost = variable.scope_end < 0;
      if (!open_.empty() && !(open_.back() == block)) close_blocks(at);
      if (outermost ? !open_.empty() : (open_.empty() || !(open_.back() == block))) {
        if (outermost || block.begin != at) break;
        print_branch_targets(at, block);
        text_ += "  {\n";
        open_.push_back(block);
      }
      text_ += "  ";
      print_linkage(text_, variable.linkage);
      print_variable_head(text_, variable);
      print_initial_value(text_, variable);
      text_ += ";\n";
    }
    close_blocks(at);
  }

  // Names are unique in the function, so all prototypes and call targets are printed at its start.
  void print_call_tables() {
    for (const Prototype& prototype : function_.prototypes) {
      fmt::format_to(Out(text_), "  {}: .callprototype ", prototype.name);
      print_parameters(text_, prototype.results);
      text_ += " _ ";
      print_parameters(text_, prototype.parameters);
      text_ += prototype.noreturn ? " .noreturn;\n" : ";\n";
    }
    for (const CallTargets& table : function_.call_targets) {
      fmt::format_to(Out(text_), "  {}: .calltargets ", table.name);
      for (std::size_t i = 0; i < table.functions.size(); ++i) {
        if (i != 0) text_ += ", ";
        text_ += module_.functions[static_cast<std::size_t>(table.functions[i])].name;
      }
      text_ += ";\n";
    }
  }

  // Prints the jump tables at this position. A table before a block must also be visible after it, so it is
  // printed outside the block unless it refers to a label inside.
  void print_branch_targets(std::int32_t at, Block opening) {
    for (; branch_ < function_.branch_targets.size() && function_.branch_targets[branch_].at == at;
         ++branch_) {
      const BranchTargets& table = function_.branch_targets[branch_];
      const bool needs_block =
          std::any_of(table.targets.begin(), table.targets.end(),
                      [&](std::int32_t target) { return opening.begin < target && target < opening.end; });
      if (needs_block) return;
      fmt::format_to(Out(text_), "  {}: .branchtargets ", table.name);
      for (std::size_t i = 0; i < table.targets.size(); ++i) {
        if (i != 0) text_ += ", ";
        text_ += label_at(function_, table.targets[i]);
      }
      text_ += ";\n";
    }
  }

  void print_pragmas(std::int32_t at) {
    for (; pragma_ < function_.pragmas.size() && function_.pragmas[pragma_].at <= at; ++pragma_) {
      if (function_.pragmas[pragma_].at == at) {
        fmt::format_to(Out(text_), "  .pragma \"{}\";\n", function_.pragmas[pragma_].text);
      }
    }
  }

  std::string& text_;
  const Module& module_;
  const Function& function_;
  LocationPrinter& locations_;
  std::vector<Block> open_;
  // The number of elements of each list that have been printed.
  std::size_t label_ = 0, variable_ = 0, branch_ = 0, pragma_ = 0;
};

void print_item(std::string& text, const Module& module, const Module::Item& item,
                LocationPrinter& locations) {
  const auto index = static_cast<std::size_t>(item.index);
  switch (item.kind) {
    case Module::Item::Kind::extern_variable:
      text += ".extern ";
      print_variable_head(text, module.variables[index]);
      text += ";\n";
      break;
    case Module::Item::Kind::variable:
      print_linkage(text, module.variables[index].linkage);
      print_variable_head(text, module.variables[index]);
      print_initial_value(text, module.variables[index]);
      text += ";\n";
      break;
    case Module::Item::Kind::function_header:
      print_header(text, module.functions[index]);
      text += ";\n";
      break;
    case Module::Item::Kind::function_body:
      text += '\n';
      print_header(text, module.functions[index]);
      for (const Pragma& pragma : module.functions[index].pragmas) {
        if (pragma.at < 0) fmt::format_to(Out(text), "\n.pragma \"{}\";", pragma.text);
      }
      BodyPrinter(text, module, module.functions[index], locations).print();
      break;
    case Module::Item::Kind::alias:
      fmt::format_to(Out(text), ".alias {}, {};\n", module.functions[index].name,
                     module.functions[static_cast<std::size_t>(module.functions[index].alias_of)].name);
      break;
  }
}

}  // namespace

std::string print(const Module& module) {
  std::string text = fmt::format(".version {}.{}\n", module.version_major, module.version_minor);
  if (!module.target.empty()) {
    fmt::format_to(Out(text), ".target {}", module.target);
    for (const std::string& option : module.target_options) fmt::format_to(Out(text), ", {}", option);
    text += '\n';
  }
  fmt::format_to(Out(text), ".address_size {}\n", module.address_bits);
  for (const std::string& pragma : module.pragmas) fmt::format_to(Out(text), ".pragma \"{}\";\n", pragma);
  for (const Module::File& file : module.files)
    fmt::format_to(Out(text), ".file {} \"{}\"\n", file.number, file.path);
  text += '\n';
  LocationPrinter locations(module);
  for (const Module::Item& item : module.items) print_item(text, module, item, locations);
  locations.print_strings(text);
  return text;
}

std::string print(const Function& function, const Instruction& instruction) {
  std::string text;
  print_instruction(text, function, instruction);
  return text;
}

}  // namespace course::ptx
