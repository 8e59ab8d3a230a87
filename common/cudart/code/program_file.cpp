// SPDX-License-Identifier: MIT
#include "cudart/code/program_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "cudart/code/fatbin.hpp"

namespace course::cudart {
namespace {

// The address of a T at `offset`; nullptr if it would exceed the bytes.
template <typename T>
const std::byte* place_of(std::span<const std::byte> bytes, std::uint64_t offset) {
  return offset <= bytes.size() && bytes.size() - offset >= sizeof(T) ? bytes.data() + offset : nullptr;
}

template <typename T>
bool read(std::span<const std::byte> bytes, std::uint64_t offset, T& out) {
  const std::byte* at = place_of<T>(bytes, offset);
  if (at != nullptr) std::memcpy(&out, at, sizeof out);
  return at != nullptr;
}

// Magic, version, u16 header size at 6, u64 size of the rest at 8.
constexpr std::uint64_t kContainerHeader = 16;

}  // namespace

Result<std::span<const std::byte>> section_of(std::span<const std::byte> elf, std::string_view name) {
  Elf64_Ehdr header;
  if (!read(elf, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return Error{"it is no 64-bit ELF file"};
  const Error cut_off{"its table of sections is cut off"};
  if (header.e_shoff > elf.size()) return cut_off;
  const auto table = elf.subspan(header.e_shoff);
  const auto contents = [&](const Elf64_Shdr& section) -> std::span<const std::byte> {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > elf.size() ||
        section.sh_size > elf.size() - section.sh_offset)
      return {};
    return elf.subspan(section.sh_offset, section.sh_size);
  };
  Elf64_Shdr names;
  if (!read(table, std::uint64_t{header.e_shstrndx} * sizeof names, names)) return cut_off;
  const auto texts = contents(names);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read(table, i * sizeof section, section)) return cut_off;
    if (section.sh_name >= texts.size()) continue;
    const auto* text = reinterpret_cast<const char*>(texts.data()) + section.sh_name;
    if (std::string_view(text, strnlen(text, texts.size() - section.sh_name)) == name)
      return contents(section);
  }
  return std::span<const std::byte>();
}

Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section) {
  std::vector<std::span<const std::byte>> containers;
  for (;;) {
    section = section.subspan(static_cast<std::size_t>(
        std::find_if(section.begin(), section.end(), [](std::byte b) { return b != std::byte{0}; }) -
        section.begin()));
    if (section.empty()) return containers;
    std::uint16_t header_bytes = 0;
    std::uint64_t body_bytes = 0;
    if (!read(section, 6, header_bytes) || !read(section, 8, body_bytes) || header_bytes < kContainerHeader ||
        header_bytes > section.size() || body_bytes > section.size() - header_bytes)
      return Error{"its device code is cut off"};
    containers.push_back(section.first(header_bytes + body_bytes));
    section = section.subspan(header_bytes + body_bytes);
  }
}

Result<std::vector<DeviceCode>> code_of_program(std::span<const std::byte> elf, int compute_capability) {
  const auto section = section_of(elf, ".nv_fatbin");
  if (!section) return section.error();
  const auto containers = containers_in(*section);
  if (!containers) return containers.error();
  std::vector<DeviceCode> codes;
  for (const auto container : *containers) {
    const auto entries = parse_fatbin(container);
    if (!entries) return entries.error();
    // nvcc's linker creates an empty container.
    if (std::none_of(entries->begin(), entries->end(),
                     [](const FatbinEntry& entry) { return entry.kind == FatbinKind::ptx; }))
      continue;
    const auto chosen = choose_ptx(*entries, compute_capability);
    if (!chosen) return chosen.error();
    auto text = unpack(*chosen);
    if (!text) return text.error();
    DeviceCode& code = codes.emplace_back(DeviceCode{std::move(*text), {}});
    for (const FatbinEntry& entry : *entries) {
      if (entry.kind != FatbinKind::cubin || entry.sm != compute_capability) continue;
      if (const auto cubin = unpack(entry)) code.registers.merge(registers_of_cubin(*cubin));
    }
  }
  return codes;
}

}  // namespace course::cudart
