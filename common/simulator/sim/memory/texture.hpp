// SPDX-License-Identifier: MIT
// The representation of texture and surface objects. A program's handle is the device address of a
// TextureDescriptor, which the runtime library writes and ops/texture_rows.cpp reads. It is at the start of
// an allocation with MemoryKind::texture; a descriptor elsewhere, for example one written by a kernel, is
// invalid.
#pragma once

#include <cstdint>

namespace course::sim {

enum class ChannelKind : std::uint8_t { is_signed, is_unsigned, is_float };
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

struct TextureDescriptor {
  static constexpr std::uint64_t kTextureMark = 0x7e87063e0b1ec701;
  static constexpr std::uint64_t kSurfaceMark = 0x7e87063e0b1ec702;

  std::uint64_t mark = 0;
  std::uint64_t base = 0;                           // of the texels
  std::uint64_t row_bytes = 0, slice_bytes = 0;     // stride of rows, stride of slices (or layers)
  std::uint32_t width = 1, height = 1, slices = 1;  // in elements
  std::uint32_t channels = 1, channel_bits = 32;
  ChannelKind kind = ChannelKind::is_float;
  AddressMode modes[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool filters = false;          // linear filtering
  bool normalised = false;       // coordinates from 0 to 1
  bool reads_fractions = false;  // integers are read as numbers from 0 (or −1) to 1
  bool is_memory = false;        // linear memory, no array: reads beyond the end give 0
  float border[4] = {0, 0, 0, 0};

  std::uint32_t element_bytes() const { return channels * channel_bits / 8; }
};

enum class Geometry : std::uint8_t { line, plane, volume, lines, planes };
// The behaviour of out-of-range accesses to a surface.
enum class Beyond : std::uint8_t { trap, clamp, zero };

// MicroOp::imm of texture and surface ops.
struct TextureForm {
  Geometry geometry = Geometry::line;
  bool whole_coordinates = false;     // .s32
  std::uint8_t bytes = 4, count = 1;  // surfaces: bytes and number of elements
  Beyond beyond = Beyond::trap;

  constexpr std::int64_t packed() const {
    return static_cast<int>(geometry) | whole_coordinates << 4 | bytes << 8 | count << 16 |
           static_cast<int>(beyond) << 20;
  }
  static constexpr TextureForm from_packed(std::int64_t p) {
    TextureForm f;
    f.geometry = static_cast<Geometry>(p & 15);
    f.whole_coordinates = (p >> 4 & 1) != 0;
    f.bytes = static_cast<std::uint8_t>(p >> 8 & 31);
    f.count = static_cast<std::uint8_t>(p >> 16 & 7);
    f.beyond = static_cast<Beyond>(p >> 20 & 3);
    return f;
  }
};

}  // namespace course::sim
