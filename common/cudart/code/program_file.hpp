// SPDX-License-Identifier: MIT
// The PTX inside a program's file, read without running the program: what registration would hand over at its
// start. Takes untrusted bytes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::cudart {

// The contents of the first section of that name of a 64-bit ELF file. Empty when there is none.
Result<std::span<const std::byte>> section_of(std::span<const std::byte> elf, std::string_view name);

// The fat binaries of section .nv_fatbin: they lie one after the other, with zeros between them.
Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section);

// What a fat binary holds for one chip.
struct DeviceCode {
  std::string ptx;
  std::map<std::string, int>
      registers;  // per thread of each kernel, where there is machine code for the chip
};

// Of each fat binary with PTX, what it holds for a chip of `compute_capability` (× 10).
Result<std::vector<DeviceCode>> code_of_program(std::span<const std::byte> elf, int compute_capability);

}  // namespace course::cudart
