// SPDX-License-Identifier: MIT
// See equality.hpp. One Comparison goes through both modules in parallel and stops at the first difference.
#include "ptx/testing/equality.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace course::ptx {
namespace {

class Comparison {
 public:
  Comparison(const Module& left, const Module& right) : left_(left), right_(right) {}

  std::string run() {
    compare("version", left_.version_major, right_.version_major);
    compare("version", left_.version_minor, right_.version_minor);
    compare("target", left_.target, right_.target);
    list("target options", left_.target_options, right_.target_options);
    compare("address size", left_.address_bits, right_.address_bits);
    list("files", left_.files, right_.files);
    list("pragmas", left_.pragmas, right_.pragmas);
    list("variables", left_.variables, right_.variables);
    list("functions", left_.functions, right_.functions);
    list("items", left_.items, right_.items);
    return difference_;
  }

 private:
  template <typename T>
  void compare(const char* what, const T& a, const T& b) {
    if (!difference_.empty() || a == b) return;
    if constexpr (std::is_enum_v<T>) {
      report(what, fmt::format("{}", static_cast<int>(a)), fmt::format("{}", static_cast<int>(b)));
    } else {
      report(what, fmt::format("{}", a), fmt::format("{}", b));
    }
  }

  template <typename List>
  void list(const char* what, const List& a, const List& b) {
    compare(fmt::format("number of {}", what).c_str(), a.size(), b.size());
    for (std::size_t i = 0; i < a.size() && difference_.empty(); ++i) {
      const std::string before = where_;
      where_ += fmt::format("{}[{}] ", what, i);
      element(a[i], b[i]);
      where_ = before;
    }
  }

  template <typename T>
  void element(const T& a, const T& b) {
    compare("value", a, b);
  }
  void element(const Module::File& a, const Module::File& b) {
    compare("number", a.number, b.number);
    compare("path", a.path, b.path);
  }
  void element(const Module::Item& a, const Module::Item& b) {
    compare("kind", a.kind, b.kind);
    compare("index", a.index, b.index);
  }
  void element(const Register& a, const Register& b) {
    compare("name", a.name, b.name);
    compare("type", a.type, b.type);
  }
  void element(const Pragma& a, const Pragma& b) {
    compare("text", a.text, b.text);
    compare("place", a.at, b.at);
  }
  void element(const Function::Label& a, const Function::Label& b) {
    compare("name", a.name, b.name);
    compare("place", a.at, b.at);
  }
  void element(const BranchTargets& a, const BranchTargets& b) {
    compare("name", a.name, b.name);
    compare("place", a.at, b.at);
    list("targets", a.targets, b.targets);
  }
  void element(const CallTargets& a, const CallTargets& b) {
    compare("name", a.name, b.name);
    list("functions", a.functions, b.functions);
  }
  void element(const Prototype& a, const Prototype& b) {
    compare("name", a.name, b.name);
    list("results", a.results, b.results);
    list("parameters", a.parameters, b.parameters);
    compare("noreturn", a.noreturn, b.noreturn);
  }
  void element(const Variable::Relocation& a, const Variable::Relocation& b) {
    compare("offset", a.offset, b.offset);
    compare("symbol", a.symbol, b.symbol);
    compare("addend", a.addend, b.addend);
    compare("generic", a.generic, b.generic);
    compare("bytes", a.bytes, b.bytes);
    compare("shift", a.shift, b.shift);
  }
  void element(const Variable& a, const Variable& b) {
    compare("name", a.name, b.name);
    compare("space", a.space, b.space);
    compare("linkage", a.linkage, b.linkage);
    compare("type", a.type, b.type);
    compare("alignment", a.alignment, b.alignment);
    compare("size", a.size, b.size);
    compare("offset", a.offset, b.offset);
    compare("register", a.register_index, b.register_index);
    compare("vector", a.vector, b.vector);
    compare("is_array", a.is_array, b.is_array);
    compare("is_extern", a.is_extern, b.is_extern);
    compare("managed", a.managed, b.managed);
    compare("is_pointer", a.is_pointer, b.is_pointer);
    compare("pointee's space", a.pointee_space, b.pointee_space);
    compare("pointee's alignment", a.pointee_alignment, b.pointee_alignment);
    compare("scope's begin", a.scope_begin, b.scope_begin);
    compare("scope's end", a.scope_end, b.scope_end);
    list("initial bytes", a.initial, b.initial);
    list("relocations", a.relocations, b.relocations);
  }
  void element(const Operand& a, const Operand& b) {
    compare("kind", a.kind, b.kind);
    compare("negated", a.negated, b.negated);
    compare("table", a.table, b.table);
    compare("index", a.index, b.index);
    compare("symbol", a.symbol, b.symbol);
    compare("integer", a.integer, b.integer);
    compare("name", a.name, b.name);
    list("parts", a.parts, b.parts);
  }
  void element(const Instruction& a, const Instruction& b) {
    compare("opcode", a.full_opcode(), b.full_opcode());
    list("types", a.types, b.types);
    compare("guard", a.guard, b.guard);
    compare("guard's sign", a.guard_negated, b.guard_negated);
    list("operands", a.operands, b.operands);
    locations(a.location, b.location);
  }
  void element(const Function& a, const Function& b) {
    where_ += fmt::format("'{}' ", a.name);
    compare("name", a.name, b.name);
    compare("linkage", a.linkage, b.linkage);
    compare("is_entry", a.is_entry, b.is_entry);
    compare("is_declaration", a.is_declaration, b.is_declaration);
    compare("forward_declared", a.forward_declared, b.forward_declared);
    compare("noreturn", a.noreturn, b.noreturn);
    compare("alias_of", a.alias_of, b.alias_of);
    list("results", a.results, b.results);
    list("parameters", a.parameters, b.parameters);
    list("registers", a.registers, b.registers);
    list("variables", a.variables, b.variables);
    list("labels", a.labels, b.labels);
    list("branch targets", a.branch_targets, b.branch_targets);
    list("call targets", a.call_targets, b.call_targets);
    list("prototypes", a.prototypes, b.prototypes);
    list("pragmas", a.pragmas, b.pragmas);
    list("max_threads", a.max_threads, b.max_threads);
    list("required_threads", a.required_threads, b.required_threads);
    list("required_cluster", a.required_cluster, b.required_cluster);
    compare("min_blocks", a.min_blocks.value_or(0), b.min_blocks.value_or(0));
    compare("max_blocks", a.max_blocks.value_or(0), b.max_blocks.value_or(0));
    compare("max_registers", a.max_registers.value_or(0), b.max_registers.value_or(0));
    compare("max_cluster_rank", a.max_cluster_rank.value_or(0), b.max_cluster_rank.value_or(0));
    compare("explicit_cluster", a.explicit_cluster, b.explicit_cluster);
    compare("blocks_are_clusters", a.blocks_are_clusters, b.blocks_are_clusters);
    list("instructions", a.instructions, b.instructions);
  }

  void locations(std::int32_t a, std::int32_t b) {
    while (a >= 0 && b >= 0 && difference_.empty()) {
      const Location& x = left_.locations[static_cast<std::size_t>(a)];
      const Location& y = right_.locations[static_cast<std::size_t>(b)];
      compare("location's file", x.file, y.file);
      compare("location's line", x.line, y.line);
      compare("location's column", x.column, y.column);
      compare("location's function", x.function, y.function);
      a = x.inlined_at;
      b = y.inlined_at;
    }
    compare("has a location", a >= 0, b >= 0);
  }

  void report(const char* what, const std::string& a, const std::string& b) {
    difference_ = fmt::format("{}{}: {} / {}", where_, what, a, b);
  }

  const Module& left_;
  const Module& right_;
  std::string where_;
  std::string difference_;
};

}  // namespace

std::string first_difference(const Module& left, const Module& right) {
  return Comparison(left, right).run();
}

}  // namespace course::ptx
