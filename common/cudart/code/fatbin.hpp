// SPDX-License-Identifier: MIT
// Reads the fat binaries that nvcc embeds in a program: which PTX and which machine code they hold, for which
// chips. parse_fatbin takes untrusted bytes; the two read_* functions take an address whose header says how
// far it reaches.
// Invariant: no byte outside the given span is touched, whatever the headers claim; a broken entry is an
// Error.
// Format: observed from nvcc 12 and 13 (see the table in fatbin.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::cudart {

enum class FatbinKind : std::uint16_t { ptx = 1, cubin = 2 };
enum class Packing : std::uint8_t { plain, lz4, zstd, unknown };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::ptx;
  int sm = 0;  // compute capability × 10: 90 for sm_90
  Packing packing = Packing::plain;
  std::uint64_t unpacked_bytes = 0;    // 0 when plain
  std::span<const std::byte> payload;  // packed, points into the parsed bytes
};

// The entries of one container, kinds other than PTX and cubin left out. The bytes must outlive the result.
Result<std::vector<FatbinEntry>> parse_fatbin(std::span<const std::byte> bytes);

// The entry's contents: PTX text without its trailing NUL, or an ELF image.
Result<std::string> unpack(const FatbinEntry& entry);

// The PTX for the highest target that a chip of `compute_capability` (× 10) can run; an Error says what there
// is instead.
Result<FatbinEntry> choose_ptx(std::span<const FatbinEntry> entries, int compute_capability);

// Registers per thread of each kernel, by mangled name, from a cubin's .nv.info. Empty when the image says
// nothing.
std::map<std::string, int> registers_of_cubin(std::string_view elf);

// `wrapper` is what __cudaRegisterFatBinary gets. The span covers the container it points to.
Result<std::span<const std::byte>> container_of_wrapper(const void* wrapper);
// Was it made by nvcc -rdc=true? Then the container holds linked machine code, and the PTX is in pieces
// elsewhere.
bool was_device_linked(const void* wrapper);
// The containers of the files that it was linked from, as the program's start-up code has listed them.
std::vector<std::span<const std::byte>> linked_containers(const void* wrapper);
// Any of: wrapper, container, PTX text (NUL-terminated), as cudaLibraryLoadData accepts them.
enum class CodeImage : std::uint8_t { wrapper, container, ptx_text, unknown };
CodeImage kind_of_image(const void* image);
// `container` starts with the container's magic; its own header gives the length.
std::span<const std::byte> span_of_container(const void* container);

}  // namespace course::cudart
