// SPDX-License-Identifier: MIT
// The source line of an instruction of host code, from the debug information in its file (-g1 is enough).
// In this process instead of addr2line, because a sandboxed program may start no other one.
// Source of the format: DWARF Debugging Information Format, version 5, 2017, section 6.2.
// Invariant: no byte outside the file is read, whatever it contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace course::cudart {

struct HostLine {
  std::string file;         // the path as the compiler recorded it
  std::uint32_t line = 0;   // 0: not known
  std::string function;     // mangled; "" without a table of symbols
  std::uint64_t begin = 0;  // of the function; as in the file
};

// `address`: as in the file, before it is loaded.
HostLine line_of_code(std::span<const std::byte> elf, std::uint64_t address);

}  // namespace course::cudart
