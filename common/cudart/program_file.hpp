// SPDX-License-Identifier: MIT
// The PTX inside a program's file, read without running the program: what registration would hand over at its start.
// Takes untrusted bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::cudart {

// The contents of the first section of that name of a 64-bit ELF file. Empty when there is none.
Result<std::span<const std::byte>> section_of(std::span<const std::byte> elf, std::string_view name);

// The fat binaries of section .nv_fatbin: they lie one after the other, with zeros between them.
Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section);

// Of each fat binary with PTX, the text for a chip of `compute_capability` (× 10).
Result<std::vector<std::string>> ptx_of_program(std::span<const std::byte> elf, int compute_capability);

}  // namespace course::cudart
