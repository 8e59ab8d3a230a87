// SPDX-License-Identifier: MIT
// Reads the device code in a program or an object file without running it. Screening and the simulated device
// both use these functions, so the device runs what was screened. The bytes are untrusted, and whatever does
// not look as nvcc writes it is an Error: a second reader might see other code there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/types.hpp"

namespace course::cudart {

// The contents of the section with that name in a 64-bit ELF file. Empty if there is none; an Error if there
// are several.
Result<std::span<const std::byte>> section_of(std::span<const std::byte> elf, std::string_view name);

// The fat binaries in section .nv_fatbin: the first one at its start, each next one at the next multiple of 8
// bytes, and nothing else but the zeros of that padding.
Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section);
// The same for the section of a program or an object file.
Result<std::vector<std::span<const std::byte>>> containers_of(std::span<const std::byte> elf);

// The code of a fat binary for one chip.
struct DeviceCode {
  std::string ptx;
  sim::ResourceTable compiled;  // of its kernels, if there is machine code for the chip
};

// The code of each fat binary that has PTX, for a chip of `compute_capability` (× 10).
Result<std::vector<DeviceCode>> code_of_program(std::span<const std::byte> elf, int compute_capability);

}  // namespace course::cudart
