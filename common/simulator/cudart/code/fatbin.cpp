// SPDX-License-Identifier: MIT
// The layout of a fat binary, little-endian.
// Wrapper:   u32 magic 466243B1, u32 version (2: linked by nvcc -rdc=true), u64 pointer to the container,
//            u64 pointer to the list of containers that were linked.
// Container: u32 magic BA55ED50, u16 version, u16 header bytes, u64 bytes of the entries that follow.
// Entry:     +0 u16 kind, +4 u32 header bytes, +8 u64 payload bytes, +16 u32 compressed bytes (the payload
//            without padding), +28 u32 sm, +40 u64 flags, +56 u64 uncompressed bytes; then the payload. The
//            next entry follows without a gap.
#include "cudart/code/fatbin.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

namespace course::cudart {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint64_t kContainerHeaderBytes = 16;
constexpr std::uint64_t kEntryHeaderBytes = 64;  // bytes of the header that are read
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagPacked = 0x1000;                        // compressed by an older scheme
constexpr std::uint64_t kMaxUnpackedBytes = std::uint64_t{1} << 30;  // a guard against hostile headers

// Reads at any offset and alignment; std::nullopt if the value would exceed the span.
template <typename T>
std::optional<T> read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Packing packing_of(std::uint64_t flags) {
  if ((flags & kFlagZstd) != 0) return Packing::zstd;
  if ((flags & kFlagLz4) != 0) return Packing::lz4;
  return (flags & kFlagPacked) != 0 ? Packing::unknown : Packing::plain;
}

Result<FatbinEntry> parse_entry(std::span<const std::byte> bytes, std::uint64_t header_bytes,
                                std::uint64_t payload_bytes) {
  FatbinEntry entry;
  entry.kind = static_cast<FatbinKind>(*read_at<std::uint16_t>(bytes, 0));
  entry.sm = static_cast<int>(std::min<std::uint32_t>(*read_at<std::uint32_t>(bytes, 28), 100000));
  entry.packing = packing_of(*read_at<std::uint64_t>(bytes, 40));
  entry.payload = bytes.subspan(header_bytes, payload_bytes);
  if (entry.packing != Packing::plain) {
    const std::uint64_t packed_bytes = *read_at<std::uint32_t>(bytes, 16);
    entry.unpacked_bytes = *read_at<std::uint64_t>(bytes, 56);
    if (packed_bytes > payload_bytes) return Error{"fat binary: an entry's packed size exceeds its payload"};
    entry.payload = entry.payload.first(packed_bytes);
  }
  return entry;
}

}  // namespace

Result<std::vector<FatbinEntry>> parse_fatbin(std::span<const std::byte> bytes) {
  const auto magic = read_at<std::uint32_t>(bytes, 0);
  const auto container_header = read_at<std::uint16_t>(bytes, 6);
  const auto declared = read_at<std::uint64_t>(bytes, 8);
  if (!magic || !container_header || !declared || *magic != kContainerMagic) {
    return Error{"fat binary: no container magic; is this code from nvcc?"};
  }
  if (*container_header < kContainerHeaderBytes || *container_header > bytes.size() ||
      *declared > bytes.size() - *container_header) {
    return Error{"fat binary: the container is cut off"};
  }
  std::span<const std::byte> rest = bytes.subspan(*container_header, *declared);

  std::vector<FatbinEntry> entries;
  while (!rest.empty()) {
    if (rest.size() < kEntryHeaderBytes) return Error{"fat binary: an entry is cut off"};
    const std::uint64_t header_bytes = *read_at<std::uint32_t>(rest, 4);
    const std::uint64_t payload_bytes = *read_at<std::uint64_t>(rest, 8);
    if (header_bytes < kEntryHeaderBytes || header_bytes > rest.size() ||
        payload_bytes > rest.size() - header_bytes) {
      return Error{"fat binary: an entry is cut off"};
    }
    Result<FatbinEntry> entry = parse_entry(rest, header_bytes, payload_bytes);
    if (!entry) return entry.error();
    entries.push_back(*entry);
    rest = rest.subspan(header_bytes + payload_bytes);
  }
  return entries;
}

Result<std::string> unpack(const FatbinEntry& entry) {
  const auto* packed = reinterpret_cast<const char*>(entry.payload.data());
  std::string out;
  if (entry.packing == Packing::plain) {
    out.assign(packed, entry.payload.size());
  } else {
    if (entry.packing == Packing::unknown) {
      return Error{"fat binary: packed by an unknown scheme; build with nvcc --compress-mode=none"};
    }
    if (entry.unpacked_bytes > kMaxUnpackedBytes) return Error{"fat binary: an entry claims an absurd size"};
    out.resize(entry.unpacked_bytes);
    bool complete = false;
    if (entry.packing == Packing::lz4) {
      constexpr auto kMaxInt = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
      complete = entry.payload.size() <= kMaxInt &&
                 LZ4_decompress_safe(packed, out.data(), static_cast<int>(entry.payload.size()),
                                     static_cast<int>(out.size())) == static_cast<int>(out.size());
    } else {
      const std::size_t n = ZSTD_decompress(out.data(), out.size(), packed, entry.payload.size());
      complete = ZSTD_isError(n) == 0 && n == out.size();
    }
    if (!complete) return Error{"fat binary: an entry does not unpack; the program's file may be damaged"};
  }
  if (entry.kind == FatbinKind::ptx) out.resize(std::min(out.size(), out.find('\0')));
  return out;
}

Result<FatbinEntry> choose_ptx(std::span<const FatbinEntry> entries, int compute_capability) {
  const FatbinEntry* best = nullptr;
  std::set<int> ptx_targets, cubin_targets;
  for (const FatbinEntry& entry : entries) {
    if (entry.kind == FatbinKind::ptx) ptx_targets.insert(entry.sm);
    if (entry.kind == FatbinKind::cubin) cubin_targets.insert(entry.sm);
    const bool runs = entry.kind == FatbinKind::ptx && entry.sm <= compute_capability;
    if (runs && (best == nullptr || entry.sm > best->sm)) best = &entry;
  }
  if (best != nullptr) return *best;
  const auto list = [](const std::set<int>& targets) {
    std::string out;
    for (const int sm : targets) out += fmt::format("{}sm_{}", out.empty() ? "" : ", ", sm);
    return out;
  };
  if (ptx_targets.empty()) {
    return Error{fmt::format(
        "this program holds no PTX{}; build it with -gencode arch=compute_{},code=[sm_{},compute_{}]",
        cubin_targets.empty() ? "" : " (only machine code for " + list(cubin_targets) + ")",
        compute_capability, compute_capability, compute_capability)};
  }
  return Error{fmt::format(
      "this program's PTX is for {}, the simulated device is sm_{}; build for compute_{} or choose "
      "a newer chip with SIM_DEVICE",
      list(ptx_targets), compute_capability, compute_capability)};
}

// .nv.info is a list of attributes: u8 format, u8 attribute, u16 value or size; format 4 is followed by that
// many bytes. Attributes 0x2f and 0x11: u32 symbol index, u32 registers or bytes of the stack per thread.
sim::ResourceTable resources_of_cubin(std::string_view elf) {
  constexpr std::uint8_t kSized = 4;
  constexpr std::uint8_t kFrameSize = 0x11, kRegisterCount = 0x2f;
  constexpr std::uint32_t kMaxFrame = 512 * 1024;
  const std::span<const std::byte> bytes = bytes_of(elf);
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return {};

  const auto section = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto contents = [&](const Elf64_Shdr& s) -> std::span<const std::byte> {
    if (s.sh_offset > bytes.size() || s.sh_size > bytes.size() - s.sh_offset) return {};
    return bytes.subspan(s.sh_offset, s.sh_size);
  };
  const auto text_at = [](std::span<const std::byte> table, std::uint64_t offset) -> std::string {
    if (offset >= table.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
    return {begin, strnlen(begin, table.size() - offset)};
  };
  const auto names_header = section(header->e_shstrndx);
  if (!names_header || header->e_shoff > bytes.size()) return {};
  const std::span<const std::byte> section_names = contents(*names_header);

  std::span<const std::byte> info, symbols, symbol_names;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto s = section(i);
    if (!s) return {};
    if (text_at(section_names, s->sh_name) == ".nv.info") info = contents(*s);
    if (s->sh_type == SHT_SYMTAB) {
      symbols = contents(*s);
      if (const auto names = section(s->sh_link)) symbol_names = contents(*names);
    }
  }

  sim::ResourceTable compiled;
  for (std::uint64_t at = 0; at + 4 <= info.size();) {
    const auto format = *read_at<std::uint8_t>(info, at);
    const auto attribute = *read_at<std::uint8_t>(info, at + 1);
    const auto size = *read_at<std::uint16_t>(info, at + 2);
    at += 4;
    if (format != kSized) continue;
    if (attribute == kRegisterCount || attribute == kFrameSize) {
      const auto index = read_at<std::uint32_t>(info, at);
      const auto count = read_at<std::uint32_t>(info, at + 4);
      if (!index || !count) break;
      const auto symbol = read_at<Elf64_Sym>(symbols, std::uint64_t{*index} * sizeof(Elf64_Sym));
      if (symbol && attribute == kFrameSize && *count <= kMaxFrame)
        compiled[text_at(symbol_names, symbol->st_name)].frame_bytes = *count;
      if (symbol && attribute == kRegisterCount && *count <= 255)
        compiled[text_at(symbol_names, symbol->st_name)].registers = static_cast<int>(*count);
    }
    at += size;
  }
  return compiled;
}

CodeImage kind_of_image(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == kWrapperMagic) return CodeImage::wrapper;
  if (magic == kContainerMagic) return CodeImage::container;
  const char first = static_cast<const char*>(image)[0];
  // PTX starts with a comment, white space or a directive.
  return std::strchr("/.\n\r\t ", first) != nullptr && first != '\0' ? CodeImage::ptx_text
                                                                     : CodeImage::unknown;
}

std::span<const std::byte> span_of_container(const void* container) {
  const auto* begin = static_cast<const std::byte*>(container);
  const std::span<const std::byte> header(begin, kContainerHeaderBytes);
  return {begin, *read_at<std::uint16_t>(header, 6) + *read_at<std::uint64_t>(header, 8)};
}

Result<std::span<const std::byte>> container_of_wrapper(const void* wrapper) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(wrapper), 24);
  if (*read_at<std::uint32_t>(bytes, 0) != kWrapperMagic) return Error{"fat binary: unknown wrapper"};
  const auto* container = *read_at<const void*>(bytes, 8);
  if (container == nullptr || kind_of_image(container) != CodeImage::container) {
    return Error{"fat binary: the wrapper points to no container"};
  }
  return span_of_container(container);
}

bool was_device_linked(const void* wrapper) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(wrapper), 24);
  return *read_at<std::uint32_t>(bytes, 0) == kWrapperMagic && *read_at<std::uint32_t>(bytes, 4) >= 2;
}

std::vector<std::span<const std::byte>> linked_containers(const void* wrapper) {
  std::vector<std::span<const std::byte>> containers;
  if (!was_device_linked(wrapper)) return containers;
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(wrapper), 24);
  const auto* list = *read_at<const void* const*>(bytes, 16);
  for (; list != nullptr && *list != nullptr; ++list)
    if (kind_of_image(*list) == CodeImage::container) containers.push_back(span_of_container(*list));
  return containers;
}

}  // namespace course::cudart
