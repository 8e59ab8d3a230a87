// SPDX-License-Identifier: MIT
// Each module is parsed, and its variables, functions, files and locations are appended to one module. Names
// connect the parts: `place` contains, for each symbol of a module, its index in the linked one, and fix()
// replaces the indices in what was appended.
#include "ptx/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/parser/parser.hpp"

namespace course::ptx {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;
using Places = std::vector<std::int32_t>;

bool is_definition(const Variable& v) {
  return !v.is_extern;
}
bool is_definition(const Function& f) {
  return !f.is_declaration || f.alias_of >= 0;
}
template <typename Symbol>
bool is_private(const Symbol& symbol) {
  return symbol.linkage == Linkage::internal && is_definition(symbol);
}
bool may_repeat(Linkage linkage) {
  return linkage == Linkage::weak || linkage == Linkage::common;
}
// sm_90a → 90
int target_number(const std::string& target) {
  const auto digit = target.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::atoi(target.c_str() + digit);
}
void rename_relocations(std::vector<Variable>& variables, const Names& renamed) {
  for (Variable& v : variables)
    for (Variable::Relocation& r : v.relocations)
      if (const auto found = renamed.find(r.symbol); found != renamed.end()) r.symbol = found->second;
}

class Linker {
 public:
  explicit Linker(const std::vector<Module>& modules) {
    const auto note = [&](const auto& symbol) {
      if (!is_private(symbol)) names_.insert(symbol.name);
    };
    for (const Module& module : modules) {
      std::for_each(module.variables.begin(), module.variables.end(), note);
      std::for_each(module.functions.begin(), module.functions.end(), note);
    }
  }

  // Appends the module. Returns the error, "" if there is none.
  std::string add(Module module) {
    const Names renamed = rename_private(module);
    const std::int32_t first_location = append_header(module);
    rename_relocations(module.variables, renamed);
    Places variables, functions;
    std::vector<std::size_t> taken;
    if (auto wrong = append(module.variables, whole_.variables, variables, nullptr); !wrong.empty())
      return wrong;
    if (auto wrong = append(module.functions, whole_.functions, functions, &taken); !wrong.empty())
      return wrong;
    for (const std::size_t index : taken) {
      Function& f = whole_.functions[index];
      rename_relocations(f.variables, renamed);
      if (f.alias_of >= 0) f.alias_of = functions[static_cast<std::size_t>(f.alias_of)];
      for (CallTargets& targets : f.call_targets)
        for (std::int32_t& target : targets.functions) target = functions[static_cast<std::size_t>(target)];
      for (Instruction& i : f.instructions) {
        if (i.location >= 0) i.location += first_location;
        i.form += whole_.forms;
        for (Operand& operand : i.operands) fix(operand, variables, functions);
      }
    }
    whole_.forms += module.forms;
    storage_->modules.push_back(module.storage);
    return "";
  }

  Module finish() {
    whole_.storage = storage_;
    return std::move(whole_);
  }

 private:
  struct Storage {
    std::vector<std::shared_ptr<const void>> modules;
    std::deque<std::string> names;
  };

  Names rename_private(Module& module) {
    Names renamed;
    ++n_;
    const auto rename = [&](auto& symbol) {
      if (!is_private(symbol) || names_.insert(symbol.name).second) return;
      const std::string name = fmt::format("{}$m{}", symbol.name, n_);
      names_.insert(name);
      renamed[std::exchange(symbol.name, name)] = name;
    };
    std::for_each(module.variables.begin(), module.variables.end(), rename);
    std::for_each(module.functions.begin(), module.functions.end(), rename);
    return renamed;
  }

  // Version, target, files and locations. Returns the index of the module's first location.
  std::int32_t append_header(Module& module) {
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
    for (Module::File& file : module.files)
      whole_.files.push_back({file.number + first_file, std::move(file.path)});
    for (Location& location : module.locations) {
      location.file += first_file;
      if (location.inlined_at >= 0) location.inlined_at += first_location;
      whole_.locations.push_back(location);
    }
    return first_location;
  }

  // `taken`: gets the indices in `all` of the symbols that were moved there.
  template <typename Symbol>
  std::string append(std::vector<Symbol>& symbols, std::vector<Symbol>& all, Places& place,
                     std::vector<std::size_t>* taken) {
    for (Symbol& symbol : symbols) {
      const bool is_function = std::is_same_v<Symbol, Function>;
      const auto [known, is_new] = known_.try_emplace(symbol.name, is_function, all.size());
      const auto [of_function, index] = known->second;
      if (of_function != is_function)
        return fmt::format("'{}' is a variable in one part and a function in another", symbol.name);
      place.push_back(static_cast<std::int32_t>(index));
      if (is_new) {
        all.push_back(std::move(symbol));
      } else {
        if (!is_definition(symbol)) continue;
        Symbol& before = all[index];
        if (is_definition(before)) {
          const bool is_weak = may_repeat(symbol.linkage), was_weak = may_repeat(before.linkage);
          if (!is_weak && !was_weak) return fmt::format("'{}' is defined twice", symbol.name);
          if (is_weak || !was_weak) continue;
        }
        before = std::move(symbol);
      }
      if (taken != nullptr) taken->push_back(index);
    }
    return "";
  }

  void fix(Operand& operand, const Places& variables, const Places& functions) {
    const auto move_to = [&](const auto& all, const Places& place) {
      operand.symbol = place[static_cast<std::size_t>(operand.symbol)];
      const std::string& name = all[static_cast<std::size_t>(operand.symbol)].name;
      if (operand.name != name) operand.name = storage_->names.emplace_back(name);
    };
    if (operand.table == Operand::Table::variable) move_to(whole_.variables, variables);
    if (operand.table == Operand::Table::function) move_to(whole_.functions, functions);
    for (Operand& part : operand.parts) fix(part, variables, functions);
  }

  Module whole_;
  std::shared_ptr<Storage> storage_ = std::make_shared<Storage>();          // of the parts' views
  std::set<std::string, std::less<>> names_;                                // in use
  std::map<std::string, std::pair<bool, std::size_t>, std::less<>> known_;  // (is a function, index)
  int n_ = 0;
};

}  // namespace

Result<Module> link(std::span<const std::string> texts) {
  std::vector<Module> modules;
  for (const std::string& text : texts) {
    auto module = parse(text);
    if (!module) return module.error();
    modules.push_back(std::move(*module));
  }
  Linker linker(modules);
  for (Module& module : modules)
    if (const std::string wrong = linker.add(std::move(module)); !wrong.empty()) return Error{wrong};
  return linker.finish();
}

}  // namespace course::ptx
