// SPDX-License-Identifier: MIT
// The meaning of names at the current position: registers, variables, functions, through nested blocks; and
// their names in the flattened function.
// Invariant: bindings_[id] is the innermost meaning of a name; log_[depth] undoes the bindings of a scope.
// Depth 0 is the module, 1 a function with its parameters, 2 and more the blocks in its body.
// Source: PTX ISA 4.3.2 "Identifiers", 5.4.6 "Parameterized Variable Names".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"
#include "ptx/names.hpp"

namespace course::ptx::detail {

struct Binding {
  enum class Kind : std::uint8_t { none, reg, parameter, result, local, variable, function };
  Kind kind = Kind::none;
  Type type = Type::none;  // of a register
  std::uint8_t width = 1;  // of a vector register
  std::uint16_t depth = 0;
  std::int32_t index = -1;  // into the table of its kind; a register that has not occurred yet has -1
  std::string_view name;    // in the flattened function; for a register only valid if it has an index
};

class Scopes {
 public:
  explicit Scopes(NameTable& names) : names_(names) {}

  void open();
  void close();
  std::uint16_t depth() const { return depth_; }
  void begin_function() { ++function_serial_; }

  // Returns false if the name is already bound in this scope.
  bool bind(NameId id, Binding binding);
  // Declares the registers prefix0 to prefix<count - 1>; false if the prefix already has a range in this
  // scope.
  bool bind_range(NameId prefix, std::uint64_t count, Type type, std::uint8_t width);
  // The innermost meaning, or nullptr. Valid until the next call that binds or interns a name.
  Binding* find(NameId id);

  // A unique name in this function: the name itself, or with "$1", "$2", … appended.
  std::string_view unique(NameId id, std::uint16_t depth);

 private:
  struct Range {
    std::uint64_t count = 0;  // 0: no range
    Type type = Type::none;
    std::uint8_t width = 1;
    std::uint16_t depth = 0;
  };
  template <typename T>
  struct Undo {
    NameId id;
    T previous;
  };
  struct Use {
    std::uint32_t function = 0;  // serial of the last function that uses the name
    std::uint32_t suffix = 0;    // last suffix tried in that function
    bool module_wide = false;
  };
  struct Scope {
    std::vector<Undo<Binding>> bindings;
    std::vector<Undo<Range>> ranges;
    std::uint16_t deepest_range = 0;  // depth of the deepest range in the enclosing scopes
  };

  void reserve(NameId id);
  const Range* range_of(NameId id) const;

  NameTable& names_;
  std::vector<Binding> bindings_;
  std::vector<Range> ranges_;
  std::vector<Use> uses_;
  std::vector<Scope> log_ = std::vector<Scope>(1);
  std::uint16_t depth_ = 0;
  std::uint16_t deepest_range_ = 0;
  std::uint32_t function_serial_ = 0;
};

}  // namespace course::ptx::detail
