// SPDX-License-Identifier: MIT
// The tables of types, spaces and linkages, and look-up functions of a module.
#include "ptx/ir.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace course::ptx {
namespace {

struct TypeRow {
  const char* spelling;
  int bits;
};

// In the order of enum Type.
constexpr std::array kTypes = {
    TypeRow{"", 0},         TypeRow{"pred", 1},    TypeRow{"b8", 8},      TypeRow{"b16", 16},
    TypeRow{"b32", 32},     TypeRow{"b64", 64},    TypeRow{"b128", 128},  TypeRow{"u8", 8},
    TypeRow{"u16", 16},     TypeRow{"u32", 32},    TypeRow{"u64", 64},    TypeRow{"s8", 8},
    TypeRow{"s16", 16},     TypeRow{"s32", 32},    TypeRow{"s64", 64},    TypeRow{"f16", 16},
    TypeRow{"f16x2", 32},   TypeRow{"bf16", 16},   TypeRow{"bf16x2", 32}, TypeRow{"tf32", 32},
    TypeRow{"f32", 32},     TypeRow{"f64", 64},    TypeRow{"s16x2", 32},  TypeRow{"u16x2", 32},
    TypeRow{"e4m3", 8},     TypeRow{"e5m2", 8},    TypeRow{"e4m3x2", 16}, TypeRow{"e5m2x2", 16},
    TypeRow{"f32x2", 64},   TypeRow{"e2m1", 4},    TypeRow{"e2m3", 6},    TypeRow{"e3m2", 6},
    TypeRow{"e2m1x2", 8},   TypeRow{"e2m3x2", 16}, TypeRow{"e3m2x2", 16}, TypeRow{"ue8m0", 8},
    TypeRow{"ue8m0x2", 16}, TypeRow{"e4m3x4", 32}, TypeRow{"e5m2x4", 32}, TypeRow{"e2m1x4", 16},
    TypeRow{"e2m3x4", 32},  TypeRow{"e3m2x4", 32}, TypeRow{"b1", 1},      TypeRow{"b4", 4},
    TypeRow{"u4", 4},       TypeRow{"s4", 4},      TypeRow{"texref", 64}, TypeRow{"samplerref", 64},
    TypeRow{"surfref", 64},
};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::surfref) + 1);

constexpr std::array kSpaces = {"generic", "reg",   "sreg",   "const", "global",
                                "local",   "param", "shared", "tex"};
static_assert(kSpaces.size() == static_cast<std::size_t>(Space::tex) + 1);

constexpr std::array kLinkages = {"", "visible", "weak", "common", "extern"};
static_assert(kLinkages.size() == static_cast<std::size_t>(Linkage::external) + 1);

}  // namespace

int bits_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].bits;
}

const char* spelling(Type type) {
  return kTypes[static_cast<std::size_t>(type)].spelling;
}

std::optional<Type> type_from(std::string_view spelling) {
  if (spelling.empty()) return std::nullopt;
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (spelling == kTypes[i].spelling) return static_cast<Type>(i);
  }
  return std::nullopt;
}

const char* spelling(Space space) {
  return kSpaces[static_cast<std::size_t>(space)];
}

const char* spelling(Linkage linkage) {
  return kLinkages[static_cast<std::size_t>(linkage)];
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::full_opcode() const {
  std::string text(opcode);
  for (const std::string_view modifier : modifiers) {
    text += '.';
    text += modifier;
  }
  return text;
}

std::uint64_t Function::parameter_bytes() const {
  std::uint64_t end = 0;
  for (const Variable& parameter : parameters) end = std::max(end, parameter.offset + parameter.size);
  return end;
}

const Function* Module::find_function(std::string_view name) const {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return &function_at(static_cast<std::int32_t>(i));
  }
  return nullptr;
}

int Module::compute_capability() const {
  int number = 0;
  for (const char c : target)
    if (c >= '0' && c <= '9' && number < 100'000) number = number * 10 + (c - '0');
  return number;
}

const Variable* Module::find_variable(std::string_view name) const {
  for (const Variable& variable : variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

const std::string* Module::find_file(std::uint32_t number) const {
  for (const File& file : files) {
    if (file.number == number) return &file.path;
  }
  return nullptr;
}

const Function& Module::function_at(std::int32_t index) const {
  const Function* function = &functions[static_cast<std::size_t>(index)];
  while (function->alias_of >= 0) function = &functions[static_cast<std::size_t>(function->alias_of)];
  return *function;
}

}  // namespace course::ptx
