// SPDX-License-Identifier: MIT
// Each module is parsed, and its functions, variables, files and locations are appended to one module, with
// larger indices. The result is printed. Names connect the parts: when the text is parsed again, only the
// `name` of a symbol operand matters.
#include "ptx/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/parser/parser.hpp"

namespace course::ptx {
namespace {

using Renamed = std::map<std::string, std::string, std::less<>>;

bool is_definition(const Variable& v) {
  return !v.is_extern;
}
bool is_definition(const Function& f) {
  return !f.is_declaration || f.alias_of >= 0;
}
bool may_repeat(Linkage linkage) {
  return linkage == Linkage::weak || linkage == Linkage::common;
}
// sm_90a → 90
int target_number(const std::string& target) {
  const auto digit = target.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::atoi(target.c_str() + digit);
}

class Linker {
 public:
  // Appends the module. Returns the error, "" if there is none.
  std::string add(Module module) {
    Renamed renamed;
    std::set<std::string> left_out;
    const auto look_at = [&](auto& symbol) -> std::string {
      if (!is_definition(symbol)) return "";
      if (symbol.linkage == Linkage::internal) {
        if (internal_.contains(symbol.name) || defined_.contains(symbol.name))
          renamed[symbol.name] = fmt::format("{}$m{}", symbol.name, n_);
        return "";
      }
      const auto known = defined_.find(symbol.name);
      if (known == defined_.end()) return "";
      if (!may_repeat(symbol.linkage) && !may_repeat(known->second))
        return fmt::format("'{}' is defined twice", symbol.name);
      left_out.insert(symbol.name);
      return "";
    };
    for (Variable& v : module.variables)
      if (std::string wrong = look_at(v); !wrong.empty()) return wrong;
    for (Function& f : module.functions)
      if (std::string wrong = look_at(f); !wrong.empty()) return wrong;
    rename(module, renamed);
    const auto note = [&](const auto& symbol) {
      if (!is_definition(symbol) || left_out.contains(symbol.name)) return;
      if (symbol.linkage == Linkage::internal)
        internal_.insert(symbol.name);
      else
        defined_.try_emplace(symbol.name, symbol.linkage);
    };
    std::for_each(module.variables.begin(), module.variables.end(), note);
    std::for_each(module.functions.begin(), module.functions.end(), note);
    append(std::move(module), left_out);
    ++n_;
    return "";
  }

  std::string text() const { return print(whole_); }

 private:
  void rename(std::string& name, const Renamed& renamed) {
    if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
  }
  void rename(Operand& operand, const Renamed& renamed, const std::set<std::string, std::less<>>& local) {
    if (const auto found = renamed.find(operand.name);
        found != renamed.end() && !local.contains(operand.name))
      operand.name = names_.emplace_back(found->second);
    for (Operand& part : operand.parts) rename(part, renamed, local);
  }
  void rename(Module& module, const Renamed& renamed) {
    if (renamed.empty()) return;
    for (Variable& v : module.variables) {
      rename(v.name, renamed);
      for (Variable::Relocation& r : v.relocations) rename(r.symbol, renamed);
    }
    for (Function& f : module.functions) {
      rename(f.name, renamed);
      std::set<std::string, std::less<>> local;  // local names, which hide the module's
      for (const auto* list : {&f.variables, &f.parameters, &f.results})
        for (const Variable& v : *list) local.insert(v.name);
      for (Variable& v : f.variables)
        for (Variable::Relocation& r : v.relocations) rename(r.symbol, renamed);
      for (Instruction& i : f.instructions)
        for (Operand& operand : i.operands) rename(operand, renamed, local);
    }
  }

  void append(Module module, const std::set<std::string>& left_out) {
    whole_.address_bits = module.address_bits;
    if (std::tie(module.version_major, module.version_minor) >
        std::tie(whole_.version_major, whole_.version_minor)) {
      whole_.version_major = module.version_major;
      whole_.version_minor = module.version_minor;
    }
    if (target_number(module.target) > target_number(whole_.target)) whole_.target = module.target;
    for (const std::string& option : module.target_options)
      if (std::find(whole_.target_options.begin(), whole_.target_options.end(), option) ==
          whole_.target_options.end())
        whole_.target_options.push_back(option);
    whole_.pragmas.insert(whole_.pragmas.end(), module.pragmas.begin(), module.pragmas.end());

    std::uint32_t first_file = 0;
    for (const Module::File& file : whole_.files) first_file = std::max(first_file, file.number + 1);
    const auto first_location = static_cast<std::int32_t>(whole_.locations.size());
    const auto first_variable = static_cast<std::int32_t>(whole_.variables.size());
    const auto first_function = static_cast<std::int32_t>(whole_.functions.size());
    for (Module::File& file : module.files)
      whole_.files.push_back({file.number + first_file, std::move(file.path)});
    for (Location& location : module.locations) {
      location.file += first_file;
      if (location.inlined_at >= 0) location.inlined_at += first_location;
      whole_.locations.push_back(location);
    }
    for (Module::Item item : module.items) {
      const bool is_variable =
          item.kind == Module::Item::Kind::variable || item.kind == Module::Item::Kind::extern_variable;
      const auto index = static_cast<std::size_t>(item.index);
      const std::string& name = is_variable ? module.variables[index].name : module.functions[index].name;
      const bool declares = item.kind == Module::Item::Kind::extern_variable ||
                            item.kind == Module::Item::Kind::function_header;
      if (left_out.contains(name) && !declares) continue;
      item.index += is_variable ? first_variable : first_function;
      whole_.items.push_back(item);
    }
    for (Function& f : module.functions) {
      if (f.alias_of >= 0) f.alias_of += first_function;
      for (Instruction& i : f.instructions)
        if (i.location >= 0) i.location += first_location;
      for (CallTargets& targets : f.call_targets)
        for (std::int32_t& target : targets.functions) target += first_function;
    }
    std::move(module.variables.begin(), module.variables.end(), std::back_inserter(whole_.variables));
    std::move(module.functions.begin(), module.functions.end(), std::back_inserter(whole_.functions));
    storage_.push_back(module.storage);
  }

  Module whole_;
  std::vector<std::shared_ptr<const void>> storage_;  // the storage of the appended modules' views
  std::deque<std::string> names_;
  std::map<std::string, Linkage, std::less<>> defined_;
  std::set<std::string, std::less<>> internal_;
  int n_ = 1;
};

}  // namespace

Result<std::string> link(std::span<const std::string> texts) {
  Linker linker;
  for (const std::string& text : texts) {
    auto module = parse(text);
    if (!module) return module.error();
    if (const std::string wrong = linker.add(std::move(*module)); !wrong.empty()) return Error{wrong};
  }
  return linker.text();
}

}  // namespace course::ptx
