// SPDX-License-Identifier: MIT
// Reads the fat binaries that nvcc embeds in a program: the PTX and the machine code in them, and their
// targets. parse_fatbin takes untrusted bytes. The functions that take an address rely on the header there
// for the length.
// Invariant: no byte outside the given span is accessed, whatever the headers say; an invalid entry is an
// Error.
// Format: observed from nvcc 12 and 13 (see the table in fatbin.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sim/types.hpp"

namespace course::cudart {

// As in the file; there are others.
enum class FatbinKind : std::uint16_t { ptx = 1, cubin = 2 };
enum class Packing : std::uint8_t { plain, lz4, zstd, unknown };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::ptx;
  int sm = 0;  // compute capability × 10: 90 for sm_90
  Packing packing = Packing::plain;
  std::uint64_t unpacked_bytes = 0;    // 0 when plain
  std::span<const std::byte> payload;  // compressed or plain, points into the parsed bytes
};

// All entries of one container, of any kind. The bytes must outlive the result.
Result<std::vector<FatbinEntry>> parse_fatbin(std::span<const std::byte> bytes);

// The entry's contents: PTX text without its trailing NUL, or an ELF image.
Result<std::string> unpack(const FatbinEntry& entry);

// The PTX for the highest target that a chip of `compute_capability` (× 10) can run. The Error says which
// targets there are.
Result<FatbinEntry> choose_ptx(std::span<const FatbinEntry> entries, int compute_capability);

// What each kernel of a cubin uses, from its .nv.info. Empty if the image has no such information.
sim::ResourceTable resources_of_cubin(std::string_view elf);

// `wrapper` is the argument of __cudaRegisterFatBinary. Returns the bytes of its container.
Result<std::span<const std::byte>> container_of_wrapper(const void* wrapper);
// Whether it was linked by nvcc -rdc=true. Then its container holds linked machine code, and the PTX is in
// the containers of the linked files.
bool was_device_linked(const void* wrapper);
// The containers of the linked files, from the list that the program's start-up code has filled in.
std::vector<std::span<const std::byte>> linked_containers(const void* wrapper);
// The images that cudaLibraryLoadData accepts: a wrapper, a container, or PTX text (NUL-terminated).
enum class CodeImage : std::uint8_t { wrapper, container, ptx_text, unknown };
CodeImage kind_of_image(const void* image);
// The bytes of a container. `container` starts with the container's magic; its header contains the length.
std::span<const std::byte> span_of_container(const void* container);

}  // namespace course::cudart
