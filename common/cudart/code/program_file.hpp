// SPDX-License-Identifier: MIT
// Reads the PTX in a program's file without running the program: the same that registration would pass at its
// start. The bytes are untrusted.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::cudart {

// The contents of the first section with that name in a 64-bit ELF file. Empty if there is none.
Result<std::span<const std::byte>> section_of(std::span<const std::byte> elf, std::string_view name);

// The fat binaries in section .nv_fatbin: one after the other, with zeros between them.
Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section);

// The code of a fat binary for one chip.
struct DeviceCode {
  std::string ptx;
  // Per thread of each kernel, if there is machine code for the chip.
  std::map<std::string, int> registers;
};

// The code of each fat binary that has PTX, for a chip of `compute_capability` (× 10).
Result<std::vector<DeviceCode>> code_of_program(std::span<const std::byte> elf, int compute_capability);

}  // namespace course::cudart
