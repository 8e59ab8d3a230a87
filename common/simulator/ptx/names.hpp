// SPDX-License-Identifier: MIT
// Storage for the texts to which a Module's views point. Every distinct name and every distinct opcode
// spelling is stored once.
// Invariant: stored texts never move or change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"

namespace course::ptx::detail {

using NameId = std::uint32_t;
inline constexpr NameId kNoName = ~NameId{0};

// Copies of texts that exist as long as the arena.
class Arena {
 public:
  std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
};

// A set of strings with open addressing; ids are consecutive numbers from 0.
class NameTable {
 public:
  explicit NameTable(Arena& arena) : arena_(arena) {}
  NameId intern(std::string_view name);
  // kNoName if the name has not been interned.
  NameId find(std::string_view name) const;
  std::string_view text(NameId id) const { return names_[id]; }
  std::size_t count() const { return names_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    NameId id = kNoName;
  };
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();

  Arena& arena_;
  std::vector<std::string_view> names_;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
};

// The parts of an opcode's spelling.
struct Form {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Type> types;
  // number of operands of the last instruction of this form, to reserve memory
  std::size_t usual_operands = 0;
};

// Module::storage.
struct Storage {
  Arena arena;
  std::deque<Form> forms;
};

}  // namespace course::ptx::detail
