// SPDX-License-Identifier: MIT
#include "cudart/code/program_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

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

constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
// Magic, version, u16 header size at 6, u64 size of the rest at 8.
constexpr std::uint64_t kContainerHeader = 16, kContainerAlignment = 8;

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
  // Of a file with 65,280 sections or more, both numbers are elsewhere.
  if (header.e_shnum == 0 || header.e_shstrndx >= SHN_LORESERVE) return Error{"it has too many sections"};
  Elf64_Shdr names;
  if (!read(table, std::uint64_t{header.e_shstrndx} * sizeof names, names)) return cut_off;
  const auto texts = contents(names);
  std::optional<std::span<const std::byte>> found;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read(table, i * sizeof section, section)) return cut_off;
    if (section.sh_name >= texts.size()) continue;
    const auto* text = reinterpret_cast<const char*>(texts.data()) + section.sh_name;
    const std::size_t left = texts.size() - section.sh_name;
    if (left <= name.size() || std::string_view(text, name.size()) != name || text[name.size()] != '\0')
      continue;
    if (found) return Error{fmt::format("it has several sections {}", name)};
    if (section.sh_type != SHT_NOBITS && contents(section).size() != section.sh_size)
      return Error{fmt::format("its section {} is cut off", name)};
    found = contents(section);
  }
  return found.value_or(std::span<const std::byte>());
}

Result<std::vector<std::span<const std::byte>>> containers_in(std::span<const std::byte> section) {
  std::vector<std::span<const std::byte>> containers;
  while (!section.empty()) {
    std::uint32_t magic = 0;
    std::uint16_t header_bytes = 0;
    std::uint64_t body_bytes = 0;
    if (!read(section, 0, magic) || magic != kContainerMagic)
      return Error{"its device code has bytes that belong to no fat binary"};
    if (!read(section, 6, header_bytes) || !read(section, 8, body_bytes) || header_bytes < kContainerHeader ||
        header_bytes > section.size() || body_bytes > section.size() - header_bytes)
      return Error{"its device code is cut off"};
    const std::uint64_t n_bytes = header_bytes + body_bytes;
    containers.push_back(section.first(n_bytes));
    const std::uint64_t end = std::min<std::uint64_t>(
        (n_bytes + kContainerAlignment - 1) / kContainerAlignment * kContainerAlignment, section.size());
    const auto padding = section.subspan(n_bytes, end - n_bytes);
    if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; }))
      return Error{"its device code has bytes that belong to no fat binary"};
    section = section.subspan(end);
  }
  return containers;
}

Result<std::vector<std::span<const std::byte>>> containers_of(std::span<const std::byte> elf) {
  const auto section = section_of(elf, ".nv_fatbin");
  if (!section) return section.error();
  return containers_in(*section);
}

Result<std::vector<DeviceCode>> code_of_program(std::span<const std::byte> elf, int compute_capability) {
  const auto containers = containers_of(elf);
  if (!containers) return containers.error();
  std::vector<DeviceCode> codes;
  for (const auto container : *containers) {
    const auto entries = parse_fatbin(container);
    if (!entries) return entries.error();
    // nvcc's linker creates an empty container.
    if (std::ranges::none_of(*entries,
                             [](const FatbinEntry& entry) { return entry.kind == FatbinKind::ptx; }))
      continue;
    const auto chosen = choose_ptx(*entries, compute_capability);
    if (!chosen) return chosen.error();
    auto text = unpack(*chosen);
    if (!text) return text.error();
    DeviceCode& code = codes.emplace_back(DeviceCode{std::move(*text), {}});
    for (const FatbinEntry& entry : *entries) {
      if (entry.kind != FatbinKind::cubin || entry.sm != compute_capability) continue;
      if (const auto cubin = unpack(entry)) code.compiled.merge(resources_of_cubin(*cubin));
    }
  }
  return codes;
}

}  // namespace course::cudart
