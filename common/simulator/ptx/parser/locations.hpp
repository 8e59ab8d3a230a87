// SPDX-License-Identifier: MIT
// The .loc directives of a module as a table without duplicates, and the names in its .debug_str section.
// Invariant: a location's `inlined_at` is smaller than its own index, so chains end.
// Source: PTX ISA 11.5, "Debugging Directives".
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/ir.hpp"
#include "ptx/names.hpp"
#include "ptx/parser/lexer.hpp"

namespace course::ptx::detail {

class LocationTable {
 public:
  explicit LocationTable(NameTable& names) : names_(names) {}

  // Call sites are searched in their own function only.
  void begin_function() { ++function_serial_; }
  // Reads what follows ".loc" and returns the index of the location.
  std::int32_t parse_loc(Lexer& lexer);
  // Reads what follows `.section .debug_str`.
  void parse_strings(Lexer& lexer);
  // All locations, with the names of functions.
  std::vector<Location> finish(Arena& arena);

 private:
  struct Key {
    std::uint32_t file, line, column;
    NameId name = kNoName;     // label of the function's name
    std::uint64_t offset = 0;  // offset after the label
    std::int32_t inlined_at = -1;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Latest {
    std::uint32_t function;
    std::int32_t index;
  };

  Key parse_position(Lexer& lexer);
  std::int32_t add(const Key& key);
  std::int32_t call_site(const Key& position);
  Key without_repetition(const Key& key, const Key& site) const;

  NameTable& names_;
  std::vector<Key> keys_;              // by index
  std::vector<std::uint16_t> depths_;  // by index: length of the inlined_at chain
  std::unordered_map<Key, std::int32_t, Hash> index_;
  std::unordered_map<Key, Latest, Hash> latest_;  // the last location at a position, whatever its call site
  std::string strings_;
  std::unordered_map<NameId, std::uint64_t> string_labels_;
  std::uint32_t function_serial_ = 0;
};

}  // namespace course::ptx::detail
