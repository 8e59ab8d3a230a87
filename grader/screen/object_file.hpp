// SPDX-License-Identifier: MIT
// The contents of a compiled object that matter for screening: symbols, sections, functions that run before
// main, and the embedded PTX. Read with libelf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::grader::screen {

// `weak` includes STB_GNU_UNIQUE: static variables of inline functions and of templates, of which the linker
// keeps one.
enum class Binding : std::uint8_t { local, global, weak };

struct Symbol {
  std::string name;  // mangled
  Binding binding = Binding::local;
  bool defined = false;
  bool resolver = false;  // an indirect function: its resolver runs before main
};

struct Section {
  std::string name;
  std::uint64_t bytes = 0;
  bool odd = false;  // of a type that compilers do not emit
};

struct ObjectFile {
  std::vector<Symbol> symbols;
  std::vector<Section> sections;
  // The functions that run before or after main, by name; "" for one that no symbol names.
  std::vector<std::string> constructors;
  std::size_t n_registrations = 0;  // references to the function that registers device code
  std::vector<std::string> ptx;
  std::string odd_device_code;  // why some device code could not be read, else ""
  std::string too_much;         // the limit that it exceeds; then the rest may be incomplete
};

// Limits of what is read, well above what compilers make of a student's file.
inline constexpr std::size_t kMaxObjectBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxSymbols = 100'000;
inline constexpr std::size_t kMaxNameBytes = std::size_t{16} << 20;  // of all symbols and sections together
inline constexpr std::size_t kMaxPtxBytes = std::size_t{16} << 20;

Result<ObjectFile> read_object(const std::string& path);

}  // namespace course::grader::screen
