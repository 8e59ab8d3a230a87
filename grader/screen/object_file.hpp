// SPDX-License-Identifier: MIT
// What a compiled object says of itself: symbols, sections, what runs before main, and the PTX inside. Read
// with libelf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::grader::screen {

// weak: also what a linker keeps one of (STB_GNU_UNIQUE: static variables of inline functions and of
// templates).
enum class Binding : std::uint8_t { local, global, weak };

struct Symbol {
  std::string name;  // as the linker knows it
  Binding binding = Binding::local;
  bool defined = false;
  bool resolver = false;  // an indirect function: its resolver runs before main
};

struct Section {
  std::string name;
  std::uint64_t bytes = 0;
  bool odd = false;  // of a kind that compilers do not make
};

struct ObjectFile {
  std::vector<Symbol> symbols;
  std::vector<Section> sections;
  // What runs before main or after it: the functions by name, "" where no symbol names one.
  std::vector<std::string> constructors;
  std::vector<std::string> ptx;
  std::string odd_device_code;  // why some of it could not be read; compilers make none such
};

// Whether this build has libelf.
bool can_read_objects();
Result<ObjectFile> read_object(const std::string& path);

}  // namespace course::grader::screen
