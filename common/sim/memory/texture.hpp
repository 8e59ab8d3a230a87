// SPDX-License-Identifier: MIT
// What a texture or surface object is: the handle that programs hold is the device address of a
// TextureDescriptor, which the runtime library writes and the rows of ops/texture_rows.cpp read. It begins an
// allocation of MemoryKind::texture: a descriptor anywhere else, such as one that a kernel wrote, is none.
#pragma once

#include <cstdint>

namespace course::sim {

enum class ChannelKind : std::uint8_t { is_signed, is_unsigned, is_float };
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

struct TextureDescriptor {
  static constexpr std::uint64_t kTextureMark = 0x7e87063e0b1ec701;
  static constexpr std::uint64_t kSurfaceMark = 0x7e87063e0b1ec702;

  std::uint64_t mark = 0;
  std::uint64_t base = 0;                        // of the texels
  std::uint64_t row_bytes = 0, slice_bytes = 0;  // from row to row, from slice (or layer, or face) to slice
  std::uint32_t width = 1, height = 1, slices = 1;  // in elements
  std::uint32_t channels = 1, channel_bits = 32;
  ChannelKind kind = ChannelKind::is_float;
  AddressMode modes[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool filters = false;          // linearly
  bool normalised = false;       // coordinates from 0 to 1
  bool reads_fractions = false;  // integers as numbers from 0 (or −1) to 1
  bool is_srgb = false;
  bool is_memory = false;  // no array: what lies beyond the end reads as 0
  float border[4] = {0, 0, 0, 0};

  std::uint32_t element_bytes() const { return channels * channel_bits / 8; }
};

enum class Geometry : std::uint8_t { line, plane, volume, lines, planes, cube };
// What the out-of-range accesses of a surface do.
enum class Beyond : std::uint8_t { trap, clamp, zero };

// MicroOp::imm of texture and surface ops.
struct TextureForm {
  Geometry geometry = Geometry::line;
  bool whole_coordinates = false;     // .s32
  bool gathers = false;               // tld4
  std::uint8_t component = 0;         // … of which it takes this one
  std::uint8_t bytes = 4, count = 1;  // of surfaces: an element and how many
  Beyond beyond = Beyond::trap;

  constexpr std::int64_t packed() const {
    return static_cast<int>(geometry) | whole_coordinates << 4 | gathers << 5 | component << 6 | bytes << 8 |
           count << 16 | static_cast<int>(beyond) << 20;
  }
  static constexpr TextureForm from_packed(std::int64_t p) {
    TextureForm f;
    f.geometry = static_cast<Geometry>(p & 15);
    f.whole_coordinates = (p >> 4 & 1) != 0;
    f.gathers = (p >> 5 & 1) != 0;
    f.component = static_cast<std::uint8_t>(p >> 6 & 3);
    f.bytes = static_cast<std::uint8_t>(p >> 8 & 31);
    f.count = static_cast<std::uint8_t>(p >> 16 & 7);
    f.beyond = static_cast<Beyond>(p >> 20 & 3);
    return f;
  }
};

}  // namespace course::sim
