// SPDX-License-Identifier: MIT
// Storage for what a Module's views point at: every distinct name once, every distinct opcode spelling once.
// Invariant: nothing handed out ever moves or changes.
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

// Bytes that live as long as the arena.
class Arena {
 public:
  std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
};

// An open-addressing set of strings; ids count up from 0.
class NameTable {
 public:
  explicit NameTable(Arena& arena) : arena_(arena) {}
  NameId intern(std::string_view name);
  // kNoName when it has not been interned.
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

// What the spelling of an opcode says.
struct Form {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Type> types;
  std::size_t usual_operands = 0;  // of the last instruction of this form: how many to reserve
};

// Module::storage.
struct Storage {
  Arena arena;
  std::deque<Form> forms;
};

}  // namespace course::ptx::detail
