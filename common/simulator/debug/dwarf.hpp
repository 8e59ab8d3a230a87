// SPDX-License-Identifier: MIT
// Reads the debug information that nvcc -G puts into PTX: DWARF 2 as data sections (.debug_info,
// .debug_abbrev, .debug_loc; others are not used), whose addresses are names of symbols and labels of the
// PTX. Two things differ from DWARF on other machines: DW_OP_regx has the *name* of a PTX register, its
// characters packed into the number, and a code position is a label of the function's text. Source: DWARF
// Debugging Information Format 2.0.0, 1993, sections 2.4, 5, 7; PTX ISA 9.0, 11.5 (directives).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::debug {

struct Type {
  enum class Kind : std::uint8_t {
    nothing,  // void, or a type that this reader does not know
    signed_integer,
    unsigned_integer,
    floating,
    boolean,
    character,
    enumeration,
    pointer,    // target: nullptr for void*
    reference,  // target
    array,      // target and count; several dimensions are arrays of arrays
    record,     // struct, class or union: members, base classes among them without a name
  };
  struct Member {
    std::string name;
    const Type* type;
    std::uint64_t offset;  // bytes
  };
  Kind kind = Kind::nothing;
  std::string name;
  std::uint64_t bytes = 0;
  const Type* target = nullptr;
  std::uint64_t count = 0;
  std::vector<Member> members;
  std::map<std::int64_t, std::string> enumerators;
};

// Where a variable is: in a PTX register, or in memory at a PTX symbol plus an offset in bytes.
struct Place {
  enum class Kind : std::uint8_t { nowhere, in_register, at_symbol };
  Kind kind = Kind::nowhere;
  std::string name;
  std::uint64_t offset = 0;
};

struct Variable {
  // The place holds from label `begin` to before label `end`; without labels in the whole scope.
  struct Range {
    std::string begin, end;
    Place place;
  };
  std::string name;
  const Type* type = nullptr;
  std::uint32_t line = 0;  // of its declaration
  bool is_parameter = false;
  std::vector<Range> ranges;
};

// A function, an inlined call of one, or a block of statements: variables that are visible between two
// labels.
struct Scope {
  std::string function;    // its name; "" for a block
  std::string begin, end;  // labels
  std::vector<Variable> variables;
  std::vector<Scope> children;
};

struct DebugInfo {
  std::deque<Type> types;  // Variable::type, Member::type and Type::target point into it
  std::vector<Scope> functions;
  std::vector<Variable> globals;
};

// Empty if the text has no debug information. An Error if it cannot be understood.
Result<DebugInfo> read_debug_info(std::string_view ptx);

}  // namespace course::debug
