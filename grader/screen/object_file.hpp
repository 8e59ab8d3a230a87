// SPDX-License-Identifier: MIT
// The contents of a compiled object that matter for screening: symbols, sections, functions that run before
// main, and the embedded PTX. Read with libelf.
#pragma once

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
  std::vector<std::string> ptx;
  std::string odd_device_code;  // why some device code could not be read, else ""
};

// Whether this build has libelf.
bool can_read_objects();
Result<ObjectFile> read_object(const std::string& path);

}  // namespace course::grader::screen
